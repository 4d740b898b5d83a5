//! How a tool's caller names a round of practice.

use crate::session::{PracticeRef, Repository};

/// Flattened into a tool's arguments, because flat schemas are what every client takes.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(super) struct PracticeArguments {
    /// The round's id, or the beginning of it. Default: the open one that was begun last.
    #[serde(default)]
    #[schemars(with = "String")]
    practice: Option<String>,
    /// Path of the repository. Default: the server's working directory.
    #[serde(default)]
    #[schemars(with = "String")]
    repo: Option<String>,
}

impl PracticeArguments {
    pub(super) fn reference(self) -> PracticeRef {
        let repository = Repository { dir: self.repo.map(Into::into), ..Repository::default() };
        PracticeRef { repository, id: self.practice }
    }
}
