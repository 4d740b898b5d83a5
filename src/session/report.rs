//! `report`: what self-play came to, as one HTML page, as CSV, and as numbers. From the store alone; nothing
//! is run.

mod page;

use super::played::{Detail, mean};
use super::record::Record;
use super::{Error, EvalAnswer, Repository, Session};
use crate::diff::Patch;
use crate::reward::{self, Buffer, Cycle, Shingles, Signals, Thresholds};
use crate::store::{Kept, Store, TrainedStep};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Runs that are looked through.
const RUNS: u32 = 10_000;
/// Rounds without a run that are shown, the latest.
const LOOSE: u32 = 10_000;
/// Bugs that a new one is compared with.
const BUFFER: usize = 10_000;
/// Training steps that are shown, the latest.
const STEPS: u32 = 10_000;
/// Evaluations that are shown, the latest.
const EVALS: usize = 12;

#[derive(Clone, Debug, Default)]
pub struct ReportRequest {
    pub repository: Repository,
    /// The beginning of a run's id; the latest run where `None`.
    pub run: Option<String>,
    /// Beginnings of the ids of runs to draw beside it.
    pub compare: Vec<String>,
    /// Where the page goes.
    pub out: Option<PathBuf>,
    pub csv: Option<PathBuf>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ReportAnswer {
    pub workspace: String,
    /// The run, then those it is compared with; none where nothing was played.
    pub runs: Vec<RunReport>,
    /// Training steps in this workspace, oldest first.
    pub steps: Vec<StepLine>,
    /// What the policies that were evaluated on this machine repaired, oldest first.
    pub evals: Vec<EvalLine>,
    /// The files that were written.
    pub written: Vec<String>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct RunReport {
    /// Null for rounds that belong to no run.
    pub run: Option<String>,
    pub rounds: usize,
    pub bugs: usize,
    pub valid: usize,
    pub valid_rate: Option<f64>,
    /// Means over bugs.
    pub inject_reward: Option<f64>,
    pub solve_reward: Option<f64>,
    pub solve_rate: Option<f64>,
    /// p*(G): the solve rate at which the injector's expected reward is largest; null without attempts.
    pub best_solve_rate: Option<f64>,
    /// The share of bugs that some attempts solve and some do not.
    pub mixed: Option<f64>,
    /// Mean of how little a bug is like those before it.
    pub novelty: Option<f64>,
    /// After the last round.
    pub wrong_book_size: u64,
    /// How many bugs have which solve rate: 0; ten steps of a tenth in between; 1.
    pub histogram: [usize; 12],
    /// Rounds from which on the roles' players had changed places.
    pub role_swaps: Vec<u32>,
    /// What goes wrong over the whole run.
    pub warnings: Vec<String>,
    pub points: Vec<Point>,
}

/// One round; several bugs of it are their mean.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Point {
    pub round: u32,
    pub inject_reward: Option<f64>,
    pub solve_reward: Option<f64>,
    pub solve_rate: Option<f64>,
    /// Share of the round's injected bugs that are valid.
    pub valid: Option<f64>,
    pub novelty: Option<f64>,
    pub wrong_book_size: u64,
    pub injector: String,
    pub solver: String,
}

/// One training step: means of its rollouts; null where there were none.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct StepLine {
    /// From 1, as they are kept.
    pub step: u32,
    /// Hash of the checkpoint after it.
    pub policy: String,
    pub solve_rate: Option<f64>,
    pub valid_rate: Option<f64>,
    pub inject_reward: Option<f64>,
    pub solve_reward: Option<f64>,
    /// The share of groups whose rewards are all equal.
    pub flat_share: Option<f64>,
    pub entropy: Option<f64>,
    pub best_solve_rate: Option<f64>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct EvalLine {
    pub policy: String,
    /// SHA-256 of the cases: only evaluations of the same ones may be compared.
    pub case_set: String,
    pub cases: usize,
    pub budget: usize,
    pub attempts: usize,
    pub rate: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub runs_per_repair: Option<f64>,
    /// Rates within so many runs.
    pub curve: Vec<(usize, f64)>,
}

impl Session {
    pub fn report(&self, request: &ReportRequest) -> Result<ReportAnswer, Error> {
        let workspace = self.workspace(&request.repository)?;
        let record = Record::open(&workspace)?;
        let mut runs = Vec::new();
        for wanted in chosen(&record.store, request)? {
            let rows = if let Some(run) = &wanted {
                record.store.rounds_of(run).map_err(Error::harness)?
            } else {
                let mut rows = record.store.rounds(LOOSE).map_err(Error::harness)?;
                rows.retain(|row| row.round.run.is_none());
                rows.reverse();
                numbered(rows)
            };
            if !rows.is_empty() {
                runs.push(of_run(wanted, &rows, &record.store)?);
            }
        }
        let mut answer = ReportAnswer {
            workspace: workspace.root.display().to_string(),
            runs,
            steps: steps(&record.store)?,
            evals: self.eval_lines()?,
            written: Vec::new(),
        };
        if let Some(out) = &request.out {
            self.write(out, page::of(&answer).as_bytes(), &mut answer.written)?;
        }
        if let Some(csv) = &request.csv {
            self.write(csv, table(&answer.runs).as_bytes(), &mut answer.written)?;
        }
        Ok(answer)
    }

    fn eval_lines(&self) -> Result<Vec<EvalLine>, Error> {
        let evals = self.evals()?.evals().map_err(Error::harness)?;
        let mut lines: Vec<EvalLine> = evals
            .iter()
            .filter_map(|eval| {
                let answer: EvalAnswer = serde_json::from_str(eval.answer.as_deref()?).ok()?;
                Some(EvalLine::of(answer))
            })
            .collect();
        lines.drain(..lines.len().saturating_sub(EVALS));
        Ok(lines)
    }

    /// To a sibling first, then by one rename.
    fn write(&self, file: &Path, content: &[u8], written: &mut Vec<String>) -> Result<(), Error> {
        let file = self.config().cwd.join(file);
        let mut name = file.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.tmp", std::process::id()));
        let sibling = file.with_file_name(name);
        let done =
            std::fs::write(&sibling, content).and_then(|()| std::fs::rename(&sibling, &file));
        if let Err(error) = done {
            // What was begun is ours; that it cannot be removed either changes nothing.
            std::fs::remove_file(&sibling).unwrap_or_default();
            return Err(Error::usage(format!(
                "{} cannot be written ({error}); name a file in a directory that is there",
                file.display()
            )));
        }
        written.push(file.display().to_string());
        Ok(())
    }
}

/// What is not there, or no number, is null: steps of before have less.
fn steps(store: &Store) -> Result<Vec<StepLine>, Error> {
    let steps = store.steps(STEPS).map_err(Error::harness)?;
    let line = |(step, kept): (u32, TrainedStep)| {
        let report: serde_json::Value = serde_json::from_str(&kept.report).unwrap_or_default();
        let of = |role: &str, name: &str| report[role][name].as_f64();
        StepLine {
            step,
            policy: kept.after,
            solve_rate: of("solver", "success_rate"),
            valid_rate: of("injector", "success_rate"),
            inject_reward: of("injector", "mean_reward"),
            solve_reward: of("solver", "mean_reward"),
            flat_share: of("solver", "flat_share"),
            entropy: of("solver", "entropy"),
            best_solve_rate: report["target_solve_rate"].as_f64(),
        }
    };
    Ok((1..).zip(steps).map(line).collect())
}

impl EvalLine {
    fn of(answer: EvalAnswer) -> Self {
        let curve = answer.curve.iter().map(|at| (at.runs, at.rate.rate)).collect();
        Self {
            policy: answer.policy,
            case_set: answer.case_set,
            cases: answer.cases,
            budget: answer.budget,
            attempts: answer.attempts,
            rate: answer.rate,
            low: answer.low,
            high: answer.high,
            runs_per_repair: answer.runs_per_repair,
            curve,
        }
    }
}

/// The runs to show, the main one first; `None`: the rounds of no run.
fn chosen(store: &Store, request: &ReportRequest) -> Result<Vec<Option<String>>, Error> {
    let known = store.runs(RUNS).map_err(Error::harness)?;
    let mut chosen = Vec::new();
    match &request.run {
        Some(run) => chosen.push(Some(one(&known, run)?)),
        None => chosen.push(known.first().map(|run| run.id.clone())),
    }
    for run in &request.compare {
        chosen.push(Some(one(&known, run)?));
    }
    Ok(chosen)
}

fn one(known: &[crate::store::Run], wanted: &str) -> Result<String, Error> {
    let mut found = known.iter().filter(|run| !wanted.is_empty() && run.id.starts_with(wanted));
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(run.id.clone()),
        (None, _) => Err(Error::usage(format!(
            "no run of this repository begins with {wanted:?}; `ssr-mcp status` lists them"
        ))),
        (Some(_), Some(_)) => {
            Err(Error::usage(format!("several runs begin with {wanted:?}: give more of its id")))
        }
    }
}

/// Rounds of no run, as if they were one.
fn numbered(mut rows: Vec<Kept>) -> Vec<Kept> {
    for (number, row) in (1..).zip(&mut rows) {
        row.round.step = number;
    }
    rows
}

fn of_run(run: Option<String>, rows: &[Kept], store: &Store) -> Result<RunReport, Error> {
    let novelties = novelties(rows, store)?;
    let mut rounds: BTreeMap<u32, Vec<(&Kept, Option<f64>)>> = BTreeMap::new();
    for (row, novelty) in rows.iter().zip(novelties.iter().copied()) {
        rounds.entry(row.round.step).or_default().push((row, novelty));
    }
    let points: Vec<Point> = rounds.iter().map(|(round, bugs)| point(*round, bugs)).collect();
    let injected: Vec<bool> = rows
        .iter()
        .filter(|row| row.round.kind == "bug")
        .map(|row| Detail::of(&row.round).valid)
        .collect();
    let valid = injected.iter().filter(|valid| **valid).count();
    let rates: Vec<f64> = rows.iter().filter_map(|row| row.round.solve_rate).collect();
    let attempts = rows.iter().map(|row| row.round.solver_rewards.len()).max().unwrap_or(0);
    let cycle = Cycle {
        proposed: injected.len(),
        valid,
        solve_rates: rates.clone(),
        novelties: novelties.iter().copied().flatten().collect(),
        novelty_before: None,
        attempts: rows.iter().map(|row| row.round.solver_rewards.len()).sum(),
        intercepted: 0,
    };
    let best_solve_rate = reward::best_solve_rate(attempts).ok();
    let usual = Thresholds::default();
    let target = best_solve_rate.unwrap_or(usual.target);
    let signals = Signals::of(&cycle, &Thresholds { target, ..usual });
    let rewards: Vec<f64> = rows.iter().filter_map(|row| row.round.inject_reward).collect();
    let solved: Vec<f64> = rows.iter().filter_map(|row| mean(&row.round.solver_rewards)).collect();
    Ok(RunReport {
        run,
        rounds: points.len(),
        bugs: rows.len(),
        valid,
        valid_rate: share(valid, injected.len()),
        inject_reward: average(&rewards),
        solve_reward: average(&solved),
        solve_rate: average(&rates),
        best_solve_rate,
        mixed: signals.difficulty.mixed,
        novelty: average(&cycle.novelties),
        wrong_book_size: rows.last().map_or(0, |row| row.wrong_book_size),
        histogram: signals.difficulty.histogram,
        role_swaps: swaps(&points),
        warnings: signals.warnings().into_iter().map(str::to_owned).collect(),
        points,
    })
}

fn point(round: u32, bugs: &[(&Kept, Option<f64>)]) -> Point {
    let of = |value: &dyn Fn(&Kept) -> Option<f64>| {
        let values: Vec<f64> = bugs.iter().filter_map(|(row, _)| value(row)).collect();
        average(&values)
    };
    let novelties: Vec<f64> = bugs.iter().filter_map(|(_, novelty)| *novelty).collect();
    let details: Vec<Detail> = bugs.iter().map(|(row, _)| Detail::of(&row.round)).collect();
    let player = |of: fn(&Detail) -> &str| {
        details.iter().map(of).find(|name| !name.is_empty()).unwrap_or_default().to_owned()
    };
    Point {
        round,
        inject_reward: of(&|row| row.round.inject_reward),
        solve_reward: of(&|row| mean(&row.round.solver_rewards)),
        solve_rate: of(&|row| row.round.solve_rate),
        valid: of(&|row| {
            (row.round.kind == "bug").then(|| f64::from(Detail::of(&row.round).valid))
        }),
        novelty: average(&novelties),
        wrong_book_size: bugs.last().map_or(0, |(row, _)| row.wrong_book_size),
        injector: player(|detail| &detail.injector),
        solver: player(|detail| &detail.solver),
    }
}

/// Where injector and solver are those of before the other way round.
fn swaps(points: &[Point]) -> Vec<u32> {
    let named =
        points.iter().filter(|point| !point.injector.is_empty() && !point.solver.is_empty());
    let named: Vec<&Point> = named.collect();
    named
        .windows(2)
        .filter(|pair| {
            let [before, after] = pair else { return false };
            before.injector == after.solver
                && before.solver == after.injector
                && before.injector != before.solver
        })
        .map(|pair| pair[1].round)
        .collect()
}

/// Of each valid injected bug that is kept: how little it is like those before it.
fn novelties(rows: &[Kept], store: &Store) -> Result<Vec<Option<f64>>, Error> {
    let mut buffer = Buffer::new(BUFFER);
    let mut novelties = Vec::new();
    for row in rows {
        let detail = Detail::of(&row.round);
        let id = row.round.artifact.as_ref().filter(|_| detail.valid && row.round.kind == "bug");
        let artifact = match id {
            Some(id) => store.artifact(id).map_err(Error::harness)?,
            None => None,
        };
        let patch = artifact.and_then(|artifact| Patch::parse(&artifact.bug_inject).ok());
        novelties.push(patch.filter(|patch| !patch.is_empty()).map(|patch| {
            let shingles = Shingles::of(&patch);
            let novelty = buffer.novelty(&shingles);
            buffer.push(shingles);
            novelty
        }));
    }
    Ok(novelties)
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| super::score::ratio(part, whole))
}

fn average(values: &[f64]) -> Option<f64> {
    let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.iter().sum::<f64>() / f64::from(count))
}

/// One line a round. Names hold neither quotes nor line breaks once they are here.
fn table(runs: &[RunReport]) -> String {
    let mut csv = String::from(
        "run,round,inject_r,solve_r,solve_rate,valid,novelty,wrong_book_size,injector,solver,role_swap\n",
    );
    for run in runs {
        for point in &run.points {
            let number =
                |value: Option<f64>| value.map(|value| format!("{value:.6}")).unwrap_or_default();
            let swapped = run.role_swaps.contains(&point.round);
            let fields = [
                run.run.clone().unwrap_or_default(),
                point.round.to_string(),
                number(point.inject_reward),
                number(point.solve_reward),
                number(point.solve_rate),
                number(point.valid),
                number(point.novelty),
                point.wrong_book_size.to_string(),
                quoted(&point.injector),
                quoted(&point.solver),
                swapped.to_string(),
            ];
            csv.push_str(&fields.join(","));
            csv.push('\n');
        }
    }
    csv
}

/// A name as a field; one that a spreadsheet would take for a formula is made a text.
fn quoted(name: &str) -> String {
    let plain: String = name.chars().filter(|letter| !letter.is_control()).collect();
    let plain = if plain.starts_with(['=', '+', '-', '@']) { format!("'{plain}") } else { plain };
    if plain.contains([',', '"']) { format!("\"{}\"", plain.replace('"', "\"\"")) } else { plain }
}

#[cfg(test)]
mod tests;
