//! Models in one call of `solve` or `inject`: by what the call is known, so that the same one, interrupted, goes on
//! and pays for nothing twice.

use super::lock::{locked, remove};
use super::open::{Opened, create_private};
use super::record::now;
use super::{Error, Roles};
use crate::agent::{self, Bill, Bounds, Role, Seat, Spent, Stage, Who};
use crate::injector::{Lesson, Strategy};
use crate::tree::hex;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// A call that a model plays in. Nobody else answers the same one until it is dropped.
pub(super) struct Call<'a> {
    opened: &'a Opened,
    pub(super) who: Who,
    bounds: Arc<Bounds>,
    path: PathBuf,
    /// Let go with the process.
    _lock: File,
}

impl<'a> Call<'a> {
    /// `settings`: all that is asked for, the seed and who plays included, but for what bounds it.
    pub(super) fn begin(
        opened: &'a Opened,
        verb: &str,
        settings: &serde_json::Value,
        roles: &Roles,
        cores: usize,
    ) -> Result<Self, Error> {
        let hash = Sha256::digest(settings.to_string());
        let run = format!("{verb}-{}", hex(&hash[..8]));
        let dir = opened.record.state.join("runs");
        create_private(&dir)?;
        let Some((path, lock)) = locked(&dir, &run)? else {
            return Err(Error::usage(
                "the same call is being answered already, by the same model and with the same seed; wait for it, or \
                 give another seed",
            ));
        };
        let bounds = roles.bounds(&opened.record.store, &run, cores)?;
        let who = Who {
            run,
            step: 0,
            item: 0,
            role: Role::Injector,
            phase: "",
            attempt: 0,
            artifact: None,
            now: now(),
        };
        Ok(Self { opened, who, bounds, path, _lock: lock })
    }

    pub(super) fn seat(&self, player: &agent::Player) -> Seat {
        Seat { player: player.clone(), bounds: self.bounds.clone() }
    }

    pub(super) fn stage(&self) -> Stage<'_> {
        Stage { harness: &self.opened.harness, workspace: &self.opened.workspace }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        // One that stays is removed when a run is begun or gone on with.
        remove(&self.path).ok();
    }
}

/// What several sessions took together; `None` where no model played.
pub(super) fn spent<'b>(bills: impl Iterator<Item = &'b Bill>) -> Option<Spent> {
    bills.fold(None, |sum: Option<Spent>, bill| {
        let mut sum = sum.unwrap_or_default();
        sum.add(&bill.spent);
        Some(sum)
    })
}

/// Refuses a strategy that only models know where none plays.
pub(super) fn refuse_without_model(strategy: Strategy, roles: &Roles) -> Result<(), Error> {
    if strategy.is_embedded() || roles.injector.is_some() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the strategy {} is for models; name one with --injector, or use another strategy",
        strategy.name()
    )))
}

/// The strategy as it can be played, and the failed repairs that `higher_order` learns from; where there are none
/// yet, it comes to `direct`.
pub(super) fn lessons(
    opened: &Opened,
    strategy: Strategy,
) -> Result<(Strategy, Vec<Lesson>), Error> {
    if strategy != Strategy::HigherOrder {
        return Ok((strategy, Vec::new()));
    }
    let Opened { record, harness, .. } = opened;
    let (mut lessons, base) = (Vec::new(), &harness.base().id);
    for entry in record.wrong_book()?.iter().filter(|entry| entry.feeds && entry.base == *base) {
        let bug = record.bug_of(entry)?.artifact.bug_inject;
        lessons.push(Lesson { bug, repair: entry.patch.clone() });
    }
    let strategy = if lessons.is_empty() { Strategy::Direct } else { strategy };
    Ok((strategy, lessons))
}
