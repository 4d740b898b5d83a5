//! One session: the model makes bug and weakening in one tree.

use super::{Found, Led, Part, packed, submitted, unpacked};
use crate::agent::task::Voice;
use crate::agent::{Bill, Error, Sources, Submission, Tool, Verdict};
use crate::injector::parts::{Given, artifact_of};
use crate::injector::task::{of_injector, prompts};
use crate::scaffold::{Room, shortened};
use crate::tree::{Changes, RelPath};
use std::collections::BTreeSet;
use std::path::Path;

const TOOLS: [Tool; 5] = [Tool::Bash, Tool::Read, Tool::Edit, Tool::Create, Tool::SubmitBug];

pub(super) fn play(led: &Led<'_>) -> Result<(Found, Bill), Error> {
    let harness = led.by.stage.harness;
    let minima = led.minima();
    let rules = (led.strategy, led.request.target.as_ref());
    let task = |root: &Path| of_injector(harness, root, rules, &minima, Voice::Model);
    let part = Part {
        phase: "free",
        prompts: &prompts(led.strategy),
        tools: &TOOLS,
        changes: Changes::new(),
        task: &task,
    };
    let mut told = false;
    let mut judge = |room: &mut Room, submission: &Submission| {
        let sources = Sources::of(harness.base(), &room.changes()?.changes);
        looked_at(led, &sources, submission, &mut told)
    };
    let played = led.sit(part, &mut judge)?;
    let found = submitted(&played).and_then(|kept| unpacked(led, kept));
    Ok((found, played.account))
}

/// What becomes of a tree that is submitted as an artifact.
pub(super) fn looked_at(
    led: &Led<'_>,
    sources: &Sources,
    submission: &Submission,
    told: &mut bool,
) -> Result<Verdict, Error> {
    let given = match given(submission) {
        Ok(given) => given,
        Err(reason) => return Ok(Verdict::Refused(reason)),
    };
    let artifact = match artifact_of(led.by.stage.harness, sources, &given)? {
        Ok((artifact, _)) => artifact,
        Err(malformed) => return Ok(Verdict::Refused(format!("{malformed}."))),
    };
    if let Some(reason) = led.told(&artifact, told)? {
        return Ok(Verdict::Refused(reason));
    }
    let both = [&*artifact.bug_inject, &*artifact.test_weaken].concat();
    let echo = format!(
        "This is what you submitted, the bug first:\n\n```diff\n{}```\n\nIf it is what you want, end with a reply \
         without a call; else go on, and submit again.",
        shortened(&both)
    );
    // Where it was looked at by the checks, nothing more is to be said.
    Ok(Verdict::Kept { kept: packed(&artifact), echo, over: led.by.tells })
}

fn given(submission: &Submission) -> Result<Given, String> {
    let file = |path: &String| {
        RelPath::parse(path.as_bytes())
            .map_err(|refusal| format!("test_files: {path:?} is refused: {refusal}."))
    };
    let files = submission.test_files.as_ref();
    let test_files = files.map(|files| files.iter().map(file).collect::<Result<BTreeSet<_>, _>>());
    Ok(Given {
        test_script: submission.test_script.clone(),
        test_parser: submission.test_parser.clone(),
        test_files: test_files.transpose()?,
    })
}
