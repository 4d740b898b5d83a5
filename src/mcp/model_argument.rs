//! How a tool's caller names the model that plays a role, and what it may take.

use crate::config::Player;
use crate::session::{Error, Job, Repository, Roles, Session};

/// Flattened into the arguments of a tool that a model can play in.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(super) struct ModelArguments {
    /// Who plays: MODEL or MODEL@PROVIDER of the settings, `configured` (the one that the settings name for the role) or
    /// `embedded` (no model). Default: the one that the user's own settings name, else embedded.
    #[serde(default)]
    #[schemars(with = "String")]
    model: Option<String>,
    /// Most tokens that a model may take; the call ends in an error before more are spent. Default: no end.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    budget_tokens: Option<u64>,
}

impl ModelArguments {
    pub(super) fn roles(
        self,
        session: &Session,
        (player, repository): (Player, &Repository),
        job: &Job,
    ) -> Result<Roles, Error> {
        let dir = repository.dir.as_deref().unwrap_or(&session.config().cwd);
        session.roles_with(dir, (player, self.model.as_deref()), self.budget_tokens, job)
    }
}
