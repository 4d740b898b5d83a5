//! A round of practice in this process's hands.

use super::{PracticeRef, TREES};
use crate::artifact::Artifact;
use crate::grading::Task;
use crate::practice::{Behaviour, Clues, Facts, Rating, active, first_of_bug};
use crate::runner::Overrides;
use crate::session::open::{Opened, create_private};
use crate::session::record::{Record, now};
use crate::session::{Error, Job, Repository, Session, folder};
use crate::store::{self, PracticeState, Sign, StoredRating};
use crate::workspace::{Base, Edited, Workspace};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a round was begun with; JSON in its row.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Settings {
    /// The five parts of the bug.
    pub(super) artifact: serde_json::Value,
    pub(super) framework: Option<String>,
    pub(super) test_command: Option<String>,
    pub(super) report: Option<String>,
    pub(super) time_limit: Option<f64>,
    /// Tests that the bug makes fail.
    pub(super) failing_tests: usize,
    /// Why this bug.
    pub(super) why: String,
}

impl Settings {
    pub(super) fn of(repository: &Repository, artifact: &Artifact) -> Self {
        let Repository { tests, time_limit, .. } = repository;
        Self {
            artifact: artifact.to_json(),
            framework: tests.framework.clone(),
            test_command: tests.test_command.clone(),
            report: tests.report.clone(),
            time_limit: time_limit.map(|limit| limit.as_secs_f64()),
            failing_tests: 0,
            why: String::new(),
        }
    }

    fn repository(&self, root: PathBuf, artifact: &Artifact) -> Repository {
        let tests = Overrides {
            test_command: self.test_command.clone(),
            report: self.report.clone(),
            framework: self.framework.clone(),
            near: None,
        };
        let time_limit = self.time_limit.map(Duration::from_secs_f64);
        Repository { dir: Some(root), tests, time_limit, ..Repository::default() }
            .near_bug(artifact)
    }
}

/// What is shown of the bug; JSON in the row.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Shown {
    pub(super) broken: Vec<Behaviour>,
    pub(super) oracle: String,
    pub(super) framework: String,
}

pub(super) struct Round {
    pub(super) workspace: Workspace,
    pub(super) record: Record,
    pub(super) row: store::Practice,
    pub(super) artifact: Artifact,
    pub(super) settings: Settings,
    pub(super) shown: Shown,
    pub(super) clues: Clues,
}

/// Where the practice trees of a workspace lie.
fn trees(state: &Path) -> PathBuf {
    state.join(TREES)
}

impl Round {
    pub(super) fn of(
        workspace: Workspace,
        record: Record,
        row: store::Practice,
    ) -> Result<Self, Error> {
        fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Error> {
            serde_json::from_str(text).map_err(Error::harness)
        }
        let settings: Settings = read(&row.settings)?;
        Ok(Self {
            artifact: Artifact::from_json(&settings.artifact).map_err(Error::harness)?,
            shown: read(&row.shown)?,
            clues: read(&row.clues)?,
            settings,
            workspace,
            record,
            row,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.row.state == PracticeState::Open
    }

    pub(super) fn refuse_over(&self) -> Result<(), Error> {
        if self.is_open() {
            return Ok(());
        }
        let state = match self.row.state {
            PracticeState::GivenUp => "given up",
            _ => "solved",
        };
        Err(Error::usage(format!(
            "round {} is over ({state}); `ssr-mcp practice reveal` explains its bug, `ssr-mcp practice next` \
             begins another",
            short(&self.row.id)
        )))
    }

    /// Named as the repository, so that it looks like it in an editor.
    pub(super) fn tree(&self) -> PathBuf {
        let name = self.workspace.root.file_name().unwrap_or("repository".as_ref());
        trees(&self.workspace.state).join(&self.row.id).join(name)
    }

    /// The round's own base, whatever the repository looks like by now; `None` where it is gone.
    pub(super) fn base(&self, session: &Session) -> Result<Option<Base>, Error> {
        let owner = session.sandbox()?.owner();
        if let Some(base) = self.workspace.base(&self.row.base, owner).map_err(Error::harness)? {
            return Ok(Some(base));
        }
        let now = self.workspace.freeze(owner).map_err(Error::harness)?;
        Ok((now.id == self.row.base).then_some(now))
    }

    pub(super) fn open(&self, session: &Session, job: &Job) -> Result<Opened, Error> {
        let base = self.base(session)?.ok_or_else(|| self.gone())?;
        let repository = self.settings.repository(self.workspace.root.clone(), &self.artifact);
        session.open_on(self.workspace.clone(), self.record.clone(), base, &repository, job)
    }

    pub(super) fn gone(&self) -> Error {
        Error::usage(format!(
            "the copy of the repository that round {} was begun on is gone, and the repository has changed \
             since; `ssr-mcp practice give-up` ends the round",
            short(&self.row.id)
        ))
    }

    pub(super) fn task(&self, base: &Base) -> Result<Task, Error> {
        Task::of(base, &self.artifact).map_err(Error::harness)
    }

    /// Makes the tree, where it is not there.
    pub(super) fn lay_out(&self, base: &Base, task: &Task) -> Result<(), Error> {
        let place = self.tree();
        if let Some(dir) = place.parent() {
            create_private(&trees(&self.workspace.state))?;
            create_private(dir)?;
            folder::sweep(dir);
        }
        self.workspace.lay_out(base, &task.changes, &place).map_err(Error::harness)
    }

    /// What the person changed in the tree so far. One that was removed is laid out anew. Whatever was
    /// saved is a sign of life, and so is this call, which is `doing` something.
    pub(super) fn edited(&self, base: &Base, task: &Task, doing: &str) -> Result<Edited, Error> {
        self.lay_out(base, task)?;
        let found = self.workspace.edited(base, &task.changes, &self.tree());
        let edited = found.map_err(Error::harness)?.unwrap_or_default();
        let now = now();
        // A file may carry any time.
        let mut signs: Vec<Sign> = edited
            .saved
            .range(self.row.begun..=now)
            .map(|at| Sign { at: *at, kind: "saved".to_owned() })
            .collect();
        signs.push(Sign { at: now, kind: doing.to_owned() });
        self.record.store.record_signs(&self.row.id, &signs).map_err(Error::harness)?;
        Ok(edited)
    }

    /// Seconds since it was begun, and those of them without pauses.
    pub(super) fn time(&self) -> Result<(i64, i64), Error> {
        let signs = self.record.store.signs_of_practice(&self.row.id).map_err(Error::harness)?;
        let times: Vec<i64> = signs.iter().map(|sign| sign.at).collect();
        let end = self.row.ended.unwrap_or_else(now);
        Ok(((end - self.row.begun).max(0), active(&times)))
    }

    pub(super) fn bug_rating(&self) -> Result<StoredRating, Error> {
        let failing = self.settings.failing_tests;
        bug_rating(&self.record, &self.row.artifact, &self.artifact.bug_inject, failing)
    }
}

/// The rating that a bug has, or begins with.
pub(super) fn bug_rating(
    record: &Record,
    id: &str,
    bug_inject: &[u8],
    failing_tests: usize,
) -> Result<StoredRating, Error> {
    if let Some(known) = record.store.rating(id).map_err(Error::harness)? {
        return Ok(known);
    }
    let (attempts, solved) = record.store.embedded_attempts(id).map_err(Error::harness)?;
    let patch = crate::diff::Patch::parse(bug_inject).unwrap_or_default();
    let (added, removed) = patch.changed_lines();
    let facts = Facts {
        attempts,
        solved,
        failing_tests,
        changed_lines: added + removed,
        changed_files: patch.files().len(),
    };
    Ok(stored(first_of_bug(&facts), 0, now()))
}

/// What is known of a player by now.
pub(super) fn player_rating(record: &Record, player: &str) -> Result<StoredRating, Error> {
    Ok(rested(record.store.rating(player).map_err(Error::harness)?, now()))
}

/// A stored rating as it is after the time since its last game.
pub(super) fn rested(known: Option<StoredRating>, now: i64) -> StoredRating {
    let Some(known) = known else { return stored(Rating::default(), 0, now) };
    stored(crate::practice::rested(rating(&known), now - known.at), known.games, known.at)
}

pub(super) fn rating(stored: &StoredRating) -> Rating {
    let StoredRating { rating, deviation, volatility, .. } = *stored;
    Rating { rating, deviation, volatility }
}

pub(super) fn stored(rating: Rating, games: u32, at: i64) -> StoredRating {
    let Rating { rating, deviation, volatility } = rating;
    StoredRating { rating, deviation, volatility, games, at }
}

pub(super) fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

impl Session {
    /// The round that a call names.
    pub(super) fn round(&self, named: &PracticeRef) -> Result<Round, Error> {
        let workspace = self.workspace(&named.repository)?;
        let record = Record::open(&workspace)?;
        let rows = record.store.practices().map_err(Error::harness)?;
        let row = if let Some(id) = &named.id {
            by_id(rows, id)?
        } else {
            let mut open = rows.into_iter().filter(|row| row.state == PracticeState::Open);
            open.next().ok_or_else(|| {
                Error::usage(
                    "no round of practice is open in this repository; `ssr-mcp practice start` begins one, and \
                     `ssr-mcp practice list` shows those that are over",
                )
            })?
        };
        Round::of(workspace, record, row)
    }

    /// The round that a call names, also one that is over: the last one where none is named or open.
    pub(super) fn round_or_last(&self, named: &PracticeRef) -> Result<Round, Error> {
        if named.id.is_none() {
            let workspace = self.workspace(&named.repository)?;
            let record = Record::open(&workspace)?;
            let rows = record.store.practices().map_err(Error::harness)?;
            let open = rows.iter().position(|row| row.state == PracticeState::Open);
            if let (None, Some(last)) = (open, rows.into_iter().next()) {
                return Round::of(workspace, record, last);
            }
        }
        self.round(named)
    }
}

fn by_id(rows: Vec<store::Practice>, id: &str) -> Result<store::Practice, Error> {
    let id = id.trim().to_ascii_lowercase();
    let mut fitting: Vec<_> =
        rows.into_iter().filter(|row| !id.is_empty() && row.id.starts_with(&id)).collect();
    match fitting.len() {
        1 => Ok(fitting.remove(0)),
        0 => Err(Error::usage(format!(
            "this repository has no round of practice {id}; `ssr-mcp practice list` shows them"
        ))),
        many => Err(Error::usage(format!(
            "{many} rounds of practice have an id that begins with {id}; give more of it"
        ))),
    }
}
