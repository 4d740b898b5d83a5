//! What a player is told, and the files that it is given beside the tree: the same for a model, and for an
//! agent that calls.

use super::prompt;
use crate::diff::Patch;
use crate::harness::Harness;
use crate::scaffold::shortened;
use crate::tree::{Changes, File};
use crate::workspace::{Commit, History, Revision};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Names in the directory for temporary files.
pub const SUITE: &str = "ssr/run_tests.sh";
pub const ORACLE: &str = "ssr/tests_improved.diff";
pub const HISTORY: &str = "ssr/history";

/// Bytes of all patches of a history together.
const HISTORY_SIZE: usize = 4 << 20;

/// Who is told: what its tools are called, and how often it may submit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// An agent that calls the tools of plays.
    Play,
    /// A model whose calls we make.
    Model,
}

impl Voice {
    /// What stands before the name of a tool.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Play => "play_",
            Self::Model => "",
        }
    }

    pub fn times(self) -> &'static str {
        match self {
            Self::Play => " once",
            Self::Model => {
                "; you are shown what you submitted, may go on and submit again, and end with a reply \
                 without a call"
            }
        }
    }
}

/// The paper's task of a solver: the reversed weakening, or the part of it that is public, is all the
/// specification there is.
pub fn of_solver(harness: &Harness, root: &Path, oracle: &[u8], voice: Voice) -> String {
    prompt::SOLVER.filled(&[
        ("root", &root.display().to_string()),
        ("oracle", &shortened(oracle)),
        ("patch", ORACLE),
        ("sandbox", &sandbox(voice)),
        ("suite", &suite(harness)),
        ("play", voice.prefix()),
        ("times", voice.times()),
    ])
}

pub fn sandbox(voice: Voice) -> String {
    prompt::SANDBOX.filled(&[("play", voice.prefix())])
}

pub fn suite(harness: &Harness) -> String {
    let framework = harness.runner().framework();
    prompt::SUITE.filled(&[("framework", framework), ("suite", SUITE)])
}

/// What every player finds beside the tree; `oracle` is a solver's.
pub fn files(harness: &Harness, oracle: Option<&[u8]>) -> Vec<(String, Vec<u8>)> {
    let runner = harness.runner();
    // By the baseline: what always failed tells nobody anything.
    let excluded = harness.baseline().map(|known| known.excluded.keys().cloned().collect());
    let excluded: Vec<String> = excluded.unwrap_or_default();
    let suite = runner.script(&runner.test_files(harness.base()), &excluded);
    let mut files = vec![(SUITE.to_owned(), suite)];
    files.extend(oracle.map(|oracle| (ORACLE.to_owned(), oracle.to_vec())));
    files
}

/// A history as files: a list of commits, and a patch of each while there is room.
pub fn history_files(history: &History) -> Vec<(String, Vec<u8>)> {
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
    let side = |text: fn(&Revision) -> Arc<[u8]>| -> Changes {
        let file = |revision| File::plain(text(revision));
        commit.files.iter().map(|r| (r.path.clone(), Some(file(r)))).collect()
    };
    let (old, new) = (side(|revision| revision.old.clone()), side(|revision| revision.new.clone()));
    let header = format!("commit {}\n\n{}\n\n", commit.id, commit.message.trim_end());
    [header.into_bytes(), Patch::between(&old, &new).to_bytes()].concat()
}
