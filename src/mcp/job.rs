//! The tool `job`: what became of work that a call began.

use super::repository_argument::RepositoryArguments;
use super::tool::{self, Effect, Entry, Notice};
use crate::session::{Error, Job, JobLine, Session, State, Work};
use serde_json::Value;
use std::sync::Arc;

/// Seconds that a call waits where it does not say.
const WAIT: f64 = 20.0;
/// Jobs that are listed.
const LISTED: u32 = 20;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Action {
    Wait,
    Status,
    Cancel,
    List,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    /// The job's id; not for list.
    #[serde(default)]
    #[schemars(with = "String")]
    job: Option<String>,
    /// wait: until it has ended, at most `wait_s`. status: at once. cancel: end it, and all that runs for it.
    /// list: the latest jobs of the repository. Default: wait.
    #[serde(default)]
    #[schemars(with = "Action")]
    action: Option<Action>,
    /// Seconds to wait, at most 50. Default: 20.
    #[serde(default)]
    #[schemars(with = "f64", range(min = 0, max = 50))]
    wait_s: Option<Value>,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Answer {
    /// The job; null for list.
    #[serde(flatten)]
    job: Option<JobLine>,
    /// What to call for the answer, where it is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// The latest jobs, newest first, without their answers; only for list.
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<Vec<JobLine>>,
}

pub(super) fn entry(others: Arc<Vec<Entry>>) -> Entry {
    let notice = Notice {
        name: "job",
        title: "Self-play: a job's answer",
        description: "Waits for a job that another tool began and gives its answer, tells how far it is, or \
                      cancels it. A job and its answer survive a restart of the server: one that was \
                      interrupted begins again when it is waited for.",
        effect: Effect::Adds,
    };
    Entry::with(&notice, move |session, arguments, job| run(session, &others, arguments, job))
}

fn run(
    session: &Arc<Session>,
    others: &[Entry],
    arguments: Arguments,
    job: &Job,
) -> Result<Answer, Error> {
    let repository = arguments.repository.repository()?;
    let action = arguments.action.unwrap_or(Action::Wait);
    if matches!(action, Action::List) {
        let jobs = Some(session.jobs(&repository, LISTED)?);
        return Ok(Answer { job: None, next: None, jobs });
    }
    let Some(id) = arguments.job else {
        return Err(Error::Usage(
            "name the job; the call that began it answered with its id".into(),
        ));
    };
    let line = match action {
        Action::Status | Action::List => session.job(&repository, &id)?,
        Action::Cancel => session.cancel_job(&repository, &id)?,
        Action::Wait => {
            let wait = tool::wait(arguments.wait_s, WAIT)?;
            session
                .resume_job(&repository, &id, |name, arguments| work(others, name, arguments))?;
            session.wait_for_job(&repository, &id, wait, job)?
        }
    };
    let running = matches!(line.state, State::Running | State::Interrupted);
    let next = running.then(|| tool::next(&line.job));
    Ok(Answer { job: Some(line), next, jobs: None })
}

fn work(others: &[Entry], name: &str, arguments: Value) -> Result<Work, Error> {
    if arguments["editor"] == true {
        let text = "an editor began this job, on text that was not saved; ask for it there again";
        return Err(Error::Usage(text.to_owned()));
    }
    let entry = others.iter().find(|entry| entry.tool.name == name);
    entry.and_then(|entry| entry.work(arguments)).unwrap_or_else(|| {
        Err(Error::Usage(format!(
            "the job is of another version of ssr-mcp, whose tool was {name:?}"
        )))
    })
}
