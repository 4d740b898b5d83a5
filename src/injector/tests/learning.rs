//! Drafts that a policy draws.

use super::Repository;
use crate::dice::Dice;
use crate::injector::draft::{Draft, Used};
use crate::injector::{Choice, Strategy, learned, start_weights};
use crate::policy::{Drawn, Past, Player, Role, Sampling, Scope, Weights};
use std::collections::BTreeSet;

/// With what was drawn of its sites.
fn drafts(weights: &Weights, strategy: Strategy, seed: u64, count: usize) -> Vec<(Draft, Drawn)> {
    let repository = Repository::money();
    let mut code = repository.survey(strategy, None).expect("something to edit");
    let tests = code.files()[0].tests.clone();
    let (mut dice, mut used, past) = (Dice::new(seed), Used::default(), Past::default());
    let player = Player { weights, past: &past, hash: "", sampling: Sampling::All };
    let mut draw = || {
        let place = (code.open(0), tests.as_slice());
        let (draft, tried) = learned::draw(&mut dice, strategy, place, &mut used, player)?;
        assert_eq!(tried.kinds.len(), draft.summary.len(), "{:?}", tried.kinds);
        Some((draft, of(&tried.choices, Choice::Sites)))
    };
    (0..count).map_while(|_| draw()).collect()
}

fn of(choices: &[(Choice, Drawn)], wanted: Choice) -> Drawn {
    let found = choices.iter().find(|(choice, _)| *choice == wanted);
    found.expect("it was drawn").1.clone()
}

#[test]
fn strategy_file_and_number_are_drawn_as_the_fixed_chances_say_until_weights_say_otherwise() {
    let repository = Repository::money();
    let code = repository.survey(Strategy::Direct, None).expect("something to edit");
    let past = Past::default();
    let shares = |weights: &Weights| {
        let player = Player { weights, past: &past, hash: "", sampling: Sampling::All };
        let mut dice = Dice::new(3);
        let undone = (0..400).filter(|_| {
            let drawn = learned::draw_strategy(&mut dice, true, player);
            drawn.expect("one of two").0 == Strategy::History
        });
        undone.count()
    };
    let before = shares(&start_weights());
    assert!((160..240).contains(&before), "{before} of 400");
    let mut weights = start_weights();
    weights.set(Scope::Own(Role::Injector), "strategy=history", 3.0);
    assert!(shares(&weights) > 340);

    let weights = start_weights();
    let player = Player { weights: &weights, past: &past, hash: "", sampling: Sampling::All };
    let done: BTreeSet<usize> = (1..code.files().len()).collect();
    let drawn = learned::draw_file(&mut Dice::new(1), code.files(), &done, player);
    assert_eq!(drawn.expect("one is left").0, 0);
    let all: BTreeSet<usize> = (0..code.files().len()).collect();
    assert!(learned::draw_file(&mut Dice::new(1), code.files(), &all, player).is_none());
    let mut numbers = [0; 3];
    for (draft, _) in (0..300).flat_map(|seed| drafts(&weights, Strategy::Direct, seed, 1)) {
        numbers[draft.summary.len() - 1] += 1;
    }
    // Half have one, a third two; a few that would have more clash.
    assert!(numbers[0] > 110 && numbers[1] > 60 && numbers[2] > 10, "{numbers:?}");
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
