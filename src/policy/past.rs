//! What the same kind of edit did before in this workspace.

use super::OptionsBuilder;
use std::collections::BTreeMap;

/// Unseen kinds are taken to work as often as this many tries at the mean of all would say.
const PRIOR: f64 = 20.0;

/// By kind: how often it was tried, and how often it did what it should.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Past(BTreeMap<String, (u64, u64)>);

impl Past {
    pub fn note(&mut self, kind: &str, worked: bool) {
        if let Some((tried, so_far)) = self.0.get_mut(kind) {
            *tried += 1;
            *so_far += u64::from(worked);
        } else {
            self.0.insert(kind.to_owned(), (1, u64::from(worked)));
        }
    }

    /// How much oftener than all kinds together this one works, as the logarithm of the ratio of both rates:
    /// 0 where nothing is known.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "nobody tries 2^52 edits")]
    pub fn advantage(&self, kind: &str) -> f64 {
        let (all, works) = self.0.values().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let mean = (works as f64 + 1.0) / (all as f64 + 2.0);
        let (tried, worked) = self.0.get(kind).copied().unwrap_or_default();
        ((worked as f64 + PRIOR * mean) / (tried as f64 + PRIOR) / mean).ln()
    }

    pub(crate) fn describe(&self, kind: &str, out: &mut OptionsBuilder) {
        out.feature(&["past"], self.advantage(kind));
    }
}
