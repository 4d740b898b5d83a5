//! Drafts whose sites a policy draws, and what became of each.

use super::Strategy;
use super::code::Opened;
use super::draft::{Draft, Used, clashes, drafted, wanted};
use super::features;
use super::site::Site;
use crate::dice::Dice;
use crate::policy::{self, Drawn, Player, Role};
use crate::text::{Edit, apply_edits};
use crate::tree::RelPath;
use std::sync::Arc;

/// What a policy drew, and whether a bug came of it.
#[derive(Clone, Debug)]
pub struct Tried {
    pub drawn: Drawn,
    pub fate: Fate,
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

/// A draft of this file, or `None` where everything that can be done was done. Number and file are chosen as
/// without a policy; what clashes with what was drawn before it is passed over, which is no choice of its own.
pub(super) fn draw(
    dice: &mut Dice,
    strategy: Strategy,
    (opened, tests): (&Opened, &[RelPath]),
    used: &mut Used,
    player: Player<'_>,
) -> Option<(Draft, Drawn)> {
    let free: Vec<&Site> =
        opened.sites.iter().filter(|site| !used.has(&opened.path, site)).collect();
    if free.is_empty() {
        return None;
    }
    let is_free = |site: &Site| !used.has(&opened.path, site);
    let of = (strategy.name(), tests.len());
    let options = Arc::new(features::options(opened, &is_free, of, player.past));
    let logits = player.weights.logits(Role::Injector, &options);
    let wanted = wanted(dice, strategy);
    let temperature = player.sampling.temperature(Role::Injector, 0);
    let mut order = policy::draw(&logits, temperature, logits.len(), dice);
    let mut sites: Vec<&Site> = Vec::new();
    let mut last = 0;
    for (at, option) in order.iter().enumerate() {
        if sites.len() == wanted {
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
    Some((draft, drawn))
}
