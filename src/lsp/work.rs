//! Long work: a job, its progress in the editor, and what is said at its end.

use super::commands::refused;
use super::notices::JobEnded;
use super::shared::Shared;
use super::state::{Running, repository};
use super::types::{
    LspAny, MessageType, ProgressToken, ShowDocumentParams, WorkDoneProgressCancelParams,
};
use super::{uri, watch};
use crate::sandbox::Cancel;
use crate::session::{Error, Job, JobLine, JobRequest, Session, State, Work};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tower_lsp::jsonrpc::Result;

/// How long a job is waited for at a time.
const PATIENCE: Duration = Duration::from_mins(10);

pub(super) struct Wanted {
    /// Shown while it lasts.
    pub(super) title: String,
    /// What the job is called in the store.
    pub(super) tool: &'static str,
    /// The client's, where it gave one.
    pub(super) token: Option<ProgressToken>,
}

/// Begins a job and answers with it at once. An equal call while it lasts gives the same job.
pub(super) async fn begin<A: serde::Serialize>(
    shared: &Arc<Shared>,
    wanted: Wanted,
    folder: &Path,
    given: Value,
    verb: impl FnOnce(&Session, &Job) -> std::result::Result<A, Error> + Send + 'static,
) -> Result<Option<LspAny>> {
    let repository = repository(folder);
    let work: Work = Box::new(move |session, job| {
        let answer = verb(session, job)?;
        serde_json::to_value(answer).map_err(|error| Error::Harness(error.into()))
    });
    // Whoever else finds it interrupted must not take it for a call of its own.
    let mut arguments = given.clone();
    arguments["editor"] = json!(true);
    let tool = wanted.tool.to_owned();
    let request = JobRequest { repository: repository.clone(), tool, given, arguments };
    let session = Arc::clone(&shared.session);
    let begun = tokio::task::spawn_blocking(move || session.begin_job(request, work)).await;
    let line = begun
        .map_err(|error| refused(error.to_string()))?
        .map_err(|error| refused(error.to_string()))?;
    let token = match wanted.token {
        Some(ProgressToken::String(ref token)) => token.clone(),
        Some(ProgressToken::Int(token)) => token.to_string(),
        None => format!("ssr-mcp-{}", line.job),
    };
    let known = {
        let mut state = shared.state();
        let running = Running { repository, token: token.clone() };
        state.running.insert(line.job.clone(), running).is_some()
    };
    if !known {
        let (shared, id) = (Arc::clone(shared), line.job.clone());
        let follow = Follow {
            folder: folder.to_owned(),
            id,
            title: wanted.title,
            token,
            given: wanted.token,
        };
        shared.clone().spawn(async move { follow.run(&shared).await });
    }
    Ok(Some(json!({ "job": line.job, "state": "running" })))
}

struct Follow {
    folder: PathBuf,
    id: String,
    title: String,
    token: String,
    given: Option<ProgressToken>,
}

impl Follow {
    async fn run(self, shared: &Arc<Shared>) {
        let shows = self.show_progress(shared).await;
        let (sender, mut told) = mpsc::unbounded_channel::<String>();
        let waiting = self.wait(shared, sender);
        let report = async {
            while let Some(text) = told.recv().await {
                if shows {
                    self.progress(shared, json!({ "kind": "report", "message": text })).await;
                }
            }
        };
        let (line, ()) = tokio::join!(waiting, report);
        // What the job left in the store is shown before its end is told.
        let (looking, folder) = (Arc::clone(shared), self.folder.clone());
        let looked =
            tokio::task::spawn_blocking(move || watch::look_with_practice(&looking, &folder));
        looked.await.ok();
        shared.state().running.remove(&self.id);
        show_tree(shared, &line);
        let (kind, text) = said(&line);
        if shows {
            self.progress(shared, json!({ "kind": "end", "message": text })).await;
        }
        let profile = shared.state().profile.clone();
        if !profile.says {
            shared.client.show_message(kind, format!("Self-play: {text}")).await;
        }
        if profile.ours {
            let params = line.ok().and_then(|line| serde_json::to_value(line).ok());
            let mut params = params
                .unwrap_or_else(|| json!({ "job": self.id, "state": "failed", "error": text }));
            params["folder"] = json!(self.folder);
            params["said"] = json!(text);
            shared.client.send_notification::<JobEnded>(params).await;
        }
    }

    /// Waits on a thread of its own.
    async fn wait(
        &self,
        shared: &Arc<Shared>,
        sender: mpsc::UnboundedSender<String>,
    ) -> std::result::Result<JobLine, Error> {
        let (session, id) = (Arc::clone(&shared.session), self.id.clone());
        let repository = repository(&self.folder);
        let wait = move || {
            let job = Job::new(Cancel::new(), move |event| drop(sender.send(event.to_string())));
            loop {
                let line = session.wait_for_job(&repository, &id, PATIENCE, &job)?;
                if line.state != State::Running {
                    return Ok(line);
                }
            }
        };
        tokio::task::spawn_blocking(wait)
            .await
            .unwrap_or_else(|error| Err(Error::Harness(error.into())))
    }

    /// Whether the client shows progress. A token of ours has to be made known first.
    async fn show_progress(&self, shared: &Arc<Shared>) -> bool {
        if self.given.is_none() {
            if !shared.state().profile.progress {
                return false;
            }
            let token = ProgressToken::String(self.token.clone());
            if shared.client.create_work_done_progress(token).await.is_err() {
                return false;
            }
        }
        let begin = json!({ "kind": "begin", "title": self.title, "cancellable": true });
        self.progress(shared, begin).await;
        true
    }

    async fn progress(&self, shared: &Arc<Shared>, value: Value) {
        let token = self.given.clone().unwrap_or_else(|| ProgressToken::String(self.token.clone()));
        let params = super::types::ProgressParams { token, value };
        shared.client.send_notification::<super::types::ProgressNotification>(params).await;
    }
}

/// Ends the job whose progress the person has cancelled.
pub(super) fn cancel(shared: &Arc<Shared>, params: WorkDoneProgressCancelParams) {
    let token = match params.token {
        ProgressToken::String(token) => token,
        ProgressToken::Int(token) => token.to_string(),
    };
    let found = {
        let state = shared.state();
        let found = state.running.iter().find(|(_, running)| running.token == token);
        found.map(|(id, running)| (id.clone(), running.repository.clone()))
    };
    let Some((id, repository)) = found else { return };
    let session = Arc::clone(&shared.session);
    std::thread::spawn(move || {
        if let Err(error) = session.cancel_job(&repository, &id) {
            tracing::warn!("job {id} is not cancelled: {error}");
        }
    });
}

/// Opens a new practice tree where the bug is told, for clients that do not do so themselves.
fn show_tree(shared: &Arc<Shared>, line: &std::result::Result<JobLine, Error>) {
    let profile = shared.state().profile.clone();
    let (true, false, Ok(line)) = (profile.shows_documents, profile.ours, line) else { return };
    let Some(result) = line.result.as_ref().filter(|_| line.tool == "practice_start") else {
        return;
    };
    let file = || {
        let broken = result.pointer("/broken/0/file")?.as_str()?;
        uri::of_path(&Path::new(result["tree"].as_str()?).join(broken))
    };
    let Some(uri) = file() else { return };
    let params =
        ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: None };
    let client = shared.client.clone();
    shared.spawn(async move { drop(client.show_document(params).await) });
}

/// Tells the person something, whenever the client reads it.
pub(super) fn tell(shared: &Arc<Shared>, text: String) {
    let client = shared.client.clone();
    shared.spawn(async move { client.show_message(MessageType::Info, text).await });
}

/// Says what an answer holds, for clients that do not show answers.
pub(super) fn tell_answer(shared: &Arc<Shared>, text: &str) {
    let shows = shared.state().profile.ours;
    if !shows {
        tell(shared, format!("Self-play: {text}"));
    }
}

/// A job's end in one line.
fn said(line: &std::result::Result<JobLine, Error>) -> (MessageType, String) {
    let line = match line {
        Ok(line) => line,
        Err(error) => return (MessageType::Error, error.to_string()),
    };
    let result = line.result.clone().unwrap_or_default();
    match (line.state, line.tool.as_str()) {
        (State::Done, "inject_bug") => (MessageType::Info, injected(&result)),
        (State::Done, "solve") => (MessageType::Info, solved(&result)),
        (State::Done, "train_step") => {
            (MessageType::Info, result["reason"].as_str().unwrap_or_default().to_owned())
        }
        (State::Done, "unnoticed_edits") => (MessageType::Info, unnoticed(&result)),
        (State::Done, "run_tests") => (MessageType::Info, ran(&result)),
        (State::Done, "parse_last_log") => (MessageType::Info, parsed(&result)),
        (State::Done, "practice_start") => (MessageType::Info, started(&result)),
        (State::Done, "practice_run") => (MessageType::Info, practice_ran(&result)),
        (State::Done, "practice_check") => (MessageType::Info, checked(&result)),
        (State::Done, "practice_race") => (MessageType::Info, raced(&result)),
        (State::Done, tool) => (MessageType::Info, format!("{tool} is done")),
        (State::Cancelled, _) => (MessageType::Info, "cancelled".to_owned()),
        (State::Interrupted, _) => {
            (MessageType::Warning, "it was interrupted; ask for it again".to_owned())
        }
        (State::Failed | State::Running, _) => {
            (MessageType::Warning, line.error.clone().unwrap_or_else(|| line.progress.clone()))
        }
    }
}

fn injected(result: &Value) -> String {
    let summary = result["summary"].as_str().unwrap_or_default();
    match result["artifact"].as_str() {
        None => format!("no bug came out: {summary}"),
        Some(id) => {
            let id = super::actions::short(id);
            if result["valid"] == true {
                match result["report"]["fail_to_pass"].as_array().map_or(0, Vec::len) {
                    1 => format!("bug {id} is real; one test notices it"),
                    failing => format!("bug {id} is real; {failing} tests notice it"),
                }
            } else {
                let check = result["report"]["failed_check"].as_str().unwrap_or("a check");
                format!("bug {id} is no use: {check} failed")
            }
        }
    }
}

fn solved(result: &Value) -> String {
    let attempts = result["attempts"].as_array().cloned().unwrap_or_default();
    let solved = attempts.iter().filter(|attempt| attempt["solved"] == true).count();
    let id = super::actions::short(result["artifact"].as_str().unwrap_or_default()).to_owned();
    if solved == 0 {
        return format!("bug {id}: none of {} attempts repaired it", attempts.len());
    }
    format!("bug {id}: {solved} of {} attempts repaired it", attempts.len())
}

fn unnoticed(result: &Value) -> String {
    if let Some(problem) = result["problem"].as_str() {
        return problem.to_owned();
    }
    let edits = result["edits"].as_array().map_or(0, Vec::len);
    format!("{edits} edits that no test notices are known of this tree")
}

fn ran(result: &Value) -> String {
    if let Some(problem) = result["problem"].as_str() {
        return format!("the tests gave no verdict: {problem}");
    }
    let passed = result["passed"].as_u64().unwrap_or(0);
    let failing = result["failing"].as_array().cloned().unwrap_or_default();
    match failing.first().and_then(Value::as_str) {
        None => format!("{passed} tests passed"),
        Some(first) => format!("{passed} tests passed, {} failed: {first}", failing.len()),
    }
}

fn parsed(result: &Value) -> String {
    let outcomes = result.as_object().cloned().unwrap_or_default();
    let failed = outcomes.values().filter(|outcome| *outcome == "failed").count();
    format!("the log tells of {} tests, {failed} failed", outcomes.len())
}

fn started(result: &Value) -> String {
    let tree = result["tree"].as_str().unwrap_or_default();
    let broken = result["broken"].as_array().cloned().unwrap_or_default();
    let first = broken.first().and_then(|broken| broken["text"].as_str()).unwrap_or_default();
    format!("practise in {tree}: {first}")
}

fn practice_ran(result: &Value) -> String {
    if let Some(problem) = result["problem"].as_str() {
        return format!("the tests gave no verdict: {problem}");
    }
    let failing = result["failing"].as_array().cloned().unwrap_or_default();
    match failing.first().and_then(Value::as_str) {
        None => format!("{} tests passed", result["passed"]),
        Some(first) => format!("{} fail, {first} first", failing.len()),
    }
}

fn checked(result: &Value) -> String {
    let reason = result["reason"].as_str().unwrap_or_default();
    if result["solved"] == true {
        let rating = result["rating"]["text"].as_str().unwrap_or_default();
        format!("repaired; your rating is {rating}")
    } else {
        format!("not repaired: {reason}")
    }
}

fn raced(result: &Value) -> String {
    let attempts = result["attempts"].as_array().map_or(0, Vec::len);
    if result["solved"] == true {
        format!("the embedded solver repaired it, in {attempts} attempts")
    } else {
        format!("the embedded solver failed, in {attempts} attempts")
    }
}
