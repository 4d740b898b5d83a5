//! One code file with a few edits, drawn by seed.

use super::Strategy;
use super::choice::{root, weighted};
use super::code::{Opened, Reached};
use super::site::Site;
use crate::dice::Dice;
use crate::text::{Edit, apply_edits};
use crate::tree::{File, RelPath};
use std::collections::{BTreeMap, BTreeSet};

/// How often a function is tried whose name a test file uses, beside one whose name none uses.
const MENTIONED: f64 = 3.0;
/// How often code outside functions is tried: it runs at import, where a bug breaks all there is.
const TOP_LEVEL: f64 = 0.3;
/// Draws of a further site that may collide with those already taken before it is left out.
const DRAWS: usize = 12;

/// An edited file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub path: RelPath,
    pub file: File,
    pub tests: Vec<RelPath>,
    /// What was done, for people.
    pub summary: Vec<String>,
    /// The commits that it undoes, by their place in the history; sorted.
    pub commits: Vec<usize>,
    /// Which of the search's draws by a policy this is.
    pub drawn: Option<usize>,
}

/// What was done where already: no two drafts of one call do the same to the same function.
#[derive(Clone, Debug, Default)]
pub(super) struct Used(BTreeSet<(RelPath, Option<usize>, &'static str)>);

impl Used {
    pub(super) fn has(&self, path: &RelPath, site: &Site) -> bool {
        self.0.contains(&(path.clone(), site.function, site.family))
    }

    fn add(&mut self, path: &RelPath, site: &Site) {
        self.0.insert((path.clone(), site.function, site.family));
    }
}

/// A file by the square root of its size, which stands for its number of sites: opening all files
/// of a large repository only to count them would cost more than the search. What many test
/// files reach costs most to run and is drawn less often.
pub(super) fn draw_file(
    dice: &mut Dice,
    files: &[Reached],
    done: &BTreeSet<usize>,
) -> Option<usize> {
    let weights: Vec<f64> = files
        .iter()
        .enumerate()
        .map(|(index, file)| if done.contains(&index) { 0.0 } else { file_weight(file) })
        .collect();
    weighted(dice, &weights)
}

pub(super) fn file_weight(file: &Reached) -> f64 {
    root(file.size) / root(file.tests.len().max(1).pow(2))
}

/// A draft of this file, or `None` where everything that can be done was done.
pub(super) fn draw(
    dice: &mut Dice,
    strategy: Strategy,
    opened: &Opened,
    tests: &[RelPath],
    used: &mut Used,
) -> Option<Draft> {
    drafted(opened, &draw_sites(dice, strategy, opened, used), tests, used)
}

/// The sites' edits as a draft; `None` where there are none.
pub(super) fn drafted(
    opened: &Opened,
    sites: &[&Site],
    tests: &[RelPath],
    used: &mut Used,
) -> Option<Draft> {
    if sites.is_empty() {
        return None;
    }
    let edits: Vec<Edit> = sites.iter().flat_map(|site| site.edits.clone()).collect();
    let bytes = apply_edits(&opened.file.bytes, &edits).ok()?;
    for site in sites {
        used.add(&opened.path, site);
    }
    let told: Option<Vec<_>> = sites.iter().map(|site| opened.told_by(site)).collect();
    let told = told.map(|told| {
        let union: BTreeSet<&RelPath> = told.into_iter().flatten().collect();
        tests.iter().filter(|test| union.contains(test)).cloned().collect()
    });
    Some(Draft {
        path: opened.path.clone(),
        file: File { bytes: bytes.into(), executable: opened.file.executable },
        tests: told.unwrap_or_else(|| tests.to_vec()),
        summary: sites.iter().map(|site| site.describe(&opened.path, &opened.parsed)).collect(),
        commits: Vec::new(),
        drawn: None,
    })
}

/// One to three sites for direct, one or two for removal, in source order.
pub(super) fn draw_sites<'a>(
    dice: &mut Dice,
    strategy: Strategy,
    opened: &'a Opened,
    used: &Used,
) -> Vec<&'a Site> {
    let wanted = weighted(dice, odds(strategy)).map_or(1, |more| more + 1);
    let mut taken: Vec<&Site> = Vec::new();
    for _ in 0..DRAWS {
        if taken.len() == wanted {
            break;
        }
        // Edits of one function together are harder to see through than edits far apart.
        let same = match (strategy, taken.last()) {
            (Strategy::Direct, Some(last)) if dice.below(2) == 0 => Some(*last),
            _ => None,
        };
        let free = |site: &&Site| !used.has(&opened.path, site) && !clashes(site, &taken, strategy);
        let Some(site) = draw_site(dice, opened, same, &free) else { break };
        let mut edits: Vec<Edit> = taken.iter().flat_map(|site| site.edits.clone()).collect();
        edits.extend(site.edits.iter().cloned());
        if apply_edits(&opened.file.bytes, &edits).is_ok() {
            taken.push(site);
        }
    }
    taken.sort_by_key(|site| site.edits.first().map_or(0, |edit| edit.range.start));
    taken
}

/// The chances of one site in a draft, of two, …, if it can have so many.
pub(super) fn odds(strategy: Strategy) -> &'static [f64] {
    match strategy {
        Strategy::Removal => &[0.8, 0.2],
        _ => &[0.5, 0.35, 0.15],
    }
}

/// Two removals of one function could empty a block between them; two edits of one kind in one
/// function are one idea.
pub(super) fn clashes(site: &Site, taken: &[&Site], strategy: Strategy) -> bool {
    taken.iter().any(|other| {
        other.function == site.function
            && (strategy == Strategy::Removal || other.family == site.family)
    })
}

/// Function, then family, then site.
pub(super) fn draw_site<'a>(
    dice: &mut Dice,
    opened: &'a Opened,
    same: Option<&Site>,
    free: &dyn Fn(&&Site) -> bool,
) -> Option<&'a Site> {
    let mut functions: BTreeMap<Option<usize>, BTreeMap<&str, Vec<&Site>>> = BTreeMap::new();
    for site in opened.sites.iter().filter(free) {
        functions.entry(site.function).or_default().entry(site.family).or_default().push(site);
    }
    if let Some(same) = same.filter(|same| functions.contains_key(&same.function)) {
        functions.retain(|function, _| *function == same.function);
    }
    let functions: Vec<_> = functions.into_iter().collect();
    let weights: Vec<f64> = functions
        .iter()
        .map(|(function, families)| {
            root(families.values().map(Vec::len).sum()) * interest(opened, *function)
        })
        .collect();
    let (_, families) = &functions[weighted(dice, &weights)?];
    let families: Vec<&Vec<&Site>> = families.values().collect();
    let appeals: Vec<f64> = families.iter().map(|sites| sites[0].appeal).collect();
    let sites = families[weighted(dice, &appeals)?];
    dice.pick(sites).copied()
}

/// Tests name what they test: a bug there is noticed more often.
pub(super) fn interest(opened: &Opened, function: Option<usize>) -> f64 {
    match function.and_then(|at| opened.parsed.functions().get(at)) {
        None => TOP_LEVEL,
        Some(function) if opened.mentioned.contains(function.name.as_bytes()) => MENTIONED,
        Some(_) => 1.0,
    }
}
