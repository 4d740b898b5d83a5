//! Why a verb gave no answer, in one sentence for a person.

/// Told once, at the face.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for cannot be used as it is: the caller can correct it.
    #[error("{0}")]
    Usage(String),
    /// The harness could not do its work: never evidence about the code under test.
    #[error("{}", sentence(.0))]
    Harness(anyhow::Error),
    /// A person has to put something right; what was played is kept.
    #[error("{0}")]
    NeedsPerson(String),
    /// The budget is spent; what was played is kept.
    #[error("{0}")]
    OutOfBudget(String),
    /// Ctrl-C, or a client that no longer wants the answer.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    pub(super) fn harness(error: impl Into<anyhow::Error>) -> Self {
        Self::Harness(error.into())
    }

    /// A word for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Usage(_) => "usage",
            Self::Harness(_) => "harness",
            Self::NeedsPerson(_) => "needs_person",
            Self::OutOfBudget(_) => "out_of_budget",
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<crate::config::Error> for Error {
    fn from(error: crate::config::Error) -> Self {
        Self::harness(error)
    }
}

/// The chain of causes as one sentence; a cause that an outer text tells already is not repeated.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
