//! `practice start`: a bug is picked, proved, and laid out for a person.

use super::pick::{Picked, PracticePick};
use super::proof::{Proof, prove};
use super::round::{Round, Settings, Shown, short};
use super::show::{PracticeAnswer, answer};
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::practice::{behaviours, clues};
use crate::session::open::Opened;
use crate::session::record::{self, Record, now};
use crate::session::{Error, Job, Repository, Session, jobs};
use crate::store::{self, PracticeState};
use crate::tree::{Changes, Tree};
use crate::workspace::Edited;

/// Seconds.
const TEN_YEARS: i64 = 10 * 365 * 24 * 3600;

#[derive(Clone, Debug)]
pub struct PracticeStartRequest {
    pub repository: Repository,
    pub pick: PracticePick,
    /// Also while another round is open.
    pub another: bool,
}

impl Session {
    pub fn practice_start(
        &self,
        request: &PracticeStartRequest,
        job: &Job,
    ) -> Result<PracticeAnswer, Error> {
        if !request.another {
            let record = Record::open(&self.workspace(&request.repository)?)?;
            let rounds = record.store.practices().map_err(Error::harness)?;
            if let Some(open) = rounds.iter().find(|row| row.state == PracticeState::Open) {
                return Err(is_open(&open.id));
            }
        }
        let Picked { artifact, why } = self.pick(request, job)?;
        let (opened, artifact) = self.open_with(&artifact, &request.repository, job)?;
        let proof = prove(&opened, &artifact, job)?
            .map_err(|unfit| Error::usage(format!("the bug is not practised on: it is {unfit}")))?;
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let settings = Settings {
            failing_tests: proof.failing.len(),
            why,
            ..Settings::of(&request.repository, &artifact)
        };
        let row = row(&opened, &artifact, &settings, &proof)?;
        let Opened { workspace, record, harness, .. } = &opened;
        if !record.store.begin_practice(&row, !request.another).map_err(Error::harness)? {
            return Err(Error::usage("another process has just begun a round of practice here"));
        }
        // A round lasts as long as the person takes, through any number of copies of the repository.
        let (base, until) = (harness.base(), record::time(row.begun.saturating_add(TEN_YEARS)));
        workspace.pin(base, &row.id, until).map_err(Error::harness)?;
        // A process that ends before this leaves a round whose tree the next call lays out.
        let round = Round::of(workspace.clone(), record.clone(), row)?;
        round.lay_out(harness.base(), &proof.task)?;
        answer(&round, &Edited::default(), None)
    }
}

fn is_open(id: &str) -> Error {
    Error::usage(format!(
        "round {} is open; go on with it (`ssr-mcp practice`), give it up (`ssr-mcp practice give-up`), or \
         begin another one beside it (--another)",
        short(id)
    ))
}

fn row(
    opened: &Opened,
    artifact: &Artifact,
    settings: &Settings,
    proof: &Proof,
) -> Result<store::Practice, Error> {
    let (harness, languages) = (&opened.harness, &opened.languages);
    let (base, task) = (harness.base(), &proof.task);
    let shown = Shown {
        broken: behaviours(base, &task.changes, task.with_oracle(), languages),
        oracle: String::from_utf8_lossy(&task.oracle).into_owned(),
        framework: harness.runner().framework().to_owned(),
    };
    let clues = clues(base, &bug_of(base, artifact), languages, &proof.strategy);
    let json = |value: Result<String, serde_json::Error>| value.map_err(Error::harness);
    Ok(store::Practice {
        id: jobs::new_id()?,
        artifact: artifact.id(),
        base: base.id.clone(),
        settings: json(serde_json::to_string(settings))?,
        shown: json(serde_json::to_string(&shown))?,
        families: json(serde_json::to_string(&clues.families()))?,
        clues: json(serde_json::to_string(&clues))?,
        begun: now(),
        ended: None,
        state: PracticeState::Open,
        hints: 0,
        checks: 0,
        score: None,
        rated: false,
    })
}

/// What a bug changes, without its weakening; nothing where it does not fit.
pub(super) fn bug_of(base: &dyn Tree, artifact: &Artifact) -> Changes {
    let patch = Patch::parse(&artifact.bug_inject).ok();
    patch.and_then(|patch| patch.apply(base).ok()).unwrap_or_default()
}
