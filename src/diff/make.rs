//! Two states of a tree to the patch between them.

use super::hunk::Line;
use super::{FilePatch, Hunk, Kind, LineChange as Piece, Mode, ModeChange, Patch};
use crate::text;
use crate::tree::{Changes, File, RelPath, Tree};
use std::collections::BTreeMap;

const CONTEXT: usize = 3;

/// The most lines, of both sides together, among which the least difference is looked for: that
/// takes time that grows with their square. Longer stretches are first cut at lines that stand once
/// on each side, and one that cannot be cut is replaced as a whole.
pub(super) const MOST_COMPARED: usize = 5000;

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
    Some(FilePatch { kind, hunks: hunks(&bytes(old), &bytes(new), MOST_COMPARED) })
}

impl Piece {
    fn len(&self) -> usize {
        self.old.len() + self.new.len()
    }
}

/// The hunks from one text to another; `most` is [`MOST_COMPARED`] but for tests.
pub(super) fn hunks(old: &[u8], new: &[u8], most: usize) -> Vec<Hunk> {
    let (old, new): (Vec<_>, Vec<_>) = (text::lines(old).collect(), text::lines(new).collect());
    let mut groups: Vec<Vec<Piece>> = Vec::new();
    for piece in differences(&old, &new, most) {
        match groups.last_mut() {
            // Contexts that would touch are one hunk, as git has it.
            Some(group) if piece.old.start - group[group.len() - 1].old.end <= 2 * CONTEXT => {
                group.push(piece);
            }
            _ => groups.push(vec![piece]),
        }
    }
    groups.iter().map(|group| hunk(&old, &new, group)).collect()
}

fn hunk(old: &[&[u8]], new: &[&[u8]], group: &[Piece]) -> Hunk {
    let at = group[0].old.start.saturating_sub(CONTEXT);
    let mut lines = Vec::new();
    let mut done = at;
    for piece in group {
        lines.extend(old[done..piece.old.start].iter().map(|line| Line::Context(line.to_vec())));
        lines.extend(old[piece.old.clone()].iter().map(|line| Line::Removed(line.to_vec())));
        lines.extend(new[piece.new.clone()].iter().map(|line| Line::Added(line.to_vec())));
        done = piece.old.end;
    }
    lines.extend(old[done..].iter().take(CONTEXT).map(|line| Line::Context(line.to_vec())));
    Hunk { at, lines }
}

pub(super) fn line_changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<Piece> {
    differences(old, new, MOST_COMPARED)
}

/// What differs, ascending; at least one equal line stands between two pieces.
fn differences(old: &[&[u8]], new: &[&[u8]], most: usize) -> Vec<Piece> {
    let same = |(a, b): &(&&[u8], &&[u8])| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let all = Piece { old: head..old.len() - tail, new: head..new.len() - tail };
    let parts = if all.len() > most { cut(old, new, &all) } else { vec![all] };
    parts.iter().flat_map(|part| least(old, new, part, most)).collect()
}

/// The least difference of one part.
fn least(old: &[&[u8]], new: &[&[u8]], part: &Piece, most: usize) -> Vec<Piece> {
    if part.len() > most {
        return vec![part.clone()];
    }
    let (old, new) = (old[part.old.clone()].concat(), new[part.new.clone()].concat());
    let mut options = diffy::DiffOptions::new();
    options.set_context_len(0);
    let patch = options.create_patch_bytes(&old, &new);
    // An empty range names the line before it.
    let range = |range: diffy::HunkRange, from: usize| {
        let start = from + if range.is_empty() { range.start() } else { range.start() - 1 };
        start..start + range.len()
    };
    let piece = |hunk: &diffy::Hunk<'_, [u8]>| Piece {
        old: range(hunk.old_range(), part.old.start),
        new: range(hunk.new_range(), part.new.start),
    };
    patch.hunks().iter().map(piece).collect()
}

/// Cuts a part at lines that stand once in each of its sides, as patience diff does.
fn cut(old: &[&[u8]], new: &[&[u8]], part: &Piece) -> Vec<Piece> {
    let mut places: BTreeMap<&[u8], (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    part.old.clone().for_each(|at| places.entry(old[at]).or_default().0.push(at));
    part.new.clone().for_each(|at| places.entry(new[at]).or_default().1.push(at));
    let mut once: Vec<(usize, usize)> = places
        .into_values()
        .filter_map(|(old, new)| match (old.as_slice(), new.as_slice()) {
            ([old], [new]) => Some((*old, *new)),
            _ => None,
        })
        .collect();
    once.sort_unstable();
    let (mut parts, mut from) = (Vec::new(), (part.old.start, part.new.start));
    for (old, new) in longest_ascent(&once) {
        parts.push(Piece { old: from.0..old, new: from.1..new });
        from = (old + 1, new + 1);
    }
    parts.push(Piece { old: from.0..part.old.end, new: from.1..part.new.end });
    parts
}

/// The longest run of pairs, sorted by their first number, in which the second ascends too.
fn longest_ascent(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the least second number that ends such a run.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() { ends.push(index) } else { ends[length] = index }
    }
    let mut run = Vec::new();
    let mut next = ends.last().copied();
    while let Some(index) = next {
        run.push(pairs[index]);
        next = before[index];
    }
    run.reverse();
    run
}
