//! Sites as options of the policy.

use super::Repository;
use crate::dice::Dice;
use crate::injector::draft::draw_site;
use crate::injector::{Strategy, features, start_weights};
use crate::policy::{Draws, Past, Role};

#[test]
fn the_policy_starts_with_the_chances_of_the_fixed_draw() {
    let repository = Repository::money();
    for strategy in [Strategy::Direct, Strategy::Removal] {
        let mut code = repository.survey(strategy, None).expect("something to edit");
        let opened = code.open(0);
        let options = features::options(opened, &|_| true, (strategy.name(), 1), &Past::default());
        assert_eq!((options.len(), options.refused()), (opened.sites.len(), 0));
        let logits = start_weights().logits(Role::Injector, &options);
        let times = 20_000_u32;
        let mut counts = vec![0.0; opened.sites.len()];
        let mut dice = Dice::new(11);
        for _ in 0..times {
            let drawn = draw_site(&mut dice, opened, None, &|_| true).expect("a site");
            let place = opened.sites.iter().position(|site| std::ptr::eq(site, drawn));
            counts[place.expect("one of the file's")] += 1.0;
        }
        let mut sum = 0.0;
        for (site, count) in counts.into_iter().enumerate() {
            let drawn = [site];
            let chance = Draws::new(&logits, &drawn).unwrap().log_probabilities()[0].exp();
            let expect = chance * f64::from(times);
            let spread = (expect * (1.0 - chance)).sqrt().max(1.0);
            assert!((count - expect).abs() < 5.0 * spread, "site {site}: {count}, not {expect}");
            sum += chance;
        }
        assert!((sum - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_site_is_described_by_what_it_does_and_who_tells_it() {
    let repository = Repository::money();
    let mut code = repository.survey(Strategy::Direct, None).expect("something to edit");
    let opened = code.open(0);
    let options = features::options(opened, &|_| true, ("direct", 1), &Past::default());
    let site = opened.sites.iter().position(|site| {
        site.family == "comparison_boundary"
            && opened.parsed.functions()[site.function.unwrap()].name == "clamp"
    });
    let names: Vec<&str> = options.named(site.expect("a boundary")).map(|(name, _)| name).collect();
    for wanted in [
        "prior.ln",
        "kind=direct/comparison_boundary",
        "in=Comparison.Operator",
        "test_files=one",
        "function_in_tests",
    ] {
        assert!(names.contains(&wanted), "no {wanted} in {names:?}");
    }
}
