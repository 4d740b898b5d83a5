//! So many at once, and whoever waits can be called off.

use super::Error;
use crate::harness;
use crate::sandbox::Cancel;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How soon one who waits looks whether it is called off.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Gate {
    free: Mutex<usize>,
    given_back: Condvar,
}

/// The right to be inside; given back when dropped.
#[derive(Debug)]
pub struct Pass<'a>(&'a Gate);

impl Gate {
    /// At least one.
    pub fn new(many: usize) -> Self {
        Self { free: Mutex::new(many.max(1)), given_back: Condvar::new() }
    }

    pub fn enter(&self, cancel: &Cancel) -> Result<Pass<'_>, Error> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            if cancel.is_cancelled() {
                return Err(harness::Error::Cancelled.into());
            }
            let waited = self.given_back.wait_timeout(free, LOOK);
            free = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Ok(Pass(self))
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_more_are_inside_than_may_be() {
        let gate = Gate::new(2);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let pass = gate.enter(&Cancel::new()).expect("nobody cancels");
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(pass);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
    }

    #[test]
    fn who_waits_can_be_called_off() {
        let (gate, cancel) = (Gate::new(0), Cancel::new());
        let _inside = gate.enter(&cancel).expect("there is always one place");
        cancel.cancel();
        assert!(gate.enter(&cancel).is_err());
    }
}
