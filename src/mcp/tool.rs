//! What a tool is: how it is announced, and the verb it calls.

use super::repository_argument::RepositoryArguments;
use super::schema;
use crate::config;
use crate::session::{Error, Job, JobLine, JobRequest, Session, State, Work};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Longest that a call waits, seconds: clients give up after a minute, and progress does not move that.
pub(super) const LONGEST_WAIT: f64 = 50.0;

/// What is wrong with a call shows in a moment, and is its answer.
const AT_ONCE: Duration = Duration::from_millis(300);

type Now = Box<dyn Fn(&Arc<Session>, JsonObject, &Job) -> Result<Value, Error> + Send + Sync>;
type Later = Arc<dyn Fn(JsonObject) -> Result<Work, Error> + Send + Sync>;

pub(super) struct Entry {
    pub(super) tool: Tool,
    run: Run,
}

enum Run {
    /// Answers in a moment.
    Now(Now),
    /// May take minutes: a job. Makes its work of the arguments; the seconds that a call waits where it does
    /// not say.
    Later(Later, f64),
}

/// What a tool does to the world, as the protocol's hints say it.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Computes an answer; runs, if any, leave nothing behind.
    Reads,
    /// Adds to the state directory; the same call may give another answer.
    Adds,
    /// The same, and may ask a model that the user configured: nothing else reaches out of this machine.
    Asks,
    /// Changes the user's own files.
    Writes,
}

/// How a tool is announced.
pub(super) struct Notice {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: Effect,
}

impl Entry {
    /// A tool that answers in a moment. `I` is decoded from the arguments, `O` encoded as the answer.
    pub(super) fn new<I, O>(
        notice: &Notice,
        verb: fn(&Session, I, &Job) -> Result<O, Error>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        Self::with(notice, move |session, input, job| verb(session, input, job))
    }

    /// The same of a verb that begins work which outlives the call.
    pub(super) fn with<I, O>(
        notice: &Notice,
        verb: impl Fn(&Arc<Session>, I, &Job) -> Result<O, Error> + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let run = move |session: &Arc<Session>, arguments: JsonObject, job: &Job| {
            encode(verb(session, decode(arguments)?, job)?)
        };
        let tool = notice.tool(schema::input::<I>(), schema::output::<O>());
        Self { tool, run: Run::Now(Box::new(run)) }
    }

    /// A tool whose work is a job: the call answers with the job's id, and with the answer if it is there
    /// within `wait_s`.
    pub(super) fn job<I, O>(
        notice: &Notice,
        verb: fn(&Session, I, &Job) -> Result<O, Error>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        Self::job_waiting(notice, 0.0, verb)
    }

    /// The same of work that mostly takes a moment: `wait` seconds are what a call waits that does not say.
    pub(super) fn job_waiting<I, O>(
        notice: &Notice,
        wait: f64,
        verb: fn(&Session, I, &Job) -> Result<O, Error>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let later = move |arguments: JsonObject| {
            let input: I = decode(arguments)?;
            let work = move |session: &Session, job: &Job| encode(verb(session, input, job)?);
            Ok(Box::new(work) as Work)
        };
        let tool = notice.tool(schema::job_input::<I>(wait), schema::job_output::<O>());
        Self { tool, run: Run::Later(Arc::new(later), wait) }
    }

    /// Answers a call.
    pub(super) fn call(
        &self,
        session: &Arc<Session>,
        arguments: JsonObject,
        job: &Job,
    ) -> Result<Value, Error> {
        let (arguments, notes) = split(&self.tool.input_schema, arguments);
        let answer = match &self.run {
            Run::Now(run) => run(session, arguments, job)?,
            Run::Later(later, wait) => self.begin(later, *wait, session, arguments, job)?,
        };
        Ok(with_notes(answer, &notes))
    }

    /// The work of an interrupted job; `None` for tools that answer in a moment.
    pub(super) fn work(&self, arguments: Value) -> Option<Result<Work, Error>> {
        let Run::Later(later, _) = &self.run else { return None };
        Some(decode_object(arguments).and_then(|arguments| later(arguments)))
    }

    fn begin(
        &self,
        later: &Later,
        usual: f64,
        session: &Arc<Session>,
        mut arguments: JsonObject,
        job: &Job,
    ) -> Result<Value, Error> {
        let wait = wait(arguments.remove("wait_s"), usual)?;
        let given = Value::Object(arguments.clone());
        // What the work would otherwise take from this moment or this connection.
        for (name, value) in [
            ("seed", Some(json!(config::seed_from_clock()))),
            ("player", job.client.as_ref().map(|name| json!(name))),
        ] {
            let known = self.tool.input_schema.get("properties").and_then(|all| all.get(name));
            if let (Some(_), Some(value), false) = (known, value, arguments.contains_key(name)) {
                arguments.insert(name.to_owned(), value);
            }
        }
        let repository = decode::<RepositoryArguments>(arguments.clone())?.repository()?;
        let work = later(arguments.clone())?;
        let request = JobRequest {
            repository: repository.clone(),
            tool: self.tool.name.to_string(),
            given,
            arguments: Value::Object(arguments),
        };
        let begun = session.begin_job(request, work)?;
        let line = session.wait_for_job(&repository, &begun.job, wait.max(AT_ONCE), job)?;
        match line.error {
            Some(error) => Err(Error::Usage(error)),
            None => told(line),
        }
    }
}

/// What to call for a job's answer.
pub(super) fn next(id: &str) -> String {
    format!("call the tool job with job = {id}: it waits for the answer")
}

/// A job as the caller is told of it.
fn told(line: JobLine) -> Result<Value, Error> {
    let next = matches!(line.state, State::Running).then(|| next(&line.job));
    let mut answer = encode(line)?;
    if let (Value::Object(answer), Some(next)) = (&mut answer, next) {
        answer.insert("next".to_owned(), json!(next));
    }
    Ok(answer)
}

/// Reads how long a call is to wait.
pub(super) fn wait(argument: Option<Value>, default: f64) -> Result<Duration, Error> {
    let seconds = argument.map_or(Some(default), |value| value.as_f64());
    match seconds {
        Some(seconds) if seconds >= 0.0 => Ok(Duration::from_secs_f64(seconds.min(LONGEST_WAIT))),
        _ => Err(Error::Usage("wait_s is a number of seconds, from 0".to_owned())),
    }
}

pub(super) fn decode<I: DeserializeOwned>(arguments: JsonObject) -> Result<I, Error> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| Error::Usage(misfit(&error)))
}

fn decode_object(arguments: Value) -> Result<JsonObject, Error> {
    serde_json::from_value(arguments).map_err(|error| Error::Harness(error.into()))
}

fn encode(answer: impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(answer).map_err(|error| Error::Harness(error.into()))
}

impl Notice {
    fn tool(&self, input: Arc<JsonObject>, output: Arc<JsonObject>) -> Tool {
        let reads = matches!(self.effect, Effect::Reads);
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(reads)
            .destructive(matches!(self.effect, Effect::Writes))
            .idempotent(reads)
            .open_world(matches!(self.effect, Effect::Asks));
        Tool::new(self.name, self.description, input)
            .with_title(self.title)
            .with_raw_output_schema(output)
            .with_annotations(annotations)
    }
}

/// In words of the schema: a caller does not know the names of our types.
fn misfit(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.replace("usize", "a whole number").replace("u64", "a whole number");
    format!("the arguments do not fit: {}; see the tool's schema", text.replace("f64", "a number"))
}

/// Takes unknown arguments out, with a note each: some clients add keys of their own to every call.
fn split(schema: &JsonObject, arguments: JsonObject) -> (JsonObject, Vec<String>) {
    let known =
        |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
    let (mut kept, mut notes) = (JsonObject::new(), Vec::new());
    for (name, value) in arguments {
        if known(&name) {
            kept.insert(name, value);
        } else {
            notes.push(format!("the argument {name:?} is unknown and was ignored"));
        }
    }
    (kept, notes)
}

fn with_notes(mut answer: Value, notes: &[String]) -> Value {
    if let (Value::Object(answer), false) = (&mut answer, notes.is_empty()) {
        answer.insert("notes".to_owned(), json!(notes));
    }
    answer
}
