//! `ssr-mcp eval`.

use super::{Context, Ended, Exit};
use crate::session::{EvalAnswer, EvalLead, EvalRequest, Interval, RateAt};
use std::path::PathBuf;

/// Measure how many bugs of a fixed set a policy repairs, and in how many test runs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A case is an object of JSON: a file of one a line, or folders with a case.json each.\n  \
{\"id\", \"base\": \"NAME\", and the five parts of an artifact, each a text or {\"file\": \"PATH\"}}: a bug on the \
tree NAME below --repos\n  \
{\"id\", \"tree\": \"DIR\", \"test_files\": […], \"failing\": […]}: a tree that holds the bug, beside the case; where \
it is known, \"original\": \"DIR\" or \"fix\": \"DIFF\"; \"weakening\", \"test_command\", \"report\", \"framework\" if \
wanted\n  \
{\"instance_id\", \"repo\", \"base_commit\", \"patch\", \"test_patch\", \"FAIL_TO_PASS\", \"PASS_TO_PASS\"}: as in \
SWE-bench, with a clone of the repository below --repos (OWNER__NAME)\n\
\"package\" says whose the bug is. Where there are several packages, the interval is of draws of whole \
packages.\n\n\
A repair passes all the tests that the original passes. What cannot be run counts as not repaired, and is told \
apart. The same command goes on where it was interrupted.\n\n\
Examples:\n  ssr-mcp eval --policy start --cases cases.jsonl --repos packages --budget 100\n  \
ssr-mcp eval --policy trained.policy --cases cases.jsonl --repos packages --sampled 8 --seed 1 --json\n  \
ssr-mcp eval --policy 1.policy --policy 2.policy --against uniform --against ochiai --cases cases.jsonl"
)]
pub struct Evaluation {
    /// A checkpoint of `train`, or start (today's order), uniform (chance), fixed (by template), ochiai (by
    /// suspicion, equals by template) or oracle (the bug's inverse first, where it is a candidate)
    ///
    /// Given again for each seed of one way of training: their mean is told, too
    #[arg(long = "policy", value_name = "FILE|NAME", required = true)]
    policies: Vec<String>,
    /// Another one to compare with, case by case; given again for each
    #[arg(long, value_name = "FILE|NAME")]
    against: Vec<String>,
    /// The cases
    #[arg(long, value_name = "DIR|JSONL")]
    cases: PathBuf,
    /// Where the trees are that cases name
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// Candidate repairs that one attempt may run
    #[arg(long, value_name = "RUNS", default_value_t = 20)]
    budget: usize,
    /// Make so many attempts at each case, each by chance [default: one that takes the likeliest]
    #[arg(long, value_name = "K")]
    sampled: Option<usize>,
    /// The same seed gives the same attempts
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Forget what is known of this evaluation, and begin anew
    #[arg(long)]
    new: bool,
}

pub(super) fn run(command: &Evaluation, context: &mut Context<'_>) -> Ended {
    let request = EvalRequest {
        policies: command.policies.clone(),
        against: command.against.clone(),
        cases: command.cases.clone(),
        repositories: command.repos.clone(),
        budget: command.budget,
        sampled: command.sampled,
        seed: Some(command.seed),
        anew: command.new,
    };
    let evaluated = context.session.eval(&request, &context.job)?;
    context.progress.clear();
    for answer in evaluated.policies.iter().chain(&evaluated.against) {
        context.out.answer(answer, show)?;
    }
    if evaluated.policies.len() > 1 || !evaluated.leads.is_empty() {
        let compared = Compared { mean: &evaluated.mean, leads: &evaluated.leads };
        context.out.answer(&compared, show_compared)?;
    }
    Ok(Exit::Done)
}

/// The last line where there is more than one policy.
#[derive(serde::Serialize)]
struct Compared<'a> {
    mean: &'a [RateAt],
    leads: &'a [EvalLead],
}

fn show_compared(compared: &Compared<'_>) -> String {
    let mut lines = Vec::new();
    if !compared.mean.is_empty() {
        lines.push("mean of the policies".to_owned());
        lines.extend(compared.mean.iter().map(|at| {
            let (rate, between) = (percent(at.rate.rate), interval(at.rate.low, at.rate.high));
            format!("  repaired within {:>4} runs  {rate:>7}  {between}", at.runs)
        }));
    }
    for lead in compared.leads {
        let against: String = lead.against.chars().take(12).collect();
        lines.push(format!("lead over {against}, in points"));
        lines.extend(lead.curve.iter().map(|at| {
            let [rate, low, high] = [at.rate.rate, at.rate.low, at.rate.high].map(|it| it * 100.0);
            format!("  within {:>4} runs  {rate:>+6.1}  [{low:+.1}, {high:+.1}]", at.runs)
        }));
    }
    lines.join("\n")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn interval(low: f64, high: f64) -> String {
    format!("[{}, {}]", percent(low), percent(high))
}

fn show(answer: &EvalAnswer) -> String {
    let policy: String = answer.policy.chars().take(12).collect();
    let mut lines = vec![format!(
        "{} cases, policy {policy}, {} runs an attempt (seed {})",
        answer.cases, answer.budget, answer.seed
    )];
    for at in &answer.curve {
        let (rate, between) = (percent(at.rate.rate), interval(at.rate.low, at.rate.high));
        lines.push(format!("  repaired within {:>4} runs  {rate:>7}  {between}", at.runs));
    }
    let how = match answer.interval {
        Some(Interval::Wilson) => "95 %, Wilson",
        Some(Interval::BootstrapOverPackages) => "95 %, of draws of packages",
        None => "-",
    };
    lines.push(format!("  intervals              {how}"));
    if answer.packages.len() > 1 {
        for of in &answer.packages {
            let rate = percent(of.rate.rate);
            lines.push(format!("  {:<22} {rate:>7} of {}", of.package, of.cases));
        }
    }
    if let Some(runs) = answer.runs_per_repair {
        lines.push(format!("  test runs a repair     {runs:.1}"));
    }
    lines.push(format!("  seconds                {:.1}", answer.seconds));
    let outcomes: Vec<String> =
        answer.outcomes.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
    lines.push(format!("  attempts               {}", outcomes.join(", ")));
    lines.join("\n")
}
