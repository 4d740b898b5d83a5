//! Runs that were made already: equal tree, program and circumstances give the same answer.

use super::{How, Program, ScriptRun};
use crate::tree::{Changes, hex};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Runs kept. A round of eight attempts needs about fifty; older ones are forgotten first.
const LIMIT: usize = 512;

#[derive(Default)]
pub(super) struct Memo(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    runs: BTreeMap<String, ScriptRun>,
    order: VecDeque<String>,
}

/// What a run depends on, given one base: `changes` must be reduced against it.
pub(super) fn key(changes: &Changes, program: Program<'_>, how: How) -> String {
    let mut hash = Sha256::new();
    hash.update(changes.digest());
    for part in [program.script, program.parser] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update(how.hash_seed.to_le_bytes());
    hash.update([how.audience as u8]);
    hex(&hash.finalize())
}

impl Memo {
    pub(super) fn get(&self, key: &str) -> Option<ScriptRun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).runs.get(key).cloned()
    }

    pub(super) fn put(&self, key: String, run: &ScriptRun) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.runs.insert(key.clone(), run.clone()).is_none() {
            kept.order.push_back(key);
        }
        while kept.order.len() > LIMIT {
            if let Some(oldest) = kept.order.pop_front() {
                kept.runs.remove(&oldest);
            }
        }
    }
}
