//! The sites of one file as options of the policy: what each does, and what is known of the place.

use super::Strategy;
use super::choice::root;
use super::code::{Opened, Reached};
use super::draft::interest;
use super::site::Site;
use crate::policy::{Options, OptionsBuilder, Past, Role, Scene, Scope, Weights, doublings};
use std::collections::BTreeMap;

/// The logarithm of the chance that today's draw takes the site.
const PRIOR: &str = "prior.ln";

/// The weights under which every site is as likely as in the fixed draw: what training starts from.
#[must_use]
pub fn start_weights() -> Weights {
    let mut weights = Weights::new();
    weights.set(Scope::Own(Role::Injector), PRIOR, 1.0);
    weights
}

/// One option for each strategy, all as likely.
pub(super) fn strategies(strategies: [Strategy; 2]) -> Options {
    let mut out = OptionsBuilder::new();
    for strategy in strategies {
        out.option();
        out.flag(&["strategy=", strategy.name()]);
    }
    out.finish()
}

/// One option for each file, with the weight that the fixed draw gives it.
pub(super) fn files<'a>(files: impl Iterator<Item = (&'a Reached, f64)>) -> Options {
    let mut out = OptionsBuilder::new();
    for (file, weight) in files {
        out.option();
        out.feature(&[PRIOR], weight.ln());
        out.flag(&["file.size=", doublings(file.size / 64)]);
        out.flag(&["file.test_files=", few(file.tests.len())]);
        let depth = file.path.as_str().matches('/').count();
        out.flag(&["file.depth=", doublings(depth)]);
    }
    out.finish()
}

/// One option for each number of edits, from 1.
pub(super) fn numbers(strategy: &str, odds: &[f64]) -> Options {
    let mut out = OptionsBuilder::new();
    for (number, chance) in (1_u8..).zip(odds) {
        out.option();
        out.feature(&[PRIOR], chance.ln());
        let number = number.to_string();
        out.flag(&["number=", &number]);
        out.flag(&["number*strategy=", &number, "*", strategy]);
    }
    out.finish()
}

fn few(count: usize) -> &'static str {
    match count {
        0 => "none",
        1 => "one",
        2..4 => "few",
        4..16 => "some",
        _ => "many",
    }
}

/// What a site's edit is, by a stable name.
pub(super) fn kind(strategy: &str, site: &Site) -> String {
    format!("{strategy}/{}", site.family)
}

/// One option for each site that is free, in their order. `strategy`: what kinds are named by
/// (`direct/comparison_boundary`). `reached_by`: how many test files may execute the file.
pub(super) fn options(
    opened: &Opened,
    free: &dyn Fn(&Site) -> bool,
    (strategy, reached_by): (&str, usize),
    past: &Past,
) -> Options {
    let scene = Scene::new(&opened.parsed);
    let mut out = OptionsBuilder::new();
    for (site, prior) in opened.sites.iter().zip(priors(opened)) {
        if !free(site) {
            continue;
        }
        out.option();
        let kind = kind(strategy, site);
        out.feature(&[PRIOR], prior.ln());
        scene.describe(&kind, &site.edits, &mut out);
        past.describe(Role::Injector, &kind, &mut out);
        let told_by = opened.told_by(site).map_or(reached_by, std::collections::BTreeSet::len);
        let told = few(told_by);
        out.flag(&["test_files=", told]);
        out.flag(&["kind*test_files=", &kind, "*", told]);
        let function = site.function.and_then(|at| opened.parsed.functions().get(at));
        if function.is_some_and(|it| opened.mentioned.contains(it.name.as_bytes())) {
            out.flag(&["function_in_tests"]);
        }
    }
    out.finish()
}

/// The chance of each site in the fixed draw of a first one: function, then family, then site.
#[allow(clippy::cast_precision_loss, reason = "a file has fewer than 2^52 sites")]
fn priors(opened: &Opened) -> Vec<f64> {
    let mut functions: BTreeMap<Option<usize>, BTreeMap<&str, (f64, usize)>> = BTreeMap::new();
    for site in &opened.sites {
        let families = functions.entry(site.function).or_default();
        families.entry(site.family).or_insert((site.appeal, 0)).1 += 1;
    }
    let weight = |function: Option<usize>, families: &BTreeMap<&str, (f64, usize)>| {
        root(families.values().map(|(_, sites)| sites).sum()) * interest(opened, function)
    };
    let all: f64 = functions.iter().map(|(function, families)| weight(*function, families)).sum();
    let prior = |site: &Site| {
        let families = &functions[&site.function];
        let appeals: f64 = families.values().map(|(appeal, _)| appeal).sum();
        let (appeal, sites) = families[site.family];
        weight(site.function, families) / all * appeal / appeals / sites as f64
    };
    opened.sites.iter().map(prior).collect()
}
