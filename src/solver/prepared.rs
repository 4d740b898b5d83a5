//! A bug that was surveyed once, to be attempted again and again.

use super::remembered::Memory;
use super::{Attempt, Bench, Request};
use crate::artifact::Artifact;
use crate::grading::{self, Reason, Task};
use crate::harness::{Error, Harness, Program};
use crate::policy::Player;
use crate::syntax::Languages;

/// What all attempts at one artifact share: its proposals, and what their runs said.
pub struct Prepared<'a> {
    harness: &'a Harness,
    artifact: Artifact,
    bench: Result<Bench<'a>, Reason>,
}

/// How candidates were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Remembered {
    /// Candidates that attempts wanted to know of.
    pub asked: u64,
    /// Those that were run; all others were known.
    pub run: u64,
    /// Remembered answers that were run once more, and those that were then another one.
    pub audited: u64,
    pub differed: u64,
}

impl std::ops::Sub for Remembered {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            asked: self.asked - before.asked,
            run: self.run - before.run,
            audited: self.audited - before.audited,
            differed: self.differed - before.differed,
        }
    }
}

impl std::ops::AddAssign for Remembered {
    fn add_assign(&mut self, more: Self) {
        self.asked += more.asked;
        self.run += more.run;
        self.audited += more.audited;
        self.differed += more.differed;
    }
}

impl<'a> Prepared<'a> {
    pub fn of(
        harness: &'a Harness,
        languages: &'a Languages,
        artifact: &Artifact,
    ) -> Result<Self, Error> {
        let bench = match Task::of(harness.base(), artifact) {
            Ok(task) => {
                let program =
                    Program { script: &artifact.test_script, parser: &artifact.test_parser };
                Bench::new(harness, languages, task, program)?
            }
            Err(refusal) => Err(Reason::Unplayable(refusal.to_string())),
        };
        Ok(Self { harness, artifact: artifact.clone(), bench })
    }

    /// Knows what the store knows of the bug's candidates, and tells it what is found out. One in twenty of
    /// these answers, chosen by the seed, is run all the same: where it is another one, nothing that was
    /// remembered of the bug counts any more.
    pub fn remembering(mut self, seed: u64) -> Result<Self, Error> {
        if let Ok(bench) = &mut self.bench {
            let memory = Memory::of(self.harness, &self.artifact, bench, seed)?;
            bench.memory = Some(memory);
        }
        Ok(self)
    }

    /// For those who ask what is repaired alone: what does not pass the failing tests is not graded.
    #[must_use]
    pub fn grading_repairs_alone(mut self) -> Self {
        if let Ok(bench) = &mut self.bench {
            bench.grades_partial = false;
        }
        self
    }

    /// Ends the processes that are kept for more candidates: one that is not attempted for a while needs none.
    pub fn leave(&self) {
        if let Ok(bench) = &self.bench {
            bench.live.leave();
        }
    }

    /// Why nothing can be tried.
    pub fn refusal(&self) -> Option<&Reason> {
        self.bench.as_ref().err()
    }

    /// Choices that a policy has, and proposals beyond them; 0 before a policy played.
    pub fn options(&self) -> (usize, usize) {
        let choices = self.bench.as_ref().ok().and_then(|bench| bench.choices.get());
        choices.map_or((0, 0), |choices| (choices.options.len(), choices.rest.len()))
    }

    pub fn remembered(&self) -> Remembered {
        let memory = self.bench.as_ref().ok().and_then(|bench| bench.memory.as_ref());
        memory.map(Memory::so_far).unwrap_or_default()
    }

    /// G independent attempts; the result does not depend on `parallel`.
    pub fn attempts(
        &self,
        request: &Request,
        player: Option<Player<'_>>,
    ) -> Result<Vec<Attempt>, Error> {
        let bench = match &self.bench {
            Ok(bench) => bench,
            Err(reason) => return Ok(vec![Attempt::unsolved(reason.clone()); request.attempts]),
        };
        let judge = |patch: &[u8]| grading::grade(self.harness, &self.artifact, patch);
        bench.attempts(request, player, &judge)
    }

    /// An attempt that makes the original at once (what is written otherwise and means the same counts), where one
    /// or two of the solver's own proposals do: what no order can beat. It takes the original, so that no player may ask.
    pub fn inverse(&self) -> Result<Option<Attempt>, Error> {
        let Ok(bench) = &self.bench else { return Ok(None) };
        let inverse = bench.proposals.inverse(self.harness.base());
        let changes = inverse.and_then(|proposals| bench.proposals.candidate(&proposals));
        let Some(changes) = changes else { return Ok(None) };
        let patch = bench.patch(&changes);
        let grade = grading::grade(self.harness, &self.artifact, &patch)?;
        let patch = String::from_utf8_lossy(&patch).into_owned();
        Ok(grade.solved.then(|| Attempt::graded(patch, 1, grade)))
    }
}
