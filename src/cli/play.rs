//! `ssr-mcp play`.

use super::arguments::{Attempts, Injection, Least, Policy, Tests};
use super::models::Models;
use super::{Context, Ended, Exit, out, table};
use crate::agent::{Account, Spent};
use crate::episode::Kind;
use crate::session::{
    CsvLog, DEFAULT_SECOND_ORDER, EMBEDDED, Error, PlayRequest, PlayedRound, Roles,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Play rounds: put in a bug, check it, have it solved, score both roles
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each round: the injector makes a bug and hides it from the tests; nine checks \
prove it real; the solver makes G attempts from the reversed weakening; both roles get their \
rewards. A round's own seed is shown: `--rounds 1 --seed` with it repeats the round.\n\n\
Every few rounds (--second-order) a bug comes from the wrong-book: a failed repair that came back in two \
rounds in a row becomes a bug on top of its bug; else a bug that was failed once is attempted again. Such \
rounds have no injector's reward and do not enter the first bug's solve rate.\n\n\
A run that was interrupted, however it was, goes on with the next round when the same command is given \
again.\n\n\
Examples:\n  ssr-mcp play .\n  \
ssr-mcp play . --rounds 10 --strategy removal --csv rounds.csv\n  \
ssr-mcp play . --until 8h --batch 4 --csv night.csv\n  \
ssr-mcp play . --target src/ledger.py:post --json\n  \
ssr-mcp play . --injector configured --solver small@ollama --budget 2M --concurrency 8\n\n\
Exit code 1 says that no round gave a valid bug."
)]
pub struct Play {
    /// The repository
    #[arg(default_value = ".")]
    repo: PathBuf,
    /// Rounds to play [default: 1, or with --until as many as fit]
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Begin no round later than this after the run's beginning: 8h, 30m, 90s
    #[arg(long, value_name = "TIME", value_parser = super::arguments::span)]
    until: Option<Duration>,
    /// Begin another run instead of going on with an interrupted one
    #[arg(long)]
    new: bool,
    /// Go on with a run that waits for a person, who has put right what it waits for
    #[arg(long, conflicts_with = "new")]
    resume: bool,
    /// Bugs a round; their checks and attempts run beside each other
    #[arg(long, value_name = "N", default_value_t = 1)]
    batch: usize,
    /// Every so many rounds, take a bug from the wrong-book; 0: never
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SECOND_ORDER)]
    second_order: u32,
    #[command(flatten)]
    attempts: Attempts,
    #[command(flatten)]
    injection: Injection,
    #[command(flatten)]
    models: Models,
    /// α: how much a valid bug costs that all or none of the attempts solve
    #[arg(long, value_name = "A")]
    alpha: Option<f64>,
    /// Reward of an invalid artifact [default: -1]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    invalid_reward: Option<f64>,
    /// Append a line for each bug to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    least: Least,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Play, context: &mut Context<'_>) -> Ended {
    let csv = match &command.csv {
        Some(file) => Some(CsvLog::open(&context.session.config().cwd.join(file))?),
        None => None,
    };
    let roles = command.models.roles(context.session, &command.repo, &context.job.cancel)?;
    let mut game = context.session.play(request(command, roles), &context.job)?;
    context.progress.clear();
    if let Some(note) = game.note() {
        out::note(note);
    }
    if command.injection.seed.is_none() {
        out::note(&format!("seed {} (give --seed {} to repeat this)", game.seed(), game.seed()));
    }
    let (mut rounds, mut spent) = (Vec::new(), false);
    let begun = Instant::now();
    loop {
        // Also before the first round: the process before may have been killed between store and file.
        if let Some(csv) = &csv {
            game.log(csv)?;
        }
        let round = match game.round(&context.job) {
            Err(Error::OutOfBudget(text)) => {
                context.progress.clear();
                out::note(&text);
                spent = true;
                break;
            }
            round => round?,
        };
        let Some(round) = round else { break };
        context.progress.clear();
        for bug in round {
            context.out.answer(&bug, show)?;
            rounds.push(bug);
        }
        context.progress.stand(standing(&rounds, command, begun.elapsed()));
    }
    if !context.out.wants_json() {
        out::line(&summary(&rounds))?;
        for line in took(&game.spent()) {
            out::line(&line)?;
        }
    }
    let exit = Exit::done_if(game.any_valid());
    // A run whose budget is spent is not over: a larger one goes on with it.
    if !spent {
        game.finish()?;
    }
    Ok(exit)
}

/// How the run stands, in one line of a terminal: all rounds of this process, and the time that is left.
fn standing(bugs: &[PlayedRound], command: &Play, passed: Duration) -> String {
    let numbers: BTreeSet<usize> = bugs.iter().map(|bug| bug.round).collect();
    let (played, last) = (numbers.len(), numbers.last().copied().unwrap_or(0));
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), one| (sum + one, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    let percent = |share: Option<f64>| {
        share.map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0))
    };
    let signed = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:+.2}"));
    let injected = || bugs.iter().filter(|bug| bug.kind == Kind::Bug);
    let valid = mean(&mut injected().map(|bug| f64::from(bug.valid)));
    let solved = mean(&mut bugs.iter().filter_map(|bug| bug.solve_rate));
    let inject = mean(&mut bugs.iter().filter_map(|bug| bug.inject_reward));
    let solve = mean(&mut bugs.iter().filter_map(PlayedRound::mean_solve_reward));
    let (of, left) = match (command.rounds, command.until) {
        (Some(of), _) => {
            let to_play = u32::try_from((of as usize).saturating_sub(last)).unwrap_or(0);
            let each = passed / u32::try_from(played).unwrap_or(1).max(1);
            (format!("/{of}"), Some(each * to_play))
        }
        (None, Some(until)) => (String::new(), Some(until.saturating_sub(passed))),
        (None, None) => (String::new(), None),
    };
    let left = left.map_or(String::new(), |left| format!("  left about {}", brief(left)));
    format!(
        "round {last}{of}  valid {}  solved {}  rewards {} {}{left}",
        percent(valid),
        percent(solved),
        signed(inject),
        signed(solve)
    )
}

fn brief(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds if seconds < 3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn request(command: &Play, roles: Roles) -> PlayRequest {
    PlayRequest {
        repository: command.tests.repository(Some(&command.repo)),
        rounds: command.rounds,
        until: command.until,
        new: command.new,
        attempts: command.attempts.attempts,
        runs: command.attempts.runs,
        strategy: command.injection.strategy,
        target: command.injection.target.clone(),
        seed: command.injection.seed,
        batch: command.batch,
        second_order: command.second_order,
        minima: command.least.minima(),
        alpha: command.alpha,
        invalid: command.invalid_reward,
        roles,
        policy: command.policy.policy.clone(),
        resume: command.resume,
    }
}

fn show(round: &PlayedRound) -> String {
    let strategy = crate::session::name(round.strategy);
    let number = match round.item {
        1 => round.round.to_string(),
        item => format!("{}, bug {item}", round.round),
    };
    let strategy = match round.kind {
        Kind::Bug => strategy,
        Kind::SecondOrder => format!("{strategy}, second order"),
        Kind::Again => format!("{strategy}, again"),
    };
    let mut lines = vec![format!("Round {number} (seed {}, {strategy})", round.seed)];
    if [&round.injector, &round.solver].into_iter().any(|who| who != EMBEDDED && !who.is_empty()) {
        let who = |who: &str| if who.is_empty() { "-".to_owned() } else { who.to_owned() };
        let (injector, solver) = (who(&round.injector), who(&round.solver));
        let swapped = if round.swapped { " (changed places)" } else { "" };
        lines.push(format!("  roles     injector {injector}, solver {solver}{swapped}"));
    }
    let reward = round.inject_reward.map_or_else(|| "-".to_owned(), table::number);
    let Some(artifact) = &round.artifact else {
        lines.push(format!("  no bug    {}", round.summary));
        lines.push(format!("  rewards   injector {reward}"));
        lines.extend(tail(round));
        return lines.join("\n");
    };
    lines.push(format!("  bug       {}  {}", table::short(artifact), round.summary));
    lines.extend(round.origin.iter().flat_map(table::undone));
    let passed = round.checks.iter().filter(|check| check.passed).count();
    match round.failed_check.map(crate::session::name) {
        None if round.checks.is_empty() => {}
        None => lines.push(format!("  checks    {passed} passed")),
        Some(failed) => {
            let detail = round.checks.last().map_or("", |check| check.detail.as_str());
            lines.push(format!("  checks    {passed} passed, then {failed} failed: {detail}"));
        }
    }
    lines.extend(table::audited(round.audited));
    if !round.fail_to_pass.is_empty() && round.valid {
        lines.push(format!("  breaks    {} tests", round.fail_to_pass.len()));
        lines.extend(table::some(&round.fail_to_pass, 3));
    }
    if round.valid {
        lines.push(format!("  attempts  {}", table::attempts(&round.solve_rewards)));
    }
    let solver = round.mean_solve_reward().map(table::number);
    let solver = solver.map(|mean| format!(", solver {mean} on average")).unwrap_or_default();
    lines.push(format!("  rewards   injector {reward}{solver}"));
    lines.extend(round.solve_spent.map(|_| format!("  endings   {}", endings(round))));
    lines.extend(round.folder.iter().map(|folder| format!("  kept in   {folder}")));
    lines.extend(tail(round));
    lines.join("\n")
}

fn endings(round: &PlayedRound) -> String {
    let reasons = round.reasons.iter().map(|(reason, times)| format!("{times} {reason}"));
    reasons.collect::<Vec<_>>().join(", ")
}

/// What models took, a role and phase a line.
fn took(accounts: &BTreeMap<Account, Spent>) -> Vec<String> {
    let mut rows = Vec::new();
    for ((role, phase), spent) in accounts {
        let money = spent.money.map_or_else(|| "-".to_owned(), |money| format!("{money:.4}"));
        rows.push(vec![
            role.name().to_owned(),
            (*phase).to_owned(),
            spent.requests.to_string(),
            spent.prompt_tokens.to_string(),
            spent.completion_tokens.to_string(),
            money,
            format!("{:.1}", spent.seconds),
        ]);
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let head = ["role", "phase", "requests", "prompt", "completion", "money", "seconds"];
    rows.insert(0, head.map(str::to_owned).to_vec());
    std::iter::once(String::new()).chain(table::columns(&rows)).collect()
}

fn tail(round: &PlayedRound) -> Vec<String> {
    let mut lines = vec![format!("  wrong-book {} unsolved", round.wrong_book_size)];
    lines.extend(round.warnings.iter().map(|warning| format!("  warning   {}", warning.text)));
    lines.push(String::new());
    lines
}

fn summary(rounds: &[PlayedRound]) -> String {
    let head =
        ["round", "artifact", "strategy", "outcome", "solved", "injector", "solver", "seconds"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for round in rounds {
        let solved = round.solve_rewards.iter().filter(|reward| **reward > 0.0).count();
        let outcome = match (&round.artifact, round.failed_check) {
            (None, _) => "no bug".to_owned(),
            (Some(_), Some(check)) => format!("{} failed", crate::session::name(check)),
            (Some(_), None) => "valid".to_owned(),
        };
        let none = || "-".to_owned();
        rows.push(vec![
            if round.item == 1 { round.round.to_string() } else { String::new() },
            round.artifact.as_deref().map_or("-", table::short).to_owned(),
            match round.kind {
                Kind::Bug => crate::session::name(round.strategy),
                other => crate::session::name(other),
            },
            outcome,
            if round.valid { format!("{solved}/{}", round.solve_rewards.len()) } else { none() },
            round.inject_reward.map_or_else(none, table::number),
            round.mean_solve_reward().map_or_else(none, table::number),
            format!("{:.1}", round.seconds),
        ]);
    }
    table::columns(&rows).join("\n")
}
