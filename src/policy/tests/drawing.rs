//! Draws: their order, their chances, and the gradient of these.

use super::near;
use crate::dice::Dice;
use crate::policy::{Draws, Misdrawn, draw, greedy};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn logs(logits: &[f64], drawn: &[usize]) -> Vec<f64> {
    Draws::new(logits, drawn).expect("draws of these options").log_probabilities()
}

#[test]
fn the_first_of_equals_comes_first_in_the_greedy_order() {
    assert_eq!(greedy(&[1.0, 3.0, 1.0, 3.0, -2.0]), [1, 3, 0, 2, 4]);
    let mut dice = Dice::new(0);
    assert_eq!(draw(&[1.0, 3.0, 1.0, 3.0], 0.0, 3, &mut dice), [1, 3, 0]);
    assert_eq!(dice.roll(), Dice::new(0).roll(), "the greedy order rolls no dice");
    assert!(greedy(&[]).is_empty());
}

#[test]
fn draws_are_as_many_as_wanted_or_all() {
    let logits = [0.1, 0.2, 0.3];
    for (count, expect) in [(0, 0), (1, 1), (3, 3), (9, 3)] {
        assert_eq!(draw(&logits, 1.0, count, &mut Dice::new(5)).len(), expect);
    }
    assert!(draw(&[], 1.0, 4, &mut Dice::new(5)).is_empty());
}

#[test]
fn the_same_seed_draws_the_same_and_fewer_draws_are_a_beginning() {
    let logits: Vec<f64> = (0..50).map(|at| f64::from(at % 7)).collect();
    let all = draw(&logits, 1.0, 50, &mut Dice::new(9));
    assert_eq!(all[..5], draw(&logits, 1.0, 5, &mut Dice::new(9)));
    assert_ne!(all, draw(&logits, 1.0, 50, &mut Dice::new(10)));
}

#[test]
fn options_are_drawn_as_often_as_their_probability_says() {
    let logits = [0.0, 1.0, -1.0, 0.5];
    let mut counts: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
    let mut dice = Dice::new(3);
    let times = 40_000.0;
    for _ in 0..40_000 {
        *counts.entry(draw(&logits, 2.0, 2, &mut dice)).or_insert(0.0) += 1.0;
    }
    let cooler = logits.map(|logit| logit / 2.0);
    for (drawn, count) in counts {
        let chance = logs(&cooler, &drawn).iter().sum::<f64>().exp();
        let spread = (chance * (1.0 - chance) / times).sqrt();
        assert!((count / times - chance).abs() < 5.0 * spread, "{drawn:?}: {count} {chance}");
    }
}

#[test]
fn the_chances_of_all_orders_add_up_to_one() {
    let logits = [0.3, -2.0, 1.5, 0.0];
    let mut sum = 0.0;
    for code in 0..256_usize {
        let order: Vec<usize> = (0..4).map(|at| code >> (2 * at) & 3).collect();
        if let Ok(draws) = Draws::new(&logits, &order) {
            sum += draws.log_probabilities().iter().sum::<f64>().exp();
        }
    }
    near(sum, 1.0, 1e-12);
}

#[test]
fn what_is_nearly_certain_leaves_exact_chances_for_the_rest() {
    // Once 0 is drawn, 1 and 2 are left with odds of e to 1, whatever 0 was.
    for certain in [0.0, 40.0, 800.0, 1e6] {
        let found = logs(&[certain, 1.0, 0.0], &[0, 1, 2]);
        near(found[1], -(-1.0_f64).exp().ln_1p(), 1e-12);
        near(found[2], 0.0, 1e-15);
    }
    let far = logs(&[0.0, -900.0, -905.0], &[1]);
    near(far[0], -900.0, 1e-12);
}

#[test]
fn one_of_two_equals_has_the_entropy_of_a_coin() {
    let draws = Draws::new(&[5.0, 5.0], &[1, 0]).unwrap();
    near(draws.entropies()[0], std::f64::consts::LN_2, 1e-12);
    near(draws.entropies()[1], 0.0, 1e-15);
    near(draws.log_probabilities()[0], -std::f64::consts::LN_2, 1e-12);
}

#[test]
fn draws_that_cannot_have_been_made_are_refused() {
    let refused = |drawn: &[usize]| Draws::new(&[0.0, 1.0], drawn).map(|_| ()).unwrap_err();
    assert_eq!(refused(&[2]), Misdrawn::Unknown { option: 2, options: 2 });
    assert_eq!(refused(&[1, 1]), Misdrawn::Twice(1));
    assert!(Draws::new(&[], &[]).unwrap().gradient(&[], &[]).is_empty());
}

fn some_logits() -> impl Strategy<Value = (Vec<f64>, Vec<usize>)> {
    prop::collection::vec(-4.0..4.0_f64, 1..9).prop_flat_map(|logits| {
        let all: Vec<usize> = (0..logits.len()).collect();
        let drawn = (Just(all).prop_shuffle(), 0..=logits.len());
        (
            Just(logits),
            drawn.prop_map(|(mut all, count)| {
                all.truncate(count);
                all
            }),
        )
    })
}

proptest! {
    #[test]
    fn the_gradient_is_the_finite_difference((logits, drawn) in some_logits(), seed in 0u64..1000) {
        let mut dice = Dice::new(seed);
        let mut factors = || -> Vec<f64> { drawn.iter().map(|_| 2.0 * dice.unit() - 1.0).collect() };
        let (by_log, by_entropy) = (factors(), factors());
        let objective = |logits: &[f64]| -> f64 {
            let draws = Draws::new(logits, &drawn).unwrap();
            let logs = draws.log_probabilities();
            let logs = logs.iter().zip(&by_log).map(|(log, factor)| log * factor);
            let entropies = draws.entropies();
            let entropies = entropies.iter().zip(&by_entropy).map(|(e, factor)| e * factor);
            logs.sum::<f64>() + entropies.sum::<f64>()
        };
        let gradient = Draws::new(&logits, &drawn).unwrap().gradient(&by_log, &by_entropy);
        for option in 0..logits.len() {
            let moved = |by: f64| {
                let mut moved = logits.clone();
                moved[option] += by;
                objective(&moved)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            prop_assert!((gradient[option] - difference).abs() < 1e-7, "{gradient:?} {difference}");
        }
        // Adding the same to every logit changes nothing.
        prop_assert!(gradient.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn chances_and_entropies_stay_in_range((logits, drawn) in some_logits(), scale in 0.0..1e6_f64) {
        let logits: Vec<f64> = logits.iter().map(|logit| logit * scale).collect();
        let draws = Draws::new(&logits, &drawn).unwrap();
        let most = f64::from(u32::try_from(logits.len()).unwrap()).ln();
        for (log, entropy) in draws.log_probabilities().into_iter().zip(draws.entropies()) {
            prop_assert!(log <= 0.0 && log.is_finite(), "{log}");
            prop_assert!((0.0..=most + 1e-6).contains(&entropy), "{entropy}");
        }
        let ones = vec![1.0; drawn.len()];
        prop_assert!(draws.gradient(&ones, &ones).iter().all(|it| it.is_finite()));
    }

    #[test]
    fn a_draw_is_a_choice_of_different_options((logits, _) in some_logits(), seed in 0u64..500) {
        let drawn = draw(&logits, 0.7, logits.len(), &mut Dice::new(seed));
        let different: std::collections::BTreeSet<_> = drawn.iter().collect();
        prop_assert_eq!(different.len(), logits.len());
    }
}
