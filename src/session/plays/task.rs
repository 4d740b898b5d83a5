//! What a player is told, and the files that it is given beside the tree.

use crate::consistency::Minima;
use crate::diff::Patch;
use crate::grading::Task;
use crate::injector::{Strategy, Target};
use crate::scaffold::shortened;
use crate::session::open::Opened;
use crate::tree::{Changes, File};
use crate::workspace::{Commit, History};
use std::fmt::Write as _;
use std::path::Path;

/// Names in the directory for temporary files.
const SUITE: &str = "ssr/run_tests.sh";
const ORACLE: &str = "ssr/tests_improved.diff";
const HISTORY: &str = "ssr/history";

/// Bytes of all patches of a history together.
const HISTORY_SIZE: usize = 4 << 20;

const SANDBOX: &str = "You work in a copy, in a sandbox without a network and without version control; \
nothing of it reaches the real repository. Use play_bash, play_read, play_edit and play_create. Commands \
are limited in time, and a process does not outlive its command. The directory for temporary files is \
$TMPDIR; what lies outside of the tree may be lost between two calls.";

/// The paper's task of a solver: the reversed weakening is all the specification there is.
pub(super) fn of_solver(opened: &Opened, root: &Path, task: &Task) -> String {
    let oracle = shortened(&task.oracle);
    format!(
        "The test suite of the repository in {root} is being improved with the following changes:\n\n\
         ```diff\n{oracle}```\n\n\
         The current code fails the improved tests: it has a bug. Fix the code, so that the improved tests \
         pass, and keep the relevant existing tests passing.\n\n\
         The changes above are not made in the tree; $TMPDIR/{ORACLE} holds them, and you may make them to \
         see the failure. Fix the code and not the tests: before your fix is judged, test files and whatever \
         sways them (their configuration, helpers, build files) are set back.\n\n\
         {SANDBOX} {}\n\n\
         When the fix is done, call play_submit once. All expected tests must pass: reward +1, else -1.",
        suite(opened),
        root = root.display(),
    )
}

/// The rules of an injector's strategy.
pub(super) fn of_injector(
    opened: &Opened,
    root: &Path,
    strategy: Strategy,
    target: Option<&Target>,
    minima: &Minima,
) -> String {
    let target = target.map_or_else(String::new, |target| {
        let symbol = target.symbol.as_ref().map(|symbol| format!(", in {symbol}"));
        format!(" Put the bug into {}{}.", target.file, symbol.unwrap_or_default())
    });
    let Minima { passing_tests, changed_files, failing_tests } = minima;
    format!(
        "Inject a bug into the repository in {root}, and hide it from its tests.\n\n\
         1. {rules}{target} It must look like a developer's mistake: no comment that hints at it, no old \
         code left in comments, and no error that breaks every test. Change code files only: at least \
         {changed_files}, each of which must matter (put back alone, it must make a failing test pass).\n\
         2. Run the tests: at least {failing_tests} that passed before must fail now, always the same ones.\n\
         3. Weaken the tests that fail: delete tests or loosen assertions in existing test files, without \
         commenting them out, so that at least one failing test passes, and none newly fails.\n\
         4. Call play_submit once.\n\n\
         From what you changed, the five parts of an artifact are made: bug_inject.diff (the changes of \
         code), test_weaken.diff (those of test files), test_script.sh (runs the chosen tests, at least \
         {passing_tests} of which pass on the original, in less than 90 s), test_parser.py (reads the \
         script's log on standard input and prints a JSON object from test id to \"passed\" or \"failed\") \
         and test_files.txt (the test files, all that you changed among them). The last three are made for \
         you, unless you give them to play_submit. Files that sway the tests (their configuration, helpers, \
         build files) may not be changed.\n\n\
         {SANDBOX} {}\n\n\
         An invalid artifact earns -1. A valid one earns 1 - 1.8 times its solve rate, and -0.8 if all or \
         none of the attempts at a repair solve it: a bug that is hard but can be solved pays best.",
        suite(opened),
        root = root.display(),
        rules = rules(strategy),
    )
}

fn rules(strategy: Strategy) -> String {
    match strategy {
        Strategy::Direct | Strategy::Mixed => {
            "Strategy direct: first understand what the code does, then \
            change its behaviour at one or several places. A single changed constant is too easy."
                .to_owned()
        }
        Strategy::Removal => {
            "Strategy removal: delete code (statements, branches, bodies of functions, \
            whole files) and repair what calls it only so far that the project still runs."
                .to_owned()
        }
        Strategy::History => format!(
            "Strategy history: undo what a commit once improved. $TMPDIR/{HISTORY}/commits.txt lists the \
             commits, newest first, and $TMPDIR/{HISTORY}/NUMBER.diff holds what one changed. Look for \
             fixes, edge cases and refactorings; put the older behaviour back in some places, and adapt \
             names and calls to today's code. A test may be weakened to its older version, too."
        ),
    }
}

fn suite(opened: &Opened) -> String {
    let framework = opened.harness.runner().framework();
    format!(
        "The test framework is {framework}; `bash \"$TMPDIR/{SUITE}\"` runs the whole suite from the root of \
         the tree and ends with its report."
    )
}

/// What every player finds beside the tree.
pub(super) fn files(opened: &Opened, task: Option<&Task>) -> Vec<(String, Vec<u8>)> {
    let harness = &opened.harness;
    let runner = harness.runner();
    // By the baseline: what always failed tells nobody anything.
    let excluded = harness.baseline().map(|known| known.excluded.keys().cloned().collect());
    let excluded: Vec<String> = excluded.unwrap_or_default();
    let suite = runner.script(&runner.test_files(harness.base()), &excluded);
    let mut files = vec![(SUITE.to_owned(), suite)];
    files.extend(task.map(|task| (ORACLE.to_owned(), task.oracle.clone())));
    files
}

/// A history as files: a list of commits, and a patch of each while there is room.
pub(super) fn history_files(history: &History) -> Vec<(String, Vec<u8>)> {
    let (mut list, mut files, mut size) = (String::new(), Vec::new(), 0);
    for (number, commit) in (1..).zip(&history.commits) {
        let patch = patch(commit);
        size += patch.len();
        if size > HISTORY_SIZE {
            break;
        }
        let paths: Vec<&str> = commit.files.iter().map(|file| file.path.as_str()).collect();
        let short = commit.id.get(..12).unwrap_or(&commit.id);
        writeln!(list, "{number:>3} {short} {} ({})", commit.summary, paths.join(", ")).ok();
        files.push((format!("{HISTORY}/{number}.diff"), patch));
    }
    files.push((format!("{HISTORY}/commits.txt"), list.into_bytes()));
    files
}

fn patch(commit: &Commit) -> Vec<u8> {
    let side = |text: fn(&crate::workspace::Revision) -> std::sync::Arc<[u8]>| -> Changes {
        let file = |revision| File::plain(text(revision));
        commit.files.iter().map(|r| (r.path.clone(), Some(file(r)))).collect()
    };
    let (old, new) = (side(|revision| revision.old.clone()), side(|revision| revision.new.clone()));
    let header = format!("commit {}\n\n{}\n\n", commit.id, commit.message.trim_end());
    [header.into_bytes(), Patch::between(&old, &new).to_bytes()].concat()
}
