//! Lets a server rest that fails again and again. Pure: time is an argument.

use std::time::{Duration, Instant};

/// Failures in a row after which a server is left alone.
const FAILURES: u32 = 8;
/// For how long; one request then tries whether it is back.
const REST: Duration = Duration::from_secs(30);

/// Of one server, for all that ask it.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    resting_until: Option<Instant>,
    last: String,
}

/// Why it is not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) failures: u32,
    pub(super) wait: Duration,
    pub(super) last: String,
}

impl Breaker {
    /// Whether a request may be made. After the rest one may, and the others wait for what becomes of it.
    pub(super) fn admit(&mut self, now: Instant) -> Result<(), Rest> {
        match self.resting_until {
            Some(until) if now < until => {
                Err(Rest { failures: self.failures, wait: until - now, last: self.last.clone() })
            }
            Some(_) => {
                self.resting_until = Some(now + REST);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The server answered, whatever it said.
    pub(super) fn answered(&mut self) {
        *self = Self::default();
    }

    pub(super) fn failed(&mut self, why: String, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.last = why;
        if self.failures >= FAILURES {
            self.resting_until = Some(now + REST);
        }
    }
}
