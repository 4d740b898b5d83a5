//! `run_tests`: the developer's own tests, as they are, in the sandbox; and an artifact's script on its bug.

use super::open::create_private;
use super::record::Record;
use super::{ArtifactRef, Error, Job, ParseAnswer, ParseRequest, Repository, Session};
use crate::artifact::Artifact;
use crate::diff::Patch;
use crate::harness::{How, Program, ScriptRun};
use crate::runner::Near;
use crate::sandbox::Tier;
use crate::tree::{Changes, RelPath};
use crate::verdict::TestId;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The end of a log that an answer shows, bytes.
const SHOWN: usize = 4000;

#[derive(Clone, Debug)]
pub struct RunTestsRequest {
    pub repository: Repository,
    /// A test file, relative to the root; `None`: all.
    pub file: Option<RelPath>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct RunTestsAnswer {
    /// Test id to passed, failed, error or skipped.
    pub outcomes: BTreeMap<TestId, String>,
    pub passed: usize,
    /// Tests that failed or ended with an error.
    pub failing: Vec<TestId>,
    /// Why there are no outcomes; null if there are.
    pub problem: Option<String>,
    /// The end of what the tests printed.
    pub log: String,
    pub seconds: f64,
    /// The tier of isolation.
    #[schemars(with = "String")]
    pub sandbox: Tier,
}

impl Session {
    pub fn run_tests(&self, request: &RunTestsRequest, job: &Job) -> Result<RunTestsAnswer, Error> {
        let near = request.file.clone().map(|file| Near { file, only: true });
        let tests = crate::runner::Overrides { near, ..request.repository.tests.clone() };
        let opened = self.open(&Repository { tests, ..request.repository.clone() }, job)?;
        let (harness, runner) = (&opened.harness, opened.harness.runner());
        let all = runner.test_files(harness.base());
        let files = match &request.file {
            Some(file) if all.contains(file) => vec![file.clone()],
            Some(file) => {
                return Err(Error::usage(format!(
                    "{file} is no test file of {}: its tests are not run by themselves",
                    runner.framework()
                )));
            }
            None => all,
        };
        job.step("running the tests");
        let (script, parser) = (runner.script(&files, &[]), runner.parser());
        let program = Program { script: &script, parser: &parser };
        let run = harness
            .run(&Changes::new(), program, How::CHECK, true)
            .map_err(|error| job.failed(error))?;
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(answer(&run, harness.tier()))
    }

    /// What an artifact's parser says of the last log of its script; where there is none, the script is run on
    /// the tree with its bug first.
    pub fn parse_last_log(
        &self,
        repository: &Repository,
        id: &str,
        job: &Job,
    ) -> Result<ParseAnswer, Error> {
        let reference = ArtifactRef::Id(id.to_owned());
        let record = Record::open(&self.workspace(repository)?)?;
        let artifact = self.artifact(&reference, Some(&record))?;
        let path = log_path(&record, &artifact)?;
        let log = match std::fs::read(&path) {
            Ok(log) => log,
            Err(_) => self.log_of_bug(repository, &reference, &path, job)?,
        };
        self.parse(&ParseRequest { artifact: reference, repository: repository.clone(), log }, job)
    }

    fn log_of_bug(
        &self,
        repository: &Repository,
        reference: &ArtifactRef,
        path: &PathBuf,
        job: &Job,
    ) -> Result<Vec<u8>, Error> {
        let (opened, artifact) = self.open_with(reference, repository, job)?;
        let harness = &opened.harness;
        let unfit = |why: String| {
            Error::usage(format!("the artifact does not fit the tree as it is: {why}"))
        };
        let bug = Patch::parse(&artifact.bug_inject).map_err(|why| unfit(why.to_string()))?;
        let changes = bug.apply(harness.base()).map_err(|why| unfit(why.to_string()))?;
        job.step("running the artifact's script on the tree with its bug");
        let program = Program { script: &artifact.test_script, parser: &artifact.test_parser };
        let run =
            harness.run(&changes, program, How::CHECK, true).map_err(|error| job.failed(error))?;
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        std::fs::write(path, &run.log).map_err(Error::harness)?;
        Ok(run.log.to_vec())
    }
}

fn log_path(record: &Record, artifact: &Artifact) -> Result<PathBuf, Error> {
    let logs = record.state.join("logs");
    create_private(&logs)?;
    Ok(logs.join(format!("{}.log", artifact.id())))
}

fn answer(run: &ScriptRun, sandbox: Tier) -> RunTestsAnswer {
    let verdicts = run.verdicts.as_ref();
    let outcomes: BTreeMap<TestId, String> = verdicts
        .map(|verdicts| verdicts.iter().map(|(id, o)| (id.clone(), o.as_str().to_owned())))
        .into_iter()
        .flatten()
        .collect();
    let failing = verdicts
        .map(|verdicts| verdicts.iter().filter(|(_, outcome)| outcome.is_failing()))
        .into_iter()
        .flatten()
        .map(|(id, _)| id.clone())
        .collect();
    let start = run.log.len().saturating_sub(SHOWN);
    RunTestsAnswer {
        passed: outcomes.values().filter(|outcome| *outcome == "passed").count(),
        outcomes,
        failing,
        problem: verdicts.err().map(ToString::to_string),
        log: String::from_utf8_lossy(&run.log[start..]).into_owned(),
        seconds: run.wall.as_secs_f64(),
        sandbox,
    }
}
