//! The report in a script's log: the last block between the two marker lines, and its readers.

mod gotest;
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

/// What a log holds for people: what was printed before the last report, without the mark that the script
/// puts before it.
pub fn printed(log: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').collect();
    let end = lines.iter().rposition(|line| *line == BEGIN).unwrap_or(lines.len());
    let plain = |line: &&[u8]| line.strip_prefix(b"| ").unwrap_or(line).to_vec();
    lines[..end].iter().map(plain).collect::<Vec<_>>().join(&b'\n')
}

/// Reads the outcomes of all tests from a log.
pub(super) fn read(kind: ReportKind, log: &[u8]) -> Result<Verdicts, NoReport> {
    let block = block(log)?;
    match kind {
        ReportKind::Lines => lines::read(&block),
        ReportKind::Junit => junit::read(&block),
        ReportKind::Libtest => libtest::read(&block),
        ReportKind::Gotest => gotest::read(&block),
    }
}

/// The parser program that says the same of the same logs.
pub(super) fn parser(kind: ReportKind) -> Vec<u8> {
    let reader = match kind {
        ReportKind::Lines => include_str!("report/lines.py"),
        ReportKind::Junit => include_str!("report/junit.py"),
        ReportKind::Libtest => include_str!("report/libtest.py"),
        ReportKind::Gotest => include_str!("report/gotest.py"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::mangled;

    #[test]
    fn people_are_shown_what_was_printed_and_not_the_report() {
        let log = b"| one\n|two\n--- report begin ---\nx\n--- report end ---\n";
        assert_eq!(printed(log), b"one\n|two");
        assert_eq!(printed(b"| a\nb\n"), b"a\nb\n");
    }

    /// Whatever a log holds, it is read or refused; and no id has two outcomes that go unsaid.
    fn check(kind: ReportKind, seeds: &[&[u8]], words: &[&[u8]]) {
        let marks: [&[u8]; 4] = [
            b"--- report begin ---\n",
            b"\n--- report end ---\n",
            b"--- no report: x ---\n",
            b"| ",
        ];
        let words = [words, &marks].concat();
        mangled::check(seeds, &words, &|input| {
            if let Ok(verdicts) = read(kind, input) {
                let twice = verdicts.duplicates();
                assert!(verdicts.iter().count() >= twice.len());
            }
        });
    }

    #[test]
    fn a_mangled_report_of_lines_is_read_or_refused() {
        check(
            ReportKind::Lines,
            &[b"| out\n--- report begin ---\n{\"test\": \"t.py::a\", \"outcome\": \"passed\"}\n{\"test\": \"t.py::b\", \"outcome\": \"failed\"}\n{\"end\": 2}\n\n--- report end ---\n"],
            &[b"\"skipped\"", b"\"end\": 1", b"{\"stopped\": \"x\"}", b"1e999", b"\\ud800", b"\0"],
        );
    }

    #[test]
    fn a_mangled_junit_report_is_read_or_refused() {
        check(
            ReportKind::Junit,
            &[
                b"--- report begin ---\nxml <testsuites><testsuite name=\"s\"><testcase classname=\"t.A\" name=\"a\" file=\"t.py\"/>\nxml <testcase classname=\"t\" name=\"b[&lt;]\"><failure message=\"m\">x</failure></testcase></testsuite></testsuites>\nexclude \"t.c\"\n--- report end ---\n",
                b"--- report begin ---\nxml <testsuite><testcase name='x'><skipped/></testcase></testsuite>\n--- report end ---\n",
            ],
            &[b"<!DOCTYPE a [<!ENTITY e \"x\">]>", b"&e;", b"<![CDATA[", b"]]>", b"xml ", b"<testcase", b"/>", b"exclude 1\n"],
        );
    }

    #[test]
    fn a_mangled_junit_report_with_names_of_ours_is_read_or_refused() {
        check(
            ReportKind::Junit,
            &[b"--- report begin ---\nerror \"t/b.c\"\nid [\"a::a\", \"t/a.c::a\"]\nxml <testsuite><testcase name=\"a\" classname=\"a\"><failure/></testcase></testsuite>\n--- report end ---\n"],
            &[b"id [\"a::a\"]\n", b"error 1\n", b"id ", b"\"", b"xml ", b"exclude \"a\"\n"],
        );
    }

    #[test]
    fn a_mangled_report_of_go_is_read_or_refused() {
        check(
            ReportKind::Gotest,
            &[b"--- report begin ---\nbroken b/b_test.go\npackage . ./a\nlist TestA\ntest TestA a/a_test.go\nexclude TestA/b\nevent {\"Action\":\"pass\",\"Test\":\"TestA/b\"}\nevent {\"Action\":\"fail\",\"Test\":\"TestA\"}\nevent {\"Action\":\"fail\",\"Package\":\"m/a\"}\nend\n--- report end ---\n"],
            &[b"package x\n", b"list TestB\n", b"event {}\n", b"event ", b"\"skip\"", b"end\n", b"broken "],
        );
    }

    #[test]
    fn what_go_says_of_a_package_must_be_what_its_tests_say() {
        let said = |event: &str| {
            let log = format!(
                "--- report begin ---\npackage . ./a\nlist TestA\ntest TestA a_test.go\n{event}end\n--- report end ---\n"
            );
            read(ReportKind::Gotest, log.as_bytes())
        };
        let passed = "event {\"Action\":\"pass\",\"Test\":\"TestA\"}\n";
        let whole = |word: &str| format!("{passed}event {{\"Action\":\"{word}\"}}\n");
        assert_eq!(said(&whole("pass")).unwrap().iter().count(), 1);
        for incomplete in
            [whole("fail"), passed.to_owned(), "event {\"Action\":\"pass\"}\n".to_owned()]
        {
            assert!(matches!(said(&incomplete), Err(NoReport::Incomplete(_))), "{incomplete}");
        }
    }

    #[test]
    fn a_mangled_report_of_test_binaries_is_read_or_refused() {
        check(
            ReportKind::Libtest,
            &[b"--- report begin ---\nfile tests/a.rs\nlist m::a\nlist b\nline test m::a ... ok\nline test b - should panic ... FAILED\nbroken tests/c.rs\nend\n--- report end ---\n"],
            &[b"file x\n", b"list ", b"line test ", b" ... ok", b" ... ignored, why", b"end\n", b"broken "],
        );
    }
}
