//! `parse`: an artifact's own parser on a log, in a sandbox of its own.

use super::record::Record;
use super::{ArtifactRef, Error, Job, Repository, Session};
use crate::artifact::Artifact;
use crate::harness::{NoVerdict, parsing};
use crate::runner;
use crate::verdict::{Outcome, Verdicts};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct ParseRequest {
    pub artifact: ArtifactRef,
    /// Whose ids are meant; nothing of it is read otherwise.
    pub repository: Repository,
    /// What the artifact's script printed.
    pub log: Vec<u8>,
}

/// Test id to `passed` or `failed`.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct ParseAnswer(pub BTreeMap<String, String>);

impl Session {
    pub fn parse(&self, request: &ParseRequest, job: &Job) -> Result<ParseAnswer, Error> {
        let artifact = match &request.artifact {
            id @ ArtifactRef::Id(_) => {
                let record = Record::open(&self.workspace(&request.repository)?)?;
                self.artifact(id, Some(&record))?
            }
            given => self.artifact(given, None)?,
        };
        let verdicts = self
            .run_parser(&artifact, &request.log, job)?
            .map_err(|problem| Error::usage(format!("{problem}; correct test_parser.py")))?;
        let word = |outcome| if outcome == Outcome::Passed { "passed" } else { "failed" };
        let outcomes = verdicts.iter().map(|(id, outcome)| (id.clone(), word(outcome).to_owned()));
        Ok(ParseAnswer(outcomes.collect()))
    }

    fn run_parser(
        &self,
        artifact: &Artifact,
        log: &[u8],
        job: &Job,
    ) -> Result<Result<Verdicts, NoVerdict>, Error> {
        let sandbox = self.sandbox()?;
        let empty = self.scratch()?.join("empty");
        super::open::create_private(&empty)?;
        if let Some((uid, gid)) = sandbox.owner() {
            std::os::unix::fs::chown(&empty, Some(uid), Some(gid)).map_err(Error::harness)?;
        }
        let tools = runner::parsing_tools(&self.config.cwd, self.config.machine()?)
            .map_err(Error::harness)?;
        job.step("running the artifact's parser");
        let bench =
            parsing::Bench { sandbox: &sandbox, empty: &empty, tools: &tools, cancel: &job.cancel };
        let parsed = bench.parse(&artifact.test_parser, log).map_err(|error| job.failed(error));
        match parsed?.0 {
            Err(NoVerdict::Cancelled) => Err(Error::Cancelled),
            verdicts => Ok(verdicts),
        }
    }
}
