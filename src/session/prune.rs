//! `state prune`: keeps what is kept of all repositories within a size, the oldest going first.

use super::record::now;
use super::{Error, Session, practice};
use crate::store::{Conversation, Store};
use crate::workspace::{OldBase, Upkeep, disk_size, states};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug, Default, serde::Serialize, schemars::JsonSchema)]
pub struct PruneAnswer {
    /// Bytes on disk before and after.
    pub before: u64,
    pub after: u64,
    pub budget: u64,
    /// Whether that is within the budget. What is in use, the databases, open rounds of practice and what the
    /// wrong-book needs stay.
    pub within: bool,
    /// Frozen copies that were removed; the next start makes them anew.
    pub bases: usize,
    /// Caches; they fill again.
    pub caches: usize,
    /// Practice trees of rounds that are over.
    pub practice_trees: usize,
    /// Artifacts: their five parts are gone, that they were made is still known.
    pub artifacts: usize,
    /// What models said in runs that are over, and on behalf of other programs: nothing of it is left.
    pub conversations: usize,
}

/// Something that may go.
enum Old {
    Base(OldBase),
    Cache(PathBuf),
    PracticeTree(PathBuf),
    Artifact(String),
    /// What models said, and about how many bytes that is.
    Conversation(String, u64),
}

/// For so many seconds what a model said outside of a run is taken to be gone on with.
const LATELY: i64 = 86_400;

/// What may go of one workspace. Its lock is held until it is dropped.
struct Keeping {
    upkeep: Upkeep,
    store: Option<Store>,
}

impl Session {
    pub fn prune(&self, budget: u64) -> Result<PruneAnswer, Error> {
        let root = self.config().state_root()?;
        let mut keepings = Vec::new();
        let mut all: Vec<(SystemTime, usize, Old)> = Vec::new();
        for state in states(root).map_err(Error::harness)? {
            let keeping = Keeping::of(&state)?;
            let old = keeping.old()?;
            all.extend(old.into_iter().map(|(used, old)| (used, keepings.len(), old)));
            keepings.push(keeping);
        }
        // Stable: what is equally old goes in the order in which it was found.
        all.sort_by_key(|(used, at, _)| (*used, *at));
        let before = disk_size(root);
        let mut answer = PruneAnswer { before, after: before, budget, ..PruneAnswer::default() };
        for (_, at, old) in all {
            if answer.after <= budget {
                break;
            }
            let own = keepings[at].own_size(&old);
            keepings[at].remove(&old)?;
            match old {
                Old::Base(_) => answer.bases += 1,
                Old::Cache(_) => answer.caches += 1,
                Old::PracticeTree(_) => answer.practice_trees += 1,
                Old::Artifact(_) => answer.artifacts += 1,
                Old::Conversation(..) => answer.conversations += 1,
            }
            answer.after = match own {
                Some(own) => answer.after.saturating_sub(own),
                None => disk_size(root),
            };
        }
        if answer.artifacts + answer.conversations > 0 {
            for store in keepings.iter().filter_map(|keeping| keeping.store.as_ref()) {
                store.shrink().map_err(Error::harness)?;
            }
            answer.after = disk_size(root);
        }
        answer.within = answer.after <= budget;
        Ok(answer)
    }
}

impl Keeping {
    fn of(state: &Path) -> Result<Self, Error> {
        let upkeep = Upkeep::of(state).map_err(Error::harness)?;
        // A workspace that was only looked at has none, and gets none.
        let kept = state.join("state.db").is_file();
        let store = kept.then(|| Store::open(state)).transpose().map_err(Error::harness)?;
        Ok(Self { upkeep, store })
    }

    fn old(&self) -> Result<Vec<(SystemTime, Old)>, Error> {
        let state = &self.upkeep.state;
        let (bases, in_use) = self.upkeep.bases().map_err(Error::harness)?;
        let rounds = match &self.store {
            Some(store) => store.practices().map_err(Error::harness)?,
            None => Vec::new(),
        };
        let (open, over): (Vec<_>, Vec<_>) =
            rounds.into_iter().partition(|round| round.ended.is_none());
        // A person comes back to an open round, whatever the repository looks like then.
        let spare = bases.into_iter().filter(|base| !open.iter().any(|it| base.is_of(&it.base)));
        let mut old: Vec<(SystemTime, Old)> =
            spare.map(|base| (base.used, Old::Base(base))).collect();
        for round in over {
            let dir = state.join(practice::TREES).join(&round.id);
            if dir.is_dir() {
                old.push((since(round.ended.unwrap_or(0)), Old::PracticeTree(dir)));
            }
        }
        // Who uses a frozen copy may use a cache, and which one its name does not tell.
        if !in_use {
            let caches = fs::read_dir(state.join("caches")).into_iter().flatten().flatten();
            for cache in caches.map(|entry| entry.path()) {
                let used = cache.metadata().and_then(|found| found.modified());
                old.push((used.unwrap_or(UNIX_EPOCH), Old::Cache(cache)));
            }
        }
        if let Some(store) = &self.store {
            for (id, created) in store.spare_artifacts().map_err(Error::harness)? {
                old.push((since(created), Old::Artifact(id)));
            }
            let spare = store.spare_conversations(now() - LATELY).map_err(Error::harness)?;
            for Conversation { id, begun, bytes } in spare {
                old.push((since(begun), Old::Conversation(id, bytes)));
            }
        }
        Ok(old)
    }

    /// Bytes that go with it; `None` where it shares its files with what stays.
    fn own_size(&self, old: &Old) -> Option<u64> {
        match old {
            Old::Base(_) => None,
            Old::Cache(dir) | Old::PracticeTree(dir) => Some(disk_size(dir)),
            Old::Conversation(_, bytes) => Some(*bytes),
            Old::Artifact(id) => Some(disk_size(&self.upkeep.state.join("bugs").join(id))),
        }
    }

    fn remove(&self, old: &Old) -> Result<(), Error> {
        match old {
            Old::Base(base) => self.upkeep.remove_base(base).map_err(Error::harness),
            Old::Cache(dir) | Old::PracticeTree(dir) => gone(fs::remove_dir_all(dir), dir),
            Old::Conversation(id, _) => match &self.store {
                Some(store) => store.forget_conversation(id).map_err(Error::harness),
                None => Ok(()),
            },
            Old::Artifact(id) => {
                // The row last: one that still has its parts is found again by the next prune.
                let dir = self.upkeep.state.join("bugs").join(id);
                gone(fs::remove_dir_all(&dir), &dir)?;
                match &self.store {
                    Some(store) => store.forget_artifact(id).map_err(Error::harness),
                    None => Ok(()),
                }
            }
        }
    }
}

fn since(seconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

fn gone(removed: io::Result<()>, path: &Path) -> Result<(), Error> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::harness(anyhow::anyhow!(
                "{} cannot be removed ({error}); check its permissions",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}
