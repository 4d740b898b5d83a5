//! Inlay hints: how hard the bugs of a function were.

use super::actions::short;
use super::shared::Shared;
use super::state::KnownBug;
use super::types::{InlayHint, InlayHintParams, Label, Position};

pub(super) async fn inlay_hints(
    shared: &Shared,
    params: InlayHintParams,
) -> Option<Vec<InlayHint>> {
    let (path, document) = shared.document(&params.text_document.uri).await?;
    let known = {
        let state = shared.state();
        if !state.settings.inlay_hints {
            return None;
        }
        state.known(&state.home(&path)?.folder)
    };
    let reading = document.reading.as_ref()?;
    let (first, last) = (params.range.start.line, params.range.end.line);
    let mut hints = Vec::new();
    for function in &reading.outline.functions {
        if function.first < first || function.first > last {
            continue;
        }
        let here = reading.marks.bugs_at(function.first, function.last);
        let said: Vec<String> =
            here.filter_map(|mark| said(known.bug(&mark.id)?)).take(2).collect();
        if !said.is_empty() {
            hints.push(InlayHint {
                position: end_of_line(&document.text, function.first),
                label: Label::String(said.join(", ")),
                padding_left: Some(true),
                kind: None,
                text_edits: None,
                tooltip: None,
                padding_right: None,
                data: None,
            });
        }
    }
    Some(hints)
}

/// `None` where nobody has tried it.
fn said(known: &KnownBug) -> Option<String> {
    let bug = &known.bug;
    let mut said: Vec<String> = bug.rating.clone().into_iter().collect();
    if bug.attempts > 0 {
        said.push(format!("solved {} of {}", bug.solved, bug.attempts));
    }
    (!said.is_empty()).then(|| format!("bug {}: {}", short(&bug.artifact), said.join(", ")))
}

/// Beyond its last character, which the protocol takes for its end.
fn end_of_line(text: &ropey::Rope, line: u32) -> Position {
    let slice = text.get_line(line as usize);
    let length = slice.map_or(0, |slice| slice.len_bytes());
    Position { line, character: super::document::to_u32(length) }
}
