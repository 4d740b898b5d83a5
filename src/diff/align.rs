//! Where a hunk that was written by hand goes: in exactly one place, exactly first, then with context that
//! differs a little. A removed line must be there, white space and all.

use super::Line;
use super::written::Written;
use std::fmt;

/// Context lines that may be other ones, lack, or be too many.
const FUZZ: usize = 2;
/// Longest file and hunk that are searched with fuzz, lines. A step back is a call within a call.
const LONGEST: usize = 100_000;
const LONGEST_HUNK: usize = 1000;
/// Lines that are compared for one patch: in a file of lines that are all alike, everything fits almost everywhere.
pub(super) const STEPS: u64 = 20_000_000;

/// Lines of the file that others take the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// How many lines stand before.
    pub(super) at: usize,
    pub(super) removed: usize,
    pub(super) added: Vec<Vec<u8>>,
}

/// Why a hunk has no place. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nowhere {
    /// It fits, but at several places.
    Several { lines: Vec<usize> },
    /// It fits nowhere; the nearest place, and the first line there that differs.
    Nearest { first: usize, line: usize, wanted: String, found: Option<String>, removed: bool },
    /// Nothing of it is in the file.
    Nothing,
    /// Too much of it is alike to be looked through.
    Alike,
}

impl fmt::Display for Nowhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Several { lines } => {
                let lines: Vec<String> = lines.iter().take(10).map(ToString::to_string).collect();
                let lines = lines.join(", ");
                write!(f, "fits at several places (lines {lines}): give more lines of context")
            }
            Self::Nearest { first, line, wanted, found, removed } => {
                let what = if *removed { "removes" } else { "has" };
                write!(
                    f,
                    "fits nowhere; it comes nearest at line {first}, where it {what} {wanted:?}"
                )?;
                match found {
                    Some(found) => write!(f, " and line {line} of the file is {found:?}")?,
                    None => write!(f, " and the file has ended")?,
                }
                f.write_str(": copy the lines of the file exactly, with their indentation")
            }
            Self::Alike => f.write_str(
                "is too long, and too many of its lines are alike: make smaller hunks around lines that occur once",
            ),
            Self::Nothing => f.write_str(
                "fits nowhere, and none of its lines is in the file: copy the lines of the file exactly",
            ),
        }
    }
}

/// The edits of a hunk on a file of these lines. `steps`: lines that may be compared, less those that were.
pub(super) fn place(file: &[&[u8]], hunk: &Written, steps: &mut u64) -> Result<Vec<Edit>, Nowhere> {
    let crlf = !file.is_empty() && file.iter().all(|line| line.ends_with(b"\r\n"));
    let lines: Vec<Line> = hunk.lines.iter().map(|line| with_end(line, crlf)).collect();
    let old = lines.iter().filter(|line| !matches!(line, Line::Added(_))).count();
    if old == 0 {
        return insertion(file, hunk, &lines);
    }
    let beside = beside(&lines);
    for (loose, fuzz) in [(false, 0), (true, 0), (true, 1), (true, FUZZ)] {
        if fuzz > 0 && (file.len() > LONGEST || lines.len() > LONGEST_HUNK) {
            break;
        }
        let mut found: Vec<(usize, Vec<Edit>)> = Vec::new();
        for start in 0..=file.len() {
            let (lines, beside) = (&lines, &beside);
            let (edits, solid, left) = (Vec::new(), 0, *steps);
            let mut walk = Walk { file, lines, beside, loose, edits, solid, steps: left };
            let fits = walk.from(0, start, fuzz) && walk.solid > fuzz.min(1);
            *steps = walk.steps;
            if *steps == 0 {
                return Err(Nowhere::Alike);
            }
            if fits {
                let edits = walk.merged();
                // The same change found from a start nearby is the same place.
                if found.iter().all(|(_, other)| *other != edits) {
                    found.push((start, edits));
                }
            }
        }
        if let Some(at) = hunk.at
            && let Some(stated) = found.iter().position(|(start, _)| *start == at)
        {
            return Ok(found.swap_remove(stated).1);
        }
        match found.len() {
            0 => {}
            1 => return Ok(found.swap_remove(0).1),
            _ => {
                let lines = found.iter().map(|(start, _)| start + 1).collect();
                return Err(Nowhere::Several { lines });
            }
        }
    }
    Err(nearest(file, &lines))
}

/// Lines to add and nothing to tell where, but for a line number: an empty file, or the end.
fn insertion(file: &[&[u8]], hunk: &Written, lines: &[Line]) -> Result<Vec<Edit>, Nowhere> {
    let added = lines.iter().map(|line| line.text().to_vec()).collect();
    // `-4,0` says after line 4; the header's reading has taken that into account.
    match hunk.at {
        Some(at) if at <= file.len() => Ok(vec![Edit { at, removed: 0, added }]),
        None if file.is_empty() => Ok(vec![Edit { at: 0, removed: 0, added }]),
        _ => Err(Nowhere::Several { lines: (1..=file.len() + 1).collect() }),
    }
}

fn with_end(line: &Line, crlf: bool) -> Line {
    let text = line.text();
    let text = match text.strip_suffix(b"\n") {
        Some(body) if crlf && !body.ends_with(b"\r") => [body, b"\r\n"].concat(),
        _ => text.to_vec(),
    };
    match line {
        Line::Context(_) => Line::Context(text),
        Line::Added(_) => Line::Added(text),
        Line::Removed(_) => Line::Removed(text),
    }
}

/// Of each line of a hunk, the nearest ones before it and behind it that the file has.
fn beside(lines: &[Line]) -> Vec<(Option<usize>, Option<usize>)> {
    let old = |at: &usize| !matches!(lines[*at], Line::Added(_));
    let mut beside = vec![(None, None); lines.len()];
    let mut last = None;
    for (at, (before, _)) in beside.iter_mut().enumerate() {
        *before = last;
        last = Some(at).filter(old).or(last);
    }
    last = None;
    for (at, (_, behind)) in beside.iter_mut().enumerate().rev() {
        last = Some(at).filter(old).or(last);
        *behind = last;
    }
    beside
}

struct Walk<'a> {
    file: &'a [&'a [u8]],
    lines: &'a [Line],
    beside: &'a [(Option<usize>, Option<usize>)],
    /// White space at the end of context does not count.
    loose: bool,
    edits: Vec<Edit>,
    /// Lines that are not blank and that match.
    solid: usize,
    /// Lines that may still be compared.
    steps: u64,
}

impl Walk<'_> {
    /// Whether the lines from `at` fit the file from `place`, with so many differences of context.
    fn from(&mut self, mut at: usize, mut place: usize, fuzz: usize) -> bool {
        let (edits, solid) = (self.edits.len(), self.solid);
        let lines = self.lines;
        while let Some(line) = lines.get(at) {
            self.steps = self.steps.saturating_sub(1);
            let fits = self.steps > 0
                && match line {
                    Line::Added(text) => {
                        let firm = self.firm(at, place);
                        if firm {
                            self.edits.push(Edit {
                                at: place,
                                removed: 0,
                                added: vec![text.clone()],
                            });
                        }
                        firm
                    }
                    Line::Removed(text) => {
                        let there = self.file.get(place).is_some_and(|have| same(have, text));
                        if there {
                            self.count(text);
                            self.edits.push(Edit { at: place, removed: 1, added: Vec::new() });
                        }
                        there
                    }
                    Line::Context(text) if fuzz == 0 => {
                        let matches = self.matches(place, text);
                        if matches {
                            self.count(text);
                        }
                        matches
                    }
                    // From here on there is more than one way.
                    Line::Context(text) => {
                        let here = (self.edits.len(), self.solid);
                        if self.matches(place, text) {
                            self.count(text);
                            if self.from(at + 1, place + 1, fuzz) {
                                return true;
                            }
                            self.edits.truncate(here.0);
                            self.solid = here.1;
                        }
                        if self.otherwise(at, place, fuzz - 1) {
                            return true;
                        }
                        false
                    }
                };
            if !fits {
                self.edits.truncate(edits);
                self.solid = solid;
                return false;
            }
            at += 1;
            place += usize::from(!matches!(line, Line::Added(_)));
        }
        true
    }

    /// A line that matches tells something, unless it is blank.
    fn count(&mut self, text: &[u8]) {
        self.solid += usize::from(!text.trim_ascii().is_empty());
    }

    /// A line of context that is another one in the file, or not in it, or behind one that the hunk lacks.
    fn otherwise(&mut self, at: usize, place: usize, fuzz: usize) -> bool {
        let (edits, solid) = (self.edits.len(), self.solid);
        // A hunk does not begin with what it lacks, and behind lines that are only added it would not be clear
        // on which side of it they go.
        let lacking = usize::from(at > 0 && !self.only_adds_before(at));
        let tries = [(at + 1, place + 1, 1), (at + 1, place, 1), (at, place + 1, lacking)];
        for (at, place, allowed) in tries {
            if allowed == 0 || place > self.file.len() {
                continue;
            }
            if self.from(at, place, fuzz) {
                return true;
            }
            self.edits.truncate(edits);
            self.solid = solid;
        }
        false
    }

    /// Whether it is certain that a line is added at `place`: beside one that is removed, or between neighbours
    /// that are in the file as they are in the hunk.
    fn firm(&self, at: usize, place: usize) -> bool {
        let (before, behind) = self.beside[at];
        let (before, behind) = (before.map(|at| &self.lines[at]), behind.map(|at| &self.lines[at]));
        let certain = |line: Option<&Line>, place: Option<usize>| match (line, place) {
            (Some(Line::Context(text)), Some(place)) => self.matches(place, text),
            (Some(Line::Context(_)), None) => false,
            _ => true,
        };
        let removed = |line: Option<&Line>| matches!(line, Some(Line::Removed(_)));
        removed(before)
            || removed(behind)
            || certain(before, place.checked_sub(1)) && certain(behind, Some(place))
    }

    fn only_adds_before(&self, at: usize) -> bool {
        let run = self.lines[..at].iter().rev();
        let run: Vec<_> = run.take_while(|line| !matches!(line, Line::Context(_))).collect();
        !run.is_empty() && run.iter().all(|line| matches!(line, Line::Added(_)))
    }

    fn matches(&self, place: usize, text: &[u8]) -> bool {
        let Some(have) = self.file.get(place) else { return false };
        same(have, text) || self.loose && have.trim_ascii_end() == text.trim_ascii_end()
    }

    /// Edits that touch as one.
    fn merged(self) -> Vec<Edit> {
        let mut merged: Vec<Edit> = Vec::new();
        for edit in self.edits {
            match merged.last_mut() {
                Some(last) if last.at + last.removed == edit.at => {
                    last.removed += edit.removed;
                    last.added.extend(edit.added);
                }
                _ => merged.push(edit),
            }
        }
        merged
    }
}

/// The same line; a file's last one may lack its end.
fn same(have: &[u8], text: &[u8]) -> bool {
    let body = |line: &'_ [u8]| line.strip_suffix(b"\n").map(<[u8]>::to_vec);
    have == text || body(have).is_none() && body(text).as_deref() == Some(have)
}

/// The start at which the most lines agree, and what differs there.
fn nearest(file: &[&[u8]], lines: &[Line]) -> Nowhere {
    let most = usize::try_from(STEPS).unwrap_or(usize::MAX) / file.len().max(1);
    let old = lines.iter().filter(|line| !matches!(line, Line::Added(_)));
    let old: Vec<&Line> = old.take(most.max(1)).collect();
    let alike = |have: &[u8], line: &Line| have.trim_ascii() == line.text().trim_ascii();
    let agree = |start: usize| {
        let pairs = old.iter().zip(&file[start..]);
        let solid =
            pairs.filter(|(line, have)| !line.text().trim_ascii().is_empty() && alike(have, line));
        solid.count()
    };
    let best = (0..file.len()).map(|start| (agree(start), start)).max_by_key(|(agree, start)| {
        // The first of several.
        (*agree, std::cmp::Reverse(*start))
    });
    let Some((1.., start)) = best else { return Nowhere::Nothing };
    let differs = |at: usize| file.get(start + at).is_none_or(|have| !same(have, old[at].text()));
    let at = (0..old.len()).find(|at| differs(*at)).unwrap_or(0);
    let shown = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.trim_end_matches(['\n', '\r']).chars().take(200).collect::<String>()
    };
    Nowhere::Nearest {
        first: start + 1,
        line: start + at + 1,
        wanted: shown(old[at].text()),
        found: file.get(start + at).map(|have| shown(have)),
        removed: matches!(old[at], Line::Removed(_)),
    }
}
