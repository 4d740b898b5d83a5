//! Training learns what pays, and nothing where nothing does.

use super::{created, options};
use crate::dice::Dice;
use crate::policy::{Options, Role};
use crate::trainer::*;
use std::sync::Arc;

/// Twelve bugs with twelve candidates each; the one whose kind is `good` repairs.
fn bugs() -> Vec<(String, Arc<Options>, usize)> {
    let kinds = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "good", "k10"];
    (0..12)
        .map(|bug| {
            let mut names = kinds;
            names.rotate_left(bug);
            let good = names.iter().position(|name| *name == "good").unwrap();
            (format!("bug {bug}"), Arc::new(options(&names)), good)
        })
        .collect()
}

fn played(
    trainer: &Embedded,
    dice: &mut Dice,
    pays: &dyn Fn(&Sampled, usize) -> f64,
) -> Vec<Group<Options>> {
    let mut groups = Vec::new();
    for (subject, input, good) in bugs() {
        let order =
            Order { role: Role::Solver, input: &*input, rollouts: 8, choices: 3, temperature: 1.0 };
        let rollouts = trainer.sample(&order, dice).unwrap().into_iter().map(|sampled| {
            let reward = pays(&sampled, good);
            Rollout {
                input: Arc::clone(&input),
                taken: sampled.taken,
                logs: sampled.logs,
                temperature: 1.0,
                version: sampled.version,
                reward,
                success: reward > 0.0,
                left_out: None,
            }
        });
        groups.push(Group { role: Role::Solver, subject, rollouts: rollouts.collect() });
    }
    groups
}

fn by_runs(sampled: &Sampled, good: usize) -> f64 {
    let found = sampled.taken.iter().position(|taken| *taken == good);
    crate::reward::solver_by_runs(found.map(|at| at + 1), 3)
}

/// The success rates of each step.
fn trained(rules: &Rules, seed: u64, steps: usize) -> (Embedded, Vec<f64>) {
    let mut trainer = created(&[]);
    let mut baselines = Baselines::default();
    let mut dice = Dice::new(seed);
    let rates = (0..steps).map(|_| {
        let groups = played(&trainer, &mut dice, &by_runs);
        let (report, _) = step(&mut trainer, groups, rules, &mut baselines).unwrap();
        report.solver.success_rate.unwrap()
    });
    let rates = rates.collect();
    (trainer, rates)
}

#[test]
fn every_algorithm_learns_which_kind_repairs() {
    for algorithm in Algorithm::ALL {
        let adam = Adam { rate: 0.1, ..Adam::default() };
        let rules = Rules { algorithm, adam, ..Rules::default() };
        let (trainer, rates) = trained(&rules, 1, 60);
        let (first, last) = (rates[0], rates[59]);
        assert!(first < 0.4 && last > 0.9, "{}: {first} to {last}", algorithm.name());
        for (_, input, good) in bugs() {
            let logits = trainer.averaged().logits(Role::Solver, &input);
            assert_eq!(crate::policy::greedy(&logits)[0], good);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_weights() {
    let rules = Rules::default();
    let bytes = |seed| trained(&rules, seed, 5).0.save(&[].into()).unwrap();
    assert_eq!(bytes(3), bytes(3));
    assert_ne!(bytes(3), bytes(4));
}

#[test]
fn rewards_by_lot_teach_nothing() {
    let mut trainer = created(&[]);
    let mut dice = Dice::new(2);
    for number in 0..60_u64 {
        let lot = Dice::new(number).fork("lot");
        let pays = |sampled: &Sampled, _: usize| {
            let label = format!("{:?}", sampled.logs);
            f64::from(u8::from(lot.fork(&label).below(3) == 0))
        };
        let groups = played(&trainer, &mut dice, &pays);
        step(&mut trainer, groups, &Rules::default(), &mut Baselines::default()).unwrap();
    }
    let sum: f64 = bugs()
        .iter()
        .map(|(_, input, good)| {
            let logits = trainer.averaged().logits(Role::Solver, input);
            crate::policy::Draws::new(&logits, &[*good]).unwrap().log_probabilities()[0].exp()
        })
        .sum();
    let chance = sum / 12.0;
    assert!((0.03..0.2).contains(&chance), "{chance} where 1 in 12 is nothing learned");
}
