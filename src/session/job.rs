//! One piece of work that somebody waits for: how to end it, and whom to tell how far it is.

use crate::agent;
use crate::episode::Progress;
use crate::sandbox::Cancel;
use std::sync::Arc;

/// What a waiting person is told. Never needed to understand the answer.
#[derive(Clone, Debug)]
pub enum Event {
    /// A step that may take a while begins, e.g. "running the tests twice for the baseline".
    Step(String),
    /// Round `number` (from 1) begins, of so many where that is planned.
    Round {
        number: usize,
        of: Option<usize>,
    },
    Injected {
        summary: String,
    },
    Checking,
    Checked {
        valid: bool,
    },
    Attempted {
        number: usize,
        solved: bool,
    },
}

impl From<Progress> for Event {
    fn from(progress: Progress) -> Self {
        match progress {
            Progress::Injecting => Self::Step("looking for a bug".to_owned()),
            Progress::Injected(summary) => Self::Injected { summary },
            Progress::Checking => Self::Checking,
            Progress::Checked { valid } => Self::Checked { valid },
            Progress::Attempted { index, solved } => Self::Attempted { number: index + 1, solved },
        }
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Step(text) => f.write_str(text),
            Self::Round { number, of: Some(of) } => write!(f, "round {number} of {of}"),
            Self::Round { number, of: None } => write!(f, "round {number}"),
            Self::Injected { summary } => write!(f, "a bug to check: {summary}"),
            Self::Checking => f.write_str("checking the artifact"),
            Self::Checked { valid: true } => f.write_str("every check passed"),
            Self::Checked { valid: false } => f.write_str("a check failed"),
            Self::Attempted { number, solved: true } => write!(f, "attempt {number}: solved"),
            Self::Attempted { number, solved: false } => write!(f, "attempt {number}: not solved"),
        }
    }
}

type Listener = Arc<dyn Fn(Event) + Send + Sync>;

/// Ends when its cancel flag is set; never outlives the session that runs it.
pub struct Job {
    pub cancel: Cancel,
    /// The program that asks, as it named itself.
    pub client: Option<String>,
    listener: Listener,
}

impl Job {
    pub fn new(cancel: Cancel, listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self { cancel, client: None, listener: Arc::new(listener) }
    }

    /// The same job for whom the bug must not be told.
    pub(super) fn discreet(&self) -> Self {
        let listener = Arc::clone(&self.listener);
        let discreet = move |event| match event {
            Event::Injected { .. } => listener(Event::Step("a bug to check".to_owned())),
            event => listener(event),
        };
        let (cancel, client) = (self.cancel.clone(), self.client.clone());
        Self { cancel, client, listener: Arc::new(discreet) }
    }

    pub(super) fn tell(&self, event: impl Into<Event>) {
        (self.listener)(event.into());
    }

    pub(super) fn step(&self, text: &str) {
        self.tell(Event::Step(text.to_owned()));
    }

    /// The same where models may have played.
    pub(super) fn stopped(&self, error: agent::Error) -> super::Error {
        match error {
            _ if self.cancel.is_cancelled() => super::Error::Cancelled,
            agent::Error::OutOfBudget { .. } => super::Error::OutOfBudget(error.to_string()),
            _ if error.needs_person() => super::Error::NeedsPerson(error.to_string()),
            agent::Error::Harness(error) => self.failed(error),
            error => self.failed(error),
        }
    }

    /// An error of a job that was cancelled is the cancellation, whatever it says.
    pub(super) fn failed(&self, error: impl Into<anyhow::Error>) -> super::Error {
        if self.cancel.is_cancelled() {
            super::Error::Cancelled
        } else {
            super::Error::harness(error)
        }
    }
}
