//! The gradient of the whole loss against finite differences, and what is refused.

use super::{created, options};
use crate::dice::Dice;
use crate::policy::{Draws, Misdrawn, Options, OptionsBuilder, Role, Scope, Weights};
use crate::trainer::*;
use proptest::prelude::*;

struct Made {
    input: Options,
    role: Role,
    taken: Vec<usize>,
    sampled: Vec<f64>,
    old: Option<Vec<f64>>,
    advantages: Vec<f64>,
    factor: f64,
    temperature: f64,
}

impl Made {
    fn drawn(dice: &mut Dice, weights: &Weights, stale: bool) -> Self {
        let count = 2 + dice.below(6);
        let mut builder = OptionsBuilder::new();
        for _ in 0..count {
            builder.option();
            for name in ["a", "b", "c", "d"] {
                builder.feature(&[name], 2.0 * dice.unit() - 1.0);
            }
        }
        let input = builder.finish();
        let role = Role::ALL[dice.below(2)];
        let temperature = 0.5 + dice.unit();
        let logits = weights.logits(role, &input);
        let taken = crate::policy::draw(&logits, temperature, 1 + dice.below(count), dice);
        // Off the live ones by as much as makes some ratios leave the clip, but none stand at its edge.
        let cooled: Vec<f64> = logits.iter().map(|logit| logit / temperature).collect();
        let live = Draws::new(&cooled, &taken).unwrap().log_probabilities();
        let mut off = |log: &f64| log + [-0.9, -0.1, 0.0, 0.07, 0.6][dice.below(5)];
        let sampled: Vec<f64> = live.iter().map(&mut off).collect();
        let old = stale.then(|| live.iter().map(&mut off).collect());
        let advantages = taken.iter().map(|_| 2.0 * dice.unit() - 1.0).collect();
        Self { input, role, taken, sampled, old, advantages, factor: dice.unit(), temperature }
    }

    fn datum(&self) -> Datum<'_, Options> {
        Datum {
            role: self.role,
            input: &self.input,
            taken: &self.taken,
            sampled: &self.sampled,
            old: self.old.as_deref(),
            advantages: self.advantages.clone(),
            factor: self.factor,
            temperature: self.temperature,
        }
    }
}

/// The loss of the data as the tallies say it.
fn loss_of(weights: &Weights, start: &Weights, data: &[Datum<'_, Options>], loss: &Loss) -> f64 {
    let base = Base { weights: start.clone(), average: Average::default() };
    let mut trainer = Embedded::create(base).unwrap();
    trainer.weights = weights.clone();
    let tallies = trainer.forward_backward(data, loss).unwrap();
    tallies.values().map(|tally| tally.loss).sum()
}

proptest! {
    #[test]
    fn the_gradient_of_the_whole_loss_is_the_finite_difference(seed in 0u64..3000, stale: bool) {
        let mut dice = Dice::new(seed);
        let mut weights = Weights::new();
        let mut start = Weights::new();
        for name in ["a", "b", "c", "d"] {
            for scope in Scope::ALL {
                weights.set(scope, name, 2.0 * dice.unit() - 1.0);
                start.set(scope, name, 2.0 * dice.unit() - 1.0);
            }
        }
        let made: Vec<Made> =
            (0..=dice.below(3)).map(|_| Made::drawn(&mut dice, &weights, stale)).collect();
        let data: Vec<_> = made.iter().map(Made::datum).collect();
        let surrogate = Surrogate { truncate: 1.5, dual: Some(1.7), ..Surrogate::default() };
        let loss = Loss { surrogate, kl: dice.unit(), entropy: dice.unit() };
        let base = Base { weights: start.clone(), average: Average::default() };
        let mut trainer = Embedded::create(base).unwrap();
        trainer.weights = weights.clone();
        trainer.forward_backward(&data, &loss).unwrap();
        let gradient = trainer.gathered.clone().unwrap();
        for name in ["a", "b", "c", "d"] {
            for scope in Scope::ALL {
                let moved = |by: f64| {
                    let mut moved = weights.clone();
                    moved.set(scope, name, weights.get(scope, name) + by);
                    loss_of(&moved, &start, &data, &loss)
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let found = gradient.get(scope, name);
                prop_assert!((found - difference).abs() < 1e-6, "{name}: {found} {difference}");
            }
        }
    }
}

#[test]
fn what_cannot_be_learned_from_is_refused_and_changes_nothing() {
    #[track_caller]
    fn check(change: impl Fn(&mut Made), expect: &str) {
        let mut trainer = created(&[("a", 1.0)]);
        let mut made = Made {
            input: options(&["a", "b", "c"]),
            role: Role::Solver,
            taken: vec![0, 2],
            sampled: vec![-1.0, -1.0],
            old: None,
            advantages: vec![1.0, 1.0],
            factor: 1.0,
            temperature: 1.0,
        };
        trainer.forward_backward(&[made.datum()], &Loss::default()).expect("sound as it is");
        let before = trainer.clone();
        change(&mut made);
        let refusal = trainer.forward_backward(&[made.datum()], &Loss::default()).unwrap_err();
        assert!(refusal.to_string().contains(expect), "{refusal}");
        assert_eq!(trainer, before);
    }
    check(|made| made.taken = vec![0, 3], "option 3 of 3 was drawn");
    check(|made| made.taken = vec![1, 1], "option 1 was drawn twice");
    check(|made| made.sampled = vec![-1.0], "2 choices and 1 logarithms of the sampler");
    check(|made| made.old = Some(vec![]), "0 old logarithms");
    check(|made| made.advantages = vec![1.0; 3], "3 advantages");
    check(|made| made.advantages[1] = f64::NAN, "advantages that are no finite numbers");
    check(|made| made.sampled[0] = f64::NEG_INFINITY, "sampler that are no finite numbers");
    check(|made| made.factor = f64::INFINITY, "factors that are no finite numbers");
    check(|made| made.temperature = 0.0, "temperature 0");
    check(|made| made.temperature = f64::NAN, "temperature NaN");
}

#[test]
fn a_choice_that_is_out_of_all_proportion_stays_finite() {
    let mut trainer = created(&[("a", 1.0)]);
    let input = options(&["a", "b"]);
    for (sampled, advantage) in [(-1e6, 1.0), (-1e6, -1.0), (-1e6, 0.0), (0.0, -1.0)] {
        let datum = Datum {
            role: Role::Solver,
            input: &input,
            taken: &[0],
            sampled: &[sampled],
            old: None,
            advantages: vec![advantage],
            factor: 1.0,
            temperature: 1.0,
        };
        let loss =
            Loss { surrogate: Surrogate { dual: None, ..Surrogate::default() }, ..Loss::default() };
        let tally = trainer.forward_backward(&[datum], &loss).unwrap()[&Role::Solver];
        assert!(tally.loss.is_finite() && tally.off_sampler.is_finite(), "{tally:?}");
        assert!(matches!(trainer.optim_step(&Adam::default()), Ok(Stepped::Done { .. })));
        assert!(trainer.weights().is_finite());
    }
}

#[test]
fn sampling_is_by_seed_and_says_how_likely_each_choice_was() {
    let trainer = created(&[("a", 1.0), ("b", -1.0)]);
    let input = options(&["a", "b", "c"]);
    let order =
        Order { role: Role::Solver, input: &input, rollouts: 3, choices: 2, temperature: 2.0 };
    let sampled = trainer.sample(&order, &mut Dice::new(4)).unwrap();
    assert_eq!(sampled, trainer.sample(&order, &mut Dice::new(4)).unwrap());
    assert_eq!(sampled.len(), 3);
    for rollout in &sampled {
        let datum = Datum {
            role: Role::Solver,
            input: &input,
            taken: &rollout.taken,
            sampled: &rollout.logs,
            old: None,
            advantages: Vec::new(),
            factor: 1.0,
            temperature: 2.0,
        };
        let logs = trainer.forward(&[datum]).unwrap().remove(0);
        assert_eq!((&logs.live, &logs.start), (&rollout.logs, &rollout.logs));
    }
    let greedy = Order { temperature: 0.0, rollouts: 2, choices: 9, ..order };
    for rollout in trainer.sample(&greedy, &mut Dice::new(4)).unwrap() {
        assert_eq!(rollout.taken, [0, 2, 1]);
    }
    let misdrawn = Misdrawn::Twice(0);
    assert!(misdrawn.to_string().contains("without replacement"));
}
