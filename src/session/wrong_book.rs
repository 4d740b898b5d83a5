//! `wrong-book`: failed attempts that are kept: listed, shown, attempted again, exported.

use super::open::Opened;
use super::record::Record;
use super::score::ratio;
use super::{AttemptLine, Error, Job, Repository, Session, place};
use crate::solver;
use crate::store::Entry;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bugs that are attempted again where no entry is named.
const AGAIN: usize = 5;
/// The file's name where a directory is given.
const FILE: &str = "wrong-book.jsonl";

/// One entry of the wrong-book: a tree that failed attempts lead to.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct EntryLine {
    pub id: String,
    /// The artifact whose bug was attempted.
    pub artifact: String,
    /// The order of that bug: 1, or 2 for a failed repair on top of a bug.
    pub order: u32,
    /// Attempts that lead here, and one more for each later round that did not repair the bug either.
    pub fail_count: u64,
    /// Rounds in a row that failed, the last one included.
    pub rounds_in_a_row: u32,
    /// Whether a later round repaired the bug without this mistake.
    pub solved: bool,
    /// Whether the failed repair may become a bug of its own.
    pub may_feed: bool,
    /// Whether it did so, or was found to make none.
    pub fed: bool,
    /// Why the patch is no repair.
    pub reason: String,
}

impl From<&Entry> for EntryLine {
    fn from(entry: &Entry) -> Self {
        Self {
            id: entry.id.clone(),
            artifact: entry.artifact.clone(),
            order: entry.bug_order,
            fail_count: entry.fail_count,
            rounds_in_a_row: entry.streak,
            solved: entry.solved,
            may_feed: entry.feeds,
            fed: entry.fed,
            reason: entry.reason.clone(),
        }
    }
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct WrongBookAnswer {
    /// The most failures first.
    pub entries: Vec<EntryLine>,
    /// Entries that are not solved.
    pub unsolved: usize,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct EntryAnswer {
    #[serde(flatten)]
    pub entry: EntryLine,
    /// The tree that the bug was made on.
    pub base: String,
    /// The artifact below, where the bug is of second order.
    pub parent: Option<String>,
    /// Against the tree that the solver saw; empty where it found none.
    pub patch: String,
}

#[derive(Clone, Debug)]
pub struct ReplayRequest {
    pub repository: Repository,
    /// An entry's id or the beginning of it; `None`: the bugs of the entries with the most failures.
    pub entry: Option<String>,
    /// G.
    pub attempts: usize,
    /// Candidate repairs that one attempt may run. The solver's default where `None`.
    pub runs: Option<usize>,
    /// The configuration's where `None`.
    pub seed: Option<u64>,
}

/// A bug that was attempted again.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Replayed {
    /// The entry as it is now.
    pub entry: EntryLine,
    /// Solved attempts / attempts; it changes no reward of before.
    pub solve_rate: f64,
    pub attempts: Vec<AttemptLine>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ReplayAnswer {
    pub replayed: Vec<Replayed>,
    /// Unsolved entries whose bugs do not fit the repository as it is now.
    pub of_other_trees: usize,
    /// The seed that repeats these attempts.
    pub seed: u64,
}

impl ReplayAnswer {
    /// Whether each bug was repaired by an attempt.
    pub fn all_repaired(&self) -> bool {
        self.replayed.iter().all(|bug| bug.solve_rate > 0.0)
    }
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ExportAnswer {
    pub file: String,
    pub entries: usize,
}

impl Session {
    /// `all`: those that are solved, too.
    pub fn wrong_book(&self, repository: &Repository, all: bool) -> Result<WrongBookAnswer, Error> {
        let entries = Record::open(&self.workspace(repository)?)?.wrong_book()?;
        Ok(WrongBookAnswer {
            unsolved: entries.iter().filter(|entry| !entry.solved).count(),
            entries: entries
                .iter()
                .filter(|entry| all || !entry.solved)
                .map(EntryLine::from)
                .collect(),
        })
    }

    pub fn wrong_book_entry(
        &self,
        repository: &Repository,
        id: &str,
    ) -> Result<EntryAnswer, Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        let entry = named(record.wrong_book()?, id)?;
        Ok(EntryAnswer {
            entry: EntryLine::from(&entry),
            parent: record.bug_of(&entry)?.parent,
            base: entry.base,
            patch: String::from_utf8_lossy(&entry.patch).into_owned(),
        })
    }

    /// Attempts at bugs that were failed before, which update their entries.
    pub fn replay(&self, request: &ReplayRequest, job: &Job) -> Result<ReplayAnswer, Error> {
        if request.attempts == 0 {
            return Err(Error::usage("there is nothing to do with 0 attempts; give at least 1"));
        }
        let workspace = self.workspace(&request.repository)?;
        let entries = Record::open(&workspace)?.wrong_book()?;
        let named = request.entry.as_deref().map(|id| named(entries.clone(), id)).transpose()?;
        let seed = request.seed.unwrap_or(self.config().seed);
        let mut answer = ReplayAnswer { replayed: Vec::new(), of_other_trees: 0, seed };
        if entries.iter().all(|entry| entry.solved) && named.is_none() {
            return Ok(answer);
        }
        let opened = self.open(&request.repository, job)?;
        let base = &opened.harness.base().id;
        let chosen = match named {
            Some(entry) if entry.base != *base => {
                return Err(Error::usage(format!(
                    "the entry {} is of another state of the repository; bring back the files as they \
                     were then, or name another entry",
                    entry.id
                )));
            }
            Some(entry) => vec![entry],
            None => {
                let unsolved = || entries.iter().filter(|entry| !entry.solved);
                answer.of_other_trees = unsolved().filter(|entry| entry.base != *base).count();
                distinct(unsolved().filter(|entry| entry.base == *base), AGAIN)
            }
        };
        for entry in chosen {
            answer.replayed.push(self.replay_one(&opened, &entry, request, seed, job)?);
        }
        Ok(answer)
    }

    fn replay_one(
        &self,
        opened: &Opened,
        entry: &Entry,
        request: &ReplayRequest,
        seed: u64,
        job: &Job,
    ) -> Result<Replayed, Error> {
        let Opened { harness, languages, record, .. } = opened;
        let short = entry.artifact.get(..12).unwrap_or_default();
        job.step(&format!("making {} attempts at {short}", request.attempts));
        let artifact = record.bug_of(entry)?.artifact;
        let wanted = self.solver(request.attempts, request.runs, seed);
        let attempts = solver::solve(harness, languages, &artifact, &wanted)
            .map_err(|error| job.failed(error))?;
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        record.keep_attempts(harness, &artifact, &attempts, None)?;
        let now = record.store.wrong_book_entry(&entry.id).map_err(Error::harness)?;
        let solved = attempts.iter().filter(|attempt| attempt.solved).count();
        Ok(Replayed {
            entry: EntryLine::from(now.as_ref().unwrap_or(entry)),
            solve_rate: ratio(solved, attempts.len().max(1)),
            attempts: attempts.iter().map(AttemptLine::from).collect(),
        })
    }

    /// Writes every entry as a line of JSON with the files of its artifact. `to`: a file that is not
    /// there yet, or a directory for one.
    pub fn export_wrong_book(
        &self,
        repository: &Repository,
        to: &Path,
    ) -> Result<ExportAnswer, Error> {
        let to = self.config().cwd.join(to);
        let file = if to.is_dir() { to.join(FILE) } else { to };
        if file.symlink_metadata().is_ok() {
            return Err(Error::usage(format!(
                "{} exists and is not overwritten; name another file",
                file.display()
            )));
        }
        place::can_be_made(&file).map_err(|error| unwritable(&file, &error))?;
        let record = Record::open(&self.workspace(repository)?)?;
        let entries = record.wrong_book()?;
        let lines = entries
            .iter()
            .map(|entry| exported(&record, entry))
            .collect::<Result<Vec<String>, Error>>()?;
        write(&file, &lines).map_err(|error| unwritable(&file, &error))?;
        Ok(ExportAnswer { file: file.display().to_string(), entries: entries.len() })
    }
}

fn exported(record: &Record, entry: &Entry) -> Result<String, Error> {
    let bug = record.bug_of(entry)?;
    let mut line = serde_json::to_value(EntryLine::from(entry)).map_err(Error::harness)?;
    line["base"] = entry.base.clone().into();
    line["parent"] = bug.parent.into();
    line["patch"] = String::from_utf8_lossy(&entry.patch).into();
    line["files"] = bug.artifact.to_json();
    Ok(format!("{line}\n"))
}

/// To a sibling first: the file is there whole or not at all.
fn write(path: &Path, lines: &[String]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let sibling: PathBuf = path.with_file_name(name);
    let written = || -> io::Result<()> {
        let mut file = File::create(&sibling)?;
        lines.iter().try_for_each(|line| file.write_all(line.as_bytes()))?;
        std::fs::rename(&sibling, path)
    };
    written().inspect_err(|_| std::fs::remove_file(&sibling).unwrap_or_default())
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!("{} cannot be written ({error}); name another file", path.display()))
}

/// By id, or by a beginning of it that fits one entry only.
pub(super) fn named(entries: Vec<Entry>, id: &str) -> Result<Entry, Error> {
    let id = id.to_ascii_lowercase();
    let mut fitting: Vec<Entry> =
        entries.into_iter().filter(|entry| !id.is_empty() && entry.id.starts_with(&id)).collect();
    match fitting.len() {
        1 => Ok(fitting.remove(0)),
        0 => Err(Error::usage(format!(
            "no entry of the wrong-book has the id {id}; `ssr-mcp wrong-book list --all` shows them"
        ))),
        many => Err(Error::usage(format!(
            "{many} entries of the wrong-book have an id that begins with {id}; give more of it"
        ))),
    }
}

/// The first entry of each bug, at most so many.
fn distinct<'a>(entries: impl Iterator<Item = &'a Entry>, most: usize) -> Vec<Entry> {
    let mut bugs = BTreeSet::new();
    entries.filter(|entry| bugs.insert(entry.artifact.as_str())).take(most).cloned().collect()
}
