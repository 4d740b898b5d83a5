//! Which edits of a file are tried, and in which order.

use crate::dice::Dice;
use crate::injector::Editable;
use std::collections::BTreeMap;

/// Every edit once: one of each function, then one more of each, so that no long function crowds out the
/// rest. Kinds of edit that tell little tend to come late.
pub(super) fn order(file: &Editable, dice: &mut Dice) -> Vec<usize> {
    let mut functions: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for place in 0..file.len() {
        functions.entry(file.outermost(place)).or_default().push(place);
    }
    let mut functions: Vec<Vec<usize>> = functions.into_values().collect();
    dice.shuffle(&mut functions);
    for places in &mut functions {
        dice.shuffle(places);
        let (late, soon): (Vec<_>, Vec<_>) =
            places.iter().partition(|place| dice.unit() >= file.appeal(**place));
        *places = [soon, late].concat();
    }
    let longest = functions.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|turn| functions.iter().filter_map(move |f| f.get(turn).copied()))
        .collect()
}
