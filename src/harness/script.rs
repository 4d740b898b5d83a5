//! One run of an artifact's script on a tree, and of its parser on the log, each in a sandbox of its
//! own.

use super::{Audience, Error, Harness, How, NoVerdict, Program, ScriptRun, parsing, statuses};
use crate::sandbox::{self, Access, End, Finished, Limits, Mount, Step, View};
use crate::tree::Changes;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Longest log that is parsed, bytes. A longer one gives no verdict: a cut log would lie.
pub(super) const LOG: usize = 16 << 20;
/// Where the script lies inside.
const SCRIPT: &str = "/tmp/ssr/test_script.sh";
/// Read whole before anything runs: bash reads a script's file bit by bit, so that a test could write what
/// it is to do next.
const READ_WHOLE: &str = "eval \"$(<\"$0\")\"";

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
        // With the step and not with the view: changes that do not fit are then an answer.
        let view = self.view(Changes::new(), mounts);
        let step =
            Step { changes: changes.clone(), ..self.script_step(program.script, how, limit) };
        let slot = self.slots.take();
        let finished = self.sandbox.run(&view, &step, &self.cancel);
        drop(slot);
        match finished {
            Ok(finished) => self.conclude(finished, program.parser, limit),
            // The changes do not fit the tree: a directory or link where a file should be. That says
            // something of the changes, not of the sandbox.
            Err(sandbox::Error::NotWritten { path, reason }) => {
                Ok(ScriptRun::without(NoVerdict::NotLaidOut { path, reason }))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Two runs after each other in one sandbox, without the memo.
    pub(super) fn run_in_one_place(
        &self,
        changes: &Changes,
        program: Program<'_>,
        hows: [How; 2],
        limit: Duration,
    ) -> Result<[ScriptRun; 2], Error> {
        let view = self.view(Changes::new(), self.caches.for_checks()?);
        let mut session = self.sandbox.open(&view)?;
        let mut runs = Vec::new();
        for how in hows {
            let mut step = self.script_step(program.script, how, limit);
            if runs.is_empty() {
                step.changes = changes.clone();
            }
            let slot = self.slots.take();
            let finished = session.run(&step, &self.cancel);
            drop(slot);
            runs.push(match finished {
                Ok(finished) => self.conclude(finished, program.parser, limit)?,
                Err(sandbox::Error::NotWritten { path, reason }) => {
                    ScriptRun::without(NoVerdict::NotLaidOut { path, reason })
                }
                Err(error) => return Err(error.into()),
            });
        }
        let second = runs.pop().expect("two runs were made");
        Ok([runs.pop().expect("two runs were made"), second])
    }

    /// The tree as a run sees it.
    pub(super) fn view(&self, changes: Changes, caches: Vec<Mount>) -> View {
        let mut mounts = self.runner.tools().mounts.clone();
        mounts.extend(self.masks());
        mounts.extend(caches);
        View {
            layers: vec![self.base.dir.clone()],
            root: self.base.root.clone(),
            changes,
            mounts,
            limits: self.limits.clone(),
        }
    }

    /// Nothing where installed copies of the repository's own packages lie.
    fn masks(&self) -> impl Iterator<Item = Mount> {
        self.runner.tools().hidden.iter().map(|(target, is_dir)| Mount {
            source: if *is_dir { self.empty.clone() } else { PathBuf::from("/dev/null") },
            target: target.clone(),
            access: Access::ReadOnly,
        })
    }

    pub(super) fn script_step(&self, script: &[u8], how: How, limit: Duration) -> Step {
        let mut env = self.runner.tools().env.clone();
        env.insert("PYTHONHASHSEED".into(), how.hash_seed.to_string().into());
        Step {
            argv: vec!["bash".into(), "-c".into(), READ_WHOLE.into(), SCRIPT.into()],
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
        self.spend(finished.cpu);
        self.note_spent(|spent| {
            spent.runs += 1;
            spent.testing += finished.wall;
        });
        self.wanted_network.fetch_or(finished.wanted_network, Ordering::Relaxed);
        let problem = problem(&finished, limit);
        let Finished { stdout, wall, cpu, .. } = finished;
        self.judge(Raw { log: stdout.head, problem, wall, cpu, first: true }, parser)
    }

    /// The verdicts of a log, unless there is a problem with the run already.
    pub(super) fn judge(&self, raw: Raw, parser: &[u8]) -> Result<ScriptRun, Error> {
        let Raw { log, problem, wall, mut cpu, first } = raw;
        let verdicts = if let Some(problem) = problem {
            Err(problem)
        } else {
            let bench = parsing::Bench {
                sandbox: &self.sandbox,
                empty: &self.empty,
                tools: self.runner.tools(),
                cancel: &self.cancel,
            };
            let slot = self.slots.take();
            let (verdicts, parsing) = bench.parse(parser, &log)?;
            drop(slot);
            self.spend(parsing);
            cpu += parsing;
            verdicts
        };
        tracing::debug!(?wall, ?cpu, "ran the script and its parser");
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(ScriptRun { verdicts, log: log.into(), wall, cpu, first })
    }
}

/// What a run gave before its log is read.
pub(super) struct Raw {
    pub(super) log: Vec<u8>,
    pub(super) problem: Option<NoVerdict>,
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) first: bool,
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
        End::OutOfMemory | End::OutOfDisk | End::Signalled(_) => {
            Some(NoVerdict::Ended(parsing::end_in_words(finished.end)))
        }
        End::Exited(_) if finished.stdout.dropped > 0 => Some(NoVerdict::LogTooLong(LOG as u64)),
        End::Exited(_) => None,
    }
}

/// The end of a log on one line, for an error.
pub(super) fn ending(log: &[u8]) -> String {
    let text = log.trim_ascii_end();
    statuses::glimpse(&text[text.len().saturating_sub(200)..])
}
