//! Drafts that a policy draws.

use super::Repository;
use crate::dice::Dice;
use crate::injector::draft::{Draft, Used};
use crate::injector::{Strategy, learned, start_weights};
use crate::policy::{Drawn, Past, Player, Role, Sampling, Scope, Weights};
use std::collections::BTreeSet;

fn drafts(weights: &Weights, strategy: Strategy, seed: u64, count: usize) -> Vec<(Draft, Drawn)> {
    let repository = Repository::money();
    let mut code = repository.survey(strategy, None).expect("something to edit");
    let tests = code.files()[0].tests.clone();
    let (mut dice, mut used, past) = (Dice::new(seed), Used::default(), Past::default());
    let player = Player { weights, past: &past, hash: "", sampling: Sampling::All };
    let mut draw = || learned::draw(&mut dice, strategy, (code.open(0), &tests), &mut used, player);
    (0..count).map_while(|_| draw()).collect()
}

#[test]
fn the_same_seed_draws_the_same_and_another_one_something_else() {
    for strategy in [Strategy::Direct, Strategy::Removal] {
        let all = |seed| {
            let drafts = drafts(&start_weights(), strategy, seed, 6);
            drafts.into_iter().map(|(draft, drawn)| (draft, drawn.taken)).collect::<Vec<_>>()
        };
        assert!(all(7) == all(7) && all(7) != all(8), "{strategy:?}");
    }
}

#[test]
fn what_was_done_is_no_option_any_more_and_two_edits_of_a_draft_do_not_clash() {
    let drafts = drafts(&start_weights(), Strategy::Direct, 2, 12);
    assert!(drafts.len() >= 8, "{}", drafts.len());
    for pair in drafts.windows(2) {
        assert!(pair[1].1.options.len() < pair[0].1.options.len());
    }
    let lines: Vec<&String> = drafts.iter().flat_map(|(draft, _)| &draft.summary).collect();
    let distinct: BTreeSet<&&String> = lines.iter().collect();
    assert_eq!(distinct.len(), lines.len(), "{lines:#?}");
    for (draft, drawn) in &drafts {
        // What is passed over was drawn all the same.
        assert!((1..=drawn.taken.len()).contains(&draft.summary.len()));
        assert_eq!(drawn.taken.len(), drawn.logs.len());
    }
}

#[test]
fn a_weight_on_a_kind_brings_it_forward() {
    let share = |weights: &Weights| {
        let of = |seed| drafts(weights, Strategy::Direct, seed, 1);
        let kinds = (0..200).flat_map(of).map(|(_, drawn)| {
            let first = drawn.taken[0];
            drawn.options.named(first).any(|(name, _)| name == "kind=direct/comparison_boundary")
        });
        kinds.filter(|is| *is).count()
    };
    let before = share(&start_weights());
    let mut weights = start_weights();
    weights.set(Scope::Own(Role::Injector), "kind=direct/comparison_boundary", 2.0);
    let after = share(&weights);
    assert!(before > 0 && after > 2 * before, "{before} of 200, then {after}");
}
