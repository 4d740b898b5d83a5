//! One run of an artifact's script on a tree, and of its parser on the log, each in a sandbox of its
//! own.

use super::{Audience, Error, Harness, How, NoVerdict, Program, ScriptRun, statuses};
use crate::sandbox::{End, Finished, Limits, Step, View};
use crate::tree::Changes;
use crate::verdict::Verdicts;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Longest log that is parsed, bytes. A longer one gives no verdict: a cut log would lie.
const LOG: usize = 16 << 20;
/// Where the parts lie inside.
const SCRIPT: &str = "/tmp/ssr/test_script.sh";
const PARSER: &str = "/tmp/ssr/test_parser.py";
/// How long a parser may take.
const PARSING: Duration = Duration::from_secs(60);

impl Harness {
    /// One run, without the memo.
    pub(super) fn run_now(
        &self,
        changes: &Changes,
        program: Program<'_>,
        how: How,
        limit: Duration,
    ) -> Result<ScriptRun, Error> {
        let mounts = match how.audience {
            Audience::Check => self.caches.for_checks()?,
            Audience::Solver => self.caches.for_solvers(changes)?,
        };
        let view = self.view(changes.clone(), mounts);
        let finished = self.sandbox.run(&view, &self.script_step(program.script, how, limit), &self.cancel)?;
        self.conclude(finished, program.parser, limit)
    }

    /// The tree as a run sees it.
    pub(super) fn view(&self, changes: Changes, caches: Vec<crate::sandbox::Mount>) -> View {
        let mut mounts = self.runner.tools().mounts.clone();
        mounts.extend(caches);
        View {
            layers: vec![self.base.dir.clone()],
            root: self.base.root.clone(),
            changes,
            mounts,
            limits: self.limits.clone(),
        }
    }

    pub(super) fn script_step(&self, script: &[u8], how: How, limit: Duration) -> Step {
        let mut env = self.runner.tools().env.clone();
        env.insert("PYTHONHASHSEED".into(), how.hash_seed.to_string().into());
        Step {
            argv: vec!["bash".into(), SCRIPT.into()],
            env,
            cwd: PathBuf::new(),
            stdin: Vec::new(),
            merge_stderr: true,
            deadline: limit,
            files: vec![(SCRIPT.into(), script.to_vec(), 0o755)],
            changes: Changes::new(),
            collect: Vec::new(),
            collect_limit: 0,
        }
    }

    /// Log to verdicts.
    pub(super) fn conclude(
        &self,
        finished: Finished,
        parser: &[u8],
        limit: Duration,
    ) -> Result<ScriptRun, Error> {
        let mut cpu = finished.cpu;
        let verdicts = match problem(&finished, limit) {
            Some(problem) => Err(problem),
            None => {
                let (verdicts, parsing) = self.parse(parser, &finished.stdout.head)?;
                cpu += parsing;
                verdicts
            }
        };
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(ScriptRun {
            verdicts,
            end: finished.end,
            log: finished.stdout.head.into(),
            wall: finished.wall,
            cpu,
        })
    }

    /// Runs a parser on a log that we captured, in a sandbox that holds neither tree nor test.
    pub fn parse(
        &self,
        parser: &[u8],
        log: &[u8],
    ) -> Result<(Result<Verdicts, NoVerdict>, Duration), Error> {
        let view = View {
            layers: vec![self.empty.clone()],
            root: PathBuf::from("/ssr"),
            changes: Changes::new(),
            mounts: self.runner.tools().mounts.clone(),
            limits: self.limits.clone(),
        };
        let mut env: BTreeMap<OsString, OsString> = self.runner.tools().env.clone();
        env.insert("PYTHONHASHSEED".into(), "0".into());
        let step = Step {
            argv: vec!["python3".into(), PARSER.into()],
            env,
            cwd: PathBuf::new(),
            stdin: log.to_vec(),
            merge_stderr: false,
            deadline: PARSING,
            files: vec![(PARSER.into(), parser.to_vec(), 0o644)],
            changes: Changes::new(),
            collect: Vec::new(),
            collect_limit: 0,
        };
        let finished = self.sandbox.run(&view, &step, &self.cancel)?;
        let verdicts = match finished.end {
            End::Exited(0) if finished.stdout.dropped == 0 => statuses::read(&finished.stdout.head),
            End::Exited(0) => Err(NoVerdict::ParserFailed("it printed too much".to_owned())),
            End::Exited(code) => Err(NoVerdict::ParserFailed(format!(
                "it left with status {code} and said {}",
                statuses::glimpse(last_line(&finished.stderr.head))
            ))),
            other => Err(NoVerdict::ParserFailed(end_in_words(other))),
        };
        Ok((verdicts, finished.cpu))
    }
}

/// Limits of a script run: the whole log is kept.
pub(super) fn limits(memory: u64) -> Limits {
    Limits {
        memory,
        processes: 512,
        disk: 4 << 30,
        keep_head: LOG,
        keep_tail: 4096,
        output: 4 * LOG as u64,
    }
}

fn problem(finished: &Finished, limit: Duration) -> Option<NoVerdict> {
    match finished.end {
        End::TimedOut => Some(NoVerdict::TimedOut(limit.as_secs())),
        End::Cancelled => Some(NoVerdict::Cancelled),
        End::OutputLimit => Some(NoVerdict::LogTooLong(LOG as u64)),
        End::OutOfMemory | End::Signalled(_) => Some(NoVerdict::Ended(end_in_words(finished.end))),
        End::Exited(_) if finished.stdout.dropped > 0 => Some(NoVerdict::LogTooLong(LOG as u64)),
        End::Exited(_) => None,
    }
}

fn end_in_words(end: End) -> String {
    match end {
        End::Exited(code) => format!("it left with status {code}"),
        End::Signalled(signal) => format!("it was killed by signal {signal}"),
        End::TimedOut => "it took too long".to_owned(),
        End::OutOfMemory => "it ran out of its memory limit".to_owned(),
        End::OutputLimit => "it printed too much".to_owned(),
        End::Cancelled => "it was cancelled".to_owned(),
    }
}

/// The end of a log on one line, for an error.
pub(super) fn ending(log: &[u8]) -> String {
    let text = log.trim_ascii_end();
    statuses::glimpse(&text[text.len().saturating_sub(200)..])
}

fn last_line(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    text.rsplit(|byte| *byte == b'\n').next().unwrap_or(text)
}
