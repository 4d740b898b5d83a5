//! A play in this process's hands: its row, its lock, and its sandbox while that is needed.

use super::{PlayRef, Table};
use crate::agent::task::{files, history_files};
use crate::agent::{Scene, Stage, files_of, tree_of};
use crate::artifact::Artifact;
use crate::grading::Task;
use crate::injector::{Strategy, Target};
use crate::runner::Overrides;
use crate::scaffold::Room;
use crate::session::open::{Opened, create_private};
use crate::session::record::{Record, now};
use crate::session::{Error, Job, Repository, Session, inject, lock};
use crate::store::{self, PlayState, Turn};
use crate::tree::Changes;
use crate::workspace::{Unsaved, Workspace};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a play was begun with; JSON in its row.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Settings {
    /// The five parts of the bug that a solver repairs.
    pub(super) artifact: Option<serde_json::Value>,
    /// What an injector's seed came to.
    pub(super) strategy: Option<Strategy>,
    pub(super) target: Option<String>,
    pub(super) seed: u64,
    pub(super) framework: Option<String>,
    pub(super) test_command: Option<String>,
    pub(super) report: Option<String>,
    pub(super) time_limit: Option<f64>,
}

impl Settings {
    pub(super) fn artifact(&self) -> Result<Option<Artifact>, Error> {
        let read = |json| Artifact::from_json(json).map_err(Error::harness);
        self.artifact.as_ref().map(read).transpose()
    }

    pub(super) fn target(&self) -> Result<Option<Target>, Error> {
        inject::target(self.target.as_deref())
    }

    fn repository(&self, root: PathBuf) -> Result<Repository, Error> {
        let repository = Repository {
            dir: Some(root),
            tests: Overrides {
                test_command: self.test_command.clone(),
                report: self.report.clone(),
                framework: self.framework.clone(),
                near: None,
            },
            time_limit: self.time_limit.map(Duration::from_secs_f64),
            unsaved: Unsaved::new(),
        };
        Ok(match self.artifact()? {
            Some(artifact) => repository.near_bug(&artifact),
            None => repository.near_target(self.target()?.as_ref()),
        })
    }
}

pub(super) struct Seat {
    pub(super) workspace: Workspace,
    pub(super) record: Record,
    pub(super) row: store::Play,
    pub(super) settings: Settings,
    /// `None` until it is needed, and after it broke.
    pub(super) room: Option<Room>,
    /// Digest of the tree that was kept last.
    kept: String,
    pub(super) used: Instant,
    lock: (PathBuf, fs::File),
}

/// Where the locks of plays lie.
fn locks(record: &Record) -> Result<PathBuf, Error> {
    let dir = record.state.join("plays");
    create_private(&dir)?;
    Ok(dir)
}

impl Seat {
    /// For a play that begins: locked before it can be seen.
    pub(super) fn new(
        workspace: Workspace,
        record: Record,
        row: store::Play,
        settings: Settings,
        room: Room,
    ) -> Result<Self, Error> {
        let Some(lock) = lock::locked(&locks(&record)?, &row.id)? else {
            return Err(taken(&row.id));
        };
        record.store.begin_play(&row).map_err(Error::harness)?;
        let (kept, used) = (Changes::new().digest(), Instant::now());
        Ok(Self { workspace, record, row, settings, room: Some(room), kept, used, lock })
    }

    fn resume(workspace: Workspace, id: &str) -> Result<Self, Error> {
        let record = Record::open(&workspace)?;
        record.store.expire_plays(now()).map_err(Error::harness)?;
        let row = record.store.play(id).map_err(Error::harness)?;
        let row = row.ok_or_else(|| unknown(id, &workspace))?;
        refuse_over(&row)?;
        let Some(lock) = lock::locked(&locks(&record)?, id)? else { return Err(taken(id)) };
        // Another process may have gone on with it between the two looks.
        let row = record.store.play(id).map_err(Error::harness)?;
        let row = row.ok_or_else(|| unknown(id, &workspace))?;
        refuse_over(&row)?;
        let settings = serde_json::from_str(&row.settings).map_err(Error::harness)?;
        let mut seat = Self {
            workspace,
            record,
            row,
            settings,
            room: None,
            kept: String::new(),
            used: Instant::now(),
            lock,
        };
        seat.kept = seat.saved()?.digest();
        Ok(seat)
    }

    /// Refuses a play that is over, also one whose time has just ended.
    pub(super) fn refuse_over(&mut self) -> Result<(), Error> {
        if self.row.state == PlayState::Open && self.row.expires <= now() {
            self.record.store.expire_plays(now()).map_err(Error::harness)?;
            if let Some(row) = self.record.store.play(&self.row.id).map_err(Error::harness)? {
                self.row = row;
            }
            self.room = None;
        }
        refuse_over(&self.row)
    }

    /// What was changed in the tree that was shown, as it was kept last.
    pub(super) fn saved(&self) -> Result<Changes, Error> {
        let files = self.record.store.play_files(&self.row.id).map_err(Error::harness)?;
        tree_of(files).map_err(Error::harness)
    }

    /// The play's own base, whatever the repository looks like by now.
    pub(super) fn open(&self, session: &Session, job: &Job) -> Result<Opened, Error> {
        let repository = self.settings.repository(self.workspace.root.clone())?;
        let owner = session.sandbox()?.owner();
        let gone = || {
            Error::usage(format!(
                "the copy of the repository that play {} was begun on is gone, and the repository has \
                 changed since; begin another play",
                self.row.id
            ))
        };
        let base = match self.workspace.base(&self.row.base, owner).map_err(Error::harness)? {
            Some(base) => base,
            None => self.workspace.freeze(owner).map_err(Error::harness)?,
        };
        if base.id != self.row.base {
            return Err(gone());
        }
        session.open_on(self.workspace.clone(), self.record.clone(), base, &repository, job)
    }

    /// Opens the sandbox anew from what was kept, unless there is one.
    pub(super) fn enter(&mut self, session: &Session, job: &Job) -> Result<(), Error> {
        if self.room.is_none() {
            let opened = self.open(session, job)?;
            let room = room(&opened, &self.settings, self.saved()?, self.row.shell.clone(), job)?;
            self.room = Some(room);
        }
        Ok(())
    }

    /// Keeps a call; `looked`: it cannot have changed the tree.
    pub(super) fn keep(&mut self, turn: &Turn, looked: bool) -> Result<(), Error> {
        self.used = Instant::now();
        self.row.turns = turn.number;
        let mut tree = None;
        if let Some(room) = &mut self.room {
            self.row.shell = room.shell().to_vec();
            if !looked {
                tree =
                    Some(room.changes().map_err(|error| Error::harness(anyhow::anyhow!(error)))?);
            }
        }
        let tree = tree.map(|set| set.changes).filter(|changes| changes.digest() != self.kept);
        let rows = tree.as_ref().map(files_of);
        self.record
            .store
            .record_turn(&self.row.id, turn, &self.row.shell, rows.as_deref())
            .map_err(Error::harness)?;
        self.kept = tree.map_or_else(|| std::mem::take(&mut self.kept), |tree| tree.digest());
        Ok(())
    }

    /// The play is over: nobody needs its lock any longer.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        self.room = None;
        lock::remove(&self.lock.0)
    }
}

/// The sandbox that a role is given, with this tree and shell.
pub(super) fn room(
    opened: &Opened,
    settings: &Settings,
    changes: Changes,
    shell: Vec<u8>,
    job: &Job,
) -> Result<Room, Error> {
    let harness = &opened.harness;
    let hidden = match settings.artifact()? {
        Some(artifact) => Some(Task::of(harness.base(), &artifact).map_err(Error::harness)?),
        None => None,
    };
    let mut files = files(harness, hidden.as_ref().map(|task| &*task.oracle));
    if settings.strategy == Some(Strategy::History) {
        let target = settings.target()?;
        let history =
            opened.history(Strategy::History, settings.seed, target.as_ref(), false, job)?;
        files.extend(history.iter().flat_map(|history| history_files(history)));
    }
    let stage = Stage { harness, workspace: &opened.workspace };
    stage
        .open(Scene { task: hidden.as_ref(), changes, files, shell })
        .map_err(|error| job.failed(error))
}

impl Session {
    /// The seat of a play: the one that this process holds, or a new one.
    pub(super) fn seat(&self, play: &PlayRef) -> Result<Arc<Mutex<Seat>>, Error> {
        let id = play.id.trim();
        if id.len() != 32 || !id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(Error::usage(format!(
                "{id:?} is no id of a play, which has 32 hexadecimal digits; play_begin gives one"
            )));
        }
        // Locked throughout: two calls at once must not open the same play twice.
        let mut held = self.plays.lock();
        let dir = play.repo.clone().or_else(|| held.homes.get(id).cloned());
        let workspace = self.workspace(&Repository { dir, ..Repository::default() })?;
        if let Some(seat) = held.seats.get(id) {
            let home = held.homes.get(id);
            if home.is_some_and(|home| *home != workspace.root) {
                return Err(unknown(id, &workspace));
            }
            return Ok(seat.clone());
        }
        let seat = Seat::resume(workspace, id)?;
        Ok(self.plays.add(&mut held, id.to_owned(), seat))
    }

    /// Lets go of a play that is over.
    pub(super) fn leave(&self, id: &str) {
        self.plays.lock().seats.remove(id);
    }

    /// Closes the sandboxes of plays that were not used for so long; they are opened anew when needed.
    pub fn close_idle_plays(&self, idle: Duration) {
        Table::close_idle(&self.plays, idle);
    }
}

fn refuse_over(row: &store::Play) -> Result<(), Error> {
    if row.state == PlayState::Open {
        return Ok(());
    }
    let outcome = row.outcome.as_deref().unwrap_or("it is closed");
    Err(Error::usage(format!(
        "play {} is over ({}): {outcome}; begin another one with play_begin",
        row.id,
        row.state.name()
    )))
}

fn unknown(id: &str, workspace: &Workspace) -> Error {
    Error::usage(format!(
        "the repository {} has no play {id}; begin one with play_begin, or name in `repo` the repository \
         that it was begun in",
        workspace.root.display()
    ))
}

fn taken(id: &str) -> Error {
    Error::usage(format!(
        "play {id} is being played by another ssr-mcp process; go on there, or end that process first"
    ))
}
