//! `solve`: G attempts at one bug.

use super::by_model::{Call, spent};
use super::open::Opened;
use super::roles::name_of;
use super::score::ratio;
use super::{ArtifactRef, Error, Job, Repository, Roles, Session};
use crate::agent::Spent;
use crate::artifact::Artifact;
use crate::grading::Task;
use crate::policy::Sampling;
use crate::sandbox::Tier;
use crate::solver::{self, Attempt};

#[derive(Clone, Debug)]
pub struct SolveRequest {
    pub artifact: ArtifactRef,
    pub repository: Repository,
    /// G.
    pub attempts: usize,
    /// Candidate repairs that one attempt may run. The solver's default where `None`.
    pub runs: Option<usize>,
    /// The configuration's where `None`.
    pub seed: Option<u64>,
    /// A checkpoint, or `start`; what was trained in the workspace where `None`.
    pub policy: Option<String>,
    /// Of which the solver counts.
    pub roles: Roles,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct AttemptLine {
    pub solved: bool,
    /// +1 for a repair, -1 for anything else.
    pub reward: f64,
    /// Git diff against the tree that the solver saw; empty if it found none.
    pub patch: String,
    /// Candidate repairs that were run.
    pub runs: usize,
    /// Why the patch is or is not a repair.
    pub reason: String,
    /// What looked suspicious without being proof.
    pub flags: Vec<String>,
    /// How a model's session ended, in one word; null for the embedded solver.
    pub ending: Option<String>,
    /// What it took; null for the embedded solver.
    pub spent: Option<Spent>,
}

impl From<&Attempt> for AttemptLine {
    fn from(attempt: &Attempt) -> Self {
        Self {
            solved: attempt.solved,
            reward: attempt.reward,
            patch: attempt.patch.clone(),
            runs: attempt.runs,
            reason: attempt.reason.to_string(),
            flags: attempt.flags.clone(),
            ending: attempt.bill.as_ref().map(|bill| bill.ending.clone()),
            spent: attempt.bill.as_ref().map(|bill| bill.spent),
        }
    }
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct SolveAnswer {
    /// Whether at least one attempt repaired the bug.
    pub solved: bool,
    /// Solved attempts / attempts.
    pub solve_rate: f64,
    pub attempts: Vec<AttemptLine>,
    /// Who made them: a model, or embedded.
    pub solver: String,
    /// What the model took; null for the embedded solver.
    pub spent: Option<Spent>,
    /// The artifact's content id.
    pub artifact: String,
    /// The seed that repeats these attempts.
    pub seed: u64,
    /// The tier of isolation that all runs used.
    #[schemars(with = "String")]
    pub sandbox: Tier,
}

impl Session {
    pub fn solve(&self, request: &SolveRequest, job: &Job) -> Result<SolveAnswer, Error> {
        if request.attempts == 0 {
            return Err(Error::usage("there is nothing to do with 0 attempts; give at least 1"));
        }
        request.roles.check()?;
        let (opened, artifact) = self.open_with(&request.artifact, &request.repository, job)?;
        // An attempt at what is no bug would be a loss of the solver's that it does not deserve.
        Task::of(opened.harness.base(), &artifact)
            .map_err(|why| Error::usage(format!("the artifact cannot be played on: {why}; `ssr-mcp check` says more, and an artifact fits the tree only that it was made on")))?;
        let seed = request.seed.unwrap_or(self.config().seed);
        job.step(&format!("making {} attempts", request.attempts));
        let wanted = self.solver(request.attempts, request.runs, seed);
        let policy = self.policy(request.policy.as_deref(), &opened.workspace)?;
        let player = policy.as_ref().map(|policy| policy.player(Sampling::FirstGreedy));
        let Opened { harness, languages, .. } = &opened;
        let attempts = match &request.roles.solver {
            Some(_) => self.solve_by_model(&opened, &artifact, (&wanted, &request.roles), job)?,
            None => solver::solve_as(harness, languages, &artifact, &wanted, player)
                .map_err(|error| job.failed(error))?,
        };
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        opened.record.keep_attempts(&opened.harness, &artifact, &attempts, None)?;
        let solved = attempts.iter().filter(|attempt| attempt.solved).count();
        Ok(SolveAnswer {
            solved: solved > 0,
            solve_rate: ratio(solved, attempts.len().max(1)),
            attempts: attempts.iter().map(AttemptLine::from).collect(),
            solver: name_of(request.roles.solver.as_ref()),
            spent: spent(attempts.iter().filter_map(|attempt| attempt.bill.as_ref())),
            artifact: artifact.id(),
            seed,
            sandbox: opened.harness.tier(),
        })
    }

    fn solve_by_model(
        &self,
        opened: &Opened,
        artifact: &Artifact,
        (wanted, roles): (&solver::Request, &Roles),
        job: &Job,
    ) -> Result<Vec<Attempt>, Error> {
        let Some(player) = &roles.solver else { return Ok(Vec::new()) };
        let settings = serde_json::json!({
            "artifact": artifact.id(),
            "seed": wanted.seed,
            "roles": roles.settings(),
        });
        let call = Call::begin(opened, "solve", &settings, roles, self.config().cores)?;
        let seat = call.seat(player);
        let by = solver::ByModel {
            stage: call.stage(),
            seat: &seat,
            who: &call.who,
            hidden: roles.hidden,
        };
        let wanted = solver::Request { parallel: roles.concurrency, ..*wanted };
        solver::solve_by_model(artifact, &wanted, &by).map_err(|error| job.stopped(error))
    }

    pub(super) fn solver(
        &self,
        attempts: usize,
        runs: Option<usize>,
        seed: u64,
    ) -> solver::Request {
        solver::Request { attempts, seed, runs, parallel: self.config().cores }
    }
}
