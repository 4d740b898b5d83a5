//! What holds of every group and batch.

use super::{created, group, options};
use crate::policy::{Role, Scope};
use crate::trainer::*;
use proptest::prelude::*;

fn of(algorithm: Algorithm, rewards: &[f64]) -> Vec<f64> {
    algorithm.advantages(rewards, Role::Solver, &Baselines::default())
}

fn rewards() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0_f64, 2..17)
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

proptest! {
    #[test]
    fn relative_advantages_add_up_to_nothing(rewards in rewards()) {
        for algorithm in [Algorithm::DrGrpo, Algorithm::Grpo, Algorithm::Rloo] {
            let sum: f64 = of(algorithm, &rewards).iter().sum();
            prop_assert!(sum.abs() < 1e-9, "{}: {sum}", algorithm.name());
        }
    }

    #[test]
    fn what_all_rewards_have_in_common_does_not_count(rewards in rewards(), by in -9.0..9.0_f64) {
        let moved: Vec<f64> = rewards.iter().map(|reward| reward + by).collect();
        for algorithm in [Algorithm::DrGrpo, Algorithm::Grpo, Algorithm::Rloo] {
            prop_assert!(close(&of(algorithm, &rewards), &of(algorithm, &moved)));
        }
    }

    #[test]
    fn leaving_one_out_is_the_mean_scaled(rewards in rewards()) {
        let count = f64::from(u32::try_from(rewards.len()).unwrap());
        let scaled: Vec<f64> =
            of(Algorithm::DrGrpo, &rewards).iter().map(|it| it * count / (count - 1.0)).collect();
        prop_assert!(close(&of(Algorithm::Rloo, &rewards), &scaled));
    }

    #[test]
    fn every_reduction_of_equally_long_rollouts_is_the_same(rollouts in 1usize..9, length in 1usize..9) {
        let lengths = vec![length; rollouts];
        let choice = Reduction::Choice.factors(&lengths);
        prop_assert!(close(&choice, &Reduction::Rollout.factors(&lengths)));
        prop_assert!(close(&choice, &Reduction::Constant(length).factors(&lengths)));
        let whole: f64 = choice.iter().sum::<f64>() * f64::from(u32::try_from(length).unwrap());
        prop_assert!((whole - 1.0).abs() < 1e-9);
    }

    #[test]
    fn no_choice_is_ever_rated_beyond_its_bounds(
        log in -30.0..0.0_f64,
        old in prop::option::of(-30.0..0.0_f64),
        sampled in -30.0..0.0_f64,
        advantage in -3.0..3.0_f64,
    ) {
        let surrogate = Surrogate::default();
        let rated = surrogate.rate(log, old, sampled, advantage);
        let most = surrogate.truncate * advantage.abs() * surrogate.dual.unwrap();
        prop_assert!(rated.loss.abs() <= most + 1e-9 && rated.slope.abs() <= most + 1e-9, "{rated:?}");
        // Downhill is towards what was better and away from what was worse.
        prop_assert!(rated.slope * advantage <= 0.0, "{rated:?}");
    }
}

#[test]
fn a_batch_in_parts_has_the_gradient_of_the_whole() {
    let input = options(&["a", "b", "c"]);
    let mut trainer = created(&[("a", 0.5)]);
    let made = group(&trainer, (Role::Solver, "bug"), &input, &[(0, 1.0), (1, 0.0), (2, 0.3)]);
    let data: Vec<Datum<'_, _>> = made
        .rollouts
        .iter()
        .map(|rollout| Datum {
            role: Role::Solver,
            input: &*rollout.input,
            taken: &rollout.taken,
            sampled: &rollout.logs,
            old: None,
            advantages: vec![rollout.reward - 0.4],
            factor: 1.0 / 3.0,
            temperature: 1.0,
        })
        .collect();
    let mut parts = trainer.clone();
    trainer.forward_backward(&data, &Loss::default()).unwrap();
    parts.forward_backward(&data[..1], &Loss::default()).unwrap();
    parts.forward_backward(&data[1..], &Loss::default()).unwrap();
    let (whole, parts) = (trainer.gathered.unwrap(), parts.gathered.unwrap());
    for name in ["a", "b", "c"] {
        let off = whole.get(Scope::Shared, name) - parts.get(Scope::Shared, name);
        assert!(off.abs() < 1e-15 && whole.get(Scope::Shared, name) != 0.0);
    }
}

#[test]
fn several_rollouts_of_two_inputs_are_told_apart() {
    // The same options at two places in memory, in turns: what is scored once must not be the other's.
    let (one, other) = (options(&["a", "b"]), options(&["b", "a", "c"]));
    let mut trainer = created(&[("a", 1.0)]);
    let made = [
        group(&trainer, (Role::Solver, "one"), &one, &[(0, 1.0)]),
        group(&trainer, (Role::Solver, "other"), &other, &[(0, 1.0)]),
    ];
    let datum = |place: usize| {
        let rollout = &made[place].rollouts[0];
        Datum {
            role: Role::Solver,
            input: &*rollout.input,
            taken: &rollout.taken,
            sampled: &rollout.logs,
            old: None,
            advantages: vec![1.0],
            factor: 1.0,
            temperature: 1.0,
        }
    };
    let mut apart = trainer.clone();
    for place in [0, 1, 0] {
        apart.forward_backward(&[datum(place)], &Loss::default()).unwrap();
    }
    trainer.forward_backward(&[datum(0), datum(1), datum(0)], &Loss::default()).unwrap();
    let logs = trainer.forward(&[datum(0), datum(1)]).unwrap();
    assert_eq!(logs[0].live, made[0].rollouts[0].logs);
    assert_eq!(logs[1].live, made[1].rollouts[0].logs);
    let (found, expect) = (trainer.gathered.unwrap(), apart.gathered.unwrap());
    for name in ["a", "b", "c"] {
        let off = found.get(Scope::Shared, name) - expect.get(Scope::Shared, name);
        assert!(off.abs() < 1e-15, "{name}: {off}");
    }
}
