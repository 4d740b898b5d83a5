//! Which history the injector is given: read once a verb, and only where the strategy comes to it.

use super::open::Opened;
use super::{Error, Job, Repository, Session};
use crate::injector::{self, Strategy, Target};
use crate::workspace::{History, NoHistory};
use std::sync::Arc;

impl Session {
    /// Refuses the strategy `history` where there is none to read, before anything is copied or run.
    pub(super) fn refuse_without_history(
        &self,
        strategy: Strategy,
        repository: &Repository,
    ) -> Result<(), Error> {
        if strategy == Strategy::History {
            self.workspace(repository)?.has_history().map_err(|reason| refused(&reason))?;
        }
        Ok(())
    }
}

impl Opened {
    /// The history, where the strategy and the seed come to it, or a policy may. Where `mixed` has none it plays
    /// without, and says why. One target for all calls: it is read once.
    pub(super) fn history(
        &self,
        strategy: Strategy,
        seed: u64,
        target: Option<&Target>,
        by_policy: bool,
        job: &Job,
    ) -> Result<Option<Arc<History>>, Error> {
        let by_policy = by_policy && strategy == Strategy::Mixed;
        if !(strategy.may_undo(seed) || by_policy) {
            return Ok(None);
        }
        if let Some(known) = self.history.get() {
            return Ok(known.clone());
        }
        let read = self.read_history(strategy, target, job)?;
        Ok(self.history.get_or_init(|| read).clone())
    }

    fn read_history(
        &self,
        strategy: Strategy,
        target: Option<&Target>,
        job: &Job,
    ) -> Result<Option<Arc<History>>, Error> {
        job.step("reading the history");
        let wanted = injector::wanted_history(&self.harness, &self.languages, target)
            .map_err(|error| job.failed(error))?;
        let cancelled = || job.cancel.is_cancelled();
        match self.workspace.history(self.harness.base(), &wanted, &cancelled) {
            Ok(history) => {
                if history.shallow {
                    job.step(&format!(
                        "the clone is shallow: {} commits are all the history there is; \
                         `git fetch --unshallow` brings the rest",
                        history.looked_at
                    ));
                }
                Ok(Some(Arc::new(history)))
            }
            Err(NoHistory::Cancelled) => Err(Error::Cancelled),
            Err(reason) if strategy == Strategy::History => Err(refused(&reason)),
            Err(reason) => {
                job.step(&format!("playing without history: {reason}"));
                Ok(None)
            }
        }
    }
}

fn refused(reason: &NoHistory) -> Error {
    Error::usage(format!(
        "the strategy `history` cannot be used: {reason}; or choose another strategy"
    ))
}
