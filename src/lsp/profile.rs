//! What the client can do, read once from `initialize`.

use super::types::{InitializeParams, PositionEncodingKind};

/// How a client counts the characters of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    /// What every client can.
    #[default]
    Utf16,
    Utf32,
}

#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is one capability of the client")]
pub(super) struct Profile {
    pub(super) encoding: Encoding,
    /// Asks for diagnostics itself, also when told to ask again; else they are sent.
    pub(super) pulls_diagnostics: bool,
    pub(super) progress: bool,
    /// Makes edits that the server asks for.
    pub(super) applies_edits: bool,
    /// Edits with versions.
    pub(super) document_changes: bool,
    /// Takes actions; else only commands.
    pub(super) action_literals: bool,
    pub(super) disabled_actions: bool,
    pub(super) refreshes_lenses: bool,
    pub(super) refreshes_diagnostics: bool,
    pub(super) refreshes_hints: bool,
    pub(super) shows_documents: bool,
    /// Opens documents of our own scheme.
    pub(super) virtual_documents: bool,
    /// Knows our own notifications (`ssrMcp/changed`, `ssrMcp/jobEnded`), and shows what commands answer itself.
    pub(super) ours: bool,
    /// Shows the ends of jobs itself, too: they go into no message box.
    pub(super) says: bool,
}

impl Profile {
    pub(super) fn of(params: &InitializeParams) -> Self {
        let all = &params.capabilities;
        let workspace = all.workspace.clone().unwrap_or_default();
        let text = all.text_document.clone().unwrap_or_default();
        let window = all.window.unwrap_or_default();
        let own = |name: &str| all.experimental.as_ref().is_some_and(|own| own[name] == true);
        let action = text.code_action.unwrap_or_default();
        let offered =
            all.general.as_ref().and_then(|general| general.position_encodings.as_deref());
        let refreshes_diagnostics =
            workspace.diagnostics.is_some_and(|found| found.refresh_support == Some(true));
        Self {
            encoding: Encoding::chosen(offered.unwrap_or_default()),
            // What one document is told depends on the text of others: a client that asks only when the
            // document itself changes (Neovim 0.11) is sent it.
            pulls_diagnostics: text.diagnostic.is_some() && refreshes_diagnostics,
            progress: window.work_done_progress == Some(true),
            applies_edits: workspace.apply_edit == Some(true),
            document_changes: workspace
                .workspace_edit
                .is_some_and(|edit| edit.document_changes == Some(true)),
            action_literals: action.code_action_literal_support.is_some(),
            disabled_actions: action.disabled_support == Some(true),
            refreshes_lenses: workspace
                .code_lens
                .is_some_and(|lens| lens.refresh_support == Some(true)),
            refreshes_diagnostics,
            refreshes_hints: workspace
                .inlay_hint
                .is_some_and(|hint| hint.refresh_support == Some(true)),
            shows_documents: window.show_document.is_some_and(|show| show.support),
            virtual_documents: workspace.text_document_content.is_some(),
            ours: own("ssrMcp"),
            says: own("ssrMcp") && own("ssrMcpSays"),
        }
    }
}

impl Encoding {
    /// UTF-8 where it is offered: positions are then those of our own.
    fn chosen(offered: &[PositionEncodingKind]) -> Self {
        let known = |kind: &PositionEncodingKind| match kind {
            PositionEncodingKind::UTF8 => Some(Self::Utf8),
            PositionEncodingKind::UTF16 => Some(Self::Utf16),
            PositionEncodingKind::UTF32 => Some(Self::Utf32),
            PositionEncodingKind::Custom(_) => None,
        };
        let mut known: Vec<Self> = offered.iter().filter_map(known).collect();
        known.sort_by_key(|encoding| *encoding != Self::Utf8);
        known.first().copied().unwrap_or_default()
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }
}
