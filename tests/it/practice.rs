//! Practice: a person at a bug of their own code, round by round.
#![allow(clippy::disallowed_methods, reason = "the binary is a process")]

use crate::cases::Home;
use crate::jobs::{answer, ended};
use crate::mcp::Client;
use crate::plays::Shop;
use crate::untouched::{assert_untouched, snapshot};
use serde_json::{Value, json};
use ssr_mcp::artifact::{Artifact, Part};
use ssr_mcp::diff::Patch;
use ssr_mcp::sandbox::Cancel;
use ssr_mcp::session::{
    ArtifactRef, Document, Error, Event, Job, PracticeAnswer, PracticeCheckAnswer, PracticePick,
    PracticeRaceRequest, PracticeRef, PracticeRunRequest, PracticeStartRequest, Repository,
    RunTestsRequest, Session,
};
use ssr_mcp::store;
use ssr_mcp::tree::{Changes, File, RelPath};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};

const PRICE: &str = "shop/price.py";
const TESTS: &str = "tests/test_price.py";
/// What the shop's bug took away.
const REPAIR: (&str, &str) = ("(cents * percent)", "(cents * percent + 50)");

fn job() -> Job {
    Job::new(Cancel::new(), |_| {})
}

fn pick(shop: &Shop) -> PracticePick {
    PracticePick::Artifact(ArtifactRef::Inline(shop.artifact().to_json()))
}

fn try_start(
    session: &Session,
    pick: PracticePick,
    another: bool,
) -> Result<PracticeAnswer, Error> {
    let request = PracticeStartRequest { repository: Repository::default(), pick, another };
    session.practice_start(&request, &job())
}

#[track_caller]
fn start(shop: &Shop, session: &Session) -> PracticeAnswer {
    try_start(session, pick(shop), false).unwrap()
}

fn open() -> PracticeRef {
    PracticeRef::default()
}

#[track_caller]
fn check(session: &Session) -> PracticeCheckAnswer {
    session.practice_check(&open(), &job()).unwrap()
}

#[track_caller]
fn edit(tree: &str, path: &str, (old, new): (&str, &str)) {
    let path = Path::new(tree).join(path);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{}: {old}", path.display());
    fs::write(&path, text.replacen(old, new, 1)).unwrap();
}

fn run(home: &Home, arguments: &[&str]) -> (Output, Value) {
    let output = home.binary().arg("practice").args(arguments).arg("--json").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = serde_json::from_str(text.lines().last().unwrap_or_default());
    (output, answer.unwrap_or_default())
}

/// Files of `one` that `other` has otherwise.
fn differing(one: &Path, other: &Path, below: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(one.join(below))
        .unwrap()
        .map(|entry| Path::new(below).join(entry.unwrap().file_name()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .filter(|path| fs::read(one.join(path)).unwrap() != fs::read(other.join(path)).unwrap())
        .collect();
    files.sort();
    files
}

#[test]
fn a_round_on_an_example_goes_from_a_failing_run_to_a_graded_repair() {
    let home = Home::new();
    home.copy_example("ledger");
    let repo = home.root().join("repo");
    let before = snapshot(&repo);
    let (output, round) = run(&home, &["start", "--strategy", "direct", "--seed", "3"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let tree = PathBuf::from(round["tree"].as_str().unwrap());
    assert!(tree.ends_with("repo") && tree.starts_with(home.root().join("home")), "{tree:?}");
    assert!(!tree.join(".git").exists());
    let bugs = differing(&repo, &tree, "ledger");
    assert!(!bugs.is_empty() && !differing(&repo, &tree, "tests").is_empty());
    let told = String::from_utf8_lossy(&output.stderr).into_owned() + &round.to_string();
    for bug in &bugs {
        assert!(!told.contains(bug.to_str().unwrap()), "{bug:?} is told: {told}");
    }
    assert!(!round["broken"].as_array().unwrap().is_empty(), "{round}");

    let (output, ran) = run(&home, &["run"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!ran["failing"].as_array().unwrap().is_empty(), "{ran}");
    assert!(ran["log"].as_str().unwrap().contains(tree.to_str().unwrap()), "{ran}");
    let (output, _) = run(&home, &["reveal"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let (_, hint) = run(&home, &["hint"]);
    let told = hint["hint"]["text"].as_str().unwrap();
    assert!(told.contains(bugs[0].to_str().unwrap()), "{hint}");

    let (output, _) = run(&home, &["check"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    for bug in &bugs {
        fs::copy(repo.join(bug), tree.join(bug)).unwrap();
    }
    assert_eq!(run(&home, &["run"]).0.status.code(), Some(0));
    let (output, checked) = run(&home, &["check"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!((&checked["solved"], &checked["score"]), (&true.into(), &0.8.into()), "{checked}");
    assert!(checked["rating"]["deviation"].as_f64() < Some(350.0), "{checked}");

    let (output, revealed) = run(&home, &["reveal"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(revealed["diff"].as_str().unwrap().contains("+++ b/ledger/"), "{revealed}");
    assert!(revealed["explanation"].as_str().unwrap().contains("In ledger/"), "{revealed}");
    assert_eq!(revealed["players"][0]["player"], "person");
    let (_, stats) = run(&home, &["stats"]);
    assert_eq!((&stats["solved"], &stats["hints"]), (&1.into(), &1.into()), "{stats}");
    assert_eq!(stats["series"].as_array().unwrap().len(), 1, "{stats}");
    let shown = home.binary().args(["practice", "stats"]).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains('●'), "{shown:?}");
    assert_untouched(&before, &repo);
}

#[test]
fn an_agent_leads_a_person_through_a_round_over_mcp() {
    let shop = Shop::new();
    let mut client = Client::ready(&shop.home);
    let call = json!({ "strategy": "direct", "seed": 5 });
    let begun = answer(&mut client, "practice_start", &call);
    let job = begun["job"].as_str().unwrap().to_owned();
    let told = ended(&mut client, &job);
    let round = &told["result"];
    assert_eq!(round["state"], "open", "{told}");
    let tree = Path::new(round["tree"].as_str().unwrap());
    let bugs = differing(&shop.repo(), tree, "shop");
    for bug in &bugs {
        assert!(!told.to_string().contains(bug.to_str().unwrap()), "{told}");
    }

    let ran = answer(&mut client, "practice_run", &json!({ "wait_s": 50 }));
    assert_eq!(ran["result"]["green"], false, "{ran}");
    let hint = answer(&mut client, "practice_hint", &json!({}));
    assert_eq!(hint["hint"]["file"], bugs[0].to_str().unwrap(), "{hint}");
    let refused = client.tool("practice_reveal", &json!({}));
    assert_eq!(refused["isError"], true, "{refused}");
    for bug in &bugs {
        fs::copy(shop.repo().join(bug), tree.join(bug)).unwrap();
    }
    let checked = answer(&mut client, "practice_check", &json!({ "wait_s": 50 }));
    assert_eq!(checked["result"]["solved"], true, "{checked}");
    let revealed = answer(&mut client, "practice_reveal", &json!({}));
    assert!(revealed["diff"].as_str().unwrap().contains(bugs[0].to_str().unwrap()), "{revealed}");
    let stats = answer(&mut client, "practice_status", &json!({ "about": "stats" }));
    assert_eq!((&stats["stats"]["solved"], &stats["round"]), (&1.into(), &Value::Null), "{stats}");
}

#[test]
fn who_edits_the_tests_instead_is_told_that_they_were_set_back() {
    let shop = Shop::new();
    let session = shop.session();
    let round = start(&shop, &session);
    assert_eq!(check(&session).code, "no_patch");
    let tests = Path::new(&round.tree).join(TESTS);
    fs::write(&tests, "import unittest\n").unwrap();
    fs::write(Path::new(&round.tree).join("conftest.py"), "").unwrap();
    fs::write(Path::new(&round.tree).join("shop/stock.py"), "# nothing\n").unwrap();
    let answer = check(&session);
    assert!(!answer.solved && answer.score.is_none(), "{answer:?}");
    let named = answer.restored.join("\n");
    assert!(named.contains(&format!("{TESTS}: a listed test file")), "{answer:?}");
    assert!(named.contains("conftest.py: which sways the tests"), "{answer:?}");
    // The attempt is kept as the person's.
    let kept = shop.store().attempts(&round.artifact).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].player.as_deref(), kept[0].solved), (Some("person"), false));

    let original = fs::read(shop.repo().join("shop/stock.py")).unwrap();
    fs::write(Path::new(&round.tree).join("shop/stock.py"), original).unwrap();
    edit(&round.tree, PRICE, REPAIR);
    let answer = check(&session);
    assert!(answer.solved && answer.score == Some(1.0) && answer.rated, "{answer:?}");
    assert!(answer.rating.rating > 1500.0, "{answer:?}");
    // What was handed in holds the tests' edits, too: it is what the judge set back.
    assert!(answer.patch.contains(TESTS), "{answer:?}");
    let error = session.practice_check(&open(), &job()).unwrap_err().to_string();
    assert!(error.contains("no round of practice is open"), "{error}");
}

#[test]
fn giving_up_tells_the_bug_and_brings_its_family_back() {
    let shop = Shop::new();
    let session = shop.session();
    let round = start(&shop, &session);
    let error = session.practice_reveal(&open()).unwrap_err().to_string();
    assert!(error.contains("the round is open"), "{error}");
    // Nobody reads the answer elsewhere meanwhile.
    let part = Document::Part(round.artifact.clone(), Part::BugInject);
    let read = session.document(&Repository::default(), &part);
    assert!(read.is_err(), "the bug of an open round was shown");

    let told = session.practice_give_up(&open()).unwrap();
    assert_eq!((told.state.as_str(), told.score), ("given_up", 0.0));
    assert_eq!(told.places.len(), 1);
    let place = &told.places[0];
    assert_eq!((place.file.as_str(), place.function.as_deref()), (PRICE, Some("with_tax")));
    assert!(told.explanation.contains("In shop/price.py, in with_tax, line"), "{told:?}");
    assert!(told.rating.rating < 1500.0 && told.bug_rating.rating > 1500.0, "{told:?}");
    let listed = session.practice_list(&Repository::default()).unwrap();
    assert_eq!((listed.due.len(), listed.due[0].step), (1, 1));
    assert_eq!(listed.due[0].family, told.families[0]);
    assert!((86_000..=86_400).contains(&listed.due[0].due_in), "{listed:?}");

    // Who knows the bug proves nothing by repairing it.
    let again = start(&shop, &session);
    edit(&again.tree, PRICE, REPAIR);
    let answer = check(&session);
    assert!(answer.solved && !answer.rated, "{answer:?}");
    assert!((answer.rating.rating - told.rating.rating).abs() < f64::EPSILON, "{answer:?}");
    let stats = session.practice_stats(&Repository::default()).unwrap();
    assert_eq!((stats.solved, stats.given_up, stats.series.len()), (1, 1, 1));
}

#[test]
fn a_round_outlives_its_process_its_tree_and_the_repository_s_next_change() {
    let shop = Shop::new();
    let round = start(&shop, &shop.session());
    let session = shop.session();
    session.practice_hint(&open()).unwrap();
    edit(&round.tree, PRICE, ("(cents * percent)", "(cents * percent + 49)"));
    let shown = shop.session().practice_show(&open()).unwrap();
    assert_eq!((shown.practice.as_str(), shown.hints.len()), (round.practice.as_str(), 1));
    assert_eq!(shown.changed, [PRICE]);
    assert_eq!(shown.tree, round.tree);

    fs::remove_dir_all(&round.tree).unwrap();
    let shown = session.practice_show(&open()).unwrap();
    assert!(shown.changed.is_empty() && Path::new(&shown.tree).join(PRICE).is_file());

    let own = shop.repo().join(PRICE);
    let text = fs::read_to_string(&own).unwrap();
    fs::write(&own, format!("{text}\n\ndef new():\n    return 1\n")).unwrap();
    // More copies than are kept for their own sake.
    let all = RunTestsRequest { repository: Repository::default(), file: None };
    for change in 0..6 {
        fs::write(shop.repo().join("shop/notes.py"), format!("# {change}\n")).unwrap();
        shop.session().run_tests(&all, &job()).unwrap();
    }
    let before = snapshot(&shop.repo());
    edit(&round.tree, PRICE, REPAIR);
    let answer = check(&shop.session());
    assert!(answer.solved, "{answer:?}");
    assert!((answer.score.unwrap() - 0.8).abs() < f64::EPSILON, "{answer:?}");
    assert_untouched(&before, &shop.repo());
}

#[test]
fn a_prune_keeps_what_an_open_round_needs_and_takes_the_tree_of_one_that_is_over() {
    let shop = Shop::new();
    let round = start(&shop, &shop.session());
    edit(&round.tree, PRICE, REPAIR);
    fs::write(shop.repo().join("shop/notes.py"), "# changed meanwhile\n").unwrap();
    let pruned = shop.session().prune(0).unwrap();
    assert_eq!((pruned.practice_trees, pruned.within), (0, false));
    let answer = check(&shop.session());
    assert!(answer.solved, "{answer:?}");
    let pruned = shop.session().prune(0).unwrap();
    assert_eq!(pruned.practice_trees, 1);
    assert!(!Path::new(&round.tree).exists());
    assert!(!shop.session().practice_reveal(&open()).unwrap().diff.is_empty());
}

#[test]
fn two_processes_take_turns_and_only_one_round_is_open_unless_another_is_asked_for() {
    let shop = Shop::new();
    let (one, other) = (shop.session(), shop.session());
    let round = start(&shop, &one);
    let error = try_start(&other, pick(&shop), false).unwrap_err().to_string();
    assert!(error.contains(&round.practice[..8]) && error.contains("--another"), "{error}");
    let second = try_start(&other, pick(&shop), true).unwrap();
    assert_ne!(second.practice, round.practice);
    // Each is named by the beginning of its id; the one that was begun last where none is named.
    assert_eq!(one.practice_show(&open()).unwrap().practice, second.practice);
    let first = PracticeRef { id: Some(round.practice[..8].to_owned()), ..open() };
    assert_eq!(other.practice_show(&first).unwrap().practice, round.practice);
    let rungs: Vec<String> = [&one, &other, &one, &other]
        .map(|session| session.practice_hint(&first).unwrap().hint.rung)
        .to_vec();
    assert_eq!(rungs, ["file", "function", "line", "family"]);
    let error = one.practice_hint(&first).unwrap_err().to_string();
    assert!(error.contains("all hints are used"), "{error}");
    other.practice_give_up(&first).unwrap();
    assert!(one.practice_give_up(&first).unwrap_err().to_string().contains("is over"));
}

#[test]
fn nothing_in_a_practice_tree_tells_what_was_changed_and_its_clutter_is_no_repair() {
    let shop = Shop::new();
    let outside = shop.home.root().join("outside");
    fs::write(&outside, "secret\n").unwrap();
    symlink(shop.repo().join(PRICE), shop.repo().join("link.py")).unwrap();
    symlink(&outside, shop.repo().join("away.txt")).unwrap();
    let session = shop.session();
    let round = start(&shop, &session);
    let tree = Path::new(&round.tree);
    let mut times = std::collections::BTreeSet::new();
    for path in [PRICE, TESTS, "shop/stock.py", "shop", "tests", "", "link.py"] {
        let found = tree.join(path).symlink_metadata().unwrap();
        times.insert((found.mtime(), found.mtime_nsec()));
        assert!(found.is_dir() || found.nlink() == 1, "{path}");
    }
    assert_eq!(times.len(), 1, "{times:?}");
    // One that leads out of the repository is no part of any copy.
    assert!(tree.join("away.txt").symlink_metadata().is_err());
    // A link into the repository leads into the practice tree: who writes through it harms nothing.
    assert_eq!(fs::read_link(tree.join("link.py")).unwrap(), tree.join(PRICE));

    fs::create_dir_all(tree.join("shop/__pycache__")).unwrap();
    fs::write(tree.join("shop/__pycache__/price.cpython-311.pyc"), "x").unwrap();
    fs::create_dir_all(tree.join(".git/objects")).unwrap();
    fs::write(tree.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    symlink(&outside, tree.join("shop/new.py")).unwrap();
    fs::File::create(tree.join("shop/huge.py")).unwrap().set_len(17 << 20).unwrap();
    edit(&round.tree, PRICE, REPAIR);
    let shown = session.practice_show(&open()).unwrap();
    assert_eq!(shown.changed, [PRICE]);
    let left_out = shown.left_out.join("\n");
    let expect = [
        ".git: version control",
        "shop/__pycache__: a product of work in the tree",
        "shop/huge.py: a file too large to list: 17825792 bytes",
        "shop/new.py: a symbolic link",
    ];
    for line in expect {
        assert!(left_out.contains(line), "{left_out}");
    }
    let answer = check(&session);
    assert!(answer.solved && !answer.patch.contains("huge"), "{answer:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret\n");
}

#[test]
fn what_is_not_proven_or_not_stable_is_not_practised_on() {
    let shop = Shop::new();
    let session = shop.session();
    // An edit that changes nothing: no test fails.
    let text = fs::read_to_string(shop.repo().join(PRICE)).unwrap();
    let file = |text: String| -> Changes {
        [(RelPath::parse(PRICE.as_bytes()).unwrap(), Some(File::plain(text.into_bytes())))]
            .into_iter()
            .collect()
    };
    let comment = file(text.replace("best = None", "best = None  # none"));
    let bug_inject = Patch::between(&file(text), &comment).to_bytes();
    let artifact = Artifact { bug_inject, ..shop.artifact() };
    let equivalent = PracticePick::Artifact(ArtifactRef::Inline(artifact.to_json()));
    let error = try_start(&session, equivalent, false).unwrap_err().to_string();
    assert!(error.contains("it is not proven: the check"), "{error}");

    // As if its checks had found another test to fail.
    let artifact = shop.artifact();
    let base = session.status(&Repository::default()).unwrap().base;
    let files = artifact.to_files();
    let row = store::Artifact {
        id: artifact.id(),
        bug_inject: files["bug_inject.diff"].clone(),
        test_weaken: files["test_weaken.diff"].clone(),
        test_script: files["test_script.sh"].clone(),
        test_parser: files["test_parser.py"].clone(),
        test_files: files["test_files.txt"].clone(),
        strategy: "direct".to_owned(),
        seed: 1,
        base,
        tree_digest: "a tree".to_owned(),
        created: 1,
        valid: true,
        failed_check: None,
        report: r#"{"fail_to_pass": ["tests/test_price.py::PriceTest::test_other"]}"#.to_owned(),
        bug_order: 1,
        parent: None,
    };
    shop.store().save_artifact(&row).unwrap();
    let error = try_start(&session, PracticePick::Next, false).unwrap_err().to_string();
    assert!(error.contains("it is unstable: the bug made"), "{error}");
    assert!(session.practice_show(&open()).is_err());
}

#[test]
fn the_embedded_solver_races_without_telling_the_bug() {
    let shop = Shop::new();
    let session = shop.session();
    let round = start(&shop, &session);
    let told = Arc::new(Mutex::new(String::new()));
    let hears = Arc::clone(&told);
    let listener = move |event: Event| hears.lock().unwrap().push_str(&event.to_string());
    let request =
        PracticeRaceRequest { practice: open(), attempts: 2, runs: Some(40), seed: Some(1) };
    let answer = session.practice_race(&request, &Job::new(Cancel::new(), listener)).unwrap();
    assert_eq!(answer.attempts.len(), 2);
    assert!(answer.attempts.iter().all(|attempt| attempt.patch.is_empty()), "{answer:?}");
    assert!(!told.lock().unwrap().contains("price"), "{told:?}");
    let players: Vec<&str> = answer.players.iter().map(|line| line.player.as_str()).collect();
    assert_eq!(players, ["embedded solver"]);

    edit(&round.tree, PRICE, REPAIR);
    assert!(check(&session).solved);
    let revealed = session.practice_reveal(&open()).unwrap();
    let players: Vec<&str> = revealed.players.iter().map(|line| line.player.as_str()).collect();
    assert_eq!(players, ["person", "embedded solver"]);
    assert!(revealed.players[0].text.starts_with("you: solved in"), "{revealed:?}");
    let stats = session.practice_stats(&Repository::default()).unwrap();
    let rated: Vec<_> =
        stats.players.iter().map(|line| (&*line.player, line.rating.games)).collect();
    assert_eq!(rated, [("embedded solver", 1), ("person", 1)]);
}

#[test]
fn the_weakened_tests_pass_with_the_bug_and_the_person_s_own_tests_run() {
    let shop = Shop::new();
    let session = shop.session();
    let round = start(&shop, &session);
    let ran = |weakened| {
        let request = PracticeRunRequest { practice: open(), weakened };
        session.practice_run(&request, &job()).unwrap()
    };
    assert!(ran(true).green);
    let answer = ran(false);
    assert!(!answer.green && answer.failing.len() == 1, "{answer:?}");
    assert_eq!(answer.verdicts[0].test, answer.failing[0]);
    edit(&round.tree, TESTS, ("class ", "print('mine')\n\n\nclass "));
    let answer = ran(false);
    assert!(answer.green && answer.tests.contains(TESTS), "{answer:?}");
}

#[test]
fn a_killed_start_leaves_nothing_in_the_way_of_the_next() {
    let shop = Shop::new();
    for (name, content) in shop.artifact().to_files() {
        let text = String::from_utf8(content).unwrap();
        shop.home.write(&format!("bug/{name}"), &text);
    }
    let begun = |at: &str| {
        let mut command = shop.home.binary();
        command.args(["practice", "start", "../bug"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let told = BufReader::new(child.stderr.take().unwrap());
        assert!(told.lines().map_while(Result::ok).any(|line| line.contains(at)), "{at}");
        child.kill().unwrap();
        child.wait().unwrap();
    };
    begun("checking the artifact");
    begun("looking whether the bug is stable");
    let (output, round) = run(&shop.home, &["start", "../bug"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // As if it had been killed between its row and its tree.
    let tree = PathBuf::from(round["tree"].as_str().unwrap());
    fs::remove_dir_all(&tree).unwrap();
    fs::create_dir(tree.with_file_name(".repo.999999999.tmp")).unwrap();
    let (output, shown) = run(&shop.home, &["show"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(tree.join(PRICE).is_file() && shown["practice"] == round["practice"], "{shown}");
    assert_eq!(fs::read_dir(tree.parent().unwrap()).unwrap().count(), 1);
}
