//! Which failures are worth another try, and how long to wait before it.

use super::Error;
use crate::dice::Dice;
use std::time::Duration;

/// How often to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// At most, the first included; at least 1.
    pub tries: u32,
    /// The wait after the first try; it doubles.
    pub first: Duration,
    /// The longest wait, also where a server names a longer one: then the error is told at once.
    pub most: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 5, first: Duration::from_millis(500), most: Duration::from_mins(1) }
    }
}

impl Patience {
    /// How long to wait after so many tries (from 1); `None`: no more. Between half and the whole of the doubled
    /// wait, so that many that failed at once do not come back at once; what a server asks for is kept and stretched
    /// by up to a tenth.
    pub fn pause(&self, tries: u32, asked: Option<Duration>, dice: &mut Dice) -> Option<Duration> {
        if tries >= self.tries {
            return None;
        }
        if let Some(asked) = asked {
            return (asked <= self.most).then(|| asked.mul_f64(1.0 + dice.unit() / 10.0));
        }
        let doubled = self.first.saturating_mul(1 << (tries - 1).min(16)).min(self.most);
        Some(doubled.mul_f64(0.5 + dice.unit() / 2.0))
    }
}

/// Whether the request was surely not answered, so that nothing is paid for twice.
pub(super) fn is_safe(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused { .. }
            | Error::Proxy { .. }
            | Error::Dns { .. }
            | Error::RateLimited { .. }
            | Error::Server { .. }
    )
}
