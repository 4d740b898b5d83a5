//! Two states of a tree to the patch between them.

use super::hunk::Line;
use super::{FilePatch, Hunk, Kind, Mode, ModeChange, Patch};
use crate::text;
use crate::tree::{Changes, File, RelPath, Tree};

const CONTEXT: usize = 3;

/// From how many differing lines on a file's middle is replaced as one piece: finding the least
/// difference takes time that grows with the square.
const MOST_COMPARED: usize = 50_000;

pub(super) fn between(base: &dyn Tree, changes: &Changes) -> Patch {
    let changes = changes.against(base);
    let files = changes.iter().filter_map(|(path, new)| file(path, base.read(path).as_ref(), new));
    Patch { files: files.collect() }
}

fn file(path: &RelPath, old: Option<&File>, new: Option<&File>) -> Option<FilePatch> {
    let path = path.clone();
    let mode = |file: &File| Mode::of(file.executable);
    let kind = match (old, new) {
        (None, None) => return None,
        (None, Some(new)) => Kind::Added { path, mode: Some(mode(new)) },
        (Some(old), None) => Kind::Deleted { path, mode: Some(mode(old)) },
        (Some(old), Some(new)) => {
            let (old, new) = (mode(old), mode(new));
            Kind::Modified { path, modes: (old != new).then_some(ModeChange { old, new }) }
        }
    };
    let bytes = |file: Option<&File>| file.map(|file| file.bytes.clone()).unwrap_or_default();
    Some(FilePatch { kind, hunks: hunks(&bytes(old), &bytes(new)) })
}

fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    if old == new {
        return Vec::new();
    }
    let (old_lines, new_lines): (Vec<_>, Vec<_>) =
        (text::lines(old).collect(), text::lines(new).collect());
    let same = |(a, b): &(&&[u8], &&[u8])| a == b;
    let head = old_lines.iter().zip(&new_lines).take_while(same).count();
    let (old_rest, new_rest) = (&old_lines[head..], &new_lines[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    if old_rest.len() + new_rest.len() - 2 * tail > MOST_COMPARED {
        return vec![replacement(&old_lines, &new_lines, head, tail)];
    }
    let mut options = diffy::DiffOptions::new();
    options.set_context_len(CONTEXT);
    options.create_patch_bytes(old, new).hunks().iter().map(taken).collect()
}

fn taken(hunk: &diffy::Hunk<'_, [u8]>) -> Hunk {
    let range = hunk.old_range();
    let line = |line: &diffy::Line<'_, [u8]>| match *line {
        diffy::Line::Context(text) => Line::Context(text.to_vec()),
        diffy::Line::Delete(text) => Line::Removed(text.to_vec()),
        diffy::Line::Insert(text) => Line::Added(text.to_vec()),
    };
    // An empty range names the line before it.
    let at = if range.is_empty() { range.start() } else { range.start() - 1 };
    Hunk { at, lines: hunk.lines().iter().map(line).collect() }
}

/// One hunk that replaces all but the `head` first and `tail` last lines, which are equal.
fn replacement(old: &[&[u8]], new: &[&[u8]], head: usize, tail: usize) -> Hunk {
    let at = head.saturating_sub(CONTEXT);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let owned = |line: &&[u8]| line.to_vec();
    let before = old[at..head].iter().map(owned).map(Line::Context);
    let removed = old[head..old_end].iter().map(owned).map(Line::Removed);
    let added = new[head..new_end].iter().map(owned).map(Line::Added);
    let after = old[old_end..].iter().take(CONTEXT).map(owned).map(Line::Context);
    Hunk { at, lines: before.chain(removed).chain(added).chain(after).collect() }
}
