//! How a tool's caller names a play.

use crate::session::PlayRef;

/// Flattened into a tool's arguments, because flat schemas are what every client takes.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(super) struct PlayArguments {
    /// The play's id, as `play_begin` gave it.
    play: String,
    /// Path of the repository that the play was begun in. Needed only after a restart of the server, and
    /// only if it is not the server's working directory.
    #[serde(default)]
    #[schemars(with = "String")]
    repo: Option<String>,
}

impl PlayArguments {
    pub(super) fn reference(self) -> PlayRef {
        PlayRef { id: self.play, repo: self.repo.map(Into::into) }
    }
}
