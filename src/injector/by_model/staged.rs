//! Several sessions with a reset between: look around, inject, weaken. What one leaves to the next is text.

use super::free::looked_at;
use super::{Found, Led, Part, submitted, unpacked};
use crate::agent::prompt::{self, DISCOVER, INJECT, NOTES, REWARDS, SANDBOX, SUITE, WEAKEN};
use crate::agent::task::{self, Voice};
use crate::agent::{Bill, Error, Sources, Submission, Tool, Verdict, bytes_of, text_of};
use crate::diff::Patch;
use crate::harness::{How, Program};
use crate::injector::Strategy;
use crate::injector::parts::{affected, split};
use crate::injector::task::{at, of, rules};
use crate::scaffold::{Room, shortened};
use crate::tree::Changes;
use crate::verdict::{Outcome, TestId};
use std::path::Path;

/// Bytes of notes that are kept.
const NOTED: usize = 6000;
/// Failing tests that are named.
const NAMED: usize = 30;

const LOOKING: [Tool; 3] = [Tool::Bash, Tool::Read, Tool::SubmitNotes];
const WORKING: [Tool; 5] = [Tool::Bash, Tool::Read, Tool::Edit, Tool::Create, Tool::SubmitTree];

pub(super) fn play(led: &Led<'_>) -> Result<(Found, Bill), Error> {
    let feature = led.strategy == Strategy::Feature;
    let (notes, before) = if feature {
        (String::new(), None)
    } else {
        let (notes, bill) = discover(led)?;
        (notes, Some(bill))
    };
    let (bug, bill) = inject(led, &notes)?;
    let bill = before.iter().fold(bill, Bill::after);
    let bug = match bug {
        Ok(bug) => bug,
        Err(reason) => return Ok((Err(reason), bill)),
    };
    let failing = failing(led, &bug)?;
    if failing.len() < led.minima().failing_tests {
        let reason = format!("{} of the tests that passed before fail with its bug", failing.len());
        return Ok((Err(reason), bill));
    }
    let (found, last) = weaken(led, &bug, &failing)?;
    Ok((found, last.after(&bill)))
}

fn discover(led: &Led<'_>) -> Result<(String, Bill), Error> {
    let harness = led.by.stage.harness;
    let task = |root: &Path| {
        DISCOVER.filled(&[
            ("root", &root.display().to_string()),
            ("target", &at(led.request.target.as_ref())),
            ("sandbox", &task::sandbox(Voice::Model)),
            ("suite", &task::suite(harness)),
        ])
    };
    let part = Part {
        phase: "discover",
        prompts: &[DISCOVER, SANDBOX, SUITE],
        tools: &LOOKING,
        changes: Changes::new(),
        task: &task,
    };
    let mut judge = |_: &mut Room, submission: &Submission| {
        let notes = submission.notes.clone().unwrap_or_default();
        let kept = notes.chars().take(NOTED).collect();
        Ok(Verdict::Kept { kept, echo: "Noted.".to_owned(), over: true })
    };
    let played = led.sit(part, &mut judge)?;
    // Without notes the next one looks for itself.
    Ok((played.submitted.unwrap_or_default(), played.account))
}

/// The bug, as changes over the base.
fn inject(led: &Led<'_>, notes: &str) -> Result<(Result<Changes, String>, Bill), Error> {
    let harness = led.by.stage.harness;
    let minima = led.minima();
    let notes = if notes.is_empty() { String::new() } else { NOTES.filled(&[("notes", notes)]) };
    let task = |root: &Path| {
        INJECT.filled(&[
            ("root", &root.display().to_string()),
            ("rules", &rules(led.strategy)),
            ("target", &at(led.request.target.as_ref())),
            ("changed_files", &minima.changed_files.to_string()),
            ("failing_tests", &minima.failing_tests.to_string()),
            ("notes", &notes),
            ("sandbox", &task::sandbox(Voice::Model)),
            ("suite", &task::suite(harness)),
            ("rewards", &REWARDS.filled(&[])),
        ])
    };
    let part = Part {
        phase: "inject",
        prompts: &[INJECT, of(led.strategy), NOTES, REWARDS, SANDBOX, SUITE],
        tools: &WORKING,
        changes: Changes::new(),
        task: &task,
    };
    let mut told = !led.by.tells;
    let mut judge = |room: &mut Room, _: &Submission| {
        let sources = Sources::of(harness.base(), &room.changes()?.changes);
        let (tests, bug) = split(harness, &sources);
        if bug.is_empty() {
            return Ok(Verdict::Refused("no code file was changed.".to_owned()));
        }
        if let Some(path) = tests.paths().next() {
            let text = format!("{path} is a test file: put it back, tests are not for this step.");
            return Ok(Verdict::Refused(text));
        }
        if !std::mem::replace(&mut told, true) {
            let failing = failing(led, &bug)?;
            if failing.len() < minima.failing_tests {
                let reason = format!(
                    "{} of the tests that passed before fail now, at least {} must",
                    failing.len(),
                    minima.failing_tests
                );
                return Ok(Verdict::Refused(prompt::FAILED_CHECK.filled(&[("reason", &reason)])));
            }
        }
        let patch = Patch::between(harness.base(), &bug).to_bytes();
        let echo = "The bug is taken as it is.".to_owned();
        Ok(Verdict::Kept { kept: text_of(patch), echo, over: true })
    };
    let played = led.sit(part, &mut judge)?;
    let bug = submitted(&played).and_then(|kept| {
        let patch = Patch::parse(&bytes_of(kept)).map_err(|refusal| refusal.to_string())?;
        patch.apply(harness.base()).map_err(|failure| failure.to_string())
    });
    Ok((bug, played.account))
}

/// Tests that passed before and fail with the bug, among those that may execute what it changed.
fn failing(led: &Led<'_>, bug: &Changes) -> Result<Vec<TestId>, Error> {
    let harness = led.by.stage.harness;
    let files = affected(harness, &Changes::new(), bug)?;
    let (_, script) = crate::injector::script_for(harness, &files, led.request.passing_tests)?;
    let parser = harness.runner().parser();
    let program = Program { script: &script, parser: &parser };
    let before = harness.run(&Changes::new(), program, How::CHECK, false)?.verdicts;
    let after = harness.run(bug, program, How::CHECK, false)?.verdicts;
    Ok(match (before, after) {
        (Ok(before), Ok(after)) => {
            let passed = before.with(Outcome::Passed);
            passed.into_iter().filter(|id| after.of(id) != Outcome::Passed).collect()
        }
        _ => Vec::new(),
    })
}

fn weaken(led: &Led<'_>, bug: &Changes, failing: &[TestId]) -> Result<(Found, Bill), Error> {
    let harness = led.by.stage.harness;
    let patch = Patch::between(harness.base(), bug).to_bytes();
    let mut named: Vec<&str> = failing.iter().take(NAMED).map(|id| &**id).collect();
    let more = format!("and {} more", failing.len().saturating_sub(NAMED));
    if failing.len() > NAMED {
        named.push(&more);
    }
    let task = |root: &Path| {
        WEAKEN.filled(&[
            ("root", &root.display().to_string()),
            ("bug", &shortened(&patch)),
            ("failing", &named.join("\n")),
            ("sandbox", &task::sandbox(Voice::Model)),
            ("suite", &task::suite(harness)),
        ])
    };
    let part = Part {
        phase: "weaken",
        prompts: &[WEAKEN, SANDBOX, SUITE],
        tools: &WORKING,
        changes: bug.clone(),
        task: &task,
    };
    let mut told = false;
    let mut judge = |room: &mut Room, submission: &Submission| {
        let sources = Sources::of(harness.base(), &room.changes()?.changes);
        let (_, code) = split(harness, &sources);
        let (now, before) = (code.against(harness.base()), bug.against(harness.base()));
        if now != before {
            let text =
                "code was changed: put it back as it was when you began, only tests are weakened.";
            return Ok(Verdict::Refused(text.to_owned()));
        }
        Ok(match looked_at(led, &sources, submission, &mut told)? {
            Verdict::Kept { kept, echo, .. } => Verdict::Kept { kept, echo, over: true },
            refused @ Verdict::Refused(_) => refused,
        })
    };
    let played = led.sit(part, &mut judge)?;
    let found = submitted(&played).and_then(|kept| unpacked(led, kept));
    Ok((found, played.account))
}
