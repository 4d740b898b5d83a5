//! Fills the script templates.

use super::embedded;
use super::spec::Spec;
use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::BTreeMap;

/// The tests that a script runs: those of these files, less the excluded ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub files: Vec<RelPath>,
    pub excluded: Vec<TestId>,
}

/// The script of a framework: its template with the driver, the chosen tests, the tool's `calls` and all
/// `known` test files in the places that `@NAME@` marks. A place stands alone on its line and takes any number of lines.
pub(super) fn fill(
    spec: &Spec,
    test_files: &[RelPath],
    excluded: &[TestId],
    calls: &str,
    known: &str,
) -> Vec<u8> {
    let driver = embedded::file(spec.folder(), &spec.script.driver);
    let files: Vec<_> = test_files.iter().map(RelPath::as_str).collect();
    let tests = serde_json::json!({ "files": files, "excluded": excluded });
    // Every list element on a line of its own: the script is read by people, too.
    let tests = serde_json::to_string_pretty(&tests).expect("strings and lists serialise");
    let support = embedded::file(spec.folder(), &spec.script.support);
    let places = BTreeMap::from([
        ("@SUPPORT@", support.trim_end().to_owned()),
        ("@DRIVER@", driver.trim_end().to_owned()),
        ("@TESTS@", tests),
        ("@CALLS@", calls.to_owned()),
        ("@KNOWN@", known.to_owned()),
    ]);
    let template = embedded::file(spec.folder(), &spec.script.template);
    let filled = template.lines().map(|line| {
        // A value is never searched for places again.
        places.get(line).cloned().unwrap_or_else(|| line.replace("@FRAMEWORK@", &spec.name))
    });
    let mut script = filled.collect::<Vec<_>>().join("\n");
    script.push('\n');
    script.into_bytes()
}

/// What a script of ours says that it runs. Not proof that the script is ours.
pub(super) fn chosen(spec: &Spec, script: &[u8]) -> Option<Chosen> {
    #[derive(serde::Deserialize)]
    struct Tests {
        files: Vec<String>,
        excluded: Vec<TestId>,
    }
    let template = embedded::file(spec.folder(), &spec.script.template);
    let (before, _) = template.split_once("\n@TESTS@\n")?;
    let opening = format!("\n{}\n", before.rsplit('\n').next()?);
    let (_, tests) = std::str::from_utf8(script).ok()?.split_once(&opening)?;
    let tests: Tests = serde_json::Deserializer::from_str(tests).into_iter().next()?.ok()?;
    let files = tests.files.iter().map(|file| RelPath::parse(file.as_bytes()).ok());
    Some(Chosen { files: files.collect::<Option<_>>()?, excluded: tests.excluded })
}

/// The lines in the place of a template's calls, of a script that may be one of ours.
pub(super) fn calls<'s>(spec: &Spec, script: &'s [u8]) -> Option<&'s str> {
    calls_after(spec, script, "")
}

/// The same where the template has a place for the known test files before that of the calls.
pub(super) fn calls_after<'s>(spec: &Spec, script: &'s [u8], known: &str) -> Option<&'s str> {
    let template = embedded::file(spec.folder(), &spec.script.template);
    let (before, after) = template.split_once("\n@CALLS@\n")?;
    let before = before.replace("@KNOWN@", known);
    let script = std::str::from_utf8(script).ok()?;
    script.strip_prefix(&*before)?.strip_suffix(after)?.strip_prefix('\n')?.strip_suffix('\n')
}

/// The words of a line that [`quote`] or nothing quoted.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (text, after) = quoted.split_once('\'').unwrap_or((quoted, ""));
            word.get_or_insert_default().push_str(text);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("\\'") {
            word.get_or_insert_default().push('\'');
            rest = after;
        } else if first == ' ' {
            words.extend(word.take());
            rest = &rest[1..];
        } else {
            word.get_or_insert_default().push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    words.extend(word);
    words
}

/// `text` as one word of a shell.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
