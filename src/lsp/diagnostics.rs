//! Diagnostics: edits that no test notices, where they are asked for, and what a bug in the text breaks.
//! None of them says that something is wrong with the person's code.

use super::actions::short;
use super::bugs::Mark;
use super::document::{Document, lines, to_u32};
use super::shared::Shared;
use super::state::{Home, Known, Settings};
use super::tests_of;
use super::types::{
    Code, Diagnostic, DiagnosticSeverity, DocumentDiagnosticParams, DocumentDiagnosticReport,
    FullDocumentDiagnosticReport, Message, RelatedFullDocumentDiagnosticReport,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SOURCE: &str = "ssr-mcp";

/// Answers a client that asks.
pub(super) async fn pull(
    shared: &Shared,
    params: DocumentDiagnosticParams,
) -> DocumentDiagnosticReport {
    let items = match shared.document(&params.text_document.uri).await {
        Some((path, document)) => of(shared, &path, &document),
        None => Vec::new(),
    };
    let report = FullDocumentDiagnosticReport { result_id: None, items };
    DocumentDiagnosticReport::RelatedFullDocumentDiagnosticReport(
        RelatedFullDocumentDiagnosticReport {
            full_document_diagnostic_report: report,
            related_documents: None,
        },
    )
}

/// Tells a client that does not ask.
pub(super) fn publish(shared: &Arc<Shared>, path: &Path) {
    let document = {
        let state = shared.state();
        if state.profile.pulls_diagnostics {
            return;
        }
        state.documents.get(path).cloned()
    };
    let Some(document) = document else { return };
    let found = of(shared, path, &document);
    let client = shared.client.clone();
    shared.spawn(async move {
        client.publish_diagnostics(document.uri, found, Some(document.version)).await;
    });
}

/// What is told of all documents of a folder may be another now.
pub(super) fn told_anew(shared: &Arc<Shared>, path: &Path) {
    let (paths, refreshes) = {
        let state = shared.state();
        let folder = state.folder_of(path);
        let beside = state.documents.keys().filter(|other| state.folder_of(other) == folder);
        let paths: Vec<PathBuf> = beside.cloned().collect();
        (paths, state.profile.refreshes_diagnostics)
    };
    for path in paths {
        publish(shared, &path);
    }
    if refreshes {
        let client = shared.client.clone();
        shared.spawn(async move { drop(client.workspace_diagnostic_refresh().await) });
    }
}

fn of(shared: &Shared, path: &Path, document: &Document) -> Vec<Diagnostic> {
    let state = shared.state();
    let Some(home) = state.home(path) else { return Vec::new() };
    let known = state.known(&home.folder);
    // Whether a bug is in the text may be told by another document than the one with its tests.
    let documents = state.documents_in(&home.folder);
    let readings = documents.values().filter_map(|document| document.reading.as_ref());
    let made: BTreeSet<String> = readings.flat_map(|reading| reading.marks.made()).collect();
    let mut found = broken(&home, document, &known, made.iter());
    found.extend(practised(&home, document, &known));
    found.extend(unnoticed(document, &known, &state.settings));
    found
}

fn broken<'a>(
    home: &Home,
    document: &Document,
    known: &Known,
    made: impl Iterator<Item = &'a String>,
) -> Vec<Diagnostic> {
    let Some(reading) = &document.reading else { return Vec::new() };
    let mut found = Vec::new();
    for bug in made.filter_map(|id| known.bug(id)) {
        for id in &bug.bug.failing {
            let Some(test) = tests_of::place(id, &home.file, &reading.outline) else { continue };
            let message = format!(
                "Self-play: fails with bug {}, which is in the open files",
                short(&bug.bug.artifact)
            );
            let data = json!({ "artifact": bug.bug.artifact });
            let range = lines(test.first, test.first + 1);
            found.push(Diagnostic {
                range,
                ..diagnostic(DiagnosticSeverity::Information, "bug", message, data)
            });
        }
    }
    found
}

/// What is broken in a practice tree, at the tests that lack it.
fn practised(home: &Home, document: &Document, known: &Known) -> Vec<Diagnostic> {
    let round = known.practice.iter().filter(|round| round.state == "open");
    let broken = round.flat_map(|round| &round.broken);
    let here = broken.filter(|behaviour| behaviour.file == home.file.as_str());
    let most = document.text.len_lines().saturating_sub(1);
    here.map(|behaviour| {
        let line = to_u32(most.min((behaviour.line as usize).saturating_sub(1)));
        let message = format!("Self-play: {}", behaviour.text);
        let data = json!({ "test": behaviour.test });
        Diagnostic {
            range: lines(line, line + 1),
            ..diagnostic(DiagnosticSeverity::Information, "practice", message, data)
        }
    })
    .collect()
}

fn unnoticed(document: &Document, known: &Known, settings: &Settings) -> Vec<Diagnostic> {
    let (true, Some(reading)) = (settings.unnoticed_hints, &document.reading) else {
        return Vec::new();
    };
    let hint = |mark: &Mark| {
        let edit = known.unnoticed.iter().find(|known| known.edit.edit.id == mark.id)?;
        let text = format!("Self-play: no test notices this edit: {}", edit.edit.edit.summary);
        let data = json!({ "edit": mark.id });
        let range = lines(mark.first, mark.last + 1);
        Some(Diagnostic { range, ..diagnostic(DiagnosticSeverity::Hint, "unnoticed", text, data) })
    };
    reading.marks.unnoticed.iter().take(settings.most_hints).filter_map(hint).collect()
}

fn diagnostic(
    severity: DiagnosticSeverity,
    code: &str,
    text: String,
    data: serde_json::Value,
) -> Diagnostic {
    Diagnostic {
        range: lines(0, 0),
        severity: Some(severity),
        code: Some(Code::String(code.to_owned())),
        source: Some(SOURCE.to_owned()),
        message: Message::String(text),
        data: Some(data),
        code_description: None,
        tags: None,
        related_information: None,
    }
}
