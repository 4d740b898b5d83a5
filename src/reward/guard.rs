//! What keeps self-play from narrowing: a cap on one family's share, a filter for bugs that were there
//! already, an alarm for a falling share of valid bugs.
//!
//! SSR's theory (appendix A) calls an injector that turns one knob for ever *tunnel-vision*.

use super::novelty::{Buffer, Shingles};
use std::collections::{BTreeMap, VecDeque};

/// Whether a bug may be played.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "admission")]
pub enum Admission {
    Admitted,
    /// Its family would have this share, which is above the cap.
    OverCap {
        share: f64,
    },
    /// A bug before it is as like it as this.
    Known {
        similarity: f64,
    },
}

/// The largest share of one family (`direct/comparison_boundary`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FamilyCap {
    /// Default 0.25.
    pub share: f64,
    /// Bugs that are played before the cap holds: of the first few, one family always has a large share.
    /// Default 20.
    pub after: usize,
}

impl Default for FamilyCap {
    fn default() -> Self {
        Self { share: 0.25, after: 20 }
    }
}

impl FamilyCap {
    /// `played`: how many bugs of each family there were. The new bug counts in the share.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "nobody plays 2^52 bugs")]
    pub fn admits(&self, played: &BTreeMap<String, usize>, family: &str) -> Admission {
        let all: usize = played.values().sum();
        if all < self.after {
            return Admission::Admitted;
        }
        let own = played.get(family).copied().unwrap_or(0) + 1;
        let share = own as f64 / (all + 1) as f64;
        if share > self.share { Admission::OverCap { share } } else { Admission::Admitted }
    }
}

/// Refuses a bug that is as like a known one as `most` or more; 0.95 is what others use.
#[must_use]
pub fn diverse(buffer: &Buffer, bug: &Shingles, most: f64) -> Admission {
    let similarity = buffer.nearest(bug);
    if buffer.is_empty() || similarity < most {
        Admission::Admitted
    } else {
        Admission::Known { similarity }
    }
}

/// Watches the share of valid bugs among the newest proposals.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ValidRate {
    /// Proposals that are looked at; twice as many are kept. Default 20.
    window: usize,
    /// The share below which the alarm sounds. Default 0.2.
    least: f64,
    newest: VecDeque<bool>,
}

/// The share of valid bugs, and what it was one window before, where so many were seen.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "alarm")]
pub enum Alarm {
    Low {
        rate: f64,
    },
    /// It is less than half of what it was.
    Falling {
        rate: f64,
        before: f64,
    },
}

impl Default for ValidRate {
    fn default() -> Self {
        Self::new(20, 0.2)
    }
}

impl ValidRate {
    #[must_use]
    pub fn new(window: usize, least: f64) -> Self {
        Self { window: window.max(1), least, newest: VecDeque::new() }
    }

    pub fn note(&mut self, valid: bool) {
        self.newest.push_back(valid);
        while self.newest.len() > 2 * self.window {
            self.newest.pop_front();
        }
    }

    /// `None`: all is well, or fewer than a window were seen.
    #[must_use]
    pub fn alarm(&self) -> Option<Alarm> {
        let seen = self.newest.len();
        let start = seen.checked_sub(self.window)?;
        let rate = self.share(start, seen);
        if rate < self.least {
            return Some(Alarm::Low { rate });
        }
        let before = self.share(start.checked_sub(self.window)?, start);
        (rate < before / 2.0).then_some(Alarm::Falling { rate, before })
    }

    #[allow(clippy::cast_precision_loss, reason = "windows are small")]
    fn share(&self, start: usize, end: usize) -> f64 {
        let valid = self.newest.range(start..end).filter(|valid| **valid).count();
        valid as f64 / (end - start) as f64
    }
}
