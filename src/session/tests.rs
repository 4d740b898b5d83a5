//! What the session reads and writes without a repository: CSV files, artifact folders, names.

use super::{ArtifactRef, CsvLog, PlayedRound, folder, inject, name};
use crate::artifact::Artifact;
use crate::consistency::Check;
use crate::injector::{Counts, Strategy};
use std::collections::BTreeMap;
use std::path::Path;

fn round(solve_rewards: &[f64]) -> PlayedRound {
    PlayedRound {
        round: 1,
        artifact: Some("ab12".to_owned()),
        strategy: Strategy::Direct,
        valid: true,
        failed_check: None,
        inject_reward: 0.1,
        solve_rate: Some(0.5),
        solve_rewards: solve_rewards.to_vec(),
        seconds: 1.25,
        summary: "a, \"quoted\" summary".to_owned(),
        seed: 7,
        checks: Vec::new(),
        fail_to_pass: Vec::new(),
        counts: Counts::default(),
        origin: None,
        cpu_seconds: 0.0,
        sandbox: None,
        best_solve_rate: None,
        folder: None,
        wrong_book_size: 3,
    }
}

const HEADER: &str = "step,inject_r,solve_r,solve_rate,wrong_book_size,strategy,artifact,valid,failed_check,seconds,seed";
const ROW: &str = "0.1,0,0.5,3,direct,ab12,true,,1.250,7";

/// Appends one round to a file with the given text, and compares what is there then.
#[track_caller]
fn check_csv(before: Option<&str>, after: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rounds.csv");
    if let Some(before) = before {
        std::fs::write(&path, before).unwrap();
    }
    CsvLog::open(&path).unwrap().append(&round(&[1.0, -1.0])).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().collect::<Vec<_>>(), after);
    assert!(text.ends_with('\n'));
}

#[test]
fn a_new_or_empty_csv_file_gets_the_header_once() {
    let first = format!("1,{ROW}");
    check_csv(None, &[HEADER, &first]);
    check_csv(Some(""), &[HEADER, &first]);
    let second = format!("2,{ROW}");
    check_csv(Some(&format!("{HEADER}\n{first}\n")), &[HEADER, &first, &second]);
}

#[test]
fn a_half_line_of_a_crash_spoils_no_other_line() {
    let second = format!("2,{ROW}");
    check_csv(Some(&format!("{HEADER}\n1,0.1,0")), &[HEADER, "1,0.1,0", &second]);
    let first = format!("1,{ROW}");
    check_csv(Some("step,inj"), &[HEADER, &first]);
    check_csv(Some(HEADER), &[HEADER, &first]);
}

#[test]
fn an_invalid_round_leaves_its_cells_empty() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rounds.csv");
    let invalid = PlayedRound {
        valid: false,
        failed_check: Some(Check::InverseMutation),
        inject_reward: -1.0,
        solve_rate: None,
        ..round(&[])
    };
    CsvLog::open(&path).unwrap().append(&invalid).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().nth(1), Some("1,-1,,,3,direct,ab12,false,inverse_mutation,1.250,7"));
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
