//! The cap on runs at once: what bounds the processes and the memory of everything that is played
//! beside each other.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) struct Slots {
    free: Mutex<usize>,
    given_back: Condvar,
}

/// How long at least one run was under way.
struct Busy {
    runs: usize,
    since: Option<Instant>,
    total: Duration,
}

/// Of all harnesses: those of several repositories work beside each other, and a share of the time must not
/// count them twice.
static BUSY: Mutex<Busy> = Mutex::new(Busy { runs: 0, since: None, total: Duration::ZERO });

/// How long at least one run of this process's was under way so far.
pub fn busy() -> Duration {
    let busy = lock();
    busy.total + busy.since.map_or(Duration::ZERO, |since| since.elapsed())
}

fn lock() -> MutexGuard<'static, Busy> {
    BUSY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to one run; given back when dropped. Whoever holds one asks for no other.
pub(super) struct Slot<'a>(&'a Slots);

impl Slots {
    /// At least one.
    pub(super) fn new(many: usize) -> Self {
        let (free, given_back) = (Mutex::new(many.max(1)), Condvar::new());
        Self { free, given_back }
    }

    /// Waits until a run may begin. Each run ends within its time limit, so that this does, too.
    pub(super) fn take(&self) -> Slot<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self
            .given_back
            .wait_while(free, |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        let mut busy = lock();
        busy.runs += 1;
        busy.since.get_or_insert_with(Instant::now);
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut busy = lock();
        busy.runs -= 1;
        if busy.runs == 0
            && let Some(since) = busy.since.take()
        {
            busy.total += since.elapsed();
        }
        drop(busy);
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_more_run_at_once_than_there_are_slots_and_all_of_them_run() {
        let slots = Slots::new(3);
        let (now, most, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _slot = slots.take();
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 600);
        assert!(most.into_inner() <= 3);
    }

    #[test]
    fn there_is_always_one_slot() {
        drop(Slots::new(0).take());
    }
}
