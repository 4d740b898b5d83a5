//! `ssr-mcp train`.

use super::arguments::{Least, Tests};
use super::{Context, Ended, Exit, Failure, out};
use crate::injector::Strategy;
use crate::reward::Rule;
use crate::session::{
    DEFAULT_ATTEMPTS, Error, TRAINING_BUGS, TRAINING_RUNS, TrainRequest, TrainStep, TrainedRole,
};
use crate::trainer::{Algorithm, RoleReport};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

/// Train the embedded players' policy on bugs of these repositories
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each step: the policy that learns injects bugs and attempts them (G attempts a bug), bugs of \
before are attempted again where too few tell one attempt from another, and one update follows for both roles. What \
candidate repairs' tests said is remembered, so that they are not run twice.\n\n\
Without --out the checkpoint lies in the workspace, and play, inject and solve go by it from then on (--policy start: \
they do not); with --out it is a file for their --policy. A checkpoint that is there already is gone on with.\n\n\
Examples:\n  ssr-mcp train . --steps 20\n  \
ssr-mcp train . --role solver --steps 50 --out solver.policy\n  \
ssr-mcp train ../one ../two --steps 100 --seed 7 --out both.policy --json\n  \
ssr-mcp train --role solver --cases cases --repos packages --steps 50 --out solver.policy\n\n\
Exit code 1 says that no step had anything to learn from."
)]
pub struct Train {
    /// The repositories [default: the working directory]
    #[arg(value_name = "REPO")]
    of: Vec<PathBuf>,
    /// Learn from these bugs, in the forms of `ssr-mcp help eval`, and not from those that repositories keep
    #[arg(long, value_name = "DIR|JSONL", conflicts_with = "of")]
    cases: Option<PathBuf>,
    /// Where the trees are that cases name
    #[arg(long, value_name = "DIR", requires = "cases")]
    repos: Option<PathBuf>,
    /// Steps to take
    #[arg(long, value_name = "N", default_value_t = 1)]
    steps: u32,
    /// The same seed on the same state of everything gives the same policy [default: from the clock, and shown]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Who learns: both and injector make new bugs each step, solver learns from those that are kept
    #[arg(long, default_value = "both", value_parser = role())]
    role: TrainedRole,
    /// How rewards become advantages
    #[arg(long, default_value = "dr-grpo", value_parser = algorithm())]
    algorithm: Algorithm,
    /// What pays the injector: ssr (the paper's equation 1), azr (learnability), ornith (validity,
    /// difficulty, novelty)
    #[arg(long, default_value = "ssr", value_parser = PossibleValuesParser::new(Rule::NAMES))]
    scheme: String,
    /// Attempts per bug
    #[arg(long, value_name = "G", default_value_t = DEFAULT_ATTEMPTS)]
    attempts: usize,
    /// Candidate repairs that one attempt may run
    #[arg(long, value_name = "N", default_value_t = TRAINING_RUNS)]
    runs: usize,
    /// Bugs that a step should learn from
    #[arg(long, value_name = "N", default_value_t = TRAINING_BUGS)]
    bugs: usize,
    /// How new bugs are made
    #[arg(long, default_value = "mixed", value_parser = strategy())]
    strategy: Strategy,
    /// How far a step moves each weight, about [default: 0.03]
    #[arg(long, value_name = "RATE")]
    rate: Option<f64>,
    /// Begin with this checkpoint, or with the fixed rules (start) [default: the one that is written, if
    /// it is there]
    #[arg(long, value_name = "CHECKPOINT|start")]
    from: Option<String>,
    /// Write the checkpoint to this file
    #[arg(long, value_name = "CHECKPOINT")]
    out: Option<PathBuf>,
    #[command(flatten)]
    least: Least,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Train, context: &mut Context<'_>) -> Ended {
    let seed = command.seed.unwrap_or(context.session.config().seed);
    if command.seed.is_none() {
        out::note(&format!("seed {seed} (give --seed {seed} to repeat this)"));
    }
    let repositories = match (&command.cases, command.of.as_slice()) {
        (Some(_), _) => Vec::new(),
        (None, []) => vec![command.tests.repository(None)],
        (None, of) => of.iter().map(|repo| command.tests.repository(Some(repo))).collect(),
    };
    let request = TrainRequest {
        repositories,
        cases: command.cases.clone(),
        trees: command.repos.clone(),
        steps: command.steps,
        seed: Some(seed),
        role: command.role,
        algorithm: command.algorithm,
        scheme: Rule::from_name(&command.scheme).unwrap_or_default(),
        attempts: command.attempts,
        runs: command.runs,
        bugs: command.bugs,
        strategy: command.strategy,
        minima: command.least.minima(),
        rate: command.rate,
        from: command.from.clone(),
        out: command.out.clone(),
    };
    let (out, progress) = (&mut context.out, &context.progress);
    let mut unwritten = None;
    let trained = context.session.train(&request, &context.job, &mut |step| {
        progress.clear();
        out.answer(&step, show).map_err(|error| {
            unwritten = Some(error);
            Error::Cancelled
        })
    });
    if let Some(error) = unwritten {
        return Err(Failure::from(error));
    }
    Ok(Exit::done_if(trained?.updates > 0))
}

fn show(step: &TrainStep) -> String {
    let report = &step.report;
    let mut lines = vec![format!("Step {} of {}: {}", step.step, step.of, step.reason)];
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| format!("{it:.3}"));
    let role = |name: &str, rate: &str, role: &RoleReport| {
        format!(
            "  {name:<9} reward {}, {rate} {}, {} of {} groups without signal, entropy {}",
            number(role.mean_reward),
            number(role.success_rate),
            role.flat_groups + role.small_groups,
            role.groups,
            number(role.entropy)
        )
    };
    if report.injector.groups > 0 {
        lines.push(role("injector", "valid", &report.injector));
    }
    if report.solver.groups > 0 {
        let target = number(report.target_solve_rate);
        lines.push(format!("{} (p* {target})", role("solver", "solved", &report.solver)));
    }
    let seconds = |phase: &str| report.seconds.get(phase).copied().unwrap_or_default();
    lines.push(format!(
        "  {:.1} s, {:.0} % of them in runs, update {:.3} s; gradient {}; policy {}",
        seconds("whole"),
        step.share_in_tests * 100.0,
        seconds("update"),
        number(report.gradient_norm),
        step.policy.get(..12).unwrap_or("-"),
    ));
    if step.options_cut > 0 {
        lines.push(format!(
            "  {} repairs were chosen from, {} lay too far back to be described",
            step.options, step.options_cut
        ));
    }
    lines.extend(step.warnings.iter().map(|warning| format!("  warning: {warning}")));
    if step.trained && step.step == step.of {
        lines.push(format!("written to {}", step.checkpoint));
    }
    lines.join("\n")
}

fn role() -> impl TypedValueParser<Value = TrainedRole> {
    PossibleValuesParser::new(TrainedRole::NAMES)
        .map(|name| TrainedRole::from_name(&name).unwrap_or_default())
}

fn algorithm() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name))
        .map(|name| Algorithm::from_name(&name).unwrap_or_default())
}

fn strategy() -> impl TypedValueParser<Value = Strategy> {
    PossibleValuesParser::new(["direct", "removal", "history", "mixed"]).map(|name| {
        match name.as_str() {
            "direct" => Strategy::Direct,
            "removal" => Strategy::Removal,
            "history" => Strategy::History,
            _ => Strategy::Mixed,
        }
    })
}
