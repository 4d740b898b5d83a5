//! The report in a script's log: the last block between the two marker lines, and its readers.

mod junit;
mod libtest;
mod lines;

use super::spec::ReportKind;
use crate::verdict::Verdicts;

const BEGIN: &[u8] = b"--- report begin ---";
const END: &[u8] = b"--- report end ---";
const NONE: &[u8] = b"--- no report: ";

/// Why a log holds no verdicts. The parser program says the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoReport {
    #[error("the log holds no report")]
    Absent,
    #[error("the test run gave no report: {0}")]
    Refused(String),
    #[error("the report has no end: the log is cut off or the script was stopped")]
    CutOff,
    #[error("the report is incomplete: {0}")]
    Incomplete(String),
    #[error("the report cannot be read: {0}")]
    Unreadable(String),
}

/// Reads the outcomes of all tests from a log.
pub(super) fn read(kind: ReportKind, log: &[u8]) -> Result<Verdicts, NoReport> {
    let block = block(log)?;
    match kind {
        ReportKind::Lines => lines::read(&block),
        ReportKind::Junit => junit::read(&block),
        ReportKind::Libtest => libtest::read(&block),
    }
}

/// The parser program that says the same of the same logs.
pub(super) fn parser(kind: ReportKind) -> Vec<u8> {
    let reader = match kind {
        ReportKind::Lines => include_str!("report/lines.py"),
        ReportKind::Junit => include_str!("report/junit.py"),
        ReportKind::Libtest => include_str!("report/libtest.py"),
    };
    format!("{}\n\n{}", include_str!("report/log.py"), reader).into_bytes()
}

/// The lines of the last report. What tests print is prefixed by the script, so that a marker at
/// the start of a line is the script's own.
fn block(log: &[u8]) -> Result<Vec<&[u8]>, NoReport> {
    let lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').collect();
    let last = |marker: &[u8]| lines.iter().rposition(|line| *line == marker);
    let refused = lines.iter().rposition(|line| line.starts_with(NONE));
    match (last(BEGIN), last(END)) {
        (begin, _) if refused.is_some() && refused > begin => {
            let reason = &lines[refused.unwrap_or(0)][NONE.len()..];
            let reason = String::from_utf8_lossy(reason);
            Err(NoReport::Refused(reason.trim_end_matches('-').trim_end().to_owned()))
        }
        (Some(begin), Some(end)) if begin < end => Ok(lines[begin + 1..end].to_vec()),
        (Some(_), _) => Err(NoReport::CutOff),
        (None, _) => Err(NoReport::Absent),
    }
}
