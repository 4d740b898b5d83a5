//! Drafts that a policy draws: the strategy of a mix, then file, number of edits and sites of each draft, and
//! what became of it.

use super::Strategy;
use super::code::{Opened, Reached};
use super::draft::{Draft, Used, clashes, drafted, file_weight, odds};
use super::features;
use super::site::Site;
use crate::dice::Dice;
use crate::policy::{self, Drawn, Options, Player, Role};
use crate::text::{Edit, apply_edits};
use crate::tree::RelPath;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a policy drew, and whether a bug came of it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What was chosen one after another.
    pub choices: Vec<(Choice, Drawn)>,
    /// What each edit is (`direct/comparison_boundary`).
    pub kinds: Vec<String>,
    pub fate: Fate,
}

/// Of what one was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Strategy,
    File,
    Number,
    Sites,
}

impl Choice {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Strategy => "strategy",
            Self::File => "file",
            Self::Number => "number",
            Self::Sites => "sites",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is part of the bug.
    Bug,
    /// It does not parse, no test notices it, nothing runs with it, or it cannot be hidden.
    Nothing,
    /// It was noticed, and another draft became the bug.
    Open,
}

/// What `mixed` comes to.
pub(super) fn draw_strategy(
    dice: &mut Dice,
    has_history: bool,
    player: Player<'_>,
) -> Option<(Strategy, Drawn)> {
    let other = if has_history { Strategy::History } else { Strategy::Direct };
    let strategies = [Strategy::Removal, other];
    let (at, drawn) = one(dice, features::strategies(strategies), player)?;
    Some((strategies[at], drawn))
}

/// A file in which something is left to do.
pub(super) fn draw_file(
    dice: &mut Dice,
    files: &[Reached],
    done: &BTreeSet<usize>,
    player: Player<'_>,
) -> Option<(usize, Drawn)> {
    let left: Vec<usize> = (0..files.len()).filter(|index| !done.contains(index)).collect();
    let weighed = left.iter().map(|index| (&files[*index], file_weight(&files[*index])));
    let (at, drawn) = one(dice, features::files(weighed), player)?;
    Some((left[at], drawn))
}

/// One of these options.
fn one(dice: &mut Dice, options: Options, player: Player<'_>) -> Option<(usize, Drawn)> {
    let options = Arc::new(options);
    let logits = player.weights.logits(Role::Injector, &options);
    let temperature = player.sampling.temperature(Role::Injector, 0);
    let taken = policy::draw(&logits, temperature, 1, dice);
    let first = *taken.first()?;
    Some((first, Drawn::of(options, &logits, taken, temperature).ok()?))
}

/// A draft of this file, or `None` where everything that can be done was done. What clashes with what was drawn
/// before it is passed over, which is no choice of its own.
pub(super) fn draw(
    dice: &mut Dice,
    strategy: Strategy,
    (opened, tests): (&Opened, &[RelPath]),
    used: &mut Used,
    player: Player<'_>,
) -> Option<(Draft, Tried)> {
    let free: Vec<&Site> =
        opened.sites.iter().filter(|site| !used.has(&opened.path, site)).collect();
    if free.is_empty() {
        return None;
    }
    let is_free = |site: &Site| !used.has(&opened.path, site);
    let of = (strategy.name(), tests.len());
    let options = Arc::new(features::options(opened, &is_free, of, player.past));
    let logits = player.weights.logits(Role::Injector, &options);
    let numbers = features::numbers(strategy.name(), odds(strategy));
    let (more, number) = one(dice, numbers, player)?;
    let temperature = player.sampling.temperature(Role::Injector, 0);
    let mut order = policy::draw(&logits, temperature, logits.len(), dice);
    let mut sites: Vec<&Site> = Vec::new();
    let mut last = 0;
    for (at, option) in order.iter().enumerate() {
        if sites.len() == more + 1 {
            break;
        }
        let site = free[*option];
        let mut edits: Vec<Edit> = sites.iter().flat_map(|site| site.edits.clone()).collect();
        edits.extend(site.edits.iter().cloned());
        if !clashes(site, &sites, strategy) && apply_edits(&opened.file.bytes, &edits).is_ok() {
            sites.push(site);
            last = at + 1;
        }
    }
    order.truncate(last);
    sites.sort_by_key(|site| site.edits.first().map_or(0, |edit| edit.range.start));
    let draft = drafted(opened, &sites, tests, used)?;
    let drawn = Drawn::of(options, &logits, order, temperature).ok()?;
    let kinds = sites.iter().map(|site| features::kind(strategy.name(), site)).collect();
    let choices = vec![(Choice::Number, number), (Choice::Sites, drawn)];
    Some((draft, Tried { choices, kinds, fate: Fate::Open }))
}
