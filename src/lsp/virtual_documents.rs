//! What is shown of the store as documents: parts of bugs, and edits that no test noticed.

use super::commands::refused;
use super::shared::Shared;
use super::state::Known;
use super::types::{LspAny, ShowDocumentParams, Uri};
use super::work;
use crate::diff::Patch;
use percent_encoding::percent_decode_str;
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

pub(super) const SCHEME: &str = "ssr-mcp";

/// What a message box takes.
const SAID: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Bug,
    Weakening,
    Reversed,
    Unnoticed,
}

impl Part {
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Bug, Self::Weakening, Self::Reversed, Self::Unnoticed]
            .into_iter()
            .find(|part| part.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Weakening => "weakening",
            Self::Reversed => "reversed",
            Self::Unnoticed => "unnoticed",
        }
    }
}

/// `ssr-mcp:///bug/ID.diff?FOLDER`, which editors and their URI libraries spell alike.
fn uri_of(folder: &Path, part: Part, id: &str) -> Option<Uri> {
    let mut uri = url::Url::parse(&format!("{SCHEME}:///{}/{id}.diff", part.name())).ok()?;
    uri.set_query(Some(folder.to_str()?));
    Some(Uri::from(String::from(uri)))
}

/// The text behind one of our URIs.
pub(super) fn content(shared: &Shared, uri: &Uri) -> Result<String> {
    let unknown = || refused(format!("{} is no document of ours", uri.as_ref()));
    let parsed = url::Url::parse(uri.as_ref()).map_err(|_| unknown())?;
    if parsed.scheme() != SCHEME {
        return Err(unknown());
    }
    let (part, id) = parsed
        .path()
        .trim_start_matches('/')
        .strip_suffix(".diff")
        .and_then(|path| path.split_once('/'))
        .ok_or_else(unknown)?;
    let part = Part::named(part).ok_or_else(unknown)?;
    let query = percent_decode_str(parsed.query().ok_or_else(unknown)?);
    let folder = PathBuf::from(OsString::from_vec(query.collect()));
    text(&shared.state().known(&folder), part, id)
}

fn text(known: &Known, part: Part, id: &str) -> Result<String> {
    if part == Part::Unnoticed {
        let found = known.unnoticed.iter().find(|known| known.edit.edit.id == id);
        let found = found.ok_or_else(|| {
            refused(format!("the edit {id} is not known of the tree as it is; look for it again"))
        })?;
        return Ok(unnoticed(&found.edit.edit));
    }
    let bug = known.bug(id).ok_or_else(|| {
        refused(format!(
            "there is no bug {id} that may be shown; a bug that somebody is repairing is not shown"
        ))
    })?;
    let bytes = match part {
        Part::Bug | Part::Unnoticed => bug.bug.bug.clone(),
        Part::Weakening => bug.bug.weakening.clone(),
        Part::Reversed => {
            Patch::parse(&bug.bug.weakening).unwrap_or_default().reversed().to_bytes()
        }
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The edit, and what a test would have to see to notice it.
fn unnoticed(edit: &crate::unnoticed::Unnoticed) -> String {
    let mut text = format!(
        "No test notices this edit of {}, line {}: {}\n\n",
        edit.file, edit.line, edit.summary
    );
    if let Ok(evidence) = serde_json::to_string_pretty(&edit.evidence) {
        text.push_str("A call that does something else with it:\n");
        text.push_str(&evidence);
        text.push_str("\n\n");
    }
    if !edit.tests.is_empty() {
        text.push_str("Tests that execute these lines:\n");
        for test in &edit.tests {
            writeln!(text, "  {test}").ok();
        }
        text.push('\n');
    }
    text.push_str("A test that makes this call and looks at what comes of it would notice:\n\n");
    text.push_str(&edit.diff);
    text
}

/// Shows a document where the client can, and answers with it for those that show it themselves.
pub(super) fn show(
    shared: &Arc<Shared>,
    folder: &Path,
    part: Part,
    id: &str,
) -> Result<Option<LspAny>> {
    let (text, profile) = {
        let state = shared.state();
        (text(&state.known(folder), part, id)?, state.profile.clone())
    };
    let uri = uri_of(folder, part, id)
        .ok_or_else(|| refused("the folder's name is not UTF-8".to_owned()))?;
    if profile.virtual_documents && profile.shows_documents {
        let (client, uri) = (shared.client.clone(), uri.clone());
        shared.spawn(async move {
            let params =
                ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: None };
            client.show_document(params).await.ok();
        });
    } else if !profile.ours {
        let mut end = text.len().min(SAID);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        work::tell(shared, text[..end].to_owned());
    }
    Ok(Some(json!({ "uri": uri, "language": "diff", "text": text })))
}
