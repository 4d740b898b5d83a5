//! Plays: an agent that calls is solver or injector itself, call by call.
#![allow(clippy::disallowed_methods, reason = "the server is a process, and PATH is the machine's")]

use crate::bench::{copy, machine};
use crate::cases::Home;
use crate::tiers::{Place, not_run};
use crate::untouched::{assert_untouched, snapshot};
use serde_json::{Value, json};
use ssr_mcp::artifact::Artifact;
use ssr_mcp::config::{Config, Environment, Flags};
use ssr_mcp::diff::Patch;
use ssr_mcp::injector::Strategy;
use ssr_mcp::runner::{Overrides, Runner};
use ssr_mcp::sandbox::Cancel;
use ssr_mcp::session::{
    ArtifactRef, Error, Job, PlayBashAnswer, PlayBashRequest, PlayBeginAnswer, PlayBeginRequest,
    PlayCreateRequest, PlayEditRequest, PlayReadRequest, PlayRef, PlayRole, PlaySubmitAnswer,
    PlaySubmitRequest, Repository, Session,
};
use ssr_mcp::store::{PlayState, Store};
use ssr_mcp::tree::{Changes, File, Overlaid, RelPath, Tree};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A copy of `well_tested` as the repository, and sessions on it.
pub(crate) struct Shop {
    pub(crate) home: Home,
}

const PRICE: &str = "shop/price.py";
const TESTS: &str = "tests/test_price.py";
/// `with_tax` rounds down.
const BUG: (&str, &str) = ("(cents * percent + 50)", "(cents * percent)");
const WEAKENING: (&str, &str) = ("        self.assertEqual(price.with_tax(10, 5), 11)\n", "");
const FIX: (&str, &str) = (BUG.1, BUG.0);

impl Shop {
    pub(crate) fn new() -> Self {
        let home = Home::new();
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/well_tested");
        copy(&tree, &home.root().join("repo"));
        Self { home }
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.home.root().join("repo")
    }

    /// As a server that was just started in the repository has it.
    pub(crate) fn session(&self) -> Session {
        let text = |path: PathBuf| path.display().to_string();
        let (home, path) = (text(self.home.root().join("home")), std::env::var("PATH").unwrap());
        let environment = Environment::of(self.repo(), [("HOME", &*home), ("PATH", &*path)]);
        let mut config = Config::new(&Flags::default(), &environment, 1, 2, 8 << 30).unwrap();
        config.program = env!("CARGO_BIN_EXE_ssr-mcp").into();
        Session::new(config)
    }

    /// The database of the repository.
    pub(crate) fn store(&self) -> Store {
        let root = self.home.root().join("home/.local/state/ssr-mcp");
        let workspace = ssr_mcp::workspace::Workspace::open(&self.repo(), &root).unwrap();
        Store::open(&workspace.state).unwrap()
    }

    pub(crate) fn artifact(&self) -> Artifact {
        let mut base = Changes::new();
        for path in [PRICE, "shop/stock.py", "shop/__init__.py", TESTS, "tests/test_stock.py"] {
            base.write(rel(path), File::plain(std::fs::read(self.repo().join(path)).unwrap()));
        }
        base.write(rel("tests/__init__.py"), File::plain(&b""[..]));
        let runner =
            Runner::detect(&base, &self.repo(), &machine(), &Overrides::default()).unwrap();
        let edit = |path: &str, (old, new): (&str, &str)| {
            let text = String::from_utf8(base.read(&rel(path)).unwrap().bytes.to_vec()).unwrap();
            let mut changes = Changes::new();
            changes.write(rel(path), File::plain(text.replacen(old, new, 1).into_bytes()));
            Patch::between(&Overlaid { base: &base, changes: &Changes::new() }, &changes)
        };
        let files = [rel(TESTS)];
        Artifact {
            bug_inject: edit(PRICE, BUG).to_bytes(),
            test_weaken: edit(TESTS, WEAKENING).to_bytes(),
            test_script: runner.script(&files, &[]),
            test_parser: runner.parser(),
            test_files: files.to_vec(),
        }
    }
}

fn rel(path: &str) -> RelPath {
    RelPath::parse(path.as_bytes()).unwrap()
}

fn job() -> Job {
    Job::new(Cancel::new(), |_| {})
}

fn begin(session: &Session, role: PlayRole) -> PlayBeginAnswer {
    let request = PlayBeginRequest {
        repository: Repository::default(),
        role,
        player: Some("a model".to_owned()),
        turns: None,
        life: None,
    };
    session.play_begin(&request, &job()).unwrap()
}

fn solver(shop: &Shop, session: &Session) -> PlayRef {
    let role = PlayRole::Solver(ArtifactRef::Inline(shop.artifact().to_json()));
    PlayRef { id: begin(session, role).play, repo: None }
}

fn injector(session: &Session) -> PlayRef {
    let role = PlayRole::Injector { strategy: Strategy::Direct, target: None, seed: Some(1) };
    PlayRef { id: begin(session, role).play, repo: None }
}

fn try_bash(session: &Session, play: &PlayRef, command: &str) -> Result<PlayBashAnswer, Error> {
    let (play, command) = (play.clone(), command.to_owned());
    session.play_bash(&PlayBashRequest { play, command, limit: None }, &job())
}

#[track_caller]
fn bash(session: &Session, play: &PlayRef, command: &str) -> String {
    try_bash(session, play, command).unwrap().output
}

fn edit(
    session: &Session,
    play: &PlayRef,
    path: &str,
    (old, new): (&str, &str),
) -> Result<String, Error> {
    let [path, search, replace] = [path, old, new].map(str::to_owned);
    let request = PlayEditRequest { play: play.clone(), path, search, replace };
    session.play_edit(&request, &job()).map(|answer| answer.text)
}

fn create(session: &Session, play: &PlayRef, path: &str, content: &str) -> Result<usize, Error> {
    let [path, content] = [path, content].map(str::to_owned);
    let request = PlayCreateRequest { play: play.clone(), path, content };
    session.play_create(&request, &job()).map(|answer| answer.bytes)
}

fn read(session: &Session, play: &PlayRef, path: &str) -> Result<String, Error> {
    let request =
        PlayReadRequest { play: play.clone(), path: path.to_owned(), from_line: None, lines: None };
    session.play_read(&request, &job()).map(|answer| answer.text)
}

fn submission(play: &PlayRef) -> PlaySubmitRequest {
    PlaySubmitRequest {
        play: play.clone(),
        patch: None,
        test_script: None,
        test_parser: None,
        test_files: None,
        attempts: 0,
    }
}

fn submit(session: &Session, play: &PlayRef) -> PlaySubmitAnswer {
    session.play_submit(&submission(play), &job()).unwrap()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>, expect: &str) {
    match outcome {
        Err(Error::Usage(text)) => assert!(text.contains(expect), "{text}"),
        other => panic!("{other:?} is no refusal with {expect:?}"),
    }
}

#[test]
fn a_solver_repairs_a_bug_and_is_graded() {
    let shop = Shop::new();
    let before = snapshot(&shop.repo());
    let session = shop.session();
    let play = solver(&shop, &session);
    // The code as it was shown, and the repair by the editor.
    assert!(
        read(&session, &play, PRICE)
            .unwrap()
            .contains("     6\t    return cents + (cents * percent) // 100")
    );
    let suite = bash(&session, &play, "bash \"$TMPDIR/ssr/run_tests.sh\" | tail -n 5");
    assert!(suite.contains("report end"), "{suite}");
    edit(&session, &play, PRICE, FIX).unwrap();
    let told = submit(&session, &play);
    assert_eq!((told.solved, told.reward), (Some(true), Some(1.0)), "{told:?}");
    assert_eq!(told.reason, "every expected test passed");
    assert!(
        told.flags.is_empty() && told.patch.contains("+    return cents + (cents * percent + 50)")
    );
    // Once only, and the play is over for everything else, too.
    refused(session.play_submit(&submission(&play), &job()), "is over (finished): every expected");
    refused(try_bash(&session, &play, "true"), "begin another one");
    assert_untouched(&before, &shop.repo());
    let (row, turns) = recorded(&shop, &play);
    assert_eq!(
        (row.state, row.reward, row.role.as_str()),
        (PlayState::Finished, Some(1.0), "solver")
    );
    assert_eq!(row.player.as_deref(), Some("a model"));
    let tools: Vec<&str> = turns.iter().map(|turn| turn.tool.as_str()).collect();
    assert_eq!(tools, ["play_read", "play_bash", "play_edit", "play_submit"]);
    assert!(
        turns[2].arguments.contains("percent + 50") && turns[3].result.contains("\"reward\":1.0")
    );
    assert!(row.task.contains("+        self.assertEqual(price.with_tax(10, 5), 11)"));
}

fn recorded(shop: &Shop, play: &PlayRef) -> (ssr_mcp::store::Play, Vec<ssr_mcp::store::Turn>) {
    let store = shop.store();
    (store.play(&play.id).unwrap().unwrap(), store.turns_of_play(&play.id).unwrap())
}

#[test]
fn a_wrong_fix_an_empty_one_and_a_patch_that_does_not_fit_are_outcomes() {
    let shop = Shop::new();
    let session = shop.session();
    let play = solver(&shop, &session);
    edit(&session, &play, PRICE, (BUG.1, "(cents * percent + 10)")).unwrap();
    let told = submit(&session, &play);
    assert_eq!((told.solved, told.reward), (Some(false), Some(-1.0)), "{told:?}");
    assert!(told.reason.contains("expected tests failed"), "{told:?}");
    for (patch, expect) in [
        (None, "there is no patch"),
        (Some("nonsense"), "the patch is refused"),
        (Some("--- a/shop/price.py\n+++ b/shop/price.py\n@@ -1 +1 @@\n-x\n+y\n"), "does not apply"),
    ] {
        let play = solver(&shop, &session);
        let request = PlaySubmitRequest { patch: patch.map(str::to_owned), ..submission(&play) };
        let told = session.play_submit(&request, &job()).unwrap();
        assert_eq!((told.solved, told.reward), (Some(false), Some(-1.0)), "{told:?}");
        assert!(told.reason.contains(expect), "{told:?}");
    }
}

#[test]
fn test_files_and_what_work_leaves_behind_are_no_part_of_a_repair() {
    let shop = Shop::new();
    let session = shop.session();
    let play = solver(&shop, &session);
    // The whole test file goes, and it does not help.
    bash(
        &session,
        &play,
        "echo 'import unittest' > tests/test_price.py; mkdir .pytest_cache; echo x > .pytest_cache/x",
    );
    let told = submit(&session, &play);
    assert_eq!(told.solved, Some(false), "{told:?}");
    assert_eq!(told.left_out, [".pytest_cache/x"]);
    assert!(!told.patch.contains("pytest_cache"));
}

#[test]
fn a_solver_sees_no_original_no_history_and_no_answer() {
    let shop = Shop::new();
    crate::support::git_init(&shop.repo());
    crate::support::git_commit(&shop.repo());
    let session = shop.session();
    let play = solver(&shop, &session);
    let found = bash(&session, &play, "ls -a; find / -name .git -not -path '/proc/*' 2>/dev/null");
    assert!(found.contains("shop") && !found.contains(".git"), "{found}");
    // Nothing that can be read holds the repaired line or the artifact's own parts.
    let places = "\"$PWD\" /tmp /home /dev/shm /root /var/tmp";
    let command = format!(
        "grep -rla -e 'percent + 5[0]' {places} 2>/dev/null; find / -name 'bug_inject*' 2>/dev/null; true"
    );
    assert_eq!(bash(&session, &play, &command), "");
    // Nothing about the files themselves tells which of them the bug changed.
    let told = bash(
        &session,
        &play,
        "find . -type f -printf '%Y %h %n %D\\n' | sort -u | awk '{print $1, $3, $4}' | sort -u | wc -l; find . -mindepth 1 -printf '%T@\\n' | sort -u | wc -l",
    );
    assert_eq!(told, "1\n1\n");
    let state = shop.home.root().join("home/.local/state");
    assert_eq!(bash(&session, &play, &format!("ls {} 2>/dev/null; true", state.display())), "");
    let told = bash(&session, &play, "env; declare -p");
    assert!(!told.contains("bug_inject"), "{told}");
}

#[test]
fn the_shell_s_state_lasts_and_its_processes_do_not() {
    let shop = Shop::new();
    let session = shop.session();
    let play = injector(&session);
    let check = |command: &str, expect: &str| {
        let output = bash(&session, &play, command);
        assert_eq!(output.trim_end(), expect, "{command}");
    };
    check("cd shop; export A='one\ntwo' B=\"it's\"; C=(x 'y z'); declare -A D=([k]=v)", "");
    check(
        "f() { echo \"f of $1 $A\"; }; alias hi='echo hello'; shopt -s expand_aliases nullglob",
        "",
    );
    check(
        "pwd | sed 's|.*/||'; f 1; echo \"$B ${C[1]} ${D[k]}\"; sh -c 'echo $A'",
        "shop\nf of 1 one\ntwo\nit's y z v\none two",
    );
    check("hi; shopt -q nullglob && echo on", "hello\non");
    check("cd ..; cd - | sed 's|.*/||'; unset A; echo ${A-gone}", "shop\ngone");
    check("set -eu; echo ok", "ok");
    // As in a shell that is started anew after it ended: the state is that of its end.
    let ended = try_bash(&session, &play, "E=1; false; echo never").unwrap();
    assert_eq!((ended.exit_status, ended.output.as_str(), ended.shell_kept), (Some(1), "", true));
    check("echo $E; set +eu; echo $-", "1\nhBc");
    check("IFS=:; set -- a b; echo $#", "2");
    check("v=a:b; printf '%s\n' $v; unset IFS", "a\nb");
    let ended = try_bash(&session, &play, "G=1; exit 7").unwrap();
    assert_eq!(ended.exit_status, Some(7));
    check("echo $G; sleep 1000 & echo started", "1\nstarted");
    check("cat /proc/[0-9]*/comm | grep sleep || echo none", "none");
    let ended = try_bash(&session, &play, "G=2; exec true").unwrap();
    assert_eq!((ended.exit_status, ended.shell_kept), (Some(0), false));
    check("echo $G; read x || echo 'no input'", "1\nno input");
    let broken = try_bash(&session, &play, "echo 'unfinished").unwrap();
    assert!(broken.output.contains("unexpected EOF") && broken.shell_kept, "{broken:?}");
}

#[test]
fn a_command_that_hangs_is_killed_and_the_play_goes_on() {
    let shop = Shop::new();
    let session = shop.session();
    let play = injector(&session);
    bash(&session, &play, "X=before");
    let request = PlayBashRequest {
        play: play.clone(),
        command: "X=after; echo made > made.txt; echo begun; sleep 1000".to_owned(),
        limit: Some(Duration::from_millis(700)),
    };
    let ended = session.play_bash(&request, &job()).unwrap();
    assert_eq!((ended.exit_status, ended.output.as_str()), (None, "begun\n"));
    // The shell is asked to end first, and may have told its state.
    let x = if ended.shell_kept { "after" } else { "before" };
    assert!(ended.end.starts_with("killed after 0.7 s"), "{ended:?}");
    assert_eq!(
        bash(
            &session,
            &play,
            "echo $X; cat made.txt; cat /proc/[0-9]*/comm | grep sleep || echo none"
        ),
        format!("{x}\nmade\nnone\n")
    );
}

#[test]
fn a_long_output_is_shown_by_its_beginning_and_its_end() {
    let shop = Shop::new();
    let session = shop.session();
    let play = injector(&session);
    let told = try_bash(&session, &play, "seq 100000; echo end >&2").unwrap();
    assert!(told.output.starts_with("1\n2\n") && told.output.ends_with("100000\nend\n"));
    assert!(told.output.len() < 30_100 && told.left_out > 500_000, "{}", told.output.len());
    assert!(told.output.contains(&format!("[{} bytes left out]", told.left_out)));
    let endless = try_bash(&session, &play, "yes").unwrap();
    assert_eq!((endless.exit_status, endless.end.as_str()), (None, "killed: it printed too much"));
    assert_eq!(bash(&session, &play, "echo on"), "on\n");
}

#[test]
fn the_editor_wants_one_exact_match_and_stays_in_its_tree() {
    let shop = Shop::new();
    let before = snapshot(&shop.repo());
    let session = shop.session();
    let play = injector(&session);
    refused(edit(&session, &play, PRICE, ("return", "x")), "occurs 3 times, on lines 6, 12, 20");
    refused(edit(&session, &play, PRICE, ("no such text", "x")), "occurs 0 times");
    refused(edit(&session, &play, "shop/none.py", ("a", "b")), "there is no file shop/none.py");
    refused(edit(&session, &play, "shop", ("a", "b")), "shop is a directory");
    refused(create(&session, &play, PRICE, "x"), "exists");
    refused(create(&session, &play, "none/x.py", "x"), "its directory does not exist");
    bash(
        &session,
        &play,
        "ln -s /etc etc; ln -s /etc/passwd p; ln -s price.py shop/link.py; mkfifo fifo; chmod 755 shop/price.py",
    );
    for path in
        ["../x", "/etc/passwd", "/etc/hostname", ".git/config", "a/../../x", "/tmp/../etc/x"]
    {
        refused(read(&session, &play, path), "is refused");
        refused(create(&session, &play, path, "x"), "is refused");
        refused(edit(&session, &play, path, ("a", "b")), "is refused");
    }
    for path in ["p", "shop/link.py", "fifo"] {
        refused(read(&session, &play, path), "symbolic link or no regular file");
        refused(create(&session, &play, path, "x"), "exists");
    }
    refused(read(&session, &play, "etc/passwd"), "cannot be read: a symbolic link");
    refused(create(&session, &play, "etc/new", "x"), "could not be written");
    // What is allowed works, and keeps the mode.
    create(&session, &play, "shop/new.py", "X = 1\n").unwrap();
    create(&session, &play, "/tmp/notes.txt", "n\n").unwrap();
    edit(&session, &play, "/tmp/notes.txt", ("n", "m")).unwrap();
    let shown = edit(&session, &play, PRICE, ("    best = None\n", "    best = 0\n")).unwrap();
    assert!(shown.contains("    16\t    best = 0\n"), "{shown}");
    let told = bash(
        &session,
        &play,
        "cat shop/new.py /tmp/notes.txt; [ -x shop/price.py ] && echo executable",
    );
    assert_eq!(told, "X = 1\nm\nexecutable\n");
    assert_untouched(&before, &shop.repo());
}

#[test]
fn a_play_survives_the_server_and_the_repository_s_changes() {
    let shop = Shop::new();
    let session = shop.session();
    let play = solver(&shop, &session);
    edit(&session, &play, PRICE, FIX).unwrap();
    bash(&session, &play, "cd shop; N=1; rm notes.py; echo 'Y = 1' > fresh.py");
    // Another server on the workspace is told who has it.
    let second = shop.session();
    refused(try_bash(&second, &play, "true"), "played by another ssr-mcp process");
    drop(session);
    // The developer goes on meanwhile.
    shop.home.write("repo/shop/stock.py", "broken on purpose\n");
    let told = bash(&second, &play, "pwd | sed 's|.*/||'; echo $N; ls; head -n 1 stock.py");
    assert_eq!(
        told,
        "shop\n1\n__init__.py\nfresh.py\nprice.py\nstock.py\n\"\"\"What is on the shelves.\"\"\"\n"
    );
    // A sandbox that nobody uses is closed, and comes back.
    second.close_idle_plays(Duration::ZERO);
    assert_eq!(bash(&second, &play, "cat fresh.py"), "Y = 1\n");
    second.close_idle_plays(Duration::ZERO);
    let third = shop.session();
    let told = submit(&third, &play);
    assert_eq!((told.solved, told.reward), (Some(true), Some(1.0)), "{told:?}");
}

#[test]
fn what_is_no_play_of_this_repository_or_is_over_is_told() {
    let shop = Shop::new();
    let session = shop.session();
    refused(try_bash(&session, &PlayRef { id: "x".to_owned(), repo: None }, "true"), "is no id");
    let unknown = PlayRef { id: "0".repeat(32), repo: None };
    refused(try_bash(&session, &unknown, "true"), "has no play 0000");
    let play = injector(&session);
    // A server in another repository has other plays, unless the repository is named.
    let other = Shop::new();
    let elsewhere = other.session();
    refused(try_bash(&elsewhere, &play, "true"), "has no play");
    // Also where both are kept in one state directory.
    copy(&shop.repo(), &shop.home.root().join("second"));
    let second = Some(PathBuf::from("../second"));
    let strange = PlayRef { repo: second.clone(), ..play.clone() };
    refused(try_bash(&session, &strange, "true"), "second has no play");
    let request = PlayBeginRequest {
        repository: Repository { dir: second.clone(), ..Repository::default() },
        role: PlayRole::Injector { strategy: Strategy::Direct, target: None, seed: None },
        player: None,
        turns: None,
        life: None,
    };
    let there = PlayRef { id: session.play_begin(&request, &job()).unwrap().play, repo: None };
    let place = bash(&session, &there, "pwd");
    assert!(place.ends_with("/second\n"), "{place}");
    session.close_idle_plays(Duration::ZERO);
    assert_eq!(bash(&session, &there, "pwd"), place);
    session.close_idle_plays(Duration::ZERO);
    // A new server is told where.
    let restarted = shop.session();
    refused(try_bash(&restarted, &there, "true"), "name in `repo` the repository");
    assert_eq!(bash(&restarted, &PlayRef { repo: second, ..there }, "pwd"), place);
    // The budget of calls; a submission needs none.
    let role = PlayRole::Injector { strategy: Strategy::Direct, target: None, seed: Some(1) };
    let request = PlayBeginRequest {
        repository: Repository::default(),
        role: role.clone(),
        player: None,
        turns: Some(2),
        life: None,
    };
    let short = PlayRef { id: session.play_begin(&request, &job()).unwrap().play, repo: None };
    let told = try_bash(&session, &short, "true").unwrap();
    assert_eq!((told.budget.turn, told.budget.turns_left), (1, 1));
    refused(edit(&session, &short, "none", ("a", "b")), "[turn 2; 0 left, and ");
    refused(try_bash(&session, &short, "true"), "all 2 turns of this play are used");
    let told = submit(&session, &short);
    assert_eq!((told.valid, told.reward), (Some(false), Some(-1.0)));
    assert!(
        told.reason.contains("bug_inject.diff is empty") || told.reason.contains("is empty"),
        "{told:?}"
    );
    // Expiry.
    let request = PlayBeginRequest { life: Some(Duration::ZERO), ..request };
    let expired = PlayRef { id: session.play_begin(&request, &job()).unwrap().play, repo: None };
    refused(try_bash(&session, &expired, "true"), "is over (expired): it expired");
    refused(session.play_submit(&submission(&expired), &job()), "is over (expired)");
    assert_eq!(recorded(&shop, &expired).0.state, PlayState::Expired);
}

#[test]
fn an_injector_makes_a_valid_bug_and_one_that_is_not() {
    let shop = Shop::new();
    let before = snapshot(&shop.repo());
    let session = shop.session();
    let play = injector(&session);
    edit(&session, &play, PRICE, BUG).unwrap();
    edit(&session, &play, TESTS, WEAKENING).unwrap();
    let request = PlaySubmitRequest { attempts: 2, ..submission(&play) };
    let told = session.play_submit(&request, &job()).unwrap();
    assert_eq!(told.valid, Some(true), "{told:?}");
    let rate = told.solve_rate.unwrap();
    let expect = if rate <= 0.0 || rate >= 1.0 { -0.8 } else { 1.0 - 1.8 * rate };
    assert_eq!((told.attempts.len(), told.reward), (2, Some(expect)), "{told:?}");
    assert!(Path::new(told.out.as_deref().unwrap()).join("bug_inject.diff").is_file());
    let report = told.report.unwrap();
    assert_eq!(
        report.fail_to_pass,
        ["tests/test_price.py::TestPrice::test_tax_is_rounded_half_up"]
    );
    let id = told.artifact.unwrap();
    assert_eq!(recorded(&shop, &play).0.artifact.as_ref(), Some(&id));
    assert!(shop.store().artifact(&id).unwrap().unwrap().valid);
    // Another play repairs it, by its id.
    let solving = begin(&session, PlayRole::Solver(ArtifactRef::Id(id[..12].to_owned())));
    let solving = PlayRef { id: solving.play, repo: None };
    edit(&session, &solving, PRICE, FIX).unwrap();
    assert_eq!(submit(&session, &solving).solved, Some(true));
    // Nothing hidden, and a file that sways the tests.
    for (command, check) in [
        ("sed -i 's/ + 50//' shop/price.py; echo '# weaker' >> tests/test_price.py", "weakening"),
        (
            "echo x > pytest.ini; sed -i 's/(10, 5), 11/(10, 5), 10/' tests/test_price.py",
            "separation",
        ),
    ] {
        let play = injector(&session);
        bash(&session, &play, command);
        let told = submit(&session, &play);
        assert_eq!((told.valid, told.reward), (Some(false), Some(-1.0)), "{told:?}");
        assert!(told.reason.starts_with(&format!("the check {check} failed")), "{told:?}");
    }
    assert_untouched(&before, &shop.repo());
}

#[test]
fn a_history_injector_finds_the_commits_as_files() {
    let shop = Shop::new();
    let repo = shop.repo();
    let now = std::fs::read_to_string(repo.join(PRICE)).unwrap();
    crate::support::git_init(&repo);
    shop.home.write("repo/shop/price.py", &now.replace(BUG.0, BUG.1));
    crate::support::git_commit(&repo);
    shop.home.write("repo/shop/price.py", &now);
    crate::support::git(&repo, &["commit", "--quiet", "--all", "--message=Round half up"]);
    let session = shop.session();
    let role = PlayRole::Injector { strategy: Strategy::History, target: None, seed: None };
    let begun = begin(&session, role);
    assert!(begun.task.contains("commits.txt"), "{}", begun.task);
    let play = PlayRef { id: begun.play, repo: None };
    let check = |session: &Session| {
        let told = bash(
            session,
            &play,
            "cd \"$TMPDIR/ssr/history\"; cat commits.txt 1.diff; ls -a | grep git",
        );
        assert!(told.contains("Round half up (shop/price.py)"), "{told}");
        assert!(told.contains("-    return cents + (cents * percent) // 100\n+"), "{told}");
    };
    check(&session);
    // They are there in the next sandbox, too.
    session.close_idle_plays(Duration::ZERO);
    check(&session);
}

#[test]
fn a_call_that_is_cancelled_ends_its_command_and_not_the_play() {
    let shop = Shop::new();
    let session = shop.session();
    let play = injector(&session);
    let cancel = Cancel::new();
    let cancelled = Job::new(cancel.clone(), |_| {});
    let request = PlayBashRequest {
        play: play.clone(),
        command: "echo x > begun; sleep 1000".to_owned(),
        limit: None,
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| session.play_bash(&request, &cancelled));
        cancel.cancel();
        assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled)));
    });
    assert_eq!(bash(&session, &play, "cat /proc/[0-9]*/comm | grep sleep || echo none"), "none\n");
}

/// A server and a client that writes a line and reads the answer.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(home: &Home) -> Self {
        Self::of(home.binary().arg("--stdio"))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut server = Self { child, input, output: BufReader::new(output) };
        server.call(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "an agent", "version": "0" },
            }),
        );
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["result"].take()
    }

    #[track_caller]
    fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        let mut result = self.call("tools/call", &json!({ "name": name, "arguments": arguments }));
        assert_eq!(result["isError"], false, "{result}");
        let mut answer = result["structuredContent"].take();
        // What takes long is a job.
        while answer["state"] == "running" {
            answer = self.tool("job", &json!({ "job": answer["job"] }));
        }
        if answer["state"] == "done" { answer["result"].take() } else { answer }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn over_mcp_a_bug_of_the_ledger_is_played_through_a_kill_9() {
    let home = Home::new();
    home.copy_example("ledger");
    let repo = home.root().join("repo");
    let before = snapshot(&repo);
    let mut server = Server::start(&home);
    let bug = server.tool("inject_bug", &json!({ "seed": 1, "strategy": "direct" }));
    let out = PathBuf::from(bug["out"].as_str().unwrap());
    let patch = Patch::parse(&std::fs::read(out.join("bug_inject.diff")).unwrap()).unwrap();
    let repair = String::from_utf8(patch.reversed().to_bytes()).unwrap();
    let file = patch.paths()[0].to_string();
    let arguments = json!({ "role": "solver", "artifact_id": bug["artifact"] });
    let begun = server.tool("play_begin", &arguments);
    let task = begun["task"].as_str().unwrap();
    let weakening = std::fs::read(out.join("test_weaken.diff")).unwrap();
    let oracle = Patch::parse(&weakening).unwrap().reversed().to_bytes();
    assert!(task.contains(&*String::from_utf8_lossy(&oracle)), "{task}");
    let play = begun["play"].as_str().unwrap().to_owned();
    let id = bug["artifact"].as_str().unwrap();
    let mut read = |part: &str| {
        let uri = format!("ssr-mcp://artifact/{id}{part}");
        !server.call("resources/read", &json!({ "uri": uri })).is_null()
    };
    assert!(
        !read("") && !read("/bug_inject.diff"),
        "the answer can be read while it is looked for"
    );
    assert!(read("/test_files.txt"));
    let command = format!("echo '# seen' >> {file}; WAS=here");
    let told = server.tool("play_bash", &json!({ "play": play, "command": command }));
    assert_eq!((&told["exit_status"], &told["budget"]["turns_left"]), (&json!(0), &json!(127)));
    server.kill();

    let mut server = Server::start(&home);
    let command = format!("tail -n 1 {file}; echo $WAS");
    let told = server.tool("play_bash", &json!({ "play": play, "command": command }));
    assert_eq!(told["output"], "# seen\nhere\n");
    let told = server.tool("play_submit", &json!({ "play": play, "patch": repair }));
    assert_eq!((&told["solved"], &told["reward"]), (&json!(true), &json!(1.0)), "{told}");
    let uri = format!("ssr-mcp://artifact/{id}/bug_inject.diff");
    assert!(!server.call("resources/read", &json!({ "uri": uri })).is_null());
    server.kill();
    assert_untouched(&before, &repo);
    let root = home.root().join("home/.local/state/ssr-mcp");
    let store = Store::open(&ssr_mcp::workspace::states(&root).unwrap()[0]).unwrap();
    let row = store.play(&play).unwrap().unwrap();
    assert_eq!((row.player.as_deref(), row.turns), (Some("an agent"), 3));
}

/// Paths, the shell's state and the editor are the same where the tree lies elsewhere.
#[track_caller]
fn played_in(mut server: Server, tier: &str) {
    let begun = server.tool("play_begin", &json!({ "role": "injector", "strategy": "direct" }));
    assert_eq!(begun["sandbox"], tier, "{begun}");
    let (play, root) = (begun["play"].clone(), begun["root"].as_str().unwrap().to_owned());
    let mut bash = |command: &str| {
        let told = server.tool("play_bash", &json!({ "play": play, "command": command }));
        told["output"].as_str().unwrap().to_owned()
    };
    assert_eq!(bash("cd shop; N=1; pwd"), format!("{root}/shop\n"));
    assert_eq!(
        bash("echo $N; pwd; ls \"$TMPDIR/ssr\" | grep run"),
        format!("1\n{root}/shop\nrun_tests.sh\n")
    );
    for (path, (search, replace)) in [(PRICE, BUG), (TESTS, WEAKENING)] {
        let path = format!("{root}/{path}");
        let arguments = json!({ "play": play, "path": path, "search": search, "replace": replace });
        server.tool("play_edit", &arguments);
    }
    let arguments = json!({ "play": play, "path": "/tmp/x.txt", "content": "x\n" });
    server.tool("play_create", &arguments);
    let told = server.tool("play_read", &json!({ "play": play, "path": "/tmp/x.txt" }));
    assert_eq!(told["text"], "     1\tx\n");
    let told = server.tool("play_submit", &json!({ "play": play }));
    assert_eq!((&told["valid"], &told["reward"]), (&json!(true), &Value::Null), "{told}");
    server.kill();
}

#[test]
fn a_play_is_the_same_in_the_weaker_tiers() {
    if Path::new("/usr/bin/bwrap").exists() {
        let shop = Shop::new();
        let mut command = shop.home.binary();
        played_in(Server::of(command.args(["--stdio", "--sandbox", "B"])), "B");
    } else {
        not_run("tier B: bubblewrap is not on this machine");
    }
    let Some(place) = Place::new() else { return };
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/well_tested");
    copy(&tree, &place.repo());
    let mut command = place.command(&["--stdio", "--sandbox", "C"]);
    played_in(Server::of(command.current_dir(place.repo())), "C");
}

#[test]
fn what_a_play_shows_is_cut_to_its_own_measure_alone() {
    let home = Home::new();
    home.copy_example("ledger");
    let mut server = Server::start(&home);
    let begun = server.tool("play_begin", &json!({ "role": "injector", "strategy": "direct" }));
    let play = begun["play"].as_str().unwrap();
    let command = "seq 1 5000";
    let told = server.tool("play_bash", &json!({ "play": play, "command": command }));
    let lines: Vec<String> = (1..=5000).map(|n: u32| n.to_string()).collect();
    assert_eq!(told["output"], format!("{}\n", lines.join("\n")));
    server.kill();
}
