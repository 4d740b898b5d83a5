//! Text to patch: finds headers among prose, reads hunks to their stated counts, refuses the rest.

use super::header::{self, Header};
use super::hunk::removed_first;
use super::refusal::{HeaderFault, HunkFault};
use super::{FilePatch, Hunk, Kind, Line, MAX_BYTES, MAX_FILES, Patch, Refusal};
use std::collections::BTreeSet;

/// The lines of a patch and how far they are read.
pub(super) struct Cursor<'p> {
    lines: Vec<&'p [u8]>,
    next: usize,
}

impl<'p> Cursor<'p> {
    pub(super) fn new(bytes: &'p [u8]) -> Self {
        Self { lines: crate::text::lines(bytes).collect(), next: 0 }
    }

    /// The next line's number in the patch, from 1.
    pub(super) fn number(&self) -> usize {
        self.next + 1
    }

    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    pub(super) fn raw(&self) -> Option<&'p [u8]> {
        self.lines.get(self.next).copied()
    }

    /// The next line without its line end.
    pub(super) fn header(&self) -> Option<&'p [u8]> {
        self.raw().map(without_end)
    }

    pub(super) fn header_after(&self) -> Option<&'p [u8]> {
        self.lines.get(self.next + 1).map(|line| without_end(line))
    }
}

pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

pub(super) fn patch(bytes: &[u8]) -> Result<Patch, Refusal> {
    if bytes.len() > MAX_BYTES {
        return Err(Refusal::TooLarge { bytes: bytes.len() });
    }
    let mut cursor = Cursor::new(bytes);
    let mut files = Vec::new();
    let mut seen = Seen::default();
    // Whether nothing but blank lines came since a hunk, so that the next line may be a part of it
    // that its header does not count.
    let mut after_hunk = false;
    while let Some(text) = cursor.header() {
        let Some(header) = next_header(&mut cursor, text, after_hunk)? else {
            after_hunk &= text.is_empty();
            cursor.advance();
            continue;
        };
        let file = file(&mut cursor, header, &mut seen)?;
        after_hunk = !file.hunks.is_empty();
        files.push(file);
        if files.len() > MAX_FILES {
            return Err(Refusal::TooManyFiles);
        }
    }
    if files.is_empty() && !bytes.trim_ascii().is_empty() {
        return Err(Refusal::NothingFound);
    }
    Ok(Patch { files })
}

/// The header that starts at the next line; `None` where that line is prose.
pub(super) fn next_header(
    cursor: &mut Cursor,
    text: &[u8],
    after_hunk: bool,
) -> Result<Option<Header>, Refusal> {
    let line = cursor.number();
    if let Some(names) = text.strip_prefix(b"diff --git ") {
        return header::git(cursor, names).map(Some);
    }
    if text.starts_with(b"diff --cc ") || text.starts_with(b"diff --combined ") {
        return Err(Refusal::Header { line, reason: HeaderFault::Combined });
    }
    if is_binary(text) {
        return Err(Refusal::Binary { line });
    }
    if text.starts_with(b"--- ") {
        let after = cursor.header_after().unwrap_or_default();
        if after.starts_with(b"+++ ") {
            return header::plain(cursor).map(Some);
        }
        if after.starts_with(b"@@") {
            return Err(Refusal::Header { line, reason: HeaderFault::NoNewName });
        }
    }
    if text.starts_with(b"@@") {
        return Err(Refusal::Hunk { line, reason: HunkFault::NoFile });
    }
    // `-- ` ends the patch in a mail that git made.
    let signature = text == b"-- " || text == b"--";
    if after_hunk && !signature && matches!(text.first(), Some(b' ' | b'+' | b'-' | b'\\')) {
        return Err(Refusal::Hunk { line, reason: HunkFault::TooMany });
    }
    Ok(None)
}

fn is_binary(text: &[u8]) -> bool {
    text == b"GIT binary patch"
        || (text.starts_with(b"Binary files ") && text.ends_with(b" differ"))
}

/// Paths by side: each may stand once before and once after, so that two files may swap names.
#[derive(Default)]
struct Seen {
    old: BTreeSet<crate::tree::RelPath>,
    new: BTreeSet<crate::tree::RelPath>,
}

fn file(cursor: &mut Cursor, header: Header, seen: &mut Seen) -> Result<FilePatch, Refusal> {
    let Header { line, kind, promises_hunks } = header;
    if cursor.header().is_some_and(is_binary) {
        return Err(Refusal::Binary { line: cursor.number() });
    }
    let hunks = if promises_hunks { hunks(cursor)? } else { Vec::new() };
    let file = FilePatch { kind, hunks };
    let once = |set: &mut BTreeSet<_>, path: Option<&crate::tree::RelPath>| match path {
        Some(path) if !set.insert(path.clone()) => {
            Err(Refusal::Duplicate { line, path: path.clone() })
        }
        _ => Ok(()),
    };
    once(&mut seen.old, file.old_path())?;
    once(&mut seen.new, file.new_path())?;
    if matches!(file.kind, Kind::Modified { modes: None, .. }) && file.hunks.is_empty() {
        return Err(Refusal::Header { line, reason: HeaderFault::NoChange });
    }
    let whole = match file.kind {
        Kind::Added { .. } => is_whole(&file.hunks, |line| matches!(line, Line::Added(_))),
        Kind::Deleted { .. } => is_whole(&file.hunks, |line| matches!(line, Line::Removed(_))),
        Kind::Modified { .. } | Kind::Renamed { .. } => true,
    };
    if whole { Ok(file) } else { Err(Refusal::Hunk { line, reason: HunkFault::WholeFile }) }
}

fn is_whole(hunks: &[Hunk], fits: fn(&Line) -> bool) -> bool {
    match hunks {
        [] => true,
        [hunk] => hunk.at == 0 && hunk.lines.iter().all(fits),
        _ => false,
    }
}

fn hunks(cursor: &mut Cursor) -> Result<Vec<Hunk>, Refusal> {
    let mut hunks: Vec<Hunk> = Vec::new();
    loop {
        let line = cursor.number();
        let fault = |reason| Refusal::Hunk { line, reason };
        let Some(text) = cursor.header().filter(|text| hunks.is_empty() || text.starts_with(b"@@"))
        else {
            let nothing = hunks.is_empty();
            return if nothing { Err(fault(HunkFault::Header)) } else { Ok(hunks) };
        };
        let (at, old, new) = ranges(text).ok_or_else(|| fault(HunkFault::Header))?;
        cursor.advance();
        let lines = Body::read(cursor, old, new)?;
        if lines.iter().all(|line| matches!(line, Line::Context(_))) {
            return Err(fault(HunkFault::NoChange));
        }
        if let Some(before) = hunks.last() {
            if at < before.at + before.old_lines().count() {
                return Err(fault(HunkFault::Order));
            }
            if before.lines.iter().any(|line| !line.text().ends_with(b"\n")) {
                return Err(fault(HunkFault::NoNewline));
            }
        }
        hunks.push(Hunk { at, lines: removed_first(lines.into_iter()) });
    }
}

/// From `@@ -4,2 +4,3 @@`: how many old lines stand before, and the counts of both sides.
fn ranges(text: &[u8]) -> Option<(usize, usize, usize)> {
    let text = text.strip_prefix(b"@@ -")?;
    let end = text.windows(3).position(|three| three == b" @@")?;
    let both = std::str::from_utf8(&text[..end]).ok()?;
    let (old, new) = both.split_once(" +")?;
    let (at, old) = range(old)?;
    let (_, new) = range(new)?;
    Some((at, old, new))
}

pub(super) fn range(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { text.parse::<u32>().ok().map(|number| number as usize) } else { None }
    };
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    let (start, count) = (number(start)?, number(count)?);
    // An empty range names the line before it.
    Some((if count == 0 { start } else { start.checked_sub(1)? }, count))
}

/// A hunk's lines while they are read.
struct Body {
    lines: Vec<Line>,
    old_left: usize,
    new_left: usize,
}

impl Body {
    fn read(cursor: &mut Cursor, old: usize, new: usize) -> Result<Vec<Line>, Refusal> {
        let mut body = Self { lines: Vec::new(), old_left: old, new_left: new };
        loop {
            let fault = |reason| Refusal::Hunk { line: cursor.number(), reason };
            let full = body.old_left == 0 && body.new_left == 0;
            match cursor.raw() {
                Some(text) if text.starts_with(b"\\ ") => {
                    body.end_without_newline().map_err(fault)?;
                }
                _ if full => return Ok(body.lines),
                None => return Err(fault(HunkFault::Ends)),
                Some(text) => body.take(text).map_err(fault)?,
            }
            cursor.advance();
        }
    }

    fn take(&mut self, text: &[u8]) -> Result<(), HunkFault> {
        // Some editors strip the space of an empty context line.
        let (mark, text) = if text == b"\n" { (b' ', text) } else { (text[0], &text[1..]) };
        let mut text = text.to_vec();
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        let (line, old, new) = match mark {
            b' ' => (Line::Context(text), 1, 1),
            b'-' => (Line::Removed(text), 1, 0),
            b'+' => (Line::Added(text), 0, 1),
            _ => return Err(HunkFault::BadLine),
        };
        self.old_left = self.old_left.checked_sub(old).ok_or(HunkFault::TooMany)?;
        self.new_left = self.new_left.checked_sub(new).ok_or(HunkFault::TooMany)?;
        self.lines.push(line);
        Ok(())
    }

    /// `\ No newline at end of file`, about the line before it.
    fn end_without_newline(&mut self) -> Result<(), HunkFault> {
        let last = self.lines.last_mut().ok_or(HunkFault::NoNewline)?;
        // A line of nothing at all is no line.
        if last.text().len() < 2 || last.text_mut().pop_if(|byte| *byte == b'\n').is_none() {
            return Err(HunkFault::NoNewline);
        }
        let more = match last {
            Line::Context(_) => self.old_left + self.new_left,
            Line::Removed(_) => self.old_left,
            Line::Added(_) => self.new_left,
        };
        if more > 0 {
            return Err(HunkFault::NoNewline);
        }
        Ok(())
    }
}
