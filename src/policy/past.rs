//! What the same kind of edit did before in this workspace.

use super::{OptionsBuilder, Role};
use std::collections::BTreeMap;

/// Unseen kinds are taken to work as often as this many tries at the mean of all would say.
const PRIOR: f64 = 20.0;

/// By role and kind: how often it was tried, and how often it did what it should (made a bug, or repaired one).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Past(BTreeMap<Role, BTreeMap<String, (u64, u64)>>);

impl Past {
    pub fn note(&mut self, role: Role, kind: &str, (tried, worked): (u64, u64)) {
        let of = self.0.entry(role).or_default().entry(kind.to_owned()).or_default();
        *of = (of.0 + tried, of.1 + worked);
    }

    /// How much oftener than all kinds together this one works, as the logarithm of the ratio of both rates:
    /// 0 where nothing is known.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "nobody tries 2^52 edits")]
    pub fn advantage(&self, role: Role, kind: &str) -> f64 {
        let Some(kinds) = self.0.get(&role) else { return 0.0 };
        let (all, works) = kinds.values().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let mean = (works as f64 + 1.0) / (all as f64 + 2.0);
        let (tried, worked) = kinds.get(kind).copied().unwrap_or_default();
        ((worked as f64 + PRIOR * mean) / (tried as f64 + PRIOR) / mean).ln()
    }

    pub(crate) fn describe(&self, role: Role, kind: &str, out: &mut OptionsBuilder) {
        out.feature(&["past"], self.advantage(role, kind));
    }
}
