//! From a commit's hunks to places of today's text: where its new lines are now, its old ones go back.

use crate::diff::{LineChange, line_changes};
use crate::text::{Edit, lines};
use std::ops::Range;

/// Changes with at most this many equal lines between them are one hunk: they belong together.
const NEAR: usize = 3;
/// Lines around a hunk by which it is found elsewhere.
const CONTEXT: usize = 3;
/// How far from a hunk the lines may be that still stand on both sides of it.
const ANCHOR: usize = 6;

/// How sure the place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// Its lines stand where the difference from the commit to today leaves them.
    Exact,
    /// Its lines stand together elsewhere, in one place only.
    Moved,
    /// Some of its lines were changed since: what stands in their place goes.
    Changed,
}

/// A hunk undone on today's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Undo {
    pub edits: Vec<Edit>,
    pub fit: Fit,
    /// The old lines, counted from 0, that come back.
    pub old: Range<usize>,
}

/// One text as lines that all end with a newline, so that a last line without one is no other line.
pub(super) struct Lines<'a> {
    all: Vec<&'a [u8]>,
    /// Start of every line, and the end of the text.
    starts: Vec<usize>,
    /// Of the text before it was closed.
    len: usize,
    ends_with_newline: bool,
}

/// `text` with a newline at its end, unless it is empty.
pub(super) fn closed(text: &[u8], newline: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.extend_from_slice(newline);
    }
    text
}

/// `text` with the newlines that `today` has: a repository may keep `\n` where the working directory
/// has `\r\n`.
pub(super) fn with_newlines_of(today: &[u8], text: &[u8]) -> Vec<u8> {
    let is_dos = |text: &[u8]| lines(text).next().is_some_and(|line| line.ends_with(b"\r\n"));
    match (is_dos(today), is_dos(text)) {
        (true, false) if !text.contains(&b'\r') => {
            let ends = lines(text).map(|line| match line.strip_suffix(b"\n") {
                Some(line) => [line, b"\r\n"].concat(),
                None => line.to_vec(),
            });
            ends.collect::<Vec<_>>().concat()
        }
        (false, true) if !today.contains(&b'\r') => {
            let ends = lines(text).map(|line| match line.strip_suffix(b"\r\n") {
                Some(line) => [line, b"\n"].concat(),
                None => line.to_vec(),
            });
            ends.collect::<Vec<_>>().concat()
        }
        _ => text.to_vec(),
    }
}

impl<'a> Lines<'a> {
    /// `closed` is the text closed; `len` the length it had.
    pub(super) fn of(closed: &'a [u8], len: usize) -> Self {
        let lines: Vec<&[u8]> = lines(closed).collect();
        let mut starts = vec![0];
        starts.extend(lines.iter().scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        }));
        Self { all: lines, starts, len, ends_with_newline: closed.len() == len }
    }

    /// The edit that puts `new` in the place of these lines of the text as it was before it was
    /// closed.
    fn replaced(&self, range: &Range<usize>, new: &[&[u8]]) -> Edit {
        let bytes = self.starts[range.start]..self.starts[range.end];
        let mut text = new.concat();
        if self.ends_with_newline || bytes.end <= self.len {
            return Edit::new(bytes, text);
        }
        let newline = text.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).take(2);
        let newline = newline.count().min(self.starts[self.all.len()] - self.len);
        let ending = text.split_off(text.len() - newline);
        if bytes.start > self.len {
            // Behind a last line without a newline.
            return Edit::new(self.len..self.len, [ending, text].concat());
        }
        if text.is_empty() {
            // Nothing is left of the last lines, so the newline before them goes, too.
            let before = range
                .start
                .checked_sub(1)
                .map_or(0, |at| if self.all[at].ends_with(b"\r\n") { 2 } else { 1 });
            return Edit::new(bytes.start - before..self.len, text);
        }
        Edit::new(bytes.start..self.len, text)
    }
}

/// Every hunk from `old` to `new` that has a place in `today`, in the order of the commit. `today` is
/// closed; `len` is its length before.
pub(super) fn undo(old: &[u8], new: &[u8], today: &[u8], len: usize) -> Vec<Undo> {
    let old: Vec<&[u8]> = lines(old).collect();
    let new: Vec<&[u8]> = lines(new).collect();
    let today = Lines::of(today, len);
    let since = line_changes(&new, &today.all);
    let place = places(new.len(), today.all.len(), &since);
    let texts = Texts { old: &old, new: &new, today: &today, place: &place };
    let changes = line_changes(&old, &new);
    let hunks = grouped(&changes);
    hunks
        .iter()
        .enumerate()
        .filter_map(|(index, hunk)| {
            let before = index.checked_sub(1).map_or(0, |at| whole(hunks[at]).new.end);
            let after = hunks.get(index + 1).map_or(new.len(), |next| whole(next).new.start);
            texts
                .exact(hunk)
                .or_else(|| texts.moved(hunk))
                .or_else(|| texts.changed(hunk, before, after))
        })
        .collect()
}

/// How many hunks lead from `old` to `new`.
pub(super) fn count(old: &[u8], new: &[u8]) -> usize {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old).collect(), lines(new).collect());
    grouped(&line_changes(&old, &new)).len()
}

fn grouped(changes: &[LineChange]) -> Vec<&[LineChange]> {
    changes.chunk_by(|one, next| next.new.start - one.new.end <= NEAR).collect()
}

/// From the first changed line to the last.
fn whole(hunk: &[LineChange]) -> LineChange {
    let (first, last) = (&hunk[0], &hunk[hunk.len() - 1]);
    LineChange { old: first.old.start..last.old.end, new: first.new.start..last.new.end }
}

/// Where each line of one text is in another, by what differs between them.
fn places(from: usize, to: usize, changes: &[LineChange]) -> Vec<Option<usize>> {
    let mut places = vec![None; from];
    let (mut at, mut target) = (0, 0);
    let end = LineChange { old: from..from, new: to..to };
    for change in changes.iter().chain([&end]) {
        while at < change.old.start {
            places[at] = Some(target);
            (at, target) = (at + 1, target + 1);
        }
        (at, target) = (change.old.end, change.new.end);
    }
    places
}

struct Texts<'a> {
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
    today: &'a Lines<'a>,
    /// Of each new line.
    place: &'a [Option<usize>],
}

impl Texts<'_> {
    fn exact(&self, hunk: &[LineChange]) -> Option<Undo> {
        let edits: Option<Vec<Edit>> = hunk
            .iter()
            .map(|change| {
                let range = self.now(&change.new)?;
                Some(self.today.replaced(&range, &self.old[change.old.clone()]))
            })
            .collect();
        Some(Undo { edits: edits?, fit: Fit::Exact, old: whole(hunk).old })
    }

    /// Where unchanged new lines are today, together; for no lines, the place between two.
    fn now(&self, new: &Range<usize>) -> Option<Range<usize>> {
        let place = |at: usize| self.place.get(at).copied().flatten();
        if new.is_empty() {
            let before = new.start.checked_sub(1).and_then(place).map(|at| at + 1);
            let after = place(new.start);
            let at = match (new.start == 0, before, after) {
                (true, _, None) => 0,
                (_, Some(before), _) => before,
                (_, None, after) => after?,
            };
            return Some(at..at);
        }
        let start = place(new.start)?;
        let together = new.clone().enumerate().all(|(n, at)| place(at) == Some(start + n));
        together.then(|| start..start + new.len())
    }

    /// The hunk's new lines with lines around them, wherever they stand once.
    fn moved(&self, hunk: &[LineChange]) -> Option<Undo> {
        let LineChange { old, new } = whole(hunk);
        (0..=CONTEXT).rev().find_map(|context| {
            let before = context.min(new.start);
            let after = context.min(self.new.len() - new.end);
            let block = &self.new[new.start - before..new.end + after];
            if !tells(block) {
                return None;
            }
            let mut found = self
                .today
                .all
                .windows(block.len())
                .enumerate()
                .filter(|(_, lines)| lines == &block)
                .map(|(at, _)| at + before);
            let at = found.next()?;
            if found.next().is_some() {
                return None;
            }
            let range = at..at + new.len();
            let edit = self.today.replaced(&range, &self.old[old.clone()]);
            Some(Undo { edits: vec![edit], fit: Fit::Moved, old: old.clone() })
        })
    }

    /// The hunk between two lines that still stand, where most of its lines are still to be seen.
    /// `before` and `after`: where the neighbouring hunks end and begin.
    fn changed(&self, hunk: &[LineChange], before: usize, after: usize) -> Option<Undo> {
        let LineChange { old, new } = whole(hunk);
        let above = (before.max(new.start.saturating_sub(ANCHOR))..new.start)
            .rev()
            .find(|at| self.place[*at].is_some())?;
        let below = (new.end..after.min(new.end + ANCHOR)).find(|at| self.place[*at].is_some())?;
        let range = self.place[above]? + 1..self.place[below]?;
        if range.start > range.end || range.len() > 2 * (below - above) + 5 {
            return None;
        }
        let block = &self.new[above + 1..below];
        let now = &self.today.all[range.clone()];
        let seen = block.iter().filter(|line| now.iter().any(|other| alike(line, other))).count();
        if block.is_empty() || seen * 2 < block.len() {
            return None;
        }
        let old = old.start - (new.start - above - 1)..old.end + (below - new.end);
        let edit = self.today.replaced(&range, &self.old[old.clone()]);
        Some(Undo { edits: vec![edit], fit: Fit::Changed, old })
    }
}

/// Whether lines are so much of their own that where they stand is no chance.
fn tells(block: &[&[u8]]) -> bool {
    let letters = |line: &&[u8]| line.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    block.iter().map(letters).sum::<usize>() >= 12
}

/// Whether two lines say much the same: most of their words are equal.
fn alike(one: &[u8], other: &[u8]) -> bool {
    use super::super::words::words;
    let (one, other) = (one.trim_ascii(), other.trim_ascii());
    if one == other {
        return true;
    }
    let mut rest: Vec<&[u8]> = words(other).map(|at| &other[at]).collect();
    let (all, mut common) = (rest.len(), 0);
    let mut count = 0;
    for at in words(one) {
        count += 1;
        if let Some(found) = rest.iter().position(|word| *word == &one[at.clone()]) {
            rest.swap_remove(found);
            common += 1;
        }
    }
    common * 3 >= all.max(count) * 2 && common > 0
}
