//! The tool `apply`: a patch on the user's own tree, if a person who saw it says so.
//!
//! A client that cannot ask, a refusal, a cancelled question and an answer to another question all mean no.

use super::call::refusal;
use super::repository_argument::RepositoryArguments;
use super::tool::{Effect, Entry, Notice, decode};
use crate::session::{Error, Job, Plan, Repository, Session};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult,
    RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub(super) const NAME: &str = "apply";
/// A person is shown all of a change; of a longer diff, characters, nobody would see the end.
const SHOWN: usize = 30_000;
/// How long a question waits for its answer.
const PATIENCE: Duration = Duration::from_mins(15);
/// The question's name, and that of the one thing it asks.
const QUESTION: &str = "apply";

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    /// A unified or git diff against the files as they are.
    patch: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Answer {
    /// Whether the files were written.
    applied: bool,
    /// The files that the patch changes.
    files: Vec<String>,
    /// Why nothing was written, or that it was.
    reason: String,
}

/// The announcement; the work needs the connection and is [`call`].
pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: NAME,
        title: "Self-play: write a patch to the repository",
        description: "Writes a patch to the user's own files, after the client has shown it to a person who \
                      agreed. Without such an answer nothing is written. All files of the patch are \
                      written, or none.",
        effect: Effect::Writes,
    };
    Entry::new(&notice, |_: &Session, _: Arguments, _: &Job| -> Result<Answer, Error> {
        Err(Error::Usage("this client's connection cannot ask a person".to_owned()))
    })
}

pub(super) async fn call(
    session: Arc<Session>,
    codec: &RequestStateCodec,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    match answer(session, codec, request, context).await {
        Ok(response) => response,
        Err(error) => refusal(error.to_string()).into(),
    }
}

async fn answer(
    session: Arc<Session>,
    codec: &RequestStateCodec,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Error> {
    let given = request.arguments.unwrap_or_default();
    let bound = Value::Object(given.clone()).to_string();
    let arguments: Arguments = decode(given)?;
    let (repository, patch) = (arguments.repository.repository()?, arguments.patch.into_bytes());
    let plan = planned(&session, &repository, &patch).await?;
    let done = |applied: bool, reason: &str| {
        let reason = reason.to_owned();
        told(&Answer { applied, files: plan.files.clone(), reason })
    };
    let form = context.client_capabilities().and_then(|can| can.elicitation);
    // A client of before there were two kinds names neither.
    if !form.is_some_and(|form| form.form.is_some() || form.url.is_none()) {
        let reason =
            "nothing was written: this client cannot ask a person; apply the patch by hand";
        return Ok(done(false, reason));
    }
    let modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
    let answered = if !modern {
        let asked = context.peer.create_elicitation_with_timeout(question(&plan)?, Some(PATIENCE));
        asked.await.ok()
    } else if let Some(answers) = request.input_responses {
        let state = request.request_state.unwrap_or_default();
        let asked = codec.open_with(&state, bound.as_bytes());
        if asked.ok().as_deref() != Some(plan.digest.as_bytes()) {
            let reason = "nothing was written: the answer is to another question, or came too late, or the files \
                          changed since; call again";
            return Err(Error::Usage(reason.to_owned()));
        }
        answers.get(QUESTION).cloned().and_then(|answer| serde_json::from_value(answer).ok())
    } else {
        let options = SealOptions::new().associated_data(bound.as_bytes()).ttl(PATIENCE);
        let state = codec.seal_with(plan.digest.as_bytes(), &options);
        let asked = InputRequest::Elicitation(ElicitRequest::new(question(&plan)?));
        let asked = [(QUESTION.to_owned(), asked)].into_iter().collect();
        return Ok(InputRequiredResult::new(Some(asked), Some(state)).into());
    };
    if !answered.is_some_and(|answer| agrees(&answer)) {
        return Ok(done(false, "nothing was written: nobody agreed to the change"));
    }
    let digest = plan.digest.clone();
    blocking(move || session.apply_patch(&repository, &patch, &digest)).await?;
    Ok(done(true, "a person agreed, and every file was written"))
}

/// Agreed, and to the one thing that was asked.
fn agrees(answer: &ElicitResult) -> bool {
    let content = answer.content.as_ref();
    matches!(answer.action, ElicitationAction::Accept)
        && content.and_then(|content| content.get(QUESTION)) == Some(&json!(true))
}

fn question(plan: &Plan) -> Result<ElicitRequestParams, Error> {
    let length = plan.diff.chars().count();
    if length > SHOWN {
        return Err(Error::Usage(format!(
            "a diff of {length} characters is too long to be shown to a person (at most {SHOWN}); split the patch"
        )));
    }
    // A diff is somebody's text: nothing in it may move a cursor.
    let printable = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    let diff: String = plan.diff.chars().map(printable).collect();
    let schema = ElicitationSchema::builder()
        .required_bool_with(QUESTION, |asked| asked.title("Write this change to my files"))
        .build()
        .map_err(|why| Error::Usage(why.to_owned()))?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Write this change to {} of your files?\n\n{diff}", plan.files.len()),
        requested_schema: schema,
    })
}

async fn planned(
    session: &Arc<Session>,
    repository: &Repository,
    patch: &[u8],
) -> Result<Plan, Error> {
    let (session, repository, patch) = (Arc::clone(session), repository.clone(), patch.to_owned());
    blocking(move || session.plan_patch(&repository, &patch)).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let fault = || Error::Usage("ssr-mcp has a fault here; its standard error says more".into());
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(fault()))
}

fn told(answer: &Answer) -> CallToolResponse {
    CallToolResult::structured(serde_json::to_value(answer).unwrap_or_default()).into()
}
