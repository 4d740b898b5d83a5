//! What one bug of a round came to: as the faces show it, and as the store keeps it.

use super::check::lines;
use super::grade::code;
use super::score::ratio;
use super::warnings::Warning;
use super::{CheckLine, Error};
use crate::agent::{Bill, Spent};
use crate::consistency::{Audited, Check};
use crate::episode::{Kind, Round};
use crate::grading::Reason;
use crate::injector::{Counts, Strategy, Undone};
use crate::sandbox::Tier;
use crate::store;
use crate::verdict::TestId;
use std::collections::BTreeMap;

/// What one bug of a round came to.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PlayedRound {
    /// From 1.
    pub round: usize,
    /// The artifact's content id; null if the injector found no bug.
    pub artifact: Option<String>,
    #[schemars(with = "String")]
    pub strategy: Strategy,
    /// Whether every check passed.
    pub valid: bool,
    /// The first check that failed; null if none did or none ran.
    #[schemars(with = "Option<String>")]
    pub failed_check: Option<Check>,
    /// Whether it was checked by plain runs of the whole suite, too: true, false, or differs where these
    /// said something else than the fast ways, and were believed.
    #[schemars(with = "String")]
    pub audited: Audited,
    /// Null for a bug from the wrong-book: nobody injected it, or it was scored before.
    pub inject_reward: Option<f64>,
    /// Solved attempts / attempts; null for an invalid artifact.
    pub solve_rate: Option<f64>,
    /// +1 or -1, one an attempt.
    pub solve_rewards: Vec<f64>,
    pub seconds: f64,
    /// The bug in one line, or why there is none.
    pub summary: String,
    /// `--rounds 1 --seed` with this repeats an injected bug on the same tree.
    pub seed: u64,
    /// The checks that ran, in order.
    pub checks: Vec<CheckLine>,
    /// Tests that the bug makes fail.
    pub fail_to_pass: Vec<TestId>,
    /// What became of the injector's candidates.
    #[schemars(with = "std::collections::BTreeMap<String, usize>")]
    pub counts: Counts,
    /// The commits that the bug undoes; null where it undoes none.
    pub origin: Option<Undone>,
    /// User and system seconds of the checks' runs.
    pub cpu_seconds: f64,
    /// The tier of isolation; null where nothing was checked.
    #[schemars(with = "Option<String>")]
    pub sandbox: Option<Tier>,
    /// The solve rate at which the injector's expected reward is largest.
    pub best_solve_rate: Option<f64>,
    /// The folder with the artifact's five parts.
    pub folder: Option<String>,
    /// Entries of this repository's wrong-book that are not solved, after this bug.
    pub wrong_book_size: usize,
    /// bug: injected; `second_order`: a failed repair on top of its bug; again: a bug of before.
    #[schemars(with = "String")]
    pub kind: Kind,
    /// 1, or 2 for a failed repair on top of a bug.
    pub order: u32,
    /// The artifact below a second-order bug.
    pub parent: Option<String>,
    /// The entry of the wrong-book that this came from.
    pub wrong_book_entry: Option<String>,
    /// The run that it belongs to.
    pub run: String,
    /// Which bug of its round this is, from 1.
    pub item: usize,
    /// Who injected: embedded, or a model.
    pub injector: String,
    /// Who made the attempts: embedded, or a model.
    pub solver: String,
    /// Whether the two had changed places.
    pub swapped: bool,
    /// What a model that injected took; null for the embedded injector.
    pub inject_spent: Option<Spent>,
    /// What a model's attempts took; null for the embedded solver.
    pub solve_spent: Option<Spent>,
    /// How many attempts ended how: `solved`, `tests_failed`, or by which limit a model submitted nothing.
    pub reasons: BTreeMap<String, usize>,
    /// What goes wrong in the run so far, and what to do about it.
    pub warnings: Vec<Warning>,
}

impl PlayedRound {
    /// Mean of the attempts' rewards.
    pub fn mean_solve_reward(&self) -> Option<f64> {
        mean(&self.solve_rewards)
    }
}

/// Mean of rewards that are +1 or -1.
pub(super) fn mean(rewards: &[f64]) -> Option<f64> {
    let solved = rewards.iter().filter(|reward| **reward > 0.0).count();
    (!rewards.is_empty()).then(|| 2.0f64.mul_add(ratio(solved, rewards.len()), -1.0))
}

/// What is kept of a row beside its columns.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub(super) struct Detail {
    pub(super) summary: String,
    pub(super) valid: bool,
    pub(super) failed_check: Option<String>,
    pub(super) proposed: usize,
    pub(super) duplicates: usize,
    pub(super) parent: Option<String>,
    pub(super) entry: Option<String>,
    pub(super) counts: serde_json::Value,
    /// The commits that the bug undoes.
    pub(super) origin: serde_json::Value,
    /// The tier of isolation, where something was checked.
    pub(super) sandbox: Option<Tier>,
    pub(super) audited: Audited,
    /// Who played, and what models took.
    pub(super) injector: String,
    pub(super) solver: String,
    pub(super) inject_bill: Option<Bill>,
    pub(super) inject_spent: Option<Spent>,
    pub(super) solve_spent: Option<Spent>,
    pub(super) reasons: BTreeMap<String, usize>,
}

impl Detail {
    /// What is not there, or not to be read, is empty: rows of before have less.
    pub(super) fn of(row: &store::Round) -> Self {
        serde_json::from_str(&row.detail).unwrap_or_default()
    }
}

/// Where a bug of a round stands in its run, and what it came from.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) run: String,
    /// From 1.
    pub(super) step: u32,
    /// From 0.
    pub(super) item: u32,
    pub(super) seed: u64,
    /// The artifact below a second-order bug.
    pub(super) parent: Option<String>,
    /// The entry of the wrong-book.
    pub(super) entry: Option<String>,
}

/// Who plays a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cast {
    pub(super) injector: String,
    pub(super) solver: String,
    pub(super) swapped: bool,
}

/// What a model's attempts took together.
fn solve_spent(round: &Round) -> Option<Spent> {
    let mut bills = round.attempts.iter().filter_map(|attempt| attempt.bill.as_ref());
    let mut sum = bills.next()?.spent;
    bills.for_each(|bill| sum.add(&bill.spent));
    Some(sum)
}

/// A bug of the wrong-book was injected by nobody in this round.
fn injector(round: &Round, cast: &Cast) -> String {
    if round.kind == Kind::Bug { cast.injector.clone() } else { String::new() }
}

/// How the attempts ended, counted.
fn reasons(round: &Round) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for attempt in &round.attempts {
        let reason = match (&attempt.reason, &attempt.bill) {
            (Reason::NotSubmitted(_), Some(bill)) => &*bill.ending,
            (reason, _) => code(reason),
        };
        *reasons.entry(reason.to_owned()).or_default() += 1;
    }
    reasons
}

/// A round's bug as a row of the store.
pub(super) fn row(
    round: &Round,
    id: Option<String>,
    origin: &Origin,
    cast: &Cast,
) -> Result<store::Round, Error> {
    let detail = Detail {
        summary: round.summary.clone(),
        valid: round.is_valid(),
        failed_check: round.report.as_ref().and_then(|r| r.failed_check).map(super::name),
        proposed: round.counts.proposed,
        duplicates: round.counts.duplicates,
        parent: origin.parent.clone(),
        entry: origin.entry.clone(),
        counts: serde_json::to_value(&round.counts).map_err(Error::harness)?,
        origin: serde_json::to_value(&round.origin).map_err(Error::harness)?,
        sandbox: round.report.as_ref().map(|report| report.sandbox),
        audited: round.report.as_ref().map(|report| report.audited).unwrap_or_default(),
        injector: injector(round, cast),
        solver: cast.solver.clone(),
        inject_bill: round.bill.clone(),
        inject_spent: round.bill.as_ref().map(|bill| bill.spent),
        solve_spent: solve_spent(round),
        reasons: reasons(round),
    };
    Ok(store::Round {
        run: Some(origin.run.clone()),
        step: origin.step,
        item: origin.item,
        kind: super::name(round.kind),
        bug_order: round.bug_order,
        artifact: id,
        strategy: super::name(round.strategy),
        seed: origin.seed,
        inject_reward: round.inject_reward,
        solve_rate: round.solve_rate,
        solver_rewards: round.attempts.iter().map(|attempt| attempt.reward).collect(),
        seconds: round.seconds,
        detail: serde_json::to_string(&detail).map_err(Error::harness)?,
    })
}

/// What the faces show of a bug that was kept.
pub(super) fn shown(round: Round, origin: Origin, kept: &store::Kept, cast: Cast) -> PlayedRound {
    let (injector, reasons) = (injector(&round, &cast), reasons(&round));
    let (inject_spent, solve_spent) =
        (round.bill.as_ref().map(|bill| bill.spent), solve_spent(&round));
    let report = round.report.as_ref();
    PlayedRound {
        round: origin.step as usize,
        artifact: kept.round.artifact.clone(),
        strategy: round.strategy,
        valid: round.is_valid(),
        failed_check: report.and_then(|report| report.failed_check),
        audited: report.map(|report| report.audited).unwrap_or_default(),
        inject_reward: round.inject_reward,
        solve_rate: round.solve_rate,
        solve_rewards: kept.round.solver_rewards.clone(),
        seconds: round.seconds,
        seed: origin.seed,
        checks: report.map(lines).unwrap_or_default(),
        fail_to_pass: report.map(|report| report.fail_to_pass.clone()).unwrap_or_default(),
        counts: round.counts,
        origin: round.origin,
        cpu_seconds: report.map_or(0.0, |report| report.cpu_seconds),
        sandbox: report.map(|report| report.sandbox),
        best_solve_rate: None,
        folder: None,
        summary: round.summary,
        wrong_book_size: usize::try_from(kept.wrong_book_size).unwrap_or(usize::MAX),
        kind: round.kind,
        order: round.bug_order,
        parent: origin.parent,
        wrong_book_entry: origin.entry,
        run: origin.run,
        item: origin.item as usize + 1,
        injector,
        solver: cast.solver,
        swapped: cast.swapped,
        inject_spent,
        solve_spent,
        reasons,
        warnings: Vec::new(),
    }
}
