//! `parse`: an artifact's own parser on a log, in a sandbox of its own.

use super::record::Record;
use super::{ArtifactRef, Error, Job, Repository, Session};
use crate::artifact::Artifact;
use crate::sandbox::{End, Limits, Step, View};
use crate::tree::Changes;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct ParseRequest {
    pub artifact: ArtifactRef,
    /// Whose ids are meant; nothing of it is read otherwise.
    pub repository: Repository,
    /// What the artifact's script printed.
    pub log: Vec<u8>,
}

/// What the parser printed: test id to `passed` or `failed`.
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
        let printed = self.run_parser(&artifact, &request.log, job)?;
        let outcomes = serde_json::from_slice(&printed).map_err(|error| {
            Error::usage(format!(
                "the artifact's parser printed no JSON object of test ids to \"passed\" or \
                 \"failed\" ({error}); correct test_parser.py"
            ))
        })?;
        Ok(ParseAnswer(outcomes))
    }

    /// The parser's standard output.
    fn run_parser(&self, artifact: &Artifact, log: &[u8], job: &Job) -> Result<Vec<u8>, Error> {
        let scratch = self.scratch()?;
        let empty = scratch.join("empty");
        super::open::create_private(&empty)?;
        let view = View {
            layers: vec![empty],
            root: PathBuf::from("/tmp/ssr-parser"),
            changes: Changes::default(),
            mounts: Vec::new(),
            limits: Limits {
                memory: 1 << 30,
                processes: 16,
                disk: 64 << 20,
                keep_head: 16 << 20,
                keep_tail: 0,
                output: 16 << 20,
            },
        };
        let parser = PathBuf::from("/tmp/test_parser.py");
        let step = Step {
            argv: vec!["python3".into(), "-I".into(), parser.clone().into()],
            env: BTreeMap::from([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]),
            cwd: PathBuf::new(),
            stdin: log.to_vec(),
            merge_stderr: false,
            deadline: Duration::from_secs(30),
            files: vec![(parser, artifact.test_parser.clone(), 0o644)],
            changes: Changes::default(),
            collect: Vec::new(),
            collect_limit: 0,
        };
        let finished =
            self.sandbox()?.run(&view, &step, &job.cancel).map_err(|error| job.failed(error))?;
        match finished.end {
            End::Exited(0) => Ok(finished.stdout.head),
            End::Cancelled => Err(Error::Cancelled),
            end => {
                let said = String::from_utf8_lossy(&finished.stderr.head).trim().to_owned();
                let last = said.lines().last().unwrap_or("it printed nothing").to_owned();
                Err(Error::usage(format!(
                    "the artifact's parser failed ({end:?}: {last}); correct test_parser.py"
                )))
            }
        }
    }
}
