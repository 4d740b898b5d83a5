//! `parse`: an artifact's own parser on a log, in a sandbox of its own.

use super::record::Record;
use super::{ArtifactRef, Error, Job, Repository, Session};
use crate::artifact::Artifact;
use crate::harness::{NoVerdict, read_statuses};
use crate::sandbox::{End, Limits, Step, View};
use crate::tree::Changes;
use crate::verdict::Outcome;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Longest a parser may take; it reads text and prints names.
const PARSING: Duration = Duration::from_secs(30);
/// Bytes that a parser may print.
const OUTPUT: usize = 16 << 20;

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
            .and_then(|printed| read_statuses(&printed))
            .map_err(|problem| Error::usage(format!("{problem}; correct test_parser.py")))?;
        let word = |outcome| if outcome == Outcome::Passed { "passed" } else { "failed" };
        let outcomes = verdicts.iter().map(|(id, outcome)| (id.clone(), word(outcome).to_owned()));
        Ok(ParseAnswer(outcomes.collect()))
    }

    /// The parser's standard output.
    fn run_parser(
        &self,
        artifact: &Artifact,
        log: &[u8],
        job: &Job,
    ) -> Result<Result<Vec<u8>, NoVerdict>, Error> {
        let sandbox = self.sandbox()?;
        let empty = self.scratch()?.join("empty");
        super::open::create_private(&empty)?;
        if let Some((uid, gid)) = sandbox.owner() {
            std::os::unix::fs::chown(&empty, Some(uid), Some(gid)).map_err(Error::harness)?;
        }
        let view = View {
            layers: vec![empty],
            root: PathBuf::from("/ssr"),
            changes: Changes::new(),
            mounts: Vec::new(),
            limits: Limits {
                memory: 1 << 30,
                processes: 16,
                disk: 64 << 20,
                keep_head: OUTPUT,
                keep_tail: 4096,
                output: OUTPUT as u64,
            },
        };
        let parser = PathBuf::from("/tmp/test_parser.py");
        let step = Step {
            argv: vec!["python3".into(), parser.clone().into()],
            env: BTreeMap::from([
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("PYTHONHASHSEED".into(), "0".into()),
            ]),
            cwd: PathBuf::new(),
            stdin: log.to_vec(),
            merge_stderr: false,
            deadline: PARSING,
            files: vec![(parser, artifact.test_parser.clone(), 0o644)],
            changes: Changes::new(),
            collect: Vec::new(),
            collect_limit: 0,
        };
        job.step("running the artifact's parser");
        let finished = sandbox.run(&view, &step, &job.cancel).map_err(|error| job.failed(error))?;
        let failed = |why: String| Ok(Err(NoVerdict::ParserFailed(why)));
        match finished.end {
            End::Exited(0) => Ok(Ok(finished.stdout.head)),
            End::Cancelled => Err(Error::Cancelled),
            End::Exited(code) => {
                let said = String::from_utf8_lossy(&finished.stderr.head);
                let last = said.trim().lines().last().unwrap_or("nothing");
                failed(format!("it left with status {code} and said {last:?}"))
            }
            End::Signalled(signal) => failed(format!("it was killed by signal {signal}")),
            End::TimedOut => failed(format!("it did not end within {} s", PARSING.as_secs())),
            End::OutOfMemory => failed("it ran out of its memory limit".to_owned()),
            End::OutputLimit => failed("it printed too much".to_owned()),
        }
    }
}
