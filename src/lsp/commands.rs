//! The commands, by name: what each does with its one argument, an object.

use super::actions::short;
use super::bugs::places;
use super::edits;
use super::shared::Shared;
use super::state::{Home, Settings, repository};
use super::types::{ExecuteCommandParams, LspAny};
use super::virtual_documents::{self, Part};
use super::work::{self, Wanted};
use super::{practice, uri, watch};
use crate::config::Player;
use crate::consistency::Minima;
use crate::injector::Strategy;
use crate::session::{
    ArtifactRef, DEFAULT_ATTEMPTS, DEFAULT_EDITS, DEFAULT_UNNOTICED, InjectRequest, Job,
    Repository, Roles, RunTestsRequest, Session, SolveRequest, TrainRequest, TrainedRole,
    UnnoticedRequest,
};
use crate::tree::RelPath;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};

/// What all begin with; "SSR" alone means structural search and replace to editors.
pub(super) const PREFIX: &str = "ssrMcp.";

/// Without their prefix.
pub(super) const NAMES: [&str; 25] = [
    "inject",
    "apply",
    "solve",
    "show",
    "runParser",
    "score",
    "train",
    "practise",
    "runTest",
    "unnoticed",
    "missingTest",
    "bugs",
    "status",
    "jobs",
    "job",
    "cancel",
    "practiceRun",
    "practiceCheck",
    "practiceHint",
    "practiceShow",
    "practiceGiveUp",
    "practiceReveal",
    "practiceRace",
    "practices",
    "ratings",
];

/// A command as an action or a lens carries it.
pub(super) struct Do {
    pub(super) name: String,
    pub(super) argument: Value,
}

impl Do {
    pub(super) fn new(name: &'static str, argument: Value) -> Self {
        debug_assert!(NAMES.contains(&name));
        Self { name: format!("{PREFIX}{name}"), argument }
    }
}

/// What any command may say; each reads what it needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Argument {
    /// The folder that is meant; that of `uri`, or the only one, where it is not said.
    pub(super) folder: Option<PathBuf>,
    uri: Option<String>,
    /// `FILE` or `FILE:SYMBOL`.
    pub(super) target: Option<String>,
    pub(super) strategy: Option<String>,
    pub(super) artifact: Option<String>,
    artifacts: Option<Vec<String>>,
    pub(super) attempts: Option<usize>,
    /// MODEL, MODEL@PROVIDER, `configured` or `embedded`; by the user's settings where it is not said.
    model: Option<String>,
    budget_tokens: Option<u64>,
    /// A checkpoint's file, or `start`.
    policy: Option<String>,
    pub(super) seed: Option<u64>,
    part: Option<String>,
    file: Option<RelPath>,
    test: Option<String>,
    /// An unnoticed edit's id; of a bug, which edit.
    pub(super) edit: Option<String>,
    job: Option<String>,
    pub(super) practice: Option<String>,
    pub(super) pick: Option<String>,
    pub(super) another: bool,
    pub(super) weakened: bool,
}

pub(super) async fn execute(
    shared: &Arc<Shared>,
    params: ExecuteCommandParams,
) -> Result<Option<LspAny>> {
    let name = params.command.strip_prefix(PREFIX).unwrap_or_default().to_owned();
    if !NAMES.contains(&name.as_str()) {
        return Err(refused(format!("there is no command {:?}", params.command)));
    }
    let given = params.arguments.unwrap_or_default().into_iter().next().unwrap_or(json!({}));
    let argument: Argument = serde_json::from_value(given).map_err(|error| {
        refused(format!("the argument of {} does not fit: {error}", params.command))
    })?;
    // What the editor shows now is what is meant, whatever is typed while this is answered.
    let call = Call::new(shared, argument)?;
    let token = params.work_done_progress_params.work_done_token;
    let of = token.clone();
    let wanted = |title: String, tool: &'static str| Wanted { title, tool, token: of };
    match name.as_str() {
        "inject" => call.inject(wanted).await,
        "solve" => call.solve(wanted).await,
        "unnoticed" => call.unnoticed(wanted).await,
        "runTest" => call.run_test(wanted).await,
        "runParser" => call.run_parser(wanted).await,
        "apply" => call.apply(),
        "show" => call.show(),
        "missingTest" => call.missing_test(),
        "score" => call.score().await,
        "bugs" => call.bugs().await,
        "train" => call.train(wanted).await,
        "status" => call.answer(|session, repository| session.status(repository)).await,
        "jobs" => call.answer(|session, repository| session.jobs(repository, JOBS)).await,
        "job" => {
            let id = call.job()?;
            call.answer(move |session, repository| session.job(repository, &id)).await
        }
        "cancel" => {
            let id = call.job()?;
            call.answer(move |session, repository| session.cancel_job(repository, &id)).await
        }
        other => practice::execute(&call, other, token).await,
    }
}

type Outcome<T> = std::result::Result<T, crate::session::Error>;

/// Jobs that are listed.
const JOBS: u32 = 20;

pub(super) struct Call {
    pub(super) shared: Arc<Shared>,
    pub(super) argument: Argument,
    /// Of a practice tree, the repository that it was made of.
    pub(super) folder: PathBuf,
    pub(super) repository: Repository,
}

impl Call {
    fn new(shared: &Arc<Shared>, mut argument: Argument) -> Result<Self> {
        let folder = {
            let state = shared.state();
            let of_uri = argument.uri.as_ref().and_then(|text| uri::path(&text.as_str().into()));
            let named = argument.folder.clone();
            let only = || match state.repositories().as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            };
            named.or_else(|| state.folder_of(&of_uri?)).or_else(only)
        };
        let folder = folder.ok_or_else(|| {
            refused("which folder is meant is not said; give folder or uri".to_owned())
        })?;
        let folder = match shared.session.practice_at(&folder) {
            Some(place) => {
                argument.practice.get_or_insert(place.practice);
                place.root
            }
            None => folder,
        };
        let repository = repository(&folder);
        Ok(Self { shared: Arc::clone(shared), argument, folder, repository })
    }

    /// With what is not saved; `without`: with that bug taken out of it.
    pub(super) fn on_screen(&self, without: Option<&str>) -> Repository {
        let (documents, known) = {
            let state = self.shared.state();
            (state.documents_in(&self.folder), state.known(&self.folder))
        };
        let bug = without.and_then(|artifact| known.bug(artifact));
        let (unsaved, not_utf8) = match bug {
            Some(bug) => edits::unsaved_without(&self.folder, &documents, &bug.patch),
            None => edits::unsaved(&self.folder, &documents),
        };
        for file in not_utf8 {
            work::tell(
                &self.shared,
                format!("{file} is not UTF-8: it is played on as it is saved"),
            );
        }
        Repository { unsaved, ..self.repository.clone() }
    }

    /// A verb that answers in a moment, off the thread that serves messages.
    pub(super) async fn answer<A: serde::Serialize + Send + 'static>(
        &self,
        verb: impl FnOnce(&Arc<Session>, &Repository) -> std::result::Result<A, crate::session::Error>
        + Send
        + 'static,
    ) -> Result<Option<LspAny>> {
        let (session, repository) = (Arc::clone(&self.shared.session), self.repository.clone());
        let done = tokio::task::spawn_blocking(move || verb(&session, &repository)).await;
        let answer = done.map_err(|error| refused(error.to_string()))?;
        let answer = answer.map_err(|error| refused(error.to_string()))?;
        serde_json::to_value(answer).map(Some).map_err(|error| refused(error.to_string()))
    }

    async fn inject(
        &self,
        wanted: impl FnOnce(String, &'static str) -> Wanted,
    ) -> Result<Option<LspAny>> {
        let strategy = self.strategy()?;
        let target = self.target();
        let request = InjectRequest {
            repository: self.on_screen(None),
            strategy,
            target: target.clone(),
            seed: self.argument.seed,
            policy: self.argument.policy.clone(),
            out: None,
            minima: Minima::default(),
            roles: Roles::default(),
        };
        let model = self.model(Player::Injector);
        let given = json!({
            "repo": self.folder, "strategy": crate::session::name(strategy), "target": target,
            "seed": self.argument.seed, "model": self.argument.model, "policy": self.argument.policy,
            "budget_tokens": self.argument.budget_tokens, "unsaved": unsaved_digest(&request.repository),
        });
        let place = target.unwrap_or_else(|| "this workspace".to_owned());
        let title = format!("Self-play: injecting a bug into {place}");
        let work = move |session: &Session, job: &Job| {
            let roles = model(session, job)?;
            session.inject(&InjectRequest { roles, ..request }, job)
        };
        work::begin(&self.shared, wanted(title, "inject_bug"), &self.folder, given, work).await
    }

    /// Finds out who plays a role, once the job runs: a server may have to be asked.
    fn model(
        &self,
        player: Player,
    ) -> impl FnOnce(&Session, &Job) -> Outcome<Roles> + Send + use<> {
        let (name, folder) = (self.argument.model.clone(), self.folder.clone());
        let tokens = self.argument.budget_tokens;
        move |session, job| session.roles_with(&folder, (player, name.as_deref()), tokens, job)
    }

    async fn solve(
        &self,
        wanted: impl FnOnce(String, &'static str) -> Wanted,
    ) -> Result<Option<LspAny>> {
        let artifact = self.artifact()?;
        let request = SolveRequest {
            repository: self.on_screen(Some(&artifact)),
            artifact: ArtifactRef::Id(artifact.clone()),
            attempts: self.argument.attempts.unwrap_or(DEFAULT_ATTEMPTS),
            runs: None,
            seed: self.argument.seed,
            policy: self.argument.policy.clone(),
            roles: Roles::default(),
        };
        let model = self.model(Player::Solver);
        let given = json!({
            "repo": self.folder, "artifact_id": artifact, "attempts": request.attempts,
            "seed": self.argument.seed, "model": self.argument.model, "policy": self.argument.policy,
            "budget_tokens": self.argument.budget_tokens, "unsaved": unsaved_digest(&request.repository),
        });
        let title = format!("Self-play: solving bug {}", short(&artifact));
        let work = move |session: &Session, job: &Job| {
            let roles = model(session, job)?;
            session.solve(&SolveRequest { roles, ..request }, job)
        };
        work::begin(&self.shared, wanted(title, "solve"), &self.folder, given, work).await
    }

    async fn train(
        &self,
        wanted: impl FnOnce(String, &'static str) -> Wanted,
    ) -> Result<Option<LspAny>> {
        let request = TrainRequest {
            repositories: vec![self.repository.clone()],
            role: TrainedRole::Solver,
            seed: self.argument.seed,
            ..TrainRequest::default()
        };
        let given = json!({ "repo": self.folder, "seed": self.argument.seed });
        let title = "Self-play: taking a training step".to_owned();
        let work = move |session: &crate::session::Session, job: &crate::session::Job| {
            session.train_step(&request, job)
        };
        work::begin(&self.shared, wanted(title, "train_step"), &self.folder, given, work).await
    }

    async fn unnoticed(
        &self,
        wanted: impl FnOnce(String, &'static str) -> Wanted,
    ) -> Result<Option<LspAny>> {
        let target = self.target();
        let request = UnnoticedRequest {
            repository: self.on_screen(None),
            target: target.clone(),
            seed: self.argument.seed,
            limit: DEFAULT_UNNOTICED,
            runs: DEFAULT_EDITS,
        };
        let given = json!({
            "repo": self.folder, "target": target, "seed": self.argument.seed,
            "unsaved": unsaved_digest(&request.repository),
        });
        let place = target.unwrap_or_else(|| "this workspace".to_owned());
        let title = format!("Self-play: looking for edits of {place} that no test notices");
        let work = move |session: &Session, job: &Job| session.unnoticed(&request, job);
        work::begin(&self.shared, wanted(title, "unnoticed_edits"), &self.folder, given, work).await
    }

    async fn run_test(
        &self,
        wanted: impl FnOnce(String, &'static str) -> Wanted,
    ) -> Result<Option<LspAny>> {
        let file = self.argument.file.clone().or_else(|| Some(self.home()?.file));
        let test = self.argument.test.clone();
        let request = RunTestsRequest { repository: self.on_screen(None), file: file.clone() };
        let given = json!({
            "repo": self.folder, "file": file, "test": test,
            "unsaved": unsaved_digest(&request.repository),
        });
        let what = test.or_else(|| file.map(|file| file.to_string()));
        let title =
            format!("Self-play: running {}", what.unwrap_or_else(|| "the tests".to_owned()));
        let work = move |session: &Session, job: &Job| session.run_tests(&request, job);
        work::begin(&self.shared, wanted(title, "run_tests"), &self.folder, given, work).await
    }

    async fn run_parser(
        &self,
        wanted: impl FnOnce(String, &'static str) -> Wanted,
    ) -> Result<Option<LspAny>> {
        let artifact = self.artifact()?;
        let repository = self.on_screen(Some(&artifact));
        let given = json!({ "repo": self.folder, "artifact_id": artifact });
        let title = format!("Self-play: running the parser of bug {}", short(&artifact));
        let work =
            move |session: &Session, job: &Job| session.parse_last_log(&repository, &artifact, job);
        work::begin(&self.shared, wanted(title, "parse_last_log"), &self.folder, given, work).await
    }

    fn show(&self) -> Result<Option<LspAny>> {
        let part = self.argument.part.as_deref().unwrap_or("bug");
        let part = Part::named(part).ok_or_else(|| {
            refused(format!("a bug has no part {part:?}; there are bug, weakening and reversed"))
        })?;
        let artifact = self.artifact()?;
        virtual_documents::show(&self.shared, &self.folder, part, &artifact)
    }

    fn missing_test(&self) -> Result<Option<LspAny>> {
        let edit = self.argument.edit.clone();
        let edit = edit.ok_or_else(|| refused("which edit is meant is not said".to_owned()))?;
        virtual_documents::show(&self.shared, &self.folder, Part::Unnoticed, &edit)
    }

    async fn score(&self) -> Result<Option<LspAny>> {
        let artifact = self.artifact()?;
        let answer =
            self.answer(move |session, repository| session.rewards(repository, &artifact)).await?;
        if let Some(text) = answer.as_ref().and_then(|answer| answer["reason"].as_str()) {
            work::tell_answer(&self.shared, text);
        }
        Ok(answer)
    }

    async fn bugs(&self) -> Result<Option<LspAny>> {
        let (shared, folder) = (Arc::clone(&self.shared), self.folder.clone());
        let looked = tokio::task::spawn_blocking(move || watch::look(&shared, &folder, false));
        looked.await.ok();
        let known = self.shared.state().known(&self.folder);
        let wanted = self.argument.artifacts.clone();
        let is_wanted = |id: &String| wanted.as_ref().is_none_or(|wanted| wanted.contains(id));
        let line = |known: &super::state::KnownBug| {
            let mut line = serde_json::to_value(&known.bug).unwrap_or_default();
            line["files"] = json!(known.patch.paths());
            line["places"] = json!(places(&known.patch));
            line["weakened"] = json!(known.weakening.paths());
            line
        };
        let bugs: Vec<Value> =
            known.bugs.iter().filter(|known| is_wanted(&known.bug.artifact)).map(line).collect();
        Ok(Some(json!({ "folder": self.folder, "bugs": bugs })))
    }

    fn home(&self) -> Option<Home> {
        let path = uri::path(&self.argument.uri.as_ref()?.as_str().into())?;
        self.shared.state().home(&path)
    }

    /// What was said, or the file that `uri` names.
    pub(super) fn target(&self) -> Option<String> {
        self.argument.target.clone().or_else(|| Some(self.home()?.file.to_string()))
    }

    pub(super) fn artifact(&self) -> Result<String> {
        let given = self.argument.artifact.clone();
        given.ok_or_else(|| refused("which bug is meant is not said; give artifact".to_owned()))
    }

    fn job(&self) -> Result<String> {
        let given = self.argument.job.clone();
        given.ok_or_else(|| refused("which job is meant is not said; give job".to_owned()))
    }

    pub(super) fn strategy(&self) -> Result<Strategy> {
        let Some(name) = &self.argument.strategy else { return Ok(Strategy::Mixed) };
        serde_json::from_value(json!(name)).map_err(|_| {
            refused(format!(
                "there is no strategy {name:?}; there are mixed, direct, removal, history, and for models higher_order \
                 and feature"
            ))
        })
    }
}

/// Calls on other text are other calls.
pub(super) fn unsaved_digest(repository: &Repository) -> Value {
    let files: crate::tree::Changes = repository
        .unsaved
        .iter()
        .map(|(path, bytes)| (path.clone(), Some(crate::tree::File::plain(Arc::clone(bytes)))))
        .collect();
    if files.is_empty() { Value::Null } else { json!(files.digest()) }
}

/// The request was understood and cannot be done; asking again will not help.
pub(super) fn refused(message: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: message.into(), data: None }
}

/// Takes over what the client sends as settings.
pub(super) fn configure(shared: &Arc<Shared>, value: &Value) {
    let Some(settings) = Settings::of(value) else { return };
    let folders = {
        let mut state = shared.state();
        if state.settings == settings {
            return;
        }
        state.settings = settings;
        state.all_folders()
    };
    look_at(shared, folders);
}

/// Looks at the store of folders, off the thread that serves messages.
pub(super) fn look_at(shared: &Arc<Shared>, folders: Vec<PathBuf>) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        for folder in folders {
            watch::look(&shared, Path::new(&folder), true);
        }
    });
}
