//! Patches as edits of what the editor holds, and what the editor holds as files.

use super::document::{Document, to_u32};
use super::profile::{Encoding, Profile};
use super::types::{
    DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier, Position, Range,
    TextDocumentEdit, TextDocumentIdentifier, TextEdit, Uri, WorkspaceEdit,
};
use super::uri;
use crate::diff::{Patch, line_changes};
use crate::text;
use crate::tree::{Changes, File, RelPath, Tree};
use crate::workspace::Unsaved;
use ropey::Rope;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A folder as its editor shows it: open documents before what is on disk.
pub(super) struct Shown<'a> {
    pub(super) folder: &'a Path,
    pub(super) documents: &'a BTreeMap<RelPath, Document>,
}

impl Tree for Shown<'_> {
    fn read(&self, path: &RelPath) -> Option<File> {
        let on_disk = read(self.folder, path);
        match self.documents.get(path) {
            Some(document) => {
                let bytes = as_file(&document.bytes(), on_disk.as_deref()).ok()?;
                Some(File::plain(bytes))
            }
            None => on_disk.map(File::plain),
        }
    }

    fn paths(&self) -> Vec<RelPath> {
        self.documents.keys().cloned().collect()
    }
}

/// Regular files only: a link may lead anywhere.
fn read(folder: &Path, path: &RelPath) -> Option<Vec<u8>> {
    let whole = folder.join(path.as_str());
    let kind = std::fs::symlink_metadata(&whole).ok()?.file_type();
    if !kind.is_file() {
        return None;
    }
    std::fs::read(whole).ok()
}

/// The file on disk is not UTF-8: what an editor shows of it are not its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotUtf8;

/// What saving a document would write: with the byte order mark and the line ends that the file has. Equal to
/// the file where nothing but these differs.
pub(super) fn as_file(text: &[u8], on_disk: Option<&[u8]>) -> Result<Vec<u8>, NotUtf8> {
    let Some(on_disk) = on_disk else { return Ok(text.to_vec()) };
    if std::str::from_utf8(on_disk).is_err() {
        return Err(NotUtf8);
    }
    let (mark, body) = match on_disk.strip_prefix(BOM) {
        Some(body) => (BOM, body),
        None => (&[][..], on_disk),
    };
    let text = text.strip_prefix(BOM).unwrap_or(text);
    if unix(text) == unix(body) {
        return Ok(on_disk.to_vec());
    }
    let dos = body
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .is_some_and(|line| line.ends_with(b"\r\n"));
    let mut bytes = mark.to_vec();
    if dos && !text.contains(&b'\r') {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(line) => bytes.extend_from_slice(&[line, b"\r\n"].concat()),
                None => bytes.extend_from_slice(line),
            }
        }
    } else {
        bytes.extend_from_slice(text);
    }
    Ok(bytes)
}

fn unix(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        if *byte != b'\r' || text.get(at + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    plain
}

/// What documents hold that is not saved, and names of files that are played as they are on disk since they
/// are not UTF-8 there.
pub(super) fn unsaved(
    folder: &Path,
    documents: &BTreeMap<RelPath, Document>,
) -> (Unsaved, Vec<RelPath>) {
    let (mut unsaved, mut left_out) = (Unsaved::new(), Vec::new());
    for (path, document) in documents {
        let on_disk = read(folder, path);
        match as_file(&document.bytes(), on_disk.as_deref()) {
            Ok(bytes) if Some(&bytes) != on_disk.as_ref() => {
                unsaved.insert(path.clone(), bytes.into());
            }
            Ok(_) => {}
            Err(NotUtf8) => left_out.push(path.clone()),
        }
    }
    (unsaved, left_out)
}

/// The same with a bug taken out again where it stands in the documents: its artifact fits only a tree
/// without it.
pub(super) fn unsaved_without(
    folder: &Path,
    documents: &BTreeMap<RelPath, Document>,
    bug: &Patch,
) -> (Unsaved, Vec<RelPath>) {
    let (mut unsaved, left_out) = unsaved(folder, documents);
    let shown = Shown { folder, documents };
    for path in bug.paths() {
        let Some(part) = bug.of_file(&path) else { continue };
        let Ok(changes) = part.reversed().apply(&shown) else { continue };
        for (path, file) in changes.iter() {
            let Some(file) = file else { continue };
            if read(folder, path).as_deref() == Some(&*file.bytes) {
                unsaved.remove(path);
            } else {
                unsaved.insert(path.clone(), Arc::clone(&file.bytes));
            }
        }
    }
    (unsaved, left_out)
}

/// Changes as an edit of whole lines. Files that are added or deleted make none: no strategy does either, and
/// an edit may then do less than it says.
pub(super) fn workspace_edit(
    shown: &Shown<'_>,
    changes: &Changes,
    profile: &Profile,
) -> Option<WorkspaceEdit> {
    let mut edits = Vec::new();
    for (path, file) in changes.iter() {
        let (old, new) = (shown.read(path)?, file?);
        let document = shown.documents.get(path);
        let uri = match document {
            Some(document) => document.uri.clone(),
            None => uri::of_path(&PathBuf::from(shown.folder).join(path.as_str()))?,
        };
        let version = document.map(|document| document.version);
        edits.push((uri, version, line_edits(&old.bytes, &new.bytes, profile.encoding)));
    }
    Some(if profile.document_changes { versioned(edits) } else { plain(edits) })
}

fn versioned(edits: Vec<(Uri, Option<i32>, Vec<TextEdit>)>) -> WorkspaceEdit {
    let change = |(uri, version, edits): (Uri, Option<i32>, Vec<TextEdit>)| {
        let text_document_identifier = TextDocumentIdentifier { uri };
        let text_document =
            OptionalVersionedTextDocumentIdentifier { version, text_document_identifier };
        let edits = edits.into_iter().map(Edit::TextEdit).collect();
        DocumentChange::TextDocumentEdit(TextDocumentEdit { text_document, edits })
    };
    let document_changes = Some(edits.into_iter().map(change).collect());
    WorkspaceEdit { document_changes, ..WorkspaceEdit::default() }
}

fn plain(edits: Vec<(Uri, Option<i32>, Vec<TextEdit>)>) -> WorkspaceEdit {
    let changes: HashMap<Uri, Vec<TextEdit>> =
        edits.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

fn line_edits(old: &[u8], new: &[u8], encoding: Encoding) -> Vec<TextEdit> {
    let strip = |bytes: &[u8]| bytes.strip_prefix(BOM).unwrap_or(bytes).to_vec();
    let (old, new) = (strip(old), strip(new));
    if has_lone_return(&old) || has_lone_return(&new) {
        let range = Range { start: Position::default(), end: end_of(&old, encoding) };
        return vec![TextEdit { range, new_text: String::from_utf8_lossy(&new).into_owned() }];
    }
    let (olds, news): (Vec<&[u8]>, Vec<&[u8]>) =
        (text::lines(&old).collect(), text::lines(&new).collect());
    let end = end_of(&old, encoding);
    let at = |line: usize| {
        if line >= olds.len() { end } else { Position { line: to_u32(line), character: 0 } }
    };
    let edit = |change: crate::diff::LineChange| TextEdit {
        range: Range { start: at(change.old.start), end: at(change.old.end) },
        new_text: String::from_utf8_lossy(&news[change.new].concat()).into_owned(),
    };
    line_changes(&olds, &news).into_iter().map(edit).collect()
}

/// To the protocol a carriage return alone ends a line, to a patch it does not.
fn has_lone_return(text: &[u8]) -> bool {
    unix(text).contains(&b'\r')
}

/// Where a text ends, as a position in it.
fn end_of(bytes: &[u8], encoding: Encoding) -> Position {
    let rope = Rope::from_str(&String::from_utf8_lossy(bytes));
    let line = rope.len_lines().saturating_sub(1);
    let last = rope.line(line);
    let character = match encoding {
        Encoding::Utf8 => last.len_bytes(),
        Encoding::Utf16 => last.len_utf16_cu(),
        Encoding::Utf32 => last.len_chars(),
    };
    Position { line: to_u32(line), character: to_u32(character) }
}
