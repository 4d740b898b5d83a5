//! What candidates' runs said before: so that learning does not run the same tests twice.
//!
//! Kept in the store under all that an answer depends on: the tree, the tools, the bug with its original
//! tests, the failing tests. Screens are filters, and a remembered one is no more; of grades only those are
//! remembered that say that a bug is solved, which a plain run said.

use super::Bench;
use super::prepared::Remembered;
use super::search::Answer;
use crate::artifact::Artifact;
use crate::grading::{Grade, Reason};
use crate::harness::{Error, Harness};
use crate::store::Store;
use crate::tree::hex;
use crate::verdict::TestId;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One remembered answer in so many is run all the same.
const AUDIT: u64 = 20;
/// The name under which a grade is kept.
const GRADE: &str = "grade ";

pub(super) struct Memory {
    /// Of the bug and all that its answers depend on.
    key: String,
    /// The failing tests, which answers name by their place.
    failing: Vec<TestId>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Remembered, and to be run all the same.
    audits: BTreeMap<String, Answer>,
    /// Candidates of remembered answers that count.
    recalled: Vec<String>,
    counts: Remembered,
}

/// An answer as it is kept.
#[derive(serde::Serialize, serde::Deserialize)]
struct Kept {
    passed: Vec<usize>,
    stages: Vec<(usize, u32, bool)>,
}

impl Memory {
    /// Gives the bench what is known.
    pub(super) fn of(
        harness: &Harness,
        artifact: &Artifact,
        bench: &Bench<'_>,
        seed: u64,
    ) -> Result<Self, Error> {
        let failing: Vec<TestId> = bench.failing.iter().cloned().collect();
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update(bytes.len().to_le_bytes());
            hash.update(bytes);
        };
        part(harness.environment_key().as_bytes());
        part(bench.state.digest().as_bytes());
        part(&artifact.test_script);
        part(&artifact.test_parser);
        // What is not asked is not known.
        for id in &bench.first {
            part(id.as_bytes());
        }
        for id in &failing {
            part(id.as_bytes());
        }
        let memory =
            Self { key: hex(&hash.finalize()), failing, state: Mutex::new(State::default()) };
        let mut screened = super::lock(&bench.screened);
        let mut state = memory.lock();
        for (name, content) in harness.store().outcomes(&memory.key)? {
            if let Some(digest) = name.strip_prefix(GRADE) {
                super::lock(&bench.graded).insert(digest.to_owned(), solved());
            } else if let Some(answer) = memory.read(&content) {
                if is_audited(&name, seed) {
                    state.audits.insert(name, answer);
                } else {
                    state.recalled.push(name.clone());
                    screened.insert(name, answer);
                }
            }
        }
        drop(state);
        drop(screened);
        Ok(memory)
    }

    /// What was run just now, of so many that were `asked` for. Where it is not what was remembered, `known`
    /// loses what was.
    pub(super) fn screened(
        &self,
        store: &Store,
        known: &mut BTreeMap<String, Answer>,
        (asked, fresh): (usize, &[(String, Answer)]),
    ) -> Result<(), Error> {
        let mut state = self.lock();
        state.counts.asked += asked as u64;
        state.counts.run += fresh.len() as u64;
        if fresh.is_empty() {
            return Ok(());
        }
        let mut differs = false;
        for (digest, answer) in fresh {
            if let Some(before) = state.audits.remove(digest) {
                state.counts.audited += 1;
                let differed = before.passed != answer.passed;
                state.counts.differed += u64::from(differed);
                differs |= differed;
            }
        }
        if differs {
            tracing::warn!(
                "tests said something else of a candidate than before: what was remembered of this bug does not count any more"
            );
            for digest in std::mem::take(&mut state.recalled) {
                known.remove(&digest);
            }
            state.audits.clear();
            store.forget_outcomes(&self.key)?;
        }
        let rows: Vec<(String, String)> =
            fresh.iter().map(|(digest, answer)| (digest.clone(), self.written(answer))).collect();
        Ok(store.keep_outcomes(&self.key, &rows)?)
    }

    pub(super) fn graded(&self, store: &Store, digest: &str, grade: &Grade) -> Result<(), Error> {
        if *grade != solved() {
            return Ok(());
        }
        Ok(store.keep_outcomes(&self.key, &[(format!("{GRADE}{digest}"), String::new())])?)
    }

    pub(super) fn so_far(&self) -> Remembered {
        self.lock().counts
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self, answer: &Answer) -> String {
        let place = |id: &TestId| self.failing.binary_search(id).ok();
        let stages = answer.stages.iter();
        let kept = Kept {
            passed: answer.passed.iter().filter_map(place).collect(),
            stages: stages
                .filter_map(|(id, (line, own))| Some((place(id)?, *line, *own)))
                .collect(),
        };
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// `None` for what is not to be read: it is run again.
    fn read(&self, content: &str) -> Option<Answer> {
        let Kept { passed, stages } = serde_json::from_str(content).ok()?;
        let id = |place: usize| self.failing.get(place).cloned();
        let stage = |(place, line, own)| Some((id(place)?, (line, own)));
        Some(Answer {
            passed: passed.into_iter().map(id).collect::<Option<_>>()?,
            stages: stages.into_iter().map(stage).collect::<Option<_>>()?,
        })
    }
}

fn solved() -> Grade {
    Grade { solved: true, reason: Reason::Solved, flags: Vec::new() }
}

fn is_audited(digest: &str, seed: u64) -> bool {
    crate::dice::Dice::new(seed).fork(digest).roll().is_multiple_of(AUDIT)
}
