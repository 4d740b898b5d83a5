//! `practice race`: the embedded solver is set on a round's bug.

use super::finish::{blank, concluded};
use super::players::{PlayerLine, players};
use super::{EMBEDDED, PracticeRef};
use crate::session::record::now;
use crate::session::score::ratio;
use crate::session::{AttemptLine, Error, Job, Session};
use crate::solver;
use crate::store::StoredGame;

#[derive(Clone, Debug)]
pub struct PracticeRaceRequest {
    pub practice: PracticeRef,
    /// G.
    pub attempts: usize,
    /// Candidate repairs that one attempt may run. The solver's default where `None`.
    pub runs: Option<usize>,
    /// The configuration's where `None`.
    pub seed: Option<u64>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeRaceAnswer {
    pub practice: String,
    /// The bug's content id.
    pub artifact: String,
    /// Whether an attempt repaired it.
    pub solved: bool,
    /// Solved attempts / attempts.
    pub solve_rate: f64,
    /// Without patches and flags while the round is open: they tell the bug.
    pub attempts: Vec<AttemptLine>,
    pub players: Vec<PlayerLine>,
    /// The seed that repeats these attempts.
    pub seed: u64,
}

impl Session {
    pub fn practice_race(
        &self,
        request: &PracticeRaceRequest,
        job: &Job,
    ) -> Result<PracticeRaceAnswer, Error> {
        if request.attempts == 0 {
            return Err(Error::usage("there is nothing to do with 0 attempts; give at least 1"));
        }
        let round = self.round_or_last(&request.practice)?;
        let bug = round.bug_rating()?;
        let opened = round.open(self, job)?;
        let seed = request.seed.unwrap_or(self.config().seed);
        job.step(&format!("the embedded solver makes {} attempts", request.attempts));
        let begun = now();
        let wanted = self.solver(request.attempts, request.runs, seed);
        let attempts = solver::solve(&opened.harness, &opened.languages, &round.artifact, &wanted)
            .map_err(|error| job.failed(error))?;
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        opened.record.keep_attempts(&opened.harness, &round.artifact, &attempts, None)?;
        let solved = attempts.iter().filter(|attempt| attempt.solved).count();
        let rate = ratio(solved, attempts.len().max(1));
        let ended = now();
        let artifact = &round.row.artifact;
        let game = StoredGame { seconds: ended - begun, ..blank(EMBEDDED, artifact, rate, ended) };
        let conclude = |standing: &_| concluded(game, standing, &bug, ended);
        opened.record.store.record_game((EMBEDDED, artifact), conclude).map_err(Error::harness)?;
        let mut lines: Vec<AttemptLine> = attempts.iter().map(AttemptLine::from).collect();
        if round.is_open() {
            for line in &mut lines {
                line.patch.clear();
                line.flags.clear();
            }
        }
        Ok(PracticeRaceAnswer {
            practice: round.row.id.clone(),
            artifact: artifact.clone(),
            solved: solved > 0,
            solve_rate: rate,
            attempts: lines,
            players: players(&round)?,
            seed,
        })
    }
}
