//! An artifact's parser on a log that we captured, in a sandbox that holds neither tree nor test.

use super::{Error, NoVerdict, statuses};
use crate::runner::Tools;
use crate::sandbox::{Cancel, End, Limits, Sandbox, Step, View};
use crate::tree::Changes;
use crate::verdict::Verdicts;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the parser lies inside.
const PARSER: &str = "/tmp/ssr/test_parser.py";
/// How long a parser may take; it reads text and prints names.
const PARSING: Duration = Duration::from_mins(1);
/// Most bytes that a parser may print.
const OUTPUT: usize = 16 << 20;

/// What a parser runs on.
pub struct Bench<'a> {
    pub sandbox: &'a Sandbox,
    /// An empty directory that belongs to the sandbox's owner.
    pub empty: &'a Path,
    /// A Python 3 is among them.
    pub tools: &'a Tools,
    pub cancel: &'a Cancel,
}

impl Bench<'_> {
    /// Verdicts, or why there are none; and the CPU time that it took.
    pub fn parse(
        &self,
        parser: &[u8],
        log: &[u8],
    ) -> Result<(Result<Verdicts, NoVerdict>, Duration), Error> {
        let view = View {
            layers: vec![self.empty.to_owned()],
            root: PathBuf::from("/ssr"),
            changes: Changes::new(),
            mounts: self.tools.mounts.clone(),
            limits: Limits {
                memory: 1 << 30,
                processes: 64,
                disk: 64 << 20,
                keep_head: OUTPUT,
                keep_tail: 4096,
                output: OUTPUT as u64,
            },
        };
        let mut env = self.tools.env.clone();
        env.insert("PYTHONHASHSEED".into(), "0".into());
        // The cache of test runs is not shown here; the library's own byte code is.
        env.remove(std::ffi::OsStr::new("PYTHONPYCACHEPREFIX"));
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
        let finished = self.sandbox.run(&view, &step, self.cancel)?;
        let verdicts = match finished.end {
            End::Exited(0) if finished.stdout.dropped == 0 => statuses::read(&finished.stdout.head),
            End::Exited(0) => Err(NoVerdict::ParserFailed("it printed too much".to_owned())),
            End::Exited(code) => Err(NoVerdict::ParserFailed(format!(
                "it left with status {code} and said {}",
                statuses::glimpse(last_line(&finished.stderr.head))
            ))),
            End::Cancelled => Err(NoVerdict::Cancelled),
            other => Err(NoVerdict::ParserFailed(end_in_words(other))),
        };
        Ok((verdicts, finished.cpu))
    }
}

pub(super) fn end_in_words(end: End) -> String {
    match end {
        End::Exited(code) => format!("it left with status {code}"),
        End::Signalled(signal) => format!("it was killed by signal {signal}"),
        End::TimedOut => "it took too long".to_owned(),
        End::OutOfMemory => "it ran out of its memory limit".to_owned(),
        End::OutOfDisk => "it wrote more than its limit".to_owned(),
        End::OutputLimit => "it printed too much".to_owned(),
        End::Cancelled => "it was cancelled".to_owned(),
    }
}

fn last_line(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    text.rsplit(|byte| *byte == b'\n').next().unwrap_or(text)
}
