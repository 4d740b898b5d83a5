//! A patch that somebody wrote by hand, as models do: fences, wrong counts, bare `@@`, blank context without its
//! space, no last newline. What it means is read; where it goes must be one place, and a line that it removes
//! must be there.

use super::align::{self, Edit, Nowhere};
use super::header::Header;
use super::parse::{Cursor, next_header, range, without_end};
use super::{ApplyFailure, FilePatch, Kind, Line, MAX_BYTES, MAX_FILES, Mode, Patch, Refusal};
use crate::text;
use crate::tree::{Changes, File, RelPath, Tree};

/// Why what was written cannot be used, for whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplaced {
    #[error("the patch is refused: {0}")]
    Refused(#[from] Refusal),
    #[error("the patch does not apply: {0}")]
    DoesNotApply(#[from] ApplyFailure),
    #[error(
        "line {line} of the patch begins with none of space, `+` and `-`, and lines of the hunk follow it: mark \
         every line of a hunk"
    )]
    Unmarked { line: usize },
    #[error("line {line} of the patch: the hunk adds and removes nothing")]
    NoChange { line: usize },
    #[error("{path}: hunk {hunk} {nowhere}")]
    Nowhere { path: RelPath, hunk: usize, nowhere: Nowhere },
    #[error("{path}: hunk {hunk} changes lines that another hunk changes, too")]
    Overlap { path: RelPath, hunk: usize },
    #[error("the patch changes nothing")]
    Nothing,
}

/// A hunk as it was written.
pub(super) struct Written {
    /// How many lines its header says stand before it, where it says so.
    pub(super) at: Option<usize>,
    pub(super) lines: Vec<Line>,
}

pub(super) fn patch(bytes: &[u8], tree: &dyn Tree) -> Result<Patch, Unplaced> {
    if bytes.len() > MAX_BYTES {
        return Err(Refusal::TooLarge { bytes: bytes.len() }.into());
    }
    let unfenced = unfenced(bytes);
    let mut cursor = Cursor::new(&unfenced);
    let mut changes = Changes::new();
    let (mut files, mut steps) = (0, align::STEPS);
    while let Some(text) = cursor.header() {
        let Some(header) = next_header(&mut cursor, text, false)? else {
            cursor.advance();
            continue;
        };
        files += 1;
        if files > MAX_FILES {
            return Err(Refusal::TooManyFiles.into());
        }
        let hunks = hunks(&mut cursor)?;
        file(tree, &header, &hunks, &mut steps, &mut changes)?;
    }
    if files == 0 {
        return Err(Refusal::NothingFound.into());
    }
    let patch = Patch::between(tree, &changes);
    if patch.is_empty() { Err(Unplaced::Nothing) } else { Ok(patch) }
}

/// The contents of the fences that hold a diff; the text as it is where none does.
fn unfenced(bytes: &[u8]) -> Vec<u8> {
    let (mut inside, mut block, mut found) = (false, Vec::new(), Vec::new());
    for line in text::lines(bytes) {
        let fence = line.trim_ascii_start().starts_with(b"```");
        match (fence, inside) {
            (true, true) => {
                if is_diff(&block) {
                    found.append(&mut block);
                }
                block.clear();
                inside = false;
            }
            (true, false) => inside = true,
            (false, true) => block.extend_from_slice(line),
            (false, false) => {}
        }
    }
    // A fence that does not end: the text was cut, or its end was taken for another one's.
    if inside && is_diff(&block) {
        found.append(&mut block);
    }
    let mut text = if found.is_empty() { bytes.to_vec() } else { found };
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text
}

fn is_diff(block: &[u8]) -> bool {
    let starts = |start: &[u8]| text::lines(block).any(|line| line.starts_with(start));
    starts(b"--- ") && starts(b"+++ ") || starts(b"diff --git ")
}

fn hunks(cursor: &mut Cursor<'_>) -> Result<Vec<Written>, Unplaced> {
    let mut hunks = Vec::new();
    while let Some(text) = cursor.header().filter(|text| text.starts_with(b"@@")) {
        let line = cursor.number();
        let at = stated(text);
        cursor.advance();
        let lines = body(cursor)?;
        if lines.iter().all(|line| matches!(line, Line::Context(_))) {
            return Err(Unplaced::NoChange { line });
        }
        hunks.push(Written { at, lines });
    }
    Ok(hunks)
}

/// From `@@ -4,2 +4,3 @@`, with whatever counts: how many lines stand before.
fn stated(text: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(text.strip_prefix(b"@@")?).ok()?;
    let old = text.trim_start().strip_prefix('-')?.split_whitespace().next()?;
    match range(old) {
        Some((at, _)) => Some(at),
        None => old.split(',').next()?.parse::<usize>().ok()?.checked_sub(1),
    }
}

/// The marked lines that follow a hunk's header.
fn body(cursor: &mut Cursor<'_>) -> Result<Vec<Line>, Unplaced> {
    let mut lines: Vec<Line> = Vec::new();
    // Where an unmarked line stands, after which no line of this hunk may come.
    let mut unmarked = None;
    while let Some(raw) = cursor.raw() {
        let header = without_end(raw);
        if ends_a_hunk(header, cursor.header_after()) {
            break;
        }
        let number = cursor.number();
        let blank = header.is_empty();
        let marked = matches!(header.first(), Some(b' ' | b'+' | b'-'));
        if header.first() == Some(&b'\\') {
            if let Some(last) = lines.last_mut() {
                last.text_mut().pop_if(|byte| *byte == b'\n');
            }
        } else if !marked && !blank {
            unmarked = unmarked.or(Some(number));
        } else if let Some(line) = unmarked.filter(|_| matches!(header.first(), Some(b'+' | b'-')))
        {
            return Err(Unplaced::Unmarked { line });
        } else if unmarked.is_none() {
            let mut text = if blank { raw.to_vec() } else { raw[1..].to_vec() };
            if !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            lines.push(match header.first() {
                Some(b'+') => Line::Added(text),
                Some(b'-') => Line::Removed(text),
                _ => Line::Context(text),
            });
        }
        cursor.advance();
    }
    // Blank lines after a hunk are those between it and what follows.
    let blank = |line: &Line| matches!(line, Line::Context(text) if text.trim_ascii().is_empty());
    while lines.last().is_some_and(blank) {
        lines.pop();
    }
    Ok(lines)
}

fn ends_a_hunk(line: &[u8], after: Option<&[u8]>) -> bool {
    let names = line.starts_with(b"--- ") && after.is_some_and(|next| next.starts_with(b"+++ "));
    // `-- ` ends a patch in a mail that git made.
    let signature =
        line == b"-- " && after.is_none_or(|next| next.first().is_none_or(u8::is_ascii_digit));
    names || signature || line.starts_with(b"@@") || line.starts_with(b"diff --git ")
}

fn file(
    tree: &dyn Tree,
    header: &Header,
    hunks: &[Written],
    steps: &mut u64,
    changes: &mut Changes,
) -> Result<(), Unplaced> {
    let plain = FilePatch { kind: header.kind.clone(), hunks: Vec::new() };
    let (old, new) = (plain.old_path().cloned(), plain.new_path().cloned());
    let twice = |path: &RelPath| changes.get(path).is_some();
    for path in [&old, &new].into_iter().flatten() {
        if twice(path) {
            return Err(Refusal::Duplicate { line: header.line, path: path.clone() }.into());
        }
    }
    let adds = hunks.iter().flat_map(|hunk| &hunk.lines).all(|line| matches!(line, Line::Added(_)));
    let before = old.as_ref().and_then(|path| tree.read(path));
    match (&header.kind, before) {
        (Kind::Added { path, .. }, _) if tree.has(path) => {
            Err(ApplyFailure::Exists { path: path.clone() }.into())
        }
        (Kind::Added { path, mode }, _) => {
            let executable = *mode == Some(Mode::Executable);
            changes.write(path.clone(), File { bytes: added(hunks).into(), executable });
            Ok(())
        }
        // Without `/dev/null`, a file that is not there and gets lines only is a new one.
        (Kind::Modified { path, .. }, None) if adds && !hunks.is_empty() => {
            changes.write(path.clone(), File::plain(added(hunks)));
            Ok(())
        }
        (_, None) => {
            let path = old.or(new).ok_or(Unplaced::Nothing)?;
            Err(ApplyFailure::Missing { path }.into())
        }
        (kind, Some(before)) => {
            let path = old.or(new.clone()).ok_or(Unplaced::Nothing)?;
            let bytes = placed(&path, &before.bytes, hunks, steps)?;
            if let Kind::Deleted { .. } = kind {
                if !bytes.is_empty() {
                    return Err(ApplyFailure::ContentLeft { path }.into());
                }
                changes.delete(path);
                return Ok(());
            }
            let executable = match kind {
                Kind::Modified { modes: Some(modes), .. }
                | Kind::Renamed { modes: Some(modes), .. } => modes.new == Mode::Executable,
                _ => before.executable,
            };
            if let Kind::Renamed { from, to, .. } = kind {
                if tree.has(to) {
                    return Err(ApplyFailure::Exists { path: to.clone() }.into());
                }
                changes.delete(from.clone());
            }
            changes.write(new.unwrap_or(path), File { bytes: bytes.into(), executable });
            Ok(())
        }
    }
}

fn added(hunks: &[Written]) -> Vec<u8> {
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    let lines = lines.filter(|line| !matches!(line, Line::Removed(_)));
    lines.flat_map(|line| line.text().to_vec()).collect()
}

/// The file with all hunks done, each where it fits alone.
fn placed(
    path: &RelPath,
    before: &[u8],
    hunks: &[Written],
    steps: &mut u64,
) -> Result<Vec<u8>, Unplaced> {
    let lines: Vec<&[u8]> = text::lines(before).collect();
    let mut edits: Vec<(usize, Edit)> = Vec::new();
    for (number, hunk) in (1..).zip(hunks) {
        let found = align::place(&lines, hunk, steps).map_err(|nowhere| Unplaced::Nowhere {
            path: path.clone(),
            hunk: number,
            nowhere,
        })?;
        edits.extend(found.into_iter().map(|edit| (number, edit)));
    }
    edits.sort_by_key(|(_, edit)| (edit.at, edit.removed));
    let (mut after, mut copied) = (Vec::with_capacity(before.len()), 0);
    let mut last: Option<&Edit> = None;
    for (number, edit) in &edits {
        let same_place = last.is_some_and(|last| last.at == edit.at && last.removed == 0);
        if edit.at < copied || same_place {
            return Err(Unplaced::Overlap { path: path.clone(), hunk: *number });
        }
        lines[copied..edit.at].iter().for_each(|line| push(&mut after, line));
        edit.added.iter().for_each(|line| push(&mut after, line));
        copied = edit.at + edit.removed;
        last = Some(edit);
    }
    lines[copied..].iter().for_each(|line| push(&mut after, line));
    Ok(after)
}

/// A line that was a file's last may lack its newline: another one behind it gives it one.
fn push(after: &mut Vec<u8>, line: &[u8]) {
    if after.last().is_some_and(|byte| *byte != b'\n') {
        after.push(b'\n');
    }
    after.extend_from_slice(line);
}
