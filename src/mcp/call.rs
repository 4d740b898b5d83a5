//! One call as a job: work on a thread of its own, progress and cancellation both ways.

use super::{fit, resources};
use crate::sandbox::Cancel;
use crate::session::{Error, Event, Job};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::mpsc;

/// Runs `work` to its result. A client's cancellation, or its end, sets the job's cancel flag.
pub(super) async fn run(
    context: RequestContext<RoleServer>,
    work: impl FnOnce(&Job) -> Result<Value, Error> + Send + 'static,
) -> CallToolResult {
    let cancel = Cancel::new();
    let (sender, mut events) = mpsc::unbounded_channel();
    // A listener that is gone is no reason to stop: the answer is what counts.
    let listener = move |event: Event| sender.send(event).unwrap_or_default();
    let mut job = Job::new(cancel.clone(), listener);
    job.client = context.client_info().map(|client| client.name);
    let mut task = tokio::task::spawn_blocking(move || work(&job));
    let token = context.meta.get_progress_token();
    let mut told = 0u32;
    let ended = loop {
        tokio::select! {
            ended = &mut task => break ended,
            Some(event) = events.recv() => {
                told += 1;
                tell(&context, token.clone(), told, &event).await;
            }
            () = context.ct.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
        }
    };
    match ended {
        Ok(Ok(answer)) => complete(answer),
        Ok(Err(error)) => refusal(error.to_string()),
        // The only other way for the task to end is a panic, which is a fault of ours.
        Err(_) => refusal("ssr-mcp has a fault in this tool; its standard error says more"),
    }
}

/// The same answer structured and as text, for clients show their model one or the other.
fn complete(mut answer: Value) -> CallToolResult {
    // Only a job's answer can be had whole elsewhere; what a play shows is cut to its own measure.
    let job = answer.get("job").and_then(Value::as_str).map(resources::of_job);
    let whole = job.filter(|_| fit::fit(&mut answer));
    let mut result = CallToolResult::structured(answer);
    result.content.extend(whole.map(ContentBlock::resource_link));
    result
}

/// A result that the calling model can read and act on. Text only: clients that validate hold
/// structured content to the tool's output schema, also where it is an error.
pub(super) fn refusal(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

async fn tell(
    context: &RequestContext<RoleServer>,
    token: Option<ProgressToken>,
    told: u32,
    event: &Event,
) {
    let Some(token) = token else { return };
    let progress =
        ProgressNotificationParam::new(token, f64::from(told)).with_message(event.to_string());
    if context.peer.notify_progress(progress).await.is_err() {
        tracing::debug!("the client no longer takes progress");
    }
}
