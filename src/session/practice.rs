//! Practice: a person looks for a bug in a tree of their own, beside the repository.
//!
//! A round is a row of the store, which holds the bug's parts, what is shown of it and what hints tell; the
//! tree lies in the state directory. So it outlives every process, and the repository's next change: it
//! keeps its base. The rules are in [`crate::practice`]; here they meet workspace, harness and store.

mod at;
mod begin;
mod check;
mod finish;
mod pick;
mod players;
mod proof;
mod race;
mod round;
mod run;
mod show;
mod stats;

pub use at::PracticePlace;
pub use begin::PracticeStartRequest;
pub use check::PracticeCheckAnswer;
pub use finish::{PlaceLine, PracticeHintAnswer, PracticeRevealAnswer};
pub use pick::PracticePick;
pub use players::PlayerLine;
pub use race::{PracticeRaceAnswer, PracticeRaceRequest};
pub use run::{PracticeRunAnswer, PracticeRunRequest, VerdictLine};
pub use show::{Hint, PracticeAnswer, RatingLine};
pub use stats::{
    DueLine, FamilyLine, PlayerStats, PracticeLine, PracticeListAnswer, PracticeStatsAnswer,
    RatingPoint,
};

use super::Repository;

/// Where practice trees lie in a workspace's state directory.
pub(super) const TREES: &str = "practice";
/// The player that a person is.
const PERSON: &str = "person";
const EMBEDDED: &str = "embedded solver";

/// Which round a call belongs to.
#[derive(Clone, Debug, Default)]
pub struct PracticeRef {
    pub repository: Repository,
    /// Its id, or the beginning of it; `None`: the open one that was begun last.
    pub id: Option<String>,
}
