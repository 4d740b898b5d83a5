//! Edits that are offered of a bug: in an action, or asked of the client by a command where its actions carry
//! none.

use super::actions::short;
use super::commands::{Call, refused};
use super::edits::{Shown, workspace_edit};
use super::profile::Profile;
use super::state::KnownBug;
use super::types::{LspAny, WorkspaceEdit};
use super::work;
use crate::diff::Patch;
use serde_json::json;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

/// Which edit of a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proposed {
    /// Puts the bug in.
    Bug,
    /// Takes it out again.
    Original,
    /// The repair that an attempt found.
    Repair,
}

impl Proposed {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Original => "original",
            Self::Repair => "repair",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Bug, Self::Original, Self::Repair].into_iter().find(|edit| edit.name() == name)
    }

    /// `None`: no attempt has found one.
    pub(super) fn patch(self, known: &KnownBug) -> Option<Patch> {
        match self {
            Self::Bug => Some(known.patch.clone()),
            Self::Original => Some(known.patch.reversed()),
            Self::Repair => Patch::parse(known.bug.repair.as_ref()?).ok(),
        }
    }
}

/// The edit that a patch is of what is shown, or why it is none.
pub(super) fn edit(
    shown: &Shown<'_>,
    patch: &Patch,
    profile: &Profile,
) -> std::result::Result<WorkspaceEdit, String> {
    let changes =
        patch.apply(shown).map_err(|why| format!("{why}; another file of it is not as it was"))?;
    workspace_edit(shown, &changes, profile).ok_or_else(|| "it adds or deletes a file".to_owned())
}

impl Call {
    /// Asks the client to make an edit. It says no where a document has changed since: an edit names the
    /// versions that it was made for.
    pub(super) fn apply(&self) -> Result<Option<LspAny>> {
        let artifact = self.artifact()?;
        let wanted = self.argument.edit.as_deref().unwrap_or_default();
        let wanted = Proposed::named(wanted).ok_or_else(|| {
            refused(format!("there is no edit {wanted:?}; there are bug, original and repair"))
        })?;
        let (documents, known, profile) = {
            let state = self.shared.state();
            (state.documents_in(&self.folder), state.known(&self.folder), state.profile.clone())
        };
        let id = short(&artifact);
        if !profile.applies_edits {
            return Err(refused(
                "this editor takes no edits that its server asks for; show the part and make the edit by hand"
                    .to_owned(),
            ));
        }
        let known = known.bug(&artifact).ok_or_else(|| {
            refused(format!("there is no bug {id} of the folder that may be shown"))
        })?;
        let patch = wanted
            .patch(known)
            .ok_or_else(|| refused(format!("no attempt has repaired bug {id}; solve it first")))?;
        let shown = Shown { folder: &self.folder, documents: &documents };
        let edit = edit(&shown, &patch, &profile)
            .map_err(|why| refused(format!("the edit is not made: {why}")))?;
        let shared = Arc::clone(&self.shared);
        // Not waited for: the client may answer only once it was answered itself.
        self.shared.spawn(async move {
            let reason = match shared.client.apply_edit(edit).await {
                Ok(answer) if answer.applied => return,
                Ok(answer) => answer.failure_reason.unwrap_or_else(|| "it said no".to_owned()),
                Err(error) => error.to_string(),
            };
            work::tell(&shared, format!("Self-play: the editor did not make the edit: {reason}"));
        });
        Ok(Some(json!({ "artifact": artifact, "edit": wanted.name() })))
    }
}
