//! Where a bug is and what was done there: worked out from its diff alone, so that any artifact has clues,
//! whoever made it.

use super::family::{ADDED, REMOVED, REWRITTEN, family};
use crate::diff::{LineChange, line_changes};
use crate::syntax::structural::{RemovalKind, mutations, removals};
use crate::syntax::{Language, Languages, Parsed};
use crate::text::{Edit, apply_edits, lines};
use crate::tree::{Changes, RelPath, Tree};
use std::collections::BTreeSet;

/// Lines of one place that are quoted.
const QUOTED: usize = 40;

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Clues {
    pub strategy: String,
    /// By file and line.
    pub places: Vec<Place>,
}

/// One edit of the bug.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    pub file: String,
    /// Qualified; `None` outside of functions, and where the language is not known.
    pub function: Option<String>,
    /// From 1, of the file with the bug; where lines are missing, the one that now stands there.
    pub line: u32,
    /// The operator or kind of removal where one makes exactly this edit.
    pub kind: String,
    /// The original's lines, and those in their place.
    pub was: Vec<String>,
    pub is: Vec<String>,
}

impl Clues {
    /// Sorted, each once.
    pub fn families(&self) -> Vec<String> {
        let all: BTreeSet<String> =
            self.places.iter().map(|place| family(&self.strategy, &place.kind)).collect();
        all.into_iter().collect()
    }
}

/// The clues of a bug: changes of code over `base`.
pub fn clues(base: &dyn Tree, bug: &Changes, languages: &Languages, strategy: &str) -> Clues {
    let mut places = Vec::new();
    for (path, after) in bug.iter() {
        let text = |file: Option<crate::tree::File>| {
            file.map(|file| file.bytes.to_vec()).unwrap_or_default()
        };
        let (was, is) = (text(base.read(path)), text(after.cloned()));
        places.extend(of_file(path, &was, &is, languages.for_path(path)));
    }
    Clues { strategy: strategy.to_owned(), places }
}

/// A file's edits.
fn of_file(path: &RelPath, was: &[u8], is: &[u8], language: Option<&Language>) -> Vec<Place> {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(was).collect(), lines(is).collect());
    let parsed = language
        .map(|language| (language, language.parse(was.to_vec()), language.parse(is.to_vec())));
    let known = parsed
        .as_ref()
        .map(|(language, original, _)| operators(original, language))
        .unwrap_or_default();
    let whole =
        known.iter().find(|(_, edits)| apply_edits(was, edits).is_ok_and(|made| made == is));
    let changes = line_changes(&old, &new);
    let place = |change: &LineChange| {
        let function = parsed.as_ref().and_then(|(_, original, buggy)| {
            // What is missing was in a function of the original.
            if change.new.is_empty() {
                function(original, &old, change.old.start)
            } else {
                function(buggy, &new, change.new.start)
            }
        });
        let kind =
            whole.or_else(|| known.iter().find(|(_, edits)| makes(was, &old, &new, change, edits)));
        Place {
            file: path.as_str().to_owned(),
            function,
            line: u32::try_from(change.new.start + 1).unwrap_or(u32::MAX),
            kind: kind.map_or(shape(change), |(kind, _)| *kind).to_owned(),
            was: quoted(&old[change.old.clone()]),
            is: quoted(&new[change.new.clone()]),
        }
    };
    changes.iter().map(place).collect()
}

/// Every edit of the file that has a name.
fn operators(parsed: &Parsed, language: &Language) -> Vec<(&'static str, Vec<Edit>)> {
    let mutations =
        mutations(parsed, language).into_iter().map(|it| (it.operator.name(), it.edits));
    let removals = removals(parsed, language).into_iter().map(|it| {
        let kind = match it.what {
            RemovalKind::Body => "body_removed",
            RemovalKind::Statements => "statements_removed",
            RemovalKind::Branch => "branch_removed",
            RemovalKind::Function => "function_removed",
        };
        (kind, it.edits)
    });
    mutations.chain(removals).collect()
}

/// Whether these edits make just this change.
fn makes(was: &[u8], old: &[&[u8]], new: &[&[u8]], change: &LineChange, edits: &[Edit]) -> bool {
    let start: usize = old[..change.old.start].iter().map(|line| line.len()).sum();
    let end = start + old[change.old.clone()].iter().map(|line| line.len()).sum::<usize>();
    let inside = |edit: &Edit| start <= edit.range.start && edit.range.end <= end;
    if edits.is_empty() || !edits.iter().all(inside) {
        return false;
    }
    let moved: Vec<Edit> = edits
        .iter()
        .map(|edit| {
            Edit::new(edit.range.start - start..edit.range.end - start, edit.replacement.clone())
        })
        .collect();
    apply_edits(&was[start..end], &moved).is_ok_and(|made| made == new[change.new.clone()].concat())
}

fn shape(change: &LineChange) -> &'static str {
    if change.new.is_empty() {
        REMOVED
    } else if change.old.is_empty() {
        ADDED
    } else {
        REWRITTEN
    }
}

/// The function that a line is in, by its first character that is no blank.
fn function(parsed: &Parsed, all: &[&[u8]], line: usize) -> Option<String> {
    let start: usize = all[..line].iter().map(|line| line.len()).sum();
    let blanks = all.get(line)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let at = parsed.function_at(start + blanks)?;
    Some(parsed.functions()[at].qualified.clone())
}

pub(super) fn quoted(lines: &[&[u8]]) -> Vec<String> {
    let text = |line: &&[u8]| String::from_utf8_lossy(line).trim_end().to_owned();
    let mut quoted: Vec<String> = lines.iter().take(QUOTED).map(text).collect();
    if lines.len() > QUOTED {
        quoted.push(format!("… {} more lines", lines.len() - QUOTED));
    }
    quoted
}
