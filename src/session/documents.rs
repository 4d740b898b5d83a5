//! What is kept, as documents to be read: artifacts and their parts, reports, answers of jobs, the rounds.

use super::record::{Record, now};
use super::{Error, Repository, Session, csv, curve};
use crate::artifact::{Artifact, Part};

/// Rounds in the document of them, the latest.
const ROUNDS: u32 = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// All five parts of an artifact, as one JSON object.
    Artifact(String),
    Part(String, Part),
    /// What the checks said of an artifact, JSON.
    Report(String),
    /// A job with its whole answer, JSON.
    Job(String),
    /// Every round, in the format of `play --csv`.
    Rounds,
    /// A run's rewards and rates over its rounds, PNG.
    Curve(String),
}

/// An artifact that is kept.
#[derive(Clone, Debug)]
pub struct KeptArtifact {
    pub id: String,
    pub strategy: String,
    pub valid: bool,
}

/// A run that is kept.
#[derive(Clone, Debug)]
pub struct KeptRun {
    pub id: String,
    /// Rounds that were played.
    pub played: u32,
}

impl Session {
    pub fn document(&self, repository: &Repository, wanted: &Document) -> Result<Vec<u8>, Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        match wanted {
            Document::Artifact(id) => {
                let artifact = record.artifact(id)?;
                refuse_answer(&record, &artifact)?;
                Ok(artifact.to_json().to_string().into_bytes())
            }
            Document::Part(id, part) => {
                let artifact = record.artifact(id)?;
                if *part == Part::BugInject {
                    refuse_answer(&record, &artifact)?;
                }
                Ok(artifact.content(*part))
            }
            Document::Report(id) => {
                // By the beginning of an id, too.
                let id = record.artifact(id)?.id();
                let row = record.store.artifact(&id).map_err(Error::harness)?;
                Ok(row.map(|row| row.report).unwrap_or_default().into_bytes())
            }
            Document::Job(id) => {
                let job = self.job(repository, id)?;
                serde_json::to_vec(&job).map_err(Error::harness)
            }
            Document::Rounds => {
                let mut rounds = record.rounds(ROUNDS)?;
                rounds.reverse();
                Ok(csv::table(&rounds).into_bytes())
            }
            Document::Curve(run) => {
                let run = record.run(run)?;
                let bugs = record.store.rounds_of(&run.id).map_err(Error::harness)?;
                Ok(curve::chart(&run.id, &bugs).png())
            }
        }
    }

    /// The latest runs, newest first.
    pub fn runs(&self, repository: &Repository, limit: u32) -> Result<Vec<KeptRun>, Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        let kept =
            |run: crate::store::Run| KeptRun { played: run.next.saturating_sub(1), id: run.id };
        Ok(record.runs(limit)?.into_iter().map(kept).collect())
    }

    /// The latest artifacts that have their parts, newest first.
    pub fn artifacts(
        &self,
        repository: &Repository,
        limit: u32,
    ) -> Result<Vec<KeptArtifact>, Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        let rows = record.store.latest_artifacts(limit).map_err(Error::harness)?;
        let kept = |(id, strategy, valid)| KeptArtifact { id, strategy, valid };
        Ok(rows.into_iter().map(kept).collect())
    }
}

/// A bug that somebody is at repairing is not shown.
fn refuse_answer(record: &Record, artifact: &Artifact) -> Result<(), Error> {
    let id = artifact.id();
    if record.store.is_being_solved(&id, now()).map_err(Error::harness)? {
        let short = id.get(..12).unwrap_or_default();
        return Err(Error::usage(format!(
            "a play that is to repair the artifact {short} is open: what the bug is can be read once it is submitted"
        )));
    }
    Ok(())
}
