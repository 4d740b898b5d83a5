//! Real repositories: boltons 26.2.0 (its source distribution) and semver 1.0.28 (its crate), fetched
//! with the ordinary clients. Where they cannot be had, these tests say loudly that they did not run.

use crate::bench::{Bench, bench_at, copy, machine, pytest_machine};
use crate::fetch::{boltons, did_not_run, semver};
use ssr_mcp::consistency::Minima;
use ssr_mcp::episode::{self, Round, Rules};
use ssr_mcp::injector::{self, Strategy};
use ssr_mcp::reward::Scheme;
use ssr_mcp::runner::Machine;
use ssr_mcp::solver;
use ssr_mcp::syntax::Languages;
use std::path::Path;

fn open(source: &Path, machine: &Machine) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    copy(source, &root);
    bench_at(dir, &root, machine, None)
}

fn rules(strategy: Strategy, seed: u64, attempts: usize, runs: usize) -> Rules {
    let minima = Minima::default();
    Rules {
        injector: injector::Request {
            strategy,
            seed,
            target: None,
            changed_files: minima.changed_files,
            failing_tests: minima.failing_tests,
            passing_tests: minima.passing_tests,
            candidates: 60,
            history: None,
        },
        solver: solver::Request { attempts, seed, runs: Some(runs), parallel: 2 },
        minima,
        scheme: Scheme::default(),
    }
}

/// Plays rounds with seeds 1, 2 .. and returns them; none may be invalid.
fn play(bench: &Bench, strategies: &[Strategy], attempts: usize, runs: usize) -> Vec<Round> {
    let languages = Languages::builtin();
    let mut rounds: Vec<Round> = Vec::new();
    for (seed, strategy) in (1..).zip(strategies) {
        let rules = rules(*strategy, seed, attempts, runs);
        let known = |digest: &str| rounds.iter().any(|round| round.tree_digest == digest);
        let round = episode::play(&bench.harness, &languages, &rules, &known, &|_| {}).unwrap();
        let report = round.report.as_ref().expect("a bug is found");
        assert!(report.valid, "{}: {report:#?}", round.summary);
        eprintln!("{}: solve rate {:?}", round.summary, round.solve_rate);
        rounds.push(round);
    }
    rounds
}

#[test]
fn boltons_gives_validated_bugs_some_solved_and_some_not() {
    let Some(source) = boltons() else { return did_not_run("boltons 26.2.0") };
    let bench = open(&source, &pytest_machine());
    assert_eq!(bench.harness.baseline().unwrap().passing.len(), 519);
    let strategies = [
        Strategy::Direct,
        Strategy::Direct,
        Strategy::Direct,
        Strategy::Removal,
        Strategy::Removal,
    ];
    let rounds = play(&bench, &strategies, 2, 60);
    let rates: Vec<f64> = rounds.iter().filter_map(|round| round.solve_rate).collect();
    assert!(rates.iter().any(|rate| *rate > 0.0), "no bug was solved: {rates:?}");
    assert!(rates.iter().any(|rate| *rate < 1.0), "every bug was solved: {rates:?}");
}

#[test]
fn semver_gives_validated_bugs_some_solved_and_some_not() {
    let Some(source) = semver() else { return did_not_run("semver 1.0.28") };
    let bench = open(&source, &machine());
    assert_eq!(bench.harness.baseline().unwrap().passing.len(), 34);
    let strategies = [Strategy::Direct, Strategy::Removal, Strategy::Direct, Strategy::Removal];
    let rounds = play(&bench, &strategies, 2, 100);
    let rates: Vec<f64> = rounds.iter().filter_map(|round| round.solve_rate).collect();
    assert!(rates.iter().any(|rate| *rate > 0.0), "no bug was solved: {rates:?}");
    assert!(rates.iter().any(|rate| *rate < 1.0), "every bug was solved: {rates:?}");
}
