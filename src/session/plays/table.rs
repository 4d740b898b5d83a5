//! The plays that this process holds.

use super::seat::Seat;
use super::{IDLE, LIVE};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How often sandboxes that nobody uses are looked for.
const LOOK: Duration = Duration::from_mins(1);

/// Cheap to clone; all clones are one table.
#[derive(Clone, Default)]
pub(in crate::session) struct Table(Arc<Mutex<Held>>);

#[derive(Default)]
pub(super) struct Held {
    pub(super) seats: BTreeMap<String, Arc<Mutex<Seat>>>,
    /// Where plays of this process were begun, also once their seat is closed.
    pub(super) homes: BTreeMap<String, PathBuf>,
    /// Whether somebody looks for what is idle.
    watched: bool,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("seats", &self.lock().seats.len()).finish()
    }
}

impl Table {
    pub(super) fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes what was not used for so long. Nobody else has a seat that only the table holds, and nobody
    /// gets it while the table is locked.
    pub(super) fn close_idle(&self, idle: Duration) {
        self.lock().seats.retain(|_, seat| Arc::strong_count(seat) > 1 || used(seat) < idle);
    }

    /// Takes a seat in, and closes those used longest ago where there are too many.
    pub(super) fn add(&self, held: &mut Held, id: String, seat: Seat) -> Arc<Mutex<Seat>> {
        held.homes.insert(id.clone(), seat.workspace.root.clone());
        let seat = Arc::new(Mutex::new(seat));
        held.seats.insert(id, seat.clone());
        while held.seats.len() > LIVE {
            let spare = held.seats.iter().filter(|(_, seat)| Arc::strong_count(seat) == 1);
            let oldest = spare.max_by_key(|(_, seat)| used(seat)).map(|(id, _)| id.clone());
            let Some(oldest) = oldest else { break };
            held.seats.remove(&oldest);
        }
        if !std::mem::replace(&mut held.watched, true) {
            self.watch();
        }
        seat
    }

    /// The thread ends when the table is gone.
    fn watch(&self) {
        let table: Weak<Mutex<Held>> = Arc::downgrade(&self.0);
        std::thread::spawn(move || {
            loop {
                std::thread::park_timeout(LOOK);
                let Some(held) = table.upgrade() else { return };
                Table(held).close_idle(IDLE);
            }
        });
    }
}

/// How long ago a seat was used. Asked only of those that nobody works with.
fn used(seat: &Mutex<Seat>) -> Duration {
    seat.lock().unwrap_or_else(PoisonError::into_inner).used.elapsed()
}
