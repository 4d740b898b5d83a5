//! Where bugs and unnoticed edits stand in a document, as lines that move with it.

use super::document::to_u32;
use super::edits::as_file;
use super::outline;
use super::state::{Home, Known};
use crate::diff::{Line, Patch, line_changes};
use crate::text;
use crate::tree::{Changes, File, RelPath};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What of the store concerns one document, at the lines where it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) bugs: Vec<Mark>,
    /// By position in [`Known::unnoticed`]'s ids.
    pub(super) unnoticed: Vec<Mark>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// An artifact's id, or an edit's.
    pub(super) id: String,
    pub(super) standing: Standing,
    /// From 0, the last included.
    pub(super) first: u32,
    pub(super) last: u32,
}

/// How a change relates to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It could be made.
    Fits,
    /// It has been made.
    Made,
}

impl Marks {
    /// `on_disk`: the file as it is saved.
    pub(super) fn of(home: &Home, text: &[u8], on_disk: Option<&[u8]>, known: &Known) -> Self {
        let Ok(bytes) = as_file(text, on_disk) else { return Self::default() };
        let mark = |id: &str, patch: &Patch| {
            let (standing, first, last) = stands(patch, &home.file, &bytes)?;
            Some(Mark { id: id.to_owned(), standing, first, last })
        };
        let bugs = known.bugs.iter();
        let edits = known.unnoticed.iter();
        Self {
            bugs: bugs.filter_map(|known| mark(&known.bug.artifact, &known.patch)).collect(),
            unnoticed: edits
                .filter_map(|known| mark(&known.edit.edit.id, &known.patch))
                .filter(|mark| mark.standing == Standing::Fits)
                .collect(),
        }
    }

    /// Bugs that are in the text.
    pub(super) fn made(&self) -> BTreeSet<String> {
        let made = self.bugs.iter().filter(|mark| mark.standing == Standing::Made);
        made.map(|mark| mark.id.clone()).collect()
    }

    pub(super) fn bugs_at(&self, first: u32, last: u32) -> impl Iterator<Item = &Mark> {
        self.bugs.iter().filter(move |mark| mark.first <= last && first <= mark.last)
    }

    pub(super) fn shift(&mut self, line: u32, by: isize) {
        for mark in self.bugs.iter_mut().chain(&mut self.unnoticed) {
            outline::shift(&mut mark.first, &mut mark.last, line, by);
        }
    }
}

/// Whether a patch's part of a file fits or was made, and the lines of the text that it concerns.
fn stands(patch: &Patch, file: &RelPath, bytes: &[u8]) -> Option<(Standing, u32, u32)> {
    let part = patch.of_file(file)?;
    let mut tree = Changes::new();
    tree.write(file.clone(), File::plain(bytes));
    let (standing, changes) = match part.apply(&tree) {
        Ok(changes) => (Standing::Fits, changes),
        Err(_) => (Standing::Made, part.reversed().apply(&tree).ok()?),
    };
    let new = changes.get(file)??;
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) =
        (text::lines(bytes).collect(), text::lines(&new.bytes).collect());
    let lines = line_changes(&old, &new);
    let first = lines.first()?.old.start;
    let last = lines.last()?.old.end.saturating_sub(1).max(first);
    Some((standing, to_u32(first), to_u32(last)))
}

/// Where a patch changes files, as `{file, line}`: the first changed line of each hunk, from 1, in the text
/// that it is a patch of.
pub(super) fn places(patch: &Patch) -> Vec<Value> {
    let of_file = |file: &crate::diff::FilePatch| {
        let named = file.old_path().or(file.new_path()).cloned();
        let lines = file.hunks().iter().map(|hunk| {
            let kept = |line: &&Line| matches!(line, Line::Context(_));
            hunk.lines_before() + hunk.lines().iter().take_while(kept).count() + 1
        });
        lines.map(|line| json!({ "file": named, "line": line })).collect::<Vec<Value>>()
    };
    patch.files().iter().flat_map(of_file).collect()
}
