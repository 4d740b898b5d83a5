//! An artifact as one JSON object in a reply: file names to contents.

use super::tool::Submission;
use crate::artifact::Part;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What a reply submits; for the model, why nothing.
pub(super) fn find(text: &str) -> Result<Submission, String> {
    let object = object(text).ok_or_else(|| {
        let brace = text.contains('{');
        let what = if brace { "The JSON object in your reply cannot be read" } else { "Your reply holds no files" };
        format!(
            "{what}: answer with one JSON object from file names to contents and nothing else, its line breaks \
             written as \\n"
        )
    })?;
    let mut submission = Submission::default();
    let (mut bug, mut weakening) = (None, None);
    let mut given = BTreeSet::new();
    for (name, value) in &object {
        let Some(part) = Part::from_name(name) else { continue };
        if !given.insert(part) {
            return Err(format!("{part} is given twice; give it once"));
        }
        let Value::String(content) = value else {
            return Err(format!("{name} is no string; give its whole content as one string"));
        };
        match part {
            Part::BugInject => bug = Some(content.clone()),
            Part::TestWeaken => weakening = Some(content.clone()),
            Part::TestScript => submission.test_script = some(content),
            Part::TestParser => submission.test_parser = some(content),
            Part::TestFiles => {
                let lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
                let files: Vec<String> = lines.map(str::to_owned).collect();
                submission.test_files = (!files.is_empty()).then_some(files);
            }
        }
    }
    let lacking =
        |part: Part| format!("{part} is missing; give it as a key with its whole content");
    submission.bug = Some(bug.ok_or_else(|| lacking(Part::BugInject))?);
    submission.weakening = Some(weakening.ok_or_else(|| lacking(Part::TestWeaken))?);
    Ok(submission)
}

fn some(content: &str) -> Option<String> {
    (!content.trim().is_empty()).then(|| content.to_owned())
}

/// The text itself, what its last fence holds, or what stands between its first and last brace.
fn object(text: &str) -> Option<Map<String, Value>> {
    let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text.trim()).ok();
    let fenced = || {
        let blocks = text.split("```").skip(1).step_by(2);
        blocks.filter_map(|block| read(block.split_once('\n')?.1)).last()
    };
    let braced = || read(text.get(text.find('{')?..=text.rfind('}')?)?);
    read(text).or_else(fenced).or_else(braced)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        r#"{"bug_inject.diff": "b\n", "test_patch.diff": "w\n", "test_script.sh": " "}"#;

    #[track_caller]
    fn check(text: &str, expect: Result<(), &str>) {
        match (find(text), expect) {
            (Ok(found), Ok(())) => {
                assert_eq!(found.bug.as_deref(), Some("b\n"));
                assert_eq!(found.weakening.as_deref(), Some("w\n"));
                assert_eq!(found.test_script, None);
            }
            (Err(reason), Err(expect)) => assert!(reason.contains(expect), "{reason}"),
            (found, expect) => panic!("{found:?} is not {expect:?}"),
        }
    }

    #[test]
    fn the_object_is_found_alone_in_a_fence_and_in_prose() {
        check(GOOD, Ok(()));
        check(&format!("Here it is:\n```json\n{GOOD}\n```\nThat is all {{}}."), Ok(()));
        check(&format!("Here it is: {GOOD} That is all."), Ok(()));
    }

    #[test]
    fn a_reply_without_files_is_told_what_it_lacks() {
        check("I would change the sign in money.py.", Err("holds no files"));
        check(r#"{"bug_inject.diff": "b" "#, Err("cannot be read"));
        check(r#"{"bug_inject.diff": "b"}"#, Err("test_weaken.diff is missing"));
        check(r#"{"bug_inject.diff": ["b"], "test_weaken.diff": "w"}"#, Err("no string"));
        let twice = r#"{"bug_inject.diff": "b", "bug_patch.diff": "c", "test_weaken.diff": "w"}"#;
        check(twice, Err("given twice"));
    }
}
