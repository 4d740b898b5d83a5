//! A bug by a model: in one session, in several with a reset between, or as files in one reply.

mod files;
mod free;
mod staged;

use super::task::EARLIER;
use super::{Counts, Injected, NotInjected, Request, Strategy};
use crate::agent::task::{self, history_files};
use crate::agent::{
    self, Bill, Error, Judge, Played, Prompt, Role, Scene, Seat, Sitting, Stage, Tool, Who, prompt,
};
use crate::artifact::Artifact;
use crate::consistency::{self, Minima};
use crate::diff::Patch;
use crate::tree::Changes;
use std::path::Path;

/// Below such a context, tokens, a bug is made in stages: what was read for one is not carried through the next.
const SMALL: u64 = 40_000;
/// Bugs of before that are shown, at most.
const LESSONS: usize = 20;

/// How a model is led.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// One session.
    Free,
    /// Look around, inject, weaken: each a conversation of its own.
    Staged,
    /// No tools: one JSON object of the artifact's files.
    Files,
}

impl Style {
    pub fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Staged => "staged",
            Self::Files => "files",
        }
    }
}

/// A failed repair, and the bug that it was to repair.
#[derive(Clone, Debug)]
pub struct Lesson {
    pub bug: Vec<u8>,
    pub repair: Vec<u8>,
}

/// A model as the injector.
#[derive(Clone, Copy)]
pub struct ByModel<'a> {
    pub stage: Stage<'a>,
    pub seat: &'a Seat,
    /// Whose bug it is; role and phase are filled in.
    pub who: &'a Who,
    /// `None`: staged where the context is small, else free.
    pub style: Option<Style>,
    /// Whether the model is told, once, which check its artifact fails.
    pub tells: bool,
    /// For the strategy `higher_order`.
    pub lessons: &'a [Lesson],
}

/// What a model made, and what it took.
pub struct Made {
    pub injected: Result<Injected, NotInjected>,
    pub bill: Bill,
}

/// Makes one artifact. It is not checked here, but where the model is told of a check.
pub fn inject_by_model(
    request: &Request,
    by: &ByModel<'_>,
    known: &dyn Fn(&str) -> bool,
) -> Result<Made, Error> {
    by.stage.harness.baseline()?;
    let strategy = request.sampled();
    let led = Led { by, request, strategy };
    let context = by.seat.context();
    let style = match (by.style, strategy) {
        (Some(Style::Files), _) => Style::Files,
        // Who builds a feature does not look at the tests; hiding what it broke is another matter.
        (_, Strategy::Feature) => Style::Staged,
        (Some(style), _) => style,
        (None, _) if context < SMALL => Style::Staged,
        (None, _) => Style::Free,
    };
    let (found, bill) = match style {
        Style::Free => free::play(&led)?,
        Style::Staged => staged::play(&led)?,
        Style::Files => files::play(&led)?,
    };
    let injected = found.map(|(artifact, bug)| led.injected(artifact, &bug, &bill, known));
    let injected = injected.map_err(|reason| NotInjected {
        reason: format!("{}: {reason}", bill.model),
        counts: Counts { proposed: 1, ..Counts::default() },
        tried: Vec::new(),
    });
    Ok(Made { injected, bill })
}

/// An artifact and its bug, or why there is none.
type Found = Result<(Artifact, Changes), String>;

/// What the styles have in common.
struct Led<'a> {
    by: &'a ByModel<'a>,
    request: &'a Request,
    /// What the seed came to.
    strategy: Strategy,
}

/// One session of an injector.
struct Part<'a> {
    phase: &'static str,
    prompts: &'a [Prompt],
    tools: &'a [Tool],
    changes: Changes,
    task: &'a dyn Fn(&Path) -> String,
}

impl Led<'_> {
    fn minima(&self) -> Minima {
        Minima {
            passing_tests: self.request.passing_tests,
            changed_files: self.request.changed_files,
            failing_tests: self.request.failing_tests,
        }
    }

    fn sit(&self, part: Part<'_>, judge: Judge<'_>) -> Result<Played, Error> {
        let ByModel { stage, seat, who, .. } = self.by;
        let who = Who { role: Role::Injector, phase: part.phase, ..(*who).clone() };
        let sitting = Sitting {
            who: &who,
            prompts: part.prompts,
            tools: part.tools,
            scene: Scene {
                task: None,
                changes: part.changes,
                files: self.files(),
                shell: Vec::new(),
            },
            task: part.task,
            seed: crate::dice::Dice::new(self.request.seed).fork(part.phase).roll() >> 33,
        };
        agent::play(stage, seat, &sitting, judge)
    }

    /// What lies in the directory for temporary files.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = task::files(self.by.stage.harness, None);
        match (self.strategy, &self.request.history) {
            (Strategy::History, Some(history)) => files.extend(history_files(history)),
            (Strategy::HigherOrder, _) => {
                for (number, lesson) in (1..).zip(self.by.lessons.iter().take(LESSONS)) {
                    files.push((format!("{EARLIER}/{number}.bug.diff"), lesson.bug.clone()));
                    files.push((format!("{EARLIER}/{number}.repair.diff"), lesson.repair.clone()));
                }
            }
            _ => {}
        }
        files
    }

    /// The first check that an artifact fails, for the model; `None` where it passes them, or where nobody
    /// asked.
    fn told(&self, artifact: &Artifact, told: &mut bool) -> Result<Option<String>, Error> {
        if !self.by.tells || std::mem::replace(told, true) {
            return Ok(None);
        }
        let report = consistency::check(self.by.stage.harness, artifact, &self.minima())?;
        Ok(report.failed_check.map(|check| {
            let detail = report.checks.last().map_or("", |check| check.detail.as_str());
            let reason = format!("the check {} failed: {detail}", check.name());
            prompt::FAILED_CHECK.filled(&[("reason", &reason)])
        }))
    }

    fn injected(
        &self,
        artifact: Artifact,
        bug: &Changes,
        bill: &Bill,
        known: &dyn Fn(&str) -> bool,
    ) -> Injected {
        let base = self.by.stage.harness.base();
        let tree_digest = bug.against(base).digest();
        let duplicates = usize::from(known(&tree_digest));
        let patch = Patch::between(base, bug);
        let (added, removed) = patch.changed_lines();
        let paths = patch.paths();
        let paths: Vec<&str> = paths.iter().take(3).map(crate::tree::RelPath::as_str).collect();
        let more = if paths.len() < patch.files().len() { " …" } else { "" };
        let summary =
            format!("by {}: +{added} -{removed} lines in {}{more}", bill.model, paths.join(", "));
        Injected {
            artifact,
            strategy: self.strategy,
            tree_digest,
            summary,
            counts: Counts { proposed: 1, duplicates, ..Counts::default() },
            origin: None,
            tried: Vec::new(),
        }
    }
}

/// What a session submitted, or why nothing.
fn submitted(played: &Played) -> Result<&str, String> {
    played.submitted.as_deref().ok_or_else(|| format!("nothing was submitted: {}", played.ending))
}

/// An artifact as it is kept between submission and the end of its session.
fn packed(artifact: &Artifact) -> String {
    artifact.to_json().to_string()
}

/// The artifact that was kept, and its bug.
fn unpacked(led: &Led<'_>, kept: &str) -> Found {
    let json = serde_json::from_str(kept).map_err(|error| error.to_string())?;
    let artifact = Artifact::from_json(&json).map_err(|malformed| malformed.to_string())?;
    let base = led.by.stage.harness.base();
    let patch = Patch::parse(&artifact.bug_inject).map_err(|refusal| refusal.to_string())?;
    let bug = patch.apply(base).map_err(|failure| failure.to_string())?;
    Ok((artifact, bug))
}
