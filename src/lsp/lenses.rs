//! Code lenses: on tests what only they catch, on functions their open bugs.

use super::actions::short;
use super::bugs::Standing;
use super::commands::Do;
use super::document::{Document, lines};
use super::outline::Place;
use super::shared::Shared;
use super::state::{Home, Known, KnownBug};
use super::tests_of;
use super::types::{CodeLens, CodeLensParams, Command};
use serde_json::json;

pub(super) async fn code_lenses(shared: &Shared, params: CodeLensParams) -> Option<Vec<CodeLens>> {
    let (path, document) = shared.document(&params.text_document.uri).await?;
    let (home, known) = {
        let state = shared.state();
        if !state.settings.code_lenses {
            return None;
        }
        let home = state.home(&path)?;
        let known = state.known(&home.folder);
        (home, known)
    };
    let mut lenses = on_tests(&home, &document, &known);
    lenses.extend(on_functions(&home, &document, &known));
    Some(lenses)
}

fn on_tests(home: &Home, document: &Document, known: &Known) -> Vec<CodeLens> {
    let Some(reading) = &document.reading else { return Vec::new() };
    let mut lenses = Vec::new();
    for test in &reading.outline.tests {
        let is_this = |id: &String| tests_of::place(id, &home.file, &reading.outline) == Some(test);
        let only = |known: &&KnownBug| {
            !known.bug.failing.is_empty() && known.bug.failing.iter().all(is_this)
        };
        let caught: Vec<&KnownBug> = known.bugs.iter().filter(only).collect();
        let run = json!({ "folder": home.folder, "file": home.file, "test": test.qualified });
        lenses.push(lens(test, "Self-play: run".to_owned(), Do::new("runTest", run)));
        if !caught.is_empty() {
            let title = format!("{} only this test catches", count(caught.len(), "bug"));
            lenses.push(lens(test, title, bugs(home, &caught)));
        }
    }
    lenses
}

fn on_functions(home: &Home, document: &Document, known: &Known) -> Vec<CodeLens> {
    let Some(reading) = &document.reading else { return Vec::new() };
    let mut lenses = Vec::new();
    for function in &reading.outline.functions {
        let here: Vec<(Standing, &KnownBug)> = reading
            .marks
            .bugs_at(function.first, function.last)
            .filter_map(|mark| Some((mark.standing, known.bug(&mark.id)?)))
            .collect();
        let all: Vec<&KnownBug> = here.iter().map(|(_, known)| *known).collect();
        if let Some((_, made)) = here.iter().find(|(standing, _)| *standing == Standing::Made) {
            let title = format!("Self-play: bug {} is in this text", short(&made.bug.artifact));
            lenses.push(lens(function, title, bugs(home, &all)));
            continue;
        }
        let open = all.iter().filter(|known| known.bug.solved == 0).count();
        let wrong: usize = all.iter().map(|known| known.bug.wrong).sum();
        let mut said = Vec::new();
        if open > 0 {
            said.push(count(open, "open bug"));
        }
        if wrong > 0 {
            said.push(format!("{wrong} in the wrong-book"));
        }
        if !said.is_empty() {
            let title = format!("Self-play: {}", said.join(", "));
            lenses.push(lens(function, title, bugs(home, &all)));
        }
    }
    lenses
}

fn bugs(home: &Home, bugs: &[&KnownBug]) -> Do {
    let ids: Vec<&str> = bugs.iter().map(|known| known.bug.artifact.as_str()).collect();
    Do::new("bugs", json!({ "folder": home.folder, "artifacts": ids }))
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn lens(place: &Place, title: String, what: Do) -> CodeLens {
    let command =
        Command { title, command: what.name, arguments: Some(vec![what.argument]), tooltip: None };
    CodeLens { range: lines(place.first, place.first), command: Some(command), data: None }
}
