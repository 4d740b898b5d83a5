//! What a step keeps, leaves out, counts and skips.

use super::{created, group, near, options};
use crate::policy::{Role, Scope};
use crate::trainer::*;
use std::collections::BTreeMap;

fn stepped(
    trainer: &mut Embedded,
    groups: Vec<Group<crate::policy::Options>>,
    rules: &Rules,
) -> (Report, BTreeMap<Role, Counts>) {
    step(trainer, groups, rules, &mut Baselines::default()).expect("sound groups")
}

const SOLVER: (Role, &str) = (Role::Solver, "bug");
const INJECTOR: (Role, &str) = (Role::Injector, "repository");

#[test]
fn both_roles_learn_in_one_update() {
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    let groups = vec![
        group(&trainer, SOLVER, &input, &[(0, 1.0), (1, 0.0)]),
        group(&trainer, INJECTOR, &input, &[(0, 0.0), (1, 0.8), (1, 0.2)]),
    ];
    let (report, _) = stepped(&mut trainer, groups, &Rules::default());
    assert_eq!((report.update, report.version, trainer.version()), (Update::Done, 1, 1));
    let own = |role, name| trainer.weights().get(Scope::Own(role), name);
    assert!(own(Role::Solver, "a") > 0.0 && own(Role::Solver, "b") < 0.0);
    assert!(own(Role::Injector, "a") < 0.0 && own(Role::Injector, "b") > 0.0);
    assert_eq!((report.injector.choices, report.solver.choices), (3, 2));
    near(report.solver.entropy.unwrap(), std::f64::consts::LN_2, 1e-12);
    near(report.solver.effective_share.unwrap(), 1.0, 1e-12);
    near(report.solver.kl_start.unwrap(), 0.0, 1e-12);
    near(report.injector.mean_reward.unwrap(), 1.0 / 3.0, 1e-12);
    near(report.target_solve_rate.unwrap(), 0.5, 1e-12);
}

#[test]
fn a_role_that_is_not_trained_is_counted_and_learns_nothing() {
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    let groups = vec![
        group(&trainer, SOLVER, &input, &[(0, 1.0), (1, 0.0)]),
        group(&trainer, INJECTOR, &input, &[(0, 0.0), (1, 0.8)]),
    ];
    let rules = Rules { injector: 0.0, ..Rules::default() };
    let (report, _) = stepped(&mut trainer, groups, &rules);
    assert_eq!((report.injector.groups, report.injector.choices), (1, 0));
    near(trainer.weights().get(Scope::Own(Role::Injector), "b"), 0.0, 0.0);
    let only = vec![group(&trainer, INJECTOR, &input, &[(0, 0.0), (1, 0.8)])];
    let (report, _) = stepped(&mut trainer, only, &rules);
    assert_eq!(report.update, Update::Skipped(Skip::NoRollouts));
}

#[test]
fn groups_of_other_roles_and_bugs_are_never_compared() {
    // Mixed, the first group's rewards would lie above the mean and the second's below.
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    let groups = vec![
        group(&trainer, (Role::Solver, "easy"), &input, &[(0, 1.0), (0, 1.0)]),
        group(&trainer, (Role::Solver, "hard"), &input, &[(1, 0.0), (1, 0.0)]),
        group(&trainer, (Role::Injector, "easy"), &input, &[(0, 0.0), (0, 0.0)]),
    ];
    let before = trainer.clone();
    let (report, counts) = stepped(&mut trainer, groups, &Rules::default());
    assert_eq!(report.update, Update::Skipped(Skip::AllFlat));
    assert_eq!(trainer, before, "a step that is skipped changes nothing");
    assert_eq!((counts[&Role::Solver].flat, counts[&Role::Injector].flat), (2, 1));
    assert_eq!(report.solver.flat_share, Some(1.0));
    assert!(Skip::AllFlat.reason().contains("nothing to learn from"));
}

#[test]
fn parts_of_one_group_are_one_group() {
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    let groups = vec![
        group(&trainer, SOLVER, &input, &[(0, 1.0)]),
        group(&trainer, SOLVER, &input, &[(1, 0.0)]),
    ];
    let (report, counts) = stepped(&mut trainer, groups, &Rules::default());
    assert_eq!(report.update, Update::Done);
    assert_eq!((counts[&Role::Solver].groups, counts[&Role::Solver].largest), (1, 2));
}

#[test]
fn flat_groups_do_not_dilute_the_others() {
    let input = options(&["a", "b"]);
    let learn = |flat: usize| {
        let mut trainer = created(&[]);
        let mut groups = vec![group(&trainer, SOLVER, &input, &[(0, 1.0), (1, 0.0)])];
        for number in 0..flat {
            let subject = format!("flat {number}");
            groups.push(group(&trainer, (Role::Solver, &subject), &input, &[(0, 0.0), (1, 0.0)]));
        }
        let (report, _) = stepped(&mut trainer, groups, &Rules::default());
        report.gradient_norm.unwrap()
    };
    near(learn(9), learn(0), 1e-15);
}

#[test]
fn what_does_not_count_is_left_out_by_its_reason() {
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    trainer.updates = 10;
    let mut only = group(
        &trainer,
        SOLVER,
        &input,
        &[(0, 1.0), (1, 0.0), (0, 9.0), (0, 9.0), (0, 9.0), (0, f64::NAN)],
    );
    only.rollouts[2].left_out = Some(LeftOut::Infrastructure);
    only.rollouts[3].left_out = Some(LeftOut::Cheating);
    only.rollouts[4].version = 5;
    let (report, counts) = stepped(&mut trainer, vec![only], &Rules::default());
    let solver = &report.solver;
    assert_eq!(
        (solver.rollouts, solver.lost, solver.cheating, solver.stale, solver.unreadable),
        (2, 1, 1, 1, 1)
    );
    assert_eq!(solver.mean_reward, Some(0.5));
    assert_eq!((counts[&Role::Solver].kept, counts[&Role::Solver].mixed), (1, 1));
}

#[test]
fn one_rollout_that_is_left_is_compared_with_nothing() {
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    let mut lost = group(&trainer, SOLVER, &input, &[(0, 1.0), (1, 0.0)]);
    lost.rollouts[1].left_out = Some(LeftOut::Infrastructure);
    let (report, _) = stepped(&mut trainer, vec![lost.clone()], &Rules::default());
    assert_eq!(report.update, Update::Skipped(Skip::AllFlat));
    assert_eq!(report.solver.small_groups, 1);
    let baseline = Rules { algorithm: Algorithm::Baseline, ..Rules::default() };
    let (report, _) = stepped(&mut trainer, vec![lost], &baseline);
    assert_eq!(report.update, Update::Done, "a running baseline needs no group");
}

#[test]
fn a_running_baseline_learns_from_flat_groups_too() {
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    let mut baselines = Baselines::default();
    let rules = Rules { algorithm: Algorithm::Baseline, ..Rules::default() };
    let groups = vec![group(&trainer, SOLVER, &input, &[(0, 1.0), (0, 1.0)])];
    step(&mut trainer, groups, &rules, &mut baselines).unwrap();
    near(baselines.of(Role::Solver), 1.0, 1e-12);
    assert!(trainer.weights().get(Scope::Shared, "a") > 0.0);
}

#[test]
fn nothing_to_learn_from_is_said_and_changes_nothing() {
    let mut trainer = created(&[("a", 1.0)]);
    let before = trainer.clone();
    let (report, counts) = stepped(&mut trainer, Vec::new(), &Rules::default());
    assert_eq!(report.update, Update::Skipped(Skip::NoRollouts));
    assert!(counts.is_empty() && report.gradient_norm.is_none());
    assert_eq!((report.solver, report.target_solve_rate), (RoleReport::default(), None));
    assert_eq!(trainer, before);
}

#[test]
fn missing_groups_are_asked_for_up_to_a_bound() {
    let counts = |kept| BTreeMap::from([(Role::Solver, Counts { kept, ..Counts::default() })]);
    let wanted = Wanted { injector: 1, solver: 4 };
    assert_eq!(wanted.refill(&counts(3), 0, 2), Some(Refill { injector: 1, solver: 1 }));
    assert_eq!(wanted.refill(&counts(3), 2, 2), None, "asked for twice already");
    let only = Wanted { injector: 0, solver: 4 };
    assert_eq!(only.refill(&counts(9), 0, 2), None);
    assert_eq!(only.refill(&BTreeMap::new(), 0, 1), Some(Refill { injector: 0, solver: 4 }));
}

#[test]
fn a_stale_rollout_is_weighed_and_its_weight_cut() {
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    let mut old = group(&trainer, SOLVER, &input, &[(0, 1.0), (1, 0.0)]);
    // The sampler thought the first choice a tenth as likely as the trainer does.
    old.rollouts[0].logs = vec![0.05_f64.ln()];
    trainer.updates = 2;
    let (report, _) = stepped(&mut trainer, vec![old.clone()], &Rules::default());
    let solver = &report.solver;
    assert_eq!(solver.truncated_share, Some(0.5));
    assert_eq!(solver.clipped_share, Some(0.0), "the ratio is to the trainer's weights: 1");
    near(solver.largest_log_distance.unwrap(), 10.0_f64.ln(), 1e-12);
    assert!(solver.effective_share.unwrap() < 0.7);
    old.rollouts[0].version = trainer.version();
    old.rollouts[1].version = trainer.version();
    let (report, _) = stepped(&mut trainer, vec![old], &Rules::default());
    assert_eq!(report.solver.clipped_share, Some(0.5), "to the sampler it is 10 and cut");
}

#[test]
fn a_divergence_in_the_reward_pulls_back_to_the_start() {
    let input = options(&["a", "b"]);
    let learned = |tax: f64| {
        let mut trainer = created(&[]);
        trainer.weights.set(Scope::Shared, "a", 2.0);
        let groups = vec![group(&trainer, SOLVER, &input, &[(0, 0.6), (1, 0.4)])];
        let rules = Rules { kl_in_reward: tax, ..Rules::default() };
        stepped(&mut trainer, groups, &rules);
        trainer.weights().get(Scope::Shared, "a") - 2.0
    };
    assert!(learned(0.0) > 0.0 && learned(1.0) < 0.0);
}

#[test]
fn several_passes_are_held_by_the_clip() {
    let mut trainer = created(&[]);
    let input = options(&["a", "b"]);
    let groups = vec![group(&trainer, SOLVER, &input, &[(0, 1.0), (1, 0.0)])];
    let adam = Adam { rate: 0.2, ..Adam::default() };
    let rules = Rules { passes: 6, adam, ..Rules::default() };
    let (report, _) = stepped(&mut trainer, groups, &rules);
    assert_eq!(trainer.version(), 6);
    assert_eq!(report.solver.clipped_share, Some(1.0));
}

#[test]
fn the_report_has_what_its_phases_took() {
    let mut trainer = created(&[]);
    let (report, _) = stepped(&mut trainer, Vec::new(), &Rules::default());
    let report = report.timed([("tests", 9.5), ("update", 0.01)]);
    assert_eq!(report.seconds["tests"].to_bits(), 9.5_f64.to_bits());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["update"], serde_json::json!({ "skipped": "no_rollouts" }));
    assert_eq!(json["seconds"]["update"], serde_json::json!(0.01));
}
