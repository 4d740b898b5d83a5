//! `play`: rounds of self-play, one after another.

use super::check::lines;
use super::inject::{injection, target};
use super::open::Opened;
use super::record::Origin;
use super::score::ratio;
use super::{CheckLine, Error, Event, Job, Repository, Session};
use crate::artifact::Artifact;
use crate::consistency::{Check, Minima};
use crate::episode::{self, Round, Rules};
use crate::injector::{Counts, Strategy, Target, Undone};
use crate::reward::{self, Scheme};
use crate::sandbox::Tier;
use crate::store;
use crate::verdict::TestId;

#[derive(Clone, Debug)]
pub struct PlayRequest {
    pub repository: Repository,
    pub rounds: usize,
    /// G.
    pub attempts: usize,
    /// Candidate repairs that one attempt may run. The solver's default where `None`.
    pub runs: Option<usize>,
    pub strategy: Strategy,
    /// `FILE` or `FILE:SYMBOL`.
    pub target: Option<String>,
    /// Round n plays with this plus n - 1. The configuration's where `None`.
    pub seed: Option<u64>,
    pub minima: Minima,
    /// Default 0.8.
    pub alpha: Option<f64>,
    /// What an invalid artifact earns. Default -1.
    pub invalid: Option<f64>,
}

/// What one round came to.
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
    pub inject_reward: f64,
    /// Solved attempts / attempts; null for an invalid artifact.
    pub solve_rate: Option<f64>,
    /// +1 or -1, one an attempt.
    pub solve_rewards: Vec<f64>,
    pub seconds: f64,
    /// The bug in one line, or why there is none.
    pub summary: String,
    /// `--rounds 1 --seed` with this repeats the round on the same tree.
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
    /// Artifacts of this repository with at least one failed attempt, after this round.
    pub wrong_book_size: usize,
}

impl PlayedRound {
    /// Mean of the attempts' rewards.
    pub fn mean_solve_reward(&self) -> Option<f64> {
        let solved = self.solve_rewards.iter().filter(|reward| **reward > 0.0).count();
        let all = self.solve_rewards.len();
        (all > 0).then(|| 2.0f64.mul_add(ratio(solved, all), -1.0))
    }
}

/// Rounds to be played: ask for one after another.
pub struct Game<'a> {
    session: &'a Session,
    opened: Opened,
    request: PlayRequest,
    target: Option<Target>,
    seed: u64,
    played: usize,
    wrong_book_size: usize,
}

impl Session {
    pub fn play(&self, request: PlayRequest, job: &Job) -> Result<Game<'_>, Error> {
        if request.attempts == 0 || request.rounds == 0 {
            return Err(Error::usage(
                "there is nothing to play with 0 rounds or attempts; give at least 1",
            ));
        }
        // Refuses a scheme that makes no sense before anything runs.
        scheme(&request)
            .injector(Some(0.5))
            .map_err(|refusal| Error::usage(refusal.to_string()))?;
        let target = target(request.target.as_deref())?;
        let seed = request.seed.unwrap_or(self.config().seed);
        self.refuse_without_history(request.strategy, &request.repository)?;
        let opened = self.open(&request.repository, job)?;
        let wrong_book_size = opened.record.wrong_book_size()?;
        Ok(Game { session: self, opened, request, target, seed, played: 0, wrong_book_size })
    }
}

impl Game<'_> {
    /// The first round's seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Plays the next round; `None` when all were played.
    pub fn round(&mut self, job: &Job) -> Result<Option<PlayedRound>, Error> {
        if self.played == self.request.rounds {
            return Ok(None);
        }
        self.played += 1;
        job.tell(Event::Round { number: self.played, of: self.request.rounds });
        let seed = self.seed.wrapping_add(self.played as u64 - 1);
        let (strategy, target) = (self.request.strategy, self.target.as_ref());
        let history = self.opened.history(strategy, seed, target, job)?;
        let rules = Rules {
            injector: injection(
                self.request.strategy,
                seed,
                self.target.clone(),
                self.request.minima,
                history,
            ),
            solver: self.session.solver(self.request.attempts, self.request.runs, seed),
            minima: self.request.minima,
            scheme: scheme(&self.request),
        };
        let Opened { harness, languages, record, .. } = &self.opened;
        let known = |digest: &str| record.known(digest);
        let tell = |progress| job.tell(progress);
        let round = episode::play(harness, languages, &rules, &known, &tell)
            .map_err(|error| job.failed(error))?;
        self.keep(round, seed).map(Some)
    }

    /// Writes the round down, then tells it: what is shown has been kept.
    fn keep(&mut self, round: Round, seed: u64) -> Result<PlayedRound, Error> {
        let record = &self.opened.record;
        let report = round.report.as_ref();
        let id = round.artifact.as_ref().map(Artifact::id);
        let folder = match (&round.artifact, report) {
            (Some(artifact), Some(report)) => {
                let base = &self.opened.harness.base().id;
                let (strategy, tree_digest) = (round.strategy, round.tree_digest.as_str());
                Some(record.keep(artifact, &Origin { strategy, seed, base, tree_digest, report })?)
            }
            _ => None,
        };
        let failed_now = round.attempts.iter().any(|attempt| !attempt.solved);
        let failed_before = id.as_deref().map_or(Ok(false), |id| record.failed(id))?;
        self.wrong_book_size += usize::from(failed_now && !failed_before);
        record.keep_round(&row(&round, id.clone(), self.played, seed), &round.attempts)?;
        Ok(PlayedRound {
            round: self.played,
            artifact: id,
            strategy: round.strategy,
            valid: report.is_some_and(|report| report.valid),
            failed_check: report.and_then(|report| report.failed_check),
            inject_reward: round.inject_reward,
            solve_rate: round.solve_rate,
            solve_rewards: round.attempts.iter().map(|attempt| attempt.reward).collect(),
            seconds: round.seconds,
            summary: round.summary,
            seed,
            checks: report.map(lines).unwrap_or_default(),
            fail_to_pass: report.map(|report| report.fail_to_pass.clone()).unwrap_or_default(),
            counts: round.counts,
            origin: round.origin,
            cpu_seconds: report.map_or(0.0, |report| report.cpu_seconds),
            sandbox: report.map(|report| report.sandbox),
            best_solve_rate: reward::best_solve_rate(self.request.attempts).ok(),
            folder: folder.map(|folder| folder.display().to_string()),
            wrong_book_size: self.wrong_book_size,
        })
    }
}

fn row(round: &Round, artifact: Option<String>, step: usize, seed: u64) -> store::Round {
    let detail = serde_json::json!({
        "summary": round.summary,
        "counts": round.counts,
        "origin": round.origin,
    });
    store::Round {
        artifact,
        step: u32::try_from(step).unwrap_or(u32::MAX),
        strategy: super::name(round.strategy),
        seed,
        inject_reward: round.inject_reward,
        solve_rate: round.solve_rate,
        solver_rewards: round.attempts.iter().map(|attempt| attempt.reward).collect(),
        seconds: round.seconds,
        detail: detail.to_string(),
    }
}

fn scheme(request: &PlayRequest) -> Scheme {
    let usual = Scheme::default();
    Scheme {
        alpha: request.alpha.unwrap_or(usual.alpha),
        invalid: request.invalid.unwrap_or(usual.invalid),
    }
}
