//! Why a bug is not practised on: nobody is to look for what cannot be found.

/// Refused before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("unplayable: {0}; an artifact fits the tree only that it was made on")]
    Unplayable(String),
    #[error("not proven: the check {check} failed ({detail})")]
    NotProven { check: String, detail: String },
    #[error("unstable: the bug made {found} fail, and the checks had found {expected}")]
    Unstable { found: String, expected: String },
    #[error("impossible: even the bug's own reversal is graded as no repair ({0})")]
    Impossible(String),
}

impl Unfit {
    /// A run of the bug under the original tests against what the checks found; `None` where they agree.
    #[must_use]
    pub fn by_run(found: &[String], expected: &[String]) -> Option<Self> {
        let told = |tests: &[String]| match tests {
            [] => "no test".to_owned(),
            [one] => one.clone(),
            [first, ..] => format!("{} tests, first {first}", tests.len()),
        };
        (found != expected).then(|| Self::Unstable { found: told(found), expected: told(expected) })
    }
}
