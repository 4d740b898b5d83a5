//! Who plays the two roles of a run: the embedded ones, or models.

use super::models::RolePlayer;
use super::record::{Record, now};
use super::{Error, Job, Repository, Session};
use crate::agent::{Bounds, Budget, Gate, Limits, Meter, Player, Price, Role, Seat, Spent};
use crate::config::{self, ModelFlags, ModelSettings};
use crate::injector::Style;
use crate::model::{Chat, Client, Recording, Rollout, Sampling};
use crate::sandbox::Cancel;
use crate::store::{SpentRow, Store};
use std::path::Path;
use std::sync::Arc;

/// The name of a role that no model plays.
pub const EMBEDDED: &str = "embedded";
/// The name by which a role's model is the one that is configured for it.
pub const CONFIGURED: &str = "configured";
/// Sessions with models at once, where nobody says otherwise.
pub const DEFAULT_CONCURRENCY: usize = 4;

/// The roles of a run.
#[derive(Clone, Debug)]
pub struct Roles {
    /// The embedded one where `None`.
    pub injector: Option<Player>,
    pub solver: Option<Player>,
    /// After so many rounds the two change places, and back. 0: never.
    pub swap: u32,
    /// Sessions with models at once.
    pub concurrency: usize,
    pub budget: Budget,
    /// How much of the oracle stays hidden from a model, 0 to 1.
    pub hidden: f64,
    /// How a model is led to a bug; by its context where `None`.
    pub style: Option<Style>,
    /// Whether a model is told, once, which check its bug fails.
    pub tells: bool,
}

impl Default for Roles {
    fn default() -> Self {
        Self {
            injector: None,
            solver: None,
            swap: 0,
            concurrency: DEFAULT_CONCURRENCY,
            budget: Budget::default(),
            hidden: 0.0,
            style: None,
            tells: false,
        }
    }
}

impl Roles {
    pub(super) fn any(&self) -> bool {
        self.injector.is_some() || self.solver.is_some()
    }

    /// Refuses what makes no sense before anything runs.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.concurrency == 0 {
            return Err(Error::usage("no session at once is none at all; give at least 1"));
        }
        if !(0.0..1.0).contains(&self.hidden) {
            return Err(Error::usage(
                "the hidden share of the oracle is at least 0 and less than 1: a solver must be told something",
            ));
        }
        let priced = |player: &Option<Player>| player.as_ref().is_none_or(|p| p.price.is_some());
        if self.budget.money.is_some() && !(priced(&self.injector) && priced(&self.solver)) {
            return Err(Error::usage(
                "a budget of money needs the prices of both models; configure them, or give a number of tokens",
            ));
        }
        Ok(())
    }

    /// Whether the roles have changed places in a round, from 1.
    pub(super) fn swapped(&self, round: u32) -> bool {
        self.swap > 0 && (round.saturating_sub(1) / self.swap) % 2 == 1
    }

    /// Injector and solver of a round.
    pub(super) fn of(&self, round: u32) -> (Option<&Player>, Option<&Player>) {
        let (injector, solver) = (self.injector.as_ref(), self.solver.as_ref());
        if self.swapped(round) { (solver, injector) } else { (injector, solver) }
    }

    /// The seats of a round.
    pub(super) fn seats(&self, round: u32, bounds: &Arc<Bounds>) -> (Option<Seat>, Option<Seat>) {
        let seat = |player: &Player| Seat { player: player.clone(), bounds: bounds.clone() };
        let (injector, solver) = self.of(round);
        (injector.map(seat), solver.map(seat))
    }

    /// What makes two commands the same: not what bounds them.
    pub(super) fn settings(&self) -> serde_json::Value {
        let player = |player: &Option<Player>| {
            player.as_ref().map(|player| {
                let Sampling { temperature, top_p, max_tokens, seed } = player.sampling;
                serde_json::json!({
                    "model": player.chat.model(),
                    "temperature": temperature,
                    "top_p": top_p,
                    "max_tokens": max_tokens,
                    "seed": seed,
                    "turns": player.limits.turns,
                    "context": player.limits.context,
                })
            })
        };
        serde_json::json!({
            "injector": player(&self.injector),
            "solver": player(&self.solver),
            "swap": self.swap,
            "hidden": self.hidden,
            "style": self.style,
            "tells": self.tells,
        })
    }

    /// What all sessions of a run share, with what it spent before.
    pub(super) fn bounds(
        &self,
        store: &Store,
        run: &str,
        cores: usize,
    ) -> Result<Arc<Bounds>, Error> {
        let meter = Meter::new(self.budget);
        for row in store.spent_of(run).map_err(Error::harness)? {
            if let Some((account, spent)) = account(&row) {
                meter.spend(account, &spent);
            }
        }
        let (sessions, commands) = (Gate::new(self.concurrency), Gate::new(cores));
        Ok(Arc::new(Bounds { meter, sessions, commands }))
    }
}

/// The player of a role as its settings say.
fn player_of(client: &Client, settings: &ModelSettings, recording: &Arc<Recording>) -> Player {
    let recorder = {
        let (client, recording) = (client.clone(), recording.clone());
        move |rollout: Rollout| -> Arc<dyn Chat> {
            Arc::new(client.recorded(recording.clone(), rollout))
        }
    };
    Player {
        chat: Arc::new(client.clone()),
        sampling: Sampling {
            temperature: settings.temperature,
            top_p: settings.top_p,
            max_tokens: settings.max_tokens,
            seed: None,
        },
        limits: Limits::default(),
        price: settings.price.map(|price| Price {
            prompt: price.input,
            cached: price.cached,
            completion: price.output,
        }),
        instructions: settings.instructions.clone(),
        recorder: Some(Arc::new(recorder)),
    }
}

impl Session {
    /// The roles of a call in which one is played, by the named model, `configured` or `embedded`. Where nobody is
    /// named, by the model that the user's own settings name for it, else by the embedded player: a repository's file,
    /// which is a stranger's, has no say in whether a model is paid. `tokens`: the most that it may take.
    pub fn roles_with(
        &self,
        repo: &Path,
        (role, name): (config::Player, Option<&str>),
        tokens: Option<u64>,
        job: &Job,
    ) -> Result<Roles, Error> {
        let name = if let Some(name) = name {
            name
        } else {
            let own = self.config().models(None, &ModelFlags::default())?;
            if own.players().contains(&role) { CONFIGURED } else { EMBEDDED }
        };
        let names = match role {
            config::Player::Injector => (name, EMBEDDED),
            _ => (EMBEDDED, name),
        };
        let (injector, solver) = self.players(repo, names, &job.cancel)?;
        let budget = Budget { tokens, money: None };
        Ok(Roles { injector, solver, budget, ..Roles::default() })
    }

    /// The models of both roles as their settings say, `injector` and `solver` by these names: MODEL or
    /// MODEL@PROVIDER; the one that is configured, or the embedded player, where they are called so. `repo`: whose
    /// settings count. What is not said of a model is found out now.
    pub fn players(
        &self,
        repo: &Path,
        (injector, solver): (&str, &str),
        cancel: &Cancel,
    ) -> Result<(Option<Player>, Option<Player>), Error> {
        let named = [(config::Player::Injector, injector), (config::Player::Solver, solver)];
        let named = named.map(|(role, name)| (name != EMBEDDED).then(|| (role, name.to_owned())));
        if named.iter().all(Option::is_none) {
            return Ok((None, None));
        }
        let given = named.iter().flatten().filter(|(_, name)| name != CONFIGURED);
        let flags = ModelFlags { models: given.cloned().collect() };
        let workspace =
            self.workspace(&Repository { dir: Some(repo.to_owned()), ..Repository::default() })?;
        let models = self.models_at(&workspace.root, &flags)?;
        let record = Record::open(&workspace)?;
        let recording = Arc::new(Recording::new(record.store, now));
        let player = |role: Option<(config::Player, String)>| {
            let Some((role, _)) = role else { return Ok(None) };
            let RolePlayer { client, settings } = self.role_player(&models, role)?;
            client.prepare(cancel).map_err(|error| {
                if error.needs_person() {
                    Error::NeedsPerson(error.to_string())
                } else {
                    error.into()
                }
            })?;
            Ok::<_, Error>(Some(player_of(&client, &settings, &recording)))
        };
        let [injector, solver] = named;
        Ok((player(injector)?, player(solver)?))
    }
}

/// How a role's player goes in a log.
pub(super) fn name_of(player: Option<&Player>) -> String {
    player.map_or_else(|| EMBEDDED.to_owned(), |player| player.chat.model().to_owned())
}

/// The phases that there are, by their names in the store.
const PHASES: [&str; 6] = ["free", "discover", "inject", "weaken", "files", "solve"];

fn account(row: &SpentRow) -> Option<((Role, &'static str), Spent)> {
    let role = if row.role == Role::Solver.name() { Role::Solver } else { Role::Injector };
    let phase = PHASES.into_iter().find(|phase| *phase == row.phase)?;
    #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
    let seconds = row.millis as f64 / 1000.0;
    let spent = Spent {
        requests: row.requests,
        prompt_tokens: row.prompt_tokens,
        completion_tokens: row.completion_tokens,
        cached_tokens: row.cached_tokens,
        estimated: row.estimated,
        money: row.money,
        seconds,
    };
    Some(((role, phase), spent))
}
