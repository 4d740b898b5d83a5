//! What the session reads and writes without a repository: CSV files, artifact folders, names.

use super::played::Detail;
use super::{ArtifactRef, CsvLog, folder, inject, name};
use crate::artifact::Artifact;
use crate::consistency::Check;
use crate::injector::Strategy;
use crate::store::{Kept, Round};
use std::collections::BTreeMap;
use std::path::Path;

/// The bug of a run's round.
fn kept(step: u32) -> Kept {
    let detail = Detail { valid: true, ..Detail::default() };
    let round = Round {
        run: Some("c0ffee".to_owned()),
        step,
        item: 0,
        kind: "bug".to_owned(),
        bug_order: 1,
        artifact: Some("ab12".to_owned()),
        strategy: "direct".to_owned(),
        seed: 7,
        inject_reward: Some(0.1),
        solve_rate: Some(0.5),
        solver_rewards: vec![1.0, -1.0],
        seconds: 1.25,
        detail: serde_json::to_string(&detail).unwrap(),
    };
    Kept { number: 1, round, wrong_book_size: 3 }
}

const HEADER: &str = "step,inject_r,solve_r,solve_rate,wrong_book_size,strategy,artifact,valid,failed_check,audited,seconds,seed,injector,solver,inject_tokens,solve_tokens,inject_seconds,solve_seconds,cost,reasons,kind,order,run,round,item";
const ROW: &str = "0.1,0,0.5,3,direct,ab12,true,,false,1.250,7,,,,,,,,,bug,1,c0ffee";

/// The line of a bug of [`kept`].
fn line(step: u32, round: u32) -> String {
    format!("{step},{ROW},{round},1")
}

/// Brings a file with the given text up to the first `rounds` rounds of a run, and compares what is
/// there then.
#[track_caller]
fn check_csv(before: Option<&str>, rounds: u32, after: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rounds.csv");
    if let Some(before) = before {
        std::fs::write(&path, before).unwrap();
    }
    let kept: Vec<Kept> = (1..=rounds).map(kept).collect();
    for _ in 0..2 {
        CsvLog::open(&path).unwrap().sync(&kept).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), after);
        assert!(text.ends_with('\n'));
    }
}

#[test]
fn a_new_or_empty_csv_file_gets_the_header_once() {
    check_csv(None, 1, &[HEADER, &line(1, 1)]);
    check_csv(Some(""), 1, &[HEADER, &line(1, 1)]);
    check_csv(None, 0, &[HEADER]);
}

#[test]
fn only_the_rounds_that_are_not_there_yet_are_appended() {
    let first = format!("{HEADER}\n{}\n", line(1, 1));
    check_csv(Some(&first), 2, &[HEADER, &line(1, 1), &line(2, 2)]);
    check_csv(Some(&first), 3, &[HEADER, &line(1, 1), &line(2, 2), &line(3, 3)]);
    // Of another run: its steps go before ours.
    let other = line(7, 1).replace("c0ffee", "decaf");
    check_csv(Some(&format!("{HEADER}\n{other}\n")), 1, &[HEADER, &other, &line(8, 1)]);
}

#[test]
fn a_line_that_a_crash_cut_short_is_written_anew() {
    let whole = format!("{HEADER}\n{}\n{}", line(1, 1), line(2, 2));
    for cut in HEADER.len() + line(1, 1).len() + 2..=whole.len() {
        check_csv(Some(&whole[..cut]), 2, &[HEADER, &line(1, 1), &line(2, 2)]);
    }
    check_csv(Some("step,inj"), 1, &[HEADER, &line(1, 1)]);
    check_csv(Some(HEADER), 1, &[HEADER, &line(1, 1)]);
}

#[test]
fn an_unfinished_line_of_somebody_else_is_left() {
    let before = format!("{HEADER}\n1,0.9,0");
    check_csv(Some(&before), 1, &[HEADER, "1,0.9,0", &line(2, 1)]);
}

#[test]
fn an_invalid_round_leaves_its_cells_empty() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rounds.csv");
    let mut invalid = kept(1);
    let failed_check = Some(name(Check::InverseMutation));
    let detail = Detail { failed_check, ..Detail::default() };
    invalid.round.detail = serde_json::to_string(&detail).unwrap();
    invalid.round.inject_reward = Some(-1.0);
    invalid.round.solve_rate = None;
    invalid.round.solver_rewards = Vec::new();
    let mut second = kept(2);
    second.round.inject_reward = None;
    second.round.kind = "second_order".to_owned();
    second.round.bug_order = 2;
    CsvLog::open(&path).unwrap().sync(&[invalid, second]).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "1,-1,,,3,direct,ab12,false,inverse_mutation,false,1.250,7,,,,,,,,,bug,1,c0ffee,1,1",
            "2,,0,0.5,3,direct,ab12,true,,false,1.250,7,,,,,,,,,second_order,2,c0ffee,2,1",
        ]
    );
}

#[test]
fn another_csv_file_is_never_appended_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("salaries.csv");
    std::fs::write(&path, "name,salary\n").unwrap();
    let refusal = CsvLog::open(&path).unwrap_err().to_string();
    assert!(refusal.contains("name another file"), "{refusal}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "name,salary\n");
}

fn artifact(bug: &str) -> Artifact {
    let files = [
        ("bug_inject.diff", bug),
        ("test_weaken.diff", "weaken"),
        ("test_script.sh", "true"),
        ("test_parser.py", "print({})"),
        ("test_files.txt", "test_a.py\n"),
    ];
    let files: BTreeMap<_, _> =
        files.into_iter().map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).collect();
    Artifact::from_files(&files).unwrap()
}

fn entries(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_artifact_folder_reads_back_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("deep/bug");
    folder::write(&out, &artifact("x")).unwrap();
    assert_eq!(folder::read(&out).unwrap(), artifact("x"));
    assert_eq!(entries(&dir.path().join("deep")), ["bug"]);
    std::fs::write(out.join("notes.md"), "mine").unwrap();
    assert_eq!(folder::read(&out).unwrap(), artifact("x"));
}

#[test]
fn another_artifact_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("bug");
    std::fs::create_dir(&out).unwrap();
    folder::write(&out, &artifact("x")).unwrap();
    folder::write(&out, &artifact("x")).unwrap();
    let refusal = folder::write(&out, &artifact("y")).unwrap_err().to_string();
    assert!(refusal.contains("is not this artifact"), "{refusal}");
    assert_eq!(folder::read(&out).unwrap(), artifact("x"));
    let file = dir.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    assert!(folder::write(&file, &artifact("x")).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn what_a_process_that_is_gone_had_begun_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    // No process has this number: Linux counts to 4194304 at most.
    let ours = format!(".bug.{}.tmp", std::process::id());
    let names = [".bug.4194305.tmp", &ours, "bug", ".hidden", ".bug.tmp"];
    for name in names {
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    folder::sweep(dir.path());
    let mut left = names[1..].to_vec();
    left.sort_unstable();
    assert_eq!(entries(dir.path()), left);
}

#[track_caller]
fn check_read(spoil: impl FnOnce(&Path), expect: &str) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("bug");
    folder::write(&out, &artifact("x")).unwrap();
    spoil(&out);
    let refusal = folder::read(&out).unwrap_err().to_string();
    assert!(refusal.contains(expect), "{refusal:?} does not say {expect:?}");
}

#[test]
fn a_folder_that_is_no_whole_artifact_is_refused_by_name() {
    check_read(|dir| std::fs::remove_file(dir.join("test_script.sh")).unwrap(), "test_script.sh");
    check_read(|dir| std::fs::remove_dir_all(dir).unwrap(), "there is no artifact folder");
    check_read(
        |dir| {
            std::fs::remove_file(dir.join("test_parser.py")).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", dir.join("test_parser.py")).unwrap();
        },
        "not a regular file",
    );
    check_read(
        |dir| {
            let file = std::fs::File::create(dir.join("bug_inject.diff")).unwrap();
            file.set_len(20 << 20).unwrap();
        },
        "more than",
    );
}

#[track_caller]
fn check_target(text: &str, expect: &str) {
    let shown = match inject::target(Some(text)) {
        Ok(Some(target)) => format!("{} {:?}", target.file, target.symbol),
        Ok(None) => "none".to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(shown.contains(expect), "{shown:?} does not say {expect:?}");
}

#[test]
fn a_target_is_a_file_and_maybe_a_symbol() {
    check_target("src/a.rs", "src/a.rs None");
    check_target("src/a.rs:post", "src/a.rs Some(\"post\")");
    check_target("src/a.rs:Ledger::post", "src/a.rs Some(\"Ledger::post\")");
    check_target("src/a.rs:", "names no symbol");
    check_target("/etc/passwd", "absolute");
    check_target("", "empty");
}

#[test]
fn what_is_typed_is_an_id_only_where_it_can_be_one() {
    let shown = |text: &str| format!("{:?}", ArtifactRef::typed(text));
    assert!(shown("0123ABCD").starts_with("Id(\"0123abcd\""));
    assert!(shown("0123abc").starts_with("Folder"), "too short");
    assert!(shown("bug-0123").starts_with("Folder"));
    assert!(shown("./0123abcd").starts_with("Folder"));
}

#[test]
fn words_go_by_one_name_everywhere() {
    assert_eq!(name(Check::InverseMutation), "inverse_mutation");
    assert_eq!(name(Strategy::Mixed), "mixed");
    assert_eq!(name(crate::sandbox::Tier::A), "A");
}
