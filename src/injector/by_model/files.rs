//! Without tools: the model is shown code and tests, and answers with the files of an artifact.

use super::free::looked_at;
use super::{Found, Led, Part, submitted, unpacked};
use crate::agent::{Bill, Error, Prompt, Sources, Submission, Tool, Verdict, prompt};
use crate::dice::Dice;
use crate::diff::Patch;
use crate::injector::task::{at, of, rules};
use crate::scaffold::Room;
use crate::tree::{Changes, Overlaid, RelPath, Tree};
use std::fmt::Write as _;
use std::path::Path;

/// Most bytes of source that are shown, whatever the context.
const SOURCE: usize = 60_000;

pub(super) fn play(led: &Led<'_>) -> Result<(Found, Bill), Error> {
    let shown = shown(led)?;
    if shown.is_empty() {
        let reason = "no code file that the tests execute fits into its context beside the task; take a larger one, \
                      or another --style";
        let bill = Bill { model: led.by.seat.player.chat.model().to_owned(), ..Bill::default() };
        return Ok((Err(reason.to_owned()), bill));
    }
    let minima = led.minima();
    let task = |_: &Path| {
        prompt::FILES.filled(&[
            ("rules", &rules(led.strategy)),
            ("target", &at(led.request.target.as_ref())),
            ("changed_files", &minima.changed_files.to_string()),
            ("failing_tests", &minima.failing_tests.to_string()),
            ("rewards", &prompt::REWARDS.filled(&[])),
            ("files", &shown),
        ])
    };
    let prompts: [Prompt; 3] = [prompt::FILES, of(led.strategy), prompt::REWARDS];
    let part = Part {
        phase: "files",
        prompts: &prompts,
        tools: &[Tool::Files],
        changes: Changes::new(),
        task: &task,
    };
    let mut told = false;
    let mut judge = |_: &mut Room, submission: &Submission| {
        let base = led.by.stage.harness.base();
        let sources = match tree_of(base, submission) {
            Ok(changes) => Sources { changes, left_out: Vec::new() },
            Err(reason) => return Ok(Verdict::Refused(reason)),
        };
        let verdict = looked_at(led, &sources, submission, &mut told)?;
        Ok(match verdict {
            Verdict::Kept { kept, echo, .. } => Verdict::Kept { kept, echo, over: true },
            refused @ Verdict::Refused(_) => refused,
        })
    };
    let played = led.sit(part, &mut judge)?;
    let found = submitted(&played).and_then(|kept| unpacked(led, kept));
    Ok((found, played.account))
}

/// The tree to which both diffs lead.
fn tree_of(base: &dyn Tree, submission: &Submission) -> Result<Changes, String> {
    let applied = |name: &str, text: &Option<String>, below: &Changes| {
        let tree = Overlaid { base, changes: below };
        let text = text.as_deref().unwrap_or_default();
        let patch = Patch::written(text.as_bytes(), &tree)
            .map_err(|unplaced| format!("{name}: {unplaced}."))?;
        let changes = patch
            .apply(&tree)
            .map_err(|failure| format!("{name}: it does not apply: {failure}."))?;
        Ok::<_, String>(below.then(&changes))
    };
    let bug = applied("bug_inject.diff", &submission.bug, &Changes::new())?;
    applied("test_weaken.diff", &submission.weakening, &bug)
}

/// A code file, the target or one of the seed's, and the tests that execute it, while there is room.
fn shown(led: &Led<'_>) -> Result<String, Error> {
    let harness = led.by.stage.harness;
    let base = harness.base();
    let baseline = harness.baseline()?;
    let context = led.by.seat.context();
    let room = usize::try_from(context).unwrap_or(usize::MAX).min(SOURCE);
    let size = |path: &RelPath| base.read(path).map_or(0, |file| file.bytes.len());
    let mut code: Vec<&RelPath> =
        baseline.reach.keys().filter(|path| size(path) < room / 2).collect();
    Dice::new(led.request.seed).fork("shown").shuffle(&mut code);
    if let Some(target) = &led.request.target {
        code.retain(|path| **path == target.file);
    }
    let least = led.request.changed_files.max(1);
    let code: Vec<&RelPath> = code.into_iter().take(least).collect();
    let tests = code.iter().filter_map(|path| baseline.reach.get(*path)).flatten();
    let (mut text, mut left) = (String::new(), room);
    for path in code.iter().copied().chain(tests) {
        let Some(file) = base.read(path) else { continue };
        let Ok(source) = std::str::from_utf8(&file.bytes) else { continue };
        if source.len() > left || text.contains(&format!("=== {path}\n")) {
            continue;
        }
        left -= source.len();
        write!(text, "=== {path}\n```\n{source}```\n\n").ok();
    }
    Ok(text)
}
