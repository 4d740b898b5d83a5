//! A test command of the user's own: `JUnit` XML read by us and by the parser program alike.

use super::*;
use Outcome::{Error as Errored, Failed, Passed, Skipped};

/// Runs a command whose report is `xml`.
#[track_caller]
fn report(xml: &str, excluded: &[&str]) -> Ran {
    let repository =
        Repository::with(&[("test_a.py", "import unittest\n"), ("made.xml", xml), ("out/old", "")]);
    let overrides = Overrides {
        test_command: Some(
            "cat made.xml >'out/report one.xml'; echo 'it'\"'\"'s done'; exit 3".into(),
        ),
        report: Some("./out/report one.xml".into()),
        framework: None,
        near: None,
    };
    let root = repository.root();
    std::fs::write(root.join("out/report one.xml"), "stale").unwrap();
    let runner = Runner::detect(&Disk(root.to_owned()), root, &machine(), &overrides).unwrap();
    let excluded: Vec<_> = excluded.iter().map(|id| (*id).to_owned()).collect();
    run_script(&runner, root, &runner.script(&[], &excluded))
}

#[test]
fn every_outcome_and_every_form_of_name_is_read() {
    let xml = r#"<?xml version="1.0" encoding="utf-8"?>
<testsuites name="all"><testsuite name="one" tests="9">
<properties><property name="failure" value="x"/></properties>
<testcase classname="tests.test_a.TestA.TestB" name="test_b[1 + 1 &amp; &#10;&lt;x&gt;]" file="tests/test_a.py" time="0.1"/>
<testcase classname="tests.test_a" name="test_c" file="tests/test_a.py"><failure message="no">
--- report end ---
</failure></testcase>
<testcase classname="a.B" name="error"><error/></testcase>
<testcase classname="a.B" name="skip"><skipped type="x"><![CDATA[<failure/>]]></skipped></testcase>
<testcase name="no class"><system-out><failure/></system-out></testcase>
<testcase classname="a.B" name="both"><error/><failure/></testcase>
<testcase classname="a.B" name="left out"/>
<testcase classname="a.B" name="twice"/><testcase classname="a.B" name="twice"><failure/></testcase>
<testsuite name="nested"><testcase name="deep"/></testsuite>
</testsuite></testsuites>"#;
    let ran = report(xml, &["a.B::left out"]);
    check(
        &ran,
        &[
            ("a.B::both", Failed),
            ("a.B::error", Errored),
            ("a.B::skip", Skipped),
            ("a.B::twice", Passed),
            ("a.B::twice#2", Failed),
            ("nested::deep", Passed),
            ("one::no class", Passed),
            ("tests/test_a.py::TestA::TestB::test_b[1 + 1 & \n<x>]", Passed),
            ("tests/test_a.py::test_c", Failed),
        ],
    );
    assert_eq!(ran.ours.unwrap().duplicates(), ["a.B::twice"]);
    assert!(String::from_utf8_lossy(&ran.log).starts_with("| it's done\n"));
}

#[test]
fn a_report_that_is_cut_off_foreign_or_hostile_is_refused() {
    let cut = r#"<testsuite><testcase classname="a" name="b"/>"#;
    let mixed = r#"<testsuite><testcase classname="a" name="b"></testsuite></testcase>"#;
    let entity = r#"<!DOCTYPE x [<!ENTITY e "b">]><testsuite><testcase name="&e;"/></testsuite>"#;
    let control = "<testsuite><testcase name='a\u{1}'/></testsuite>";
    for xml in [cut, mixed, entity, control, "<html/>", "no XML", ""] {
        let refusal = report(xml, &[]).refusal();
        assert!(refusal.contains("read") || refusal.contains("wrote no"), "{xml}: {refusal}");
    }
}

#[test]
fn a_command_without_a_report_is_half_a_command() {
    let repository = Repository::with(&[("test_a.py", "import unittest\n")]);
    let root = repository.root();
    let detect = |command: Option<&str>, report: Option<&str>| {
        let overrides = Overrides {
            test_command: command.map(str::to_owned),
            report: report.map(str::to_owned),
            framework: None,
            near: None,
        };
        Runner::detect(&Disk(root.to_owned()), root, &machine(), &overrides).unwrap_err()
    };
    assert!(matches!(detect(Some("make"), None), Error::HalfACommand));
    assert!(matches!(detect(None, Some("x.xml")), Error::HalfACommand));
    assert!(matches!(detect(Some("make"), Some("../x.xml")), Error::BadReport { .. }));
}
