//! What kinds of edits came to in a workspace: from rounds to the store, and from there to the policy.

use super::Error;
use crate::injector::{Fate, Tried};
use crate::policy::{Past, Role};
use crate::solver::Attempt;
use crate::store::{KindCount, Store};
use std::collections::BTreeMap;

/// Of the edits that a policy drew: those whose fate is known, and those that are part of the bug.
pub(super) fn of_injector(tried: &[Tried]) -> Vec<KindCount> {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for one in tried.iter().filter(|one| one.fate != Fate::Open) {
        for kind in &one.kinds {
            let of = counts.entry(kind).or_default();
            *of = (of.0 + 1, of.1 + u64::from(one.fate == Fate::Bug));
        }
    }
    rows(Role::Injector, counts)
}

/// Of the candidates that attempts ran.
pub(super) fn of_solver(attempts: &[Attempt]) -> Vec<KindCount> {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (kind, (tried, worked)) in attempts.iter().flat_map(|attempt| &attempt.kinds) {
        let of = counts.entry(kind).or_default();
        *of = (of.0 + tried, of.1 + worked);
    }
    rows(Role::Solver, counts)
}

fn rows(role: Role, counts: BTreeMap<&str, (u64, u64)>) -> Vec<KindCount> {
    let row = |(kind, (tried, worked)): (&str, (u64, u64))| KindCount {
        role: role.name().to_owned(),
        kind: kind.to_owned(),
        tried,
        worked,
    };
    counts.into_iter().map(row).collect()
}

/// As of now.
pub(super) fn of(store: &Store) -> Result<Past, Error> {
    let mut past = Past::default();
    for count in store.kinds().map_err(Error::harness)? {
        if let Some(role) = Role::ALL.into_iter().find(|role| role.name() == count.role) {
            past.note(role, &count.kind, (count.tried, count.worked));
        }
    }
    Ok(past)
}
