//! Runs of `play`: the same command again goes on where an interrupted one stopped.
//!
//! A run is open from its beginning until its last round is kept and told. Who plays it holds the lock
//! of its file, which the system lets go however the process ends: an open run that is not locked was
//! interrupted.

use super::lock::{cannot, locked, remove};
use super::record::{Record, now};
use super::{Error, open::create_private};
use crate::store::{Run, RunState};
use crate::tree::hex;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a command asks of a run.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// JSON; what the runs of one command have in common.
    pub(super) settings: String,
    /// `None`: until the deadline.
    pub(super) rounds: Option<u32>,
    pub(super) until: Option<Duration>,
    /// The first round's, where a new run begins.
    pub(super) seed: u64,
    /// Begin another, whatever was interrupted.
    pub(super) new: bool,
    /// Go on with one that waits for a person.
    pub(super) resume: bool,
}

/// A run that this process plays.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) run: Run,
    /// What a person should know of how it came about.
    pub(super) note: Option<String>,
    path: PathBuf,
    /// Let go with the process.
    _lock: File,
}

impl Hold {
    /// Goes on with the interrupted run of the same settings and tree, or begins one.
    pub(super) fn take(record: &Record, base: &str, wanted: &Wanted) -> Result<Self, Error> {
        let dir = record.state.join("runs");
        create_private(&dir)?;
        sweep(record, &dir)?;
        let mut interrupted = Vec::new();
        for run in record.store.open_runs().map_err(Error::harness)? {
            if run.settings != wanted.settings {
                continue;
            }
            // One that another process plays is none of ours.
            let Some((path, lock)) = locked(&dir, &run.id)? else { continue };
            // It may have been finished between the two looks.
            let still = record.store.run(&run.id).map_err(Error::harness)?;
            if let Some(run) = still.filter(|run| run.state == RunState::Open) {
                interrupted.push((run, path, lock));
            }
        }
        let ours = interrupted.iter().position(|(run, ..)| run.base == base && !wanted.new);
        if let Some(at) = ours {
            let (mut run, path, lock) = interrupted.swap_remove(at);
            if let Some(waits) = run.waits.take() {
                if !wanted.resume {
                    return Err(Error::usage(format!(
                        "run {} waits for a person: {waits}; put that right, and give the same command with \
                         --resume (--new begins another run)",
                        run.id
                    )));
                }
                record.store.set_waits(&run.id, None).map_err(Error::harness)?;
            }
            let mut hold = Self { run, note: None, path, _lock: lock };
            hold.note = Some(hold.continued());
            return Ok(hold);
        }
        let mut note = None;
        for (run, path, _lock) in interrupted {
            if !wanted.new && note.is_none() {
                note = Some(format!(
                    "run {} was begun on another state of the repository; a new one begins",
                    run.id
                ));
            }
            record.store.end_run(&run.id, RunState::Left).map_err(Error::harness)?;
            remove(&path)?;
        }
        Self::begin(record, &dir, base, wanted, note)
    }

    fn begin(
        record: &Record,
        dir: &Path,
        base: &str,
        wanted: &Wanted,
        note: Option<String>,
    ) -> Result<Self, Error> {
        let begun = now();
        let deadline = wanted.until.map(|until| begun.saturating_add_unsigned(until.as_secs()));
        // Locked before it can be seen: nobody takes it for interrupted.
        let (id, path, lock) = lock_new(&record.state, dir, wanted.seed)?;
        let run = Run {
            id,
            base: base.to_owned(),
            settings: wanted.settings.clone(),
            seed: wanted.seed,
            planned: wanted.rounds,
            deadline,
            next: 1,
            state: RunState::Open,
            begun,
            waits: None,
        };
        record.store.begin_run(&run).map_err(Error::harness)?;
        Ok(Self { run, note, path, _lock: lock })
    }

    /// Whether there is no round left to begin.
    pub(super) fn is_over(&self) -> bool {
        self.run.planned.is_some_and(|planned| self.run.next > planned)
            || self.run.deadline.is_some_and(|deadline| now() >= deadline)
    }

    fn continued(&self) -> String {
        let Run { id, next, planned, .. } = &self.run;
        let played = next.saturating_sub(1);
        if self.is_over() {
            return format!(
                "run {id} is over with {played} rounds, and nothing is left of it to play; give the \
                 command once more for another one"
            );
        }
        let planned = planned.map(|planned| format!(" of {planned}")).unwrap_or_default();
        format!(
            "going on with run {id}, {played}{planned} rounds of it are played (--new begins another)"
        )
    }

    /// Everything was played, kept and told.
    pub(super) fn finish(&self, record: &Record) -> Result<(), Error> {
        record.store.end_run(&self.run.id, RunState::Finished).map_err(Error::harness)?;
        remove(&self.path)
    }
}

fn lock_new(state: &Path, dir: &Path, seed: u64) -> Result<(String, PathBuf, File), Error> {
    loop {
        let id = new_id(state, seed);
        if let Some((path, lock)) = locked(dir, &id)? {
            return Ok((id, path, lock));
        }
    }
}

/// Removes the files of runs that are not open: of a process that was killed before its run began, or
/// after it had ended.
fn sweep(record: &Record, dir: &Path) -> Result<(), Error> {
    let entries = fs::read_dir(dir).map_err(|error| cannot(dir, &error))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".lock")) else { continue };
        let Some((path, _lock)) = locked(dir, id)? else { continue };
        let run = record.store.run(id).map_err(Error::harness)?;
        if run.is_none_or(|run| run.state != RunState::Open) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Twelve digits that no other run has, in whatever state directory: rows of several repositories may
/// share a CSV file.
fn new_id(state: &Path, seed: u64) -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let hash = Sha256::new()
        .chain_update(state.as_os_str().as_encoded_bytes())
        .chain_update(seed.to_le_bytes())
        .chain_update(nanos.to_le_bytes())
        .chain_update(std::process::id().to_le_bytes())
        .finalize();
    hex(&hash[..6])
}
