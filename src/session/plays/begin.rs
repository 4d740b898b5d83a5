//! `play_begin`: a play is opened, and its task told.

use super::seat::{Seat, Settings, room};
use super::{COMMAND, DEFAULT_TURNS, LIFE};
use crate::agent::task::{Voice, of_solver};
use crate::consistency::Minima;
use crate::grading::Task;
use crate::injector::{Strategy, of_injector};
use crate::sandbox::Tier;
use crate::session::open::Opened;
use crate::session::record::{self, now};
use crate::session::{ArtifactRef, Error, Job, Repository, Session, inject, jobs};
use crate::store::{self, PlayState};
use crate::tree::Changes;
use std::time::Duration;

/// Longest name of a player that is kept, characters.
const NAME: usize = 200;

#[derive(Clone, Debug)]
pub struct PlayBeginRequest {
    pub repository: Repository,
    pub role: PlayRole,
    /// The model or program that plays, for the record; the job's client where `None`.
    pub player: Option<String>,
    /// [`DEFAULT_TURNS`] where `None`.
    pub turns: Option<u32>,
    /// How long the play may be submitted; a day where `None`.
    pub life: Option<Duration>,
}

#[derive(Clone, Debug)]
pub enum PlayRole {
    Solver(ArtifactRef),
    Injector {
        strategy: Strategy,
        /// `FILE` or `FILE:SYMBOL`.
        target: Option<String>,
        /// Chooses where the strategy is `mixed`; the configuration's where `None`.
        seed: Option<u64>,
    },
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PlayBeginAnswer {
    /// The id that every other call of this play takes.
    pub play: String,
    /// solver or injector.
    pub role: String,
    /// What is to be done, and the rules.
    pub task: String,
    /// Where the copy of the repository is inside the sandbox; paths are relative to it.
    pub root: String,
    /// Calls that may be made before `play_submit`.
    pub turns: u32,
    /// Longest a command of `play_bash` may take.
    pub command_seconds: u64,
    /// Until when the play may be submitted, in seconds from now.
    pub seconds_left: i64,
    /// The bug's id; null for an injector.
    pub artifact: Option<String>,
    /// The injector's strategy: direct, removal or history; null for a solver.
    pub strategy: Option<String>,
    /// The test framework.
    pub framework: String,
    /// The tier of isolation.
    #[schemars(with = "String")]
    pub sandbox: Tier,
}

/// What a role comes to.
struct Cast {
    opened: Opened,
    role: &'static str,
    settings: Settings,
    /// What a solver is given.
    given: Option<Task>,
    artifact: Option<String>,
}

impl Session {
    pub fn play_begin(
        &self,
        request: &PlayBeginRequest,
        job: &Job,
    ) -> Result<PlayBeginAnswer, Error> {
        let most_turns = request.turns.unwrap_or(DEFAULT_TURNS);
        if !(1..=1000).contains(&most_turns) {
            return Err(Error::usage("a play has between 1 and 1000 turns"));
        }
        let Cast { opened, role, settings, given, artifact } = self.cast(request, job)?;
        opened.record.store.expire_plays(now()).map_err(Error::harness)?;
        let room = room(&opened, &settings, Changes::new(), Vec::new(), job)?;
        let text = match (&given, settings.strategy) {
            (Some(given), _) => of_solver(&opened.harness, room.root(), &given.oracle, Voice::Play),
            (None, strategy) => {
                let (strategy, target) = (strategy.unwrap_or(Strategy::Direct), settings.target()?);
                let minima = Minima::default();
                let rules = (strategy, target.as_ref());
                of_injector(&opened.harness, room.root(), rules, &minima, Voice::Play)
            }
        };
        let (begun, life) = (now(), request.life.unwrap_or(LIFE));
        let row = store::Play {
            id: jobs::new_id()?,
            role: role.to_owned(),
            player: request.player.as_ref().or(job.client.as_ref()).map(|name| short(name)),
            base: opened.harness.base().id.clone(),
            artifact: artifact.clone(),
            settings: serde_json::to_string(&settings).map_err(Error::harness)?,
            task: text.clone(),
            begun,
            expires: begun.saturating_add_unsigned(life.as_secs()),
            most_turns,
            turns: 0,
            state: PlayState::Open,
            reward: None,
            outcome: None,
            shell: Vec::new(),
        };
        let answer = PlayBeginAnswer {
            play: row.id.clone(),
            role: role.to_owned(),
            task: text,
            root: room.root().display().to_string(),
            turns: most_turns,
            command_seconds: COMMAND.as_secs(),
            seconds_left: row.expires - begun,
            artifact,
            strategy: settings.strategy.map(crate::session::name),
            framework: opened.harness.runner().framework().to_owned(),
            sandbox: opened.harness.tier(),
        };
        let Opened { workspace, record, harness, .. } = opened;
        let until = record::time(row.expires);
        workspace.pin(harness.base(), &row.id, until).map_err(Error::harness)?;
        let seat = Seat::new(workspace, record, row, settings, room)?;
        self.plays.add(&mut self.plays.lock(), answer.play.clone(), seat);
        Ok(answer)
    }

    fn cast(&self, request: &PlayBeginRequest, job: &Job) -> Result<Cast, Error> {
        let Repository { tests, time_limit, .. } = &request.repository;
        let mut settings = Settings {
            artifact: None,
            strategy: None,
            target: None,
            seed: self.config().seed,
            framework: tests.framework.clone(),
            test_command: tests.test_command.clone(),
            report: tests.report.clone(),
            time_limit: time_limit.map(|limit| limit.as_secs_f64()),
        };
        match &request.role {
            PlayRole::Solver(reference) => {
                let (opened, artifact) = self.open_with(reference, &request.repository, job)?;
                let task = Task::of(opened.harness.base(), &artifact).map_err(|why| {
                    Error::usage(format!(
                        "the artifact cannot be played on: {why}; an artifact fits the tree only that it \
                         was made on"
                    ))
                })?;
                settings.artifact = Some(artifact.to_json());
                let artifact = Some(artifact.id());
                Ok(Cast { opened, role: "solver", settings, given: Some(task), artifact })
            }
            PlayRole::Injector { strategy, target, seed } => {
                settings.seed = seed.unwrap_or(settings.seed);
                settings.target.clone_from(target);
                let target = inject::target(target.as_deref())?;
                self.refuse_without_history(*strategy, &request.repository)?;
                let opened = self.open_for(target.as_ref(), &request.repository, job)?;
                let history =
                    opened.history(*strategy, settings.seed, target.as_ref(), false, job)?;
                settings.strategy = Some(strategy.sampled(settings.seed, history.is_some()));
                Ok(Cast { opened, role: "injector", settings, given: None, artifact: None })
            }
        }
    }
}

/// Names are for people.
fn short(name: &str) -> String {
    name.chars().take(NAME).collect()
}
