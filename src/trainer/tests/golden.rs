//! Every formula against numbers that `tests/golden/training.py` worked out by itself.

use super::near;
use crate::policy::{Draws, Role, Scope, Weights};
use crate::trainer::adam::Moments;
use crate::trainer::loss::Rated;
use crate::trainer::*;
use serde_json::Value;

const TIGHT: f64 = 1e-12;

fn golden(name: &str) -> Value {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/training.json"));
    let all: Value = serde_json::from_str(text).expect("tests/golden/training.json is JSON");
    all.get(name).unwrap_or_else(|| panic!("training.json has no {name}")).clone()
}

fn cases(name: &str) -> Vec<Value> {
    let cases = golden(name).as_array().expect("a list").clone();
    assert!(!cases.is_empty());
    cases
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn places(value: &Value) -> Vec<usize> {
    let place = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    value.as_array().expect("a list").iter().map(place).collect()
}

#[track_caller]
fn same(found: &[f64], expect: &[f64]) {
    assert_eq!(found.len(), expect.len());
    for (found, expect) in found.iter().zip(expect) {
        near(*found, *expect, TIGHT);
    }
}

#[test]
fn advantages_are_those_of_the_papers() {
    let none = Baselines::default();
    for case in cases("advantages") {
        let rewards = numbers(&case["rewards"]);
        let of = |algorithm: Algorithm| algorithm.advantages(&rewards, Role::Solver, &none);
        same(&of(Algorithm::DrGrpo), &numbers(&case["dr_grpo"]));
        same(&of(Algorithm::Grpo), &numbers(&case["grpo"]));
        same(&of(Algorithm::Rloo), &numbers(&case["rloo"]));
    }
}

#[test]
fn grpo_divides_by_the_deviation_of_n_less_one() {
    let mut rewards = [0.0; 8];
    rewards[0] = 1.0;
    let found = Algorithm::Grpo.advantages(&rewards, Role::Solver, &Baselines::default());
    near(found[0], 2.474, 2e-4);
    near(found[1], -0.3535, 1e-4);
    // With n it would be 2.645 and -0.378.
}

#[test]
fn the_running_baseline_is_what_was_known_before_the_batch() {
    let case = golden("baseline");
    let mut baselines = Baselines::default();
    let batches = case["batches"].as_array().unwrap().iter().map(numbers);
    for (batch, expect) in batches.zip(case["advantages"].as_array().unwrap()) {
        let found = Algorithm::Baseline.advantages(&batch, Role::Injector, &baselines);
        same(&found, &numbers(expect));
        baselines.note(Role::Injector, &batch);
        near(baselines.of(Role::Solver), 0.0, 0.0);
    }
}

#[test]
fn choices_are_rated_by_the_clipped_objective() {
    for case in cases("losses") {
        let at = |name: &str| number(&case[name]);
        let surrogate = Surrogate {
            low: at("low"),
            high: at("high"),
            dual: case["dual"].as_f64(),
            truncate: at("cap"),
        };
        let old = case["old"].as_f64();
        let rated = surrogate.rate(at("log"), old, at("sampled"), at("advantage"));
        let Rated { loss, slope, ratio, weight, clipped, dual_clipped } = rated;
        near(loss, at("loss"), TIGHT);
        near(slope, at("slope"), TIGHT);
        near(ratio, at("ratio"), TIGHT);
        near(weight.min(surrogate.truncate), at("weight"), TIGHT);
        let teaches_nothing = at("slope") == 0.0 && at("advantage") != 0.0;
        assert_eq!(clipped || dual_clipped, teaches_nothing, "{case}");
    }
}

#[test]
fn divergences_are_estimated_as_k1_k2_and_k3() {
    for case in cases("divergences") {
        let (log, reference) = (number(&case["log"]), number(&case["reference"]));
        near(k1(log, reference), number(&case["k1"]), TIGHT);
        near(k2(log, reference), number(&case["k2"]), TIGHT);
        near(k3(log, reference), number(&case["k3"]), TIGHT);
        near(k1(log, reference), number(&case["k2_slope"]), TIGHT);
    }
}

#[test]
fn ordered_draws_have_the_chances_and_entropies_of_a_softmax_without_replacement() {
    for case in cases("ordered") {
        let (logits, drawn) = (numbers(&case["logits"]), places(&case["drawn"]));
        let found = Draws::new(&logits, &drawn).unwrap();
        same(&found.log_probabilities(), &numbers(&case["logs"]));
        same(&found.entropies(), &numbers(&case["entropies"]));
    }
}

#[test]
fn choices_count_as_the_reduction_says() {
    for case in cases("factors") {
        let reduction = match case["kind"].as_str().unwrap() {
            "choice" => Reduction::Choice,
            "rollout" => Reduction::Rollout,
            _ => Reduction::Constant(20),
        };
        let found = reduction.factors(&places(&case["lengths"]));
        same(&found, &numbers(&case["factors"]));
    }
    assert_eq!(Reduction::Choice.factors(&[0, 2]), [0.0, 0.5], "no choices, nothing to count");
    assert!(Reduction::Rollout.factors(&[]).is_empty());
}

#[test]
fn adam_moves_two_weights_as_its_paper_says() {
    let case = golden("adam");
    let (mut weights, mut moments) = (Weights::new(), Moments::default());
    weights.set(Scope::Shared, "a", 0.5);
    weights.set(Scope::Own(Role::Solver), "b", -1.0);
    let gradients = case["gradients"].as_array().unwrap().iter().map(numbers);
    for (slopes, expect) in gradients.zip(case["steps"].as_array().unwrap()) {
        let mut gradient = Weights::new();
        gradient.set(Scope::Shared, "a", slopes[0]);
        gradient.set(Scope::Own(Role::Solver), "b", slopes[1]);
        near(gradient.norm(), number(&expect["norm"]), TIGHT);
        Adam::default().step(&mut weights, &mut moments, gradient);
        let found = [weights.get(Scope::Shared, "a"), weights.get(Scope::Own(Role::Solver), "b")];
        same(&found, &numbers(&expect["weights"]));
    }
}

#[test]
fn the_average_is_an_exponential_mean_corrected_for_its_start() {
    let case = golden("averaged");
    let mut average = Average::default();
    assert!(average.weights().is_none());
    for (value, expect) in numbers(&case["values"]).into_iter().zip(numbers(&case["means"])) {
        let mut weights = Weights::new();
        weights.set(Scope::Shared, "a", value);
        average.note(&weights);
        near(average.weights().unwrap().get(Scope::Shared, "a"), expect, TIGHT);
    }
    let mut last = Average::new(0.0);
    for value in [3.0, 7.0] {
        let mut weights = Weights::new();
        weights.set(Scope::Shared, "a", value);
        last.note(&weights);
        near(last.weights().unwrap().get(Scope::Shared, "a"), value, 0.0);
    }
}

#[test]
fn the_effective_sample_is_the_weights_squared_sum_over_the_sum_of_squares() {
    let case = golden("effective");
    let mut tally = Tally::default();
    for weight in numbers(&case["weights"]) {
        tally.choices += 1;
        tally.weights += weight;
        tally.squares += weight * weight;
    }
    near(tally.effective(), number(&case["share"]), TIGHT);
    near(Tally::default().effective(), 0.0, 0.0);
}
