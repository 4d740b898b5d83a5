//! Jobs: work that outlives the call that asked for it.
//!
//! A job is in the store from its beginning, with all that repeats it, and its answer once it has ended.
//! Who works on it holds the lock of its file: an open job that nobody has locked was interrupted, and is
//! begun again by whoever asks for it next.

use super::lock::{locked, remove};
use super::open::create_private;
use super::record::{Record, now};
use super::{Error, Event, Job, Repository, Session};
use crate::sandbox::Cancel;
use crate::store::{JobState, StoredJob};
use crate::tree::hex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Jobs of a process that are worked on at once, each of another workspace: one runs tests on all cores. Others
/// wait.
const AT_ONCE: usize = 2;
/// How often the store is told of progress, and a job of another process is looked at.
const TICK: Duration = Duration::from_millis(250);
/// What a cancelled job gets to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a job does: a verb with its request.
pub type Work = Box<dyn FnOnce(&Session, &Job) -> Result<Value, Error> + Send>;

pub struct JobRequest {
    pub repository: Repository,
    pub tool: String,
    /// As the caller gave them: equal calls share an open job.
    pub given: Value,
    /// The same with whatever else repeats the work, such as a seed.
    pub arguments: Value,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct JobLine {
    /// The job's id.
    pub job: String,
    /// The tool that was called.
    pub tool: String,
    /// interrupted: the process that worked on it is gone, and it begins again when it is waited for.
    pub state: State,
    /// Since it began; in all, once it has ended.
    pub seconds: u64,
    /// What it does, or did last.
    pub progress: String,
    /// The tool's answer; null until the job is done.
    pub result: Option<Value>,
    /// Why there is no answer; null unless the job failed.
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum State {
    Running,
    Interrupted,
    Done,
    Failed,
    Cancelled,
}

/// The jobs that this process works on.
#[derive(Debug, Default)]
pub(super) struct Working {
    live: Mutex<BTreeMap<String, Arc<Live>>>,
    /// State directories of the workspaces that jobs are worked on for.
    busy: Mutex<BTreeSet<PathBuf>>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Live {
    cancel: Cancel,
    told: Mutex<Told>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Told {
    events: Vec<String>,
    /// When the store was told last.
    kept: Option<Instant>,
    ended: bool,
}

impl Session {
    /// Begins a job, or finds the open one of the same call.
    pub fn begin_job(self: &Arc<Self>, request: JobRequest, work: Work) -> Result<JobLine, Error> {
        let record = Record::open(&self.workspace(&request.repository)?)?;
        let job = StoredJob {
            id: new_id()?,
            key: key(&request.tool, &request.given),
            tool: request.tool,
            arguments: request.arguments.to_string(),
            state: JobState::Open,
            progress: "it begins".to_owned(),
            begun: now(),
            ended: None,
            outcome: None,
        };
        // Locked before it can be seen: nobody takes it for interrupted.
        let Some(lock) = locked(&dir(&record)?, &job.id)? else {
            return Err(Error::harness(anyhow::anyhow!("a new job's id is taken; call again")));
        };
        if let Some(open) = record.store.begin_job(&job).map_err(Error::harness)? {
            remove(&lock.0)?;
            drop(lock);
            self.take_up(record, &open, work)?;
            return self.job(&request.repository, &open.id);
        }
        let line = line(&job, State::Running);
        self.work_on(record, job, lock, work);
        Ok(line)
    }

    /// Begins an interrupted job again. `work` makes what its tool does of its arguments.
    pub fn resume_job(
        self: &Arc<Self>,
        repository: &Repository,
        id: &str,
        work: impl FnOnce(&str, Value) -> Result<Work, Error>,
    ) -> Result<(), Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        let job = stored(&record, id)?;
        if job.state != JobState::Open || self.working.find(id).is_some() {
            return Ok(());
        }
        let arguments = serde_json::from_str(&job.arguments).map_err(Error::harness)?;
        let work = work(&job.tool, arguments)?;
        self.take_up(record, &job, work)
    }

    fn take_up(self: &Arc<Self>, record: Record, job: &StoredJob, work: Work) -> Result<(), Error> {
        if self.working.find(&job.id).is_some() {
            return Ok(());
        }
        // Held: another process works on it.
        let Some(lock) = locked(&dir(&record)?, &job.id)? else { return Ok(()) };
        // It may have ended between the two looks.
        let job = stored(&record, &job.id)?;
        if job.state == JobState::Open {
            self.work_on(record, job, lock, work);
            Ok(())
        } else {
            remove(&lock.0)
        }
    }

    fn work_on(
        self: &Arc<Self>,
        record: Record,
        job: StoredJob,
        lock: (PathBuf, File),
        work: Work,
    ) {
        let live = Arc::new(Live::default());
        self.working.live().insert(job.id.clone(), Arc::clone(&live));
        let session = Arc::clone(self);
        std::thread::spawn(move || {
            let record = Arc::new(record);
            let mut end = End {
                session: &session,
                record: &record,
                live: &live,
                id: &job.id,
                lock,
                ended: None,
            };
            let room = session.working.enter(&record.state, &live.cancel);
            end.ended = Some(match room {
                Some(_room) => work(&session, &told_job(&live, &record, &job.id)),
                None => Err(Error::Cancelled),
            });
        });
    }

    pub fn job(&self, repository: &Repository, id: &str) -> Result<JobLine, Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        let job = stored(&record, id)?;
        let state = self.state_of(&record, &job)?;
        Ok(line(&job, state))
    }

    /// The latest jobs, newest first, without their answers.
    pub fn jobs(&self, repository: &Repository, limit: u32) -> Result<Vec<JobLine>, Error> {
        let record = Record::open(&self.workspace(repository)?)?;
        let jobs = record.store.jobs(limit).map_err(Error::harness)?;
        let told = |job: &StoredJob| {
            let state = self.state_of(&record, job)?;
            Ok(JobLine { result: None, ..line(job, state) })
        };
        jobs.iter().map(told).collect()
    }

    fn state_of(&self, record: &Record, job: &StoredJob) -> Result<State, Error> {
        Ok(match job.state {
            JobState::Done => State::Done,
            JobState::Failed => State::Failed,
            JobState::Cancelled => State::Cancelled,
            JobState::Open if self.working.find(&job.id).is_some() => State::Running,
            JobState::Open => match locked(&dir(record)?, &job.id)? {
                None => State::Running,
                Some(_) => State::Interrupted,
            },
        })
    }

    /// Waits until a job has ended, at most so long, and tells `waiting` what the job tells meanwhile. Where
    /// whoever waits is cancelled, so is the job.
    pub fn wait_for_job(
        &self,
        repository: &Repository,
        id: &str,
        patience: Duration,
        waiting: &Job,
    ) -> Result<JobLine, Error> {
        let until = Instant::now() + patience;
        let mut heard = 0;
        loop {
            let now = Instant::now();
            let left = until.saturating_duration_since(now).min(TICK);
            let Some(live) = self.working.find(id) else {
                let job = self.job(repository, id)?;
                if job.state != State::Running || left.is_zero() {
                    return Ok(job);
                }
                std::thread::sleep(left);
                continue;
            };
            if waiting.cancel.is_cancelled() {
                return self.cancel_job(repository, id);
            }
            for event in live.wait(&mut heard, left) {
                waiting.tell(Event::Step(event));
            }
            if Instant::now() >= until {
                return self.job(repository, id);
            }
        }
    }

    /// Ends a job; what runs for it is killed.
    pub fn cancel_job(&self, repository: &Repository, id: &str) -> Result<JobLine, Error> {
        if let Some(live) = self.working.find(id) {
            live.cancel.cancel();
            let until = Instant::now() + PATIENCE;
            let mut heard = usize::MAX;
            while self.working.find(id).is_some() && Instant::now() < until {
                live.wait(&mut heard, TICK);
            }
        } else {
            // A process that works on it learns it when it next tells how far it is.
            let record = Record::open(&self.workspace(repository)?)?;
            let job = stored(&record, id)?;
            record
                .store
                .end_job(&job.id, JobState::Cancelled, now(), "cancelled")
                .map_err(Error::harness)?;
        }
        self.job(repository, id)
    }
}

/// Ends the job however the thread that works on it ends.
struct End<'a> {
    session: &'a Session,
    record: &'a Record,
    live: &'a Live,
    id: &'a str,
    lock: (PathBuf, File),
    /// `None`: the work did not come back, which is a fault of ours.
    ended: Option<Result<Value, Error>>,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        let (state, outcome) = match self.ended.take() {
            Some(Ok(answer)) => (JobState::Done, answer.to_string()),
            Some(Err(Error::Cancelled)) => (JobState::Cancelled, "cancelled".to_owned()),
            Some(Err(error)) => (JobState::Failed, error.to_string()),
            None => {
                (JobState::Failed, "ssr-mcp has a fault here; its standard error says more".into())
            }
        };
        if let Err(error) = self.record.store.end_job(self.id, state, now(), &outcome) {
            tracing::warn!("the end of job {} is not kept: {error}", self.id);
        }
        if let Err(error) = remove(&self.lock.0) {
            tracing::warn!("{error}");
        }
        self.session.working.live().remove(self.id);
        self.live.told().ended = true;
        self.live.changed.notify_all();
    }
}

/// Passes on what the work tells: to whoever waits, and now and then to the store.
fn told_job(live: &Arc<Live>, record: &Arc<Record>, id: &str) -> Job {
    let (listening, record, id) = (Arc::clone(live), Arc::clone(record), id.to_owned());
    Job::new(live.cancel.clone(), move |event| {
        let text = event.to_string();
        let mut told = listening.told();
        told.events.push(text.clone());
        let due = told.kept.is_none_or(|kept| kept.elapsed() >= TICK);
        if due {
            told.kept = Some(Instant::now());
        }
        drop(told);
        listening.changed.notify_all();
        // Progress that is not kept costs nothing but itself.
        if due && matches!(record.store.note_job(&id, &text), Ok(false)) {
            listening.cancel.cancel();
        }
    })
}

impl Working {
    fn live(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Option<Arc<Live>> {
        self.live().get(id).cloned()
    }

    /// Waits for room; `None` where the job was cancelled first.
    fn enter(&self, workspace: &Path, cancel: &Cancel) -> Option<Room<'_>> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        while busy.len() >= AT_ONCE || busy.contains(workspace) {
            if cancel.is_cancelled() {
                return None;
            }
            let waited = self.freed.wait_timeout(busy, TICK);
            busy = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        busy.insert(workspace.to_owned());
        Some(Room { working: self, workspace: workspace.to_owned() })
    }
}

/// One of the jobs at once.
struct Room<'a> {
    working: &'a Working,
    workspace: PathBuf,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        let busy = self.working.busy.lock();
        busy.unwrap_or_else(PoisonError::into_inner).remove(&self.workspace);
        self.working.freed.notify_all();
    }
}

impl Live {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was told since `heard`; waits so long for the first of it, or for the end.
    fn wait(&self, heard: &mut usize, patience: Duration) -> Vec<String> {
        let told = self.told();
        let nothing = |told: &mut Told| told.events.len() <= *heard && !told.ended;
        let waited = self.changed.wait_timeout_while(told, patience, nothing);
        let told = waited.unwrap_or_else(PoisonError::into_inner).0;
        let new = told.events.get(*heard..).map(<[String]>::to_vec).unwrap_or_default();
        *heard = told.events.len();
        new
    }
}

fn line(job: &StoredJob, state: State) -> JobLine {
    let seconds = job.ended.unwrap_or_else(now).saturating_sub(job.begun);
    let outcome = job.outcome.as_deref();
    JobLine {
        job: job.id.clone(),
        tool: job.tool.clone(),
        state,
        seconds: u64::try_from(seconds).unwrap_or(0),
        progress: job.progress.clone(),
        result: outcome.filter(|_| state == State::Done).and_then(|t| serde_json::from_str(t).ok()),
        error: outcome.filter(|_| state == State::Failed).map(str::to_owned),
    }
}

fn stored(record: &Record, id: &str) -> Result<StoredJob, Error> {
    record.store.job(id).map_err(Error::harness)?.ok_or_else(|| {
        Error::usage(format!(
            "this repository has no job {id:?}; ids are those that calls answered with, and jobs that ended \
             long ago are forgotten"
        ))
    })
}

fn dir(record: &Record) -> Result<PathBuf, Error> {
    let dir: &Path = &record.state.join("jobs");
    create_private(dir)?;
    Ok(dir.to_owned())
}

/// Equal for equal calls; the order of arguments does not matter.
fn key(tool: &str, given: &Value) -> String {
    let sorted: BTreeMap<&String, &Value> = given.as_object().into_iter().flatten().collect();
    let text = serde_json::to_string(&sorted).unwrap_or_default();
    hex(&Sha256::new().chain_update(tool).chain_update([0]).chain_update(text).finalize())
}

/// A handle that nobody guesses: 128 random bits.
pub(super) fn new_id() -> Result<String, Error> {
    let mut bytes = [0; 16];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    match got {
        Ok(16) => Ok(hex(&bytes)),
        Ok(_) => Err(Error::harness(anyhow::anyhow!("the system gave too few random bytes"))),
        Err(errno) => Err(Error::harness(anyhow::Error::from(errno))),
    }
}
