//! Everything that survives the process: one `SQLite` database in a workspace's state directory.
//!
//! Keeps text, bytes and numbers and knows nothing of what they mean. Several processes may use one
//! store at once: each write is one short transaction that takes the write lock before it reads.

mod artifacts;
mod baselines;
mod conversations;
mod differences;
mod edits;
mod error;
mod evals;
mod jobs;
mod kinds;
mod open;
mod outcomes;
mod plays;
mod practice;
mod rollouts;
mod rounds;
mod runs;
mod sittings;
mod steps;
#[cfg(test)]
mod tests;
mod wrong_book;

pub use artifacts::Artifact;
pub use conversations::Conversation;
pub use differences::Difference;
pub use edits::TriedEdit;
pub use error::Error;
pub use evals::{Eval, EvalOutcome};
pub use jobs::{JobState, StoredJob};
pub use kinds::KindCount;
pub use plays::{Play, PlayEnd, PlayFile, PlayState, Turn};
pub use practice::{
    Conclusion, Practice, PracticeState, Sign, SolverPlay, Standing, StoredCard, StoredGame,
    StoredRating,
};
pub use rollouts::{Rollout, RolloutTurn};
pub use rounds::{Attempt, Counts, Kept, Played, Round};
pub use runs::{Run, RunState};
pub use sittings::{After, Said, SpentRow, StoredSitting};
pub use steps::TrainedStep;
pub use wrong_book::{Entry, Failure, Group};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An open store. Share it by reference; calls from several threads take turns.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Mutex<Connection>,
    moved_aside: Option<PathBuf>,
}

impl Store {
    /// Opens `state.db` in `dir`, which exists, or makes it. A file that is no sound database is
    /// moved aside, never deleted: see `moved_aside`.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let path = dir.join("state.db");
        let (connection, moved_aside) = open::open(dir, &path)?;
        Ok(Self { path, connection: Mutex::new(connection), moved_aside })
    }

    /// Where a damaged database that was found instead now lies, to be told to the person.
    pub fn moved_aside(&self) -> Option<&Path> {
        self.moved_aside.as_deref()
    }

    /// One transaction that holds the write lock from its beginning. A transaction that reads first
    /// and asks for the lock later fails when another process wrote in between.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let write = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        write().map_err(|error| Error::sql(&self.path, error))
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| Error::sql(&self.path, error))
    }
}
