//! Functions that stand in another file today, by name and likeness: what a commit did to one is undone where
//! it is now.

use super::super::code::Code;
use super::definitions::reindented;
use super::fit::Sides;
use super::mapping::{self, Fit, Undo};
use super::ways::{has_effect, touches};
use super::{Side, Undoing, Unit, renames};
use crate::syntax::{Function, Language, Parsed};
use crate::text::{Edit, lines};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Code files whose functions are looked at.
const FILES: usize = 2000;
/// Share of their lines that two versions of a function have in common: where the name is the same, and
/// where it is another.
const NAMESAKE: f64 = 0.4;
const STRANGER: f64 = 0.7;
/// Lines that a function must have to be known by them alone.
const TELLING: usize = 3;

/// Every function of the code that may be edited.
#[derive(Default)]
pub(super) struct Functions(Vec<Known>);

struct Known {
    /// Index in [`Code::files`].
    file: usize,
    name: String,
    qualified: String,
    lines: BTreeSet<u64>,
}

impl Functions {
    fn of(code: &Code<'_>) -> Self {
        let mut all = Vec::new();
        for file in 0..code.files().len().min(FILES) {
            let Some(parsed) = code.parsed(file) else { continue };
            for function in parsed.functions().iter().filter(|function| function.parent.is_none()) {
                all.push(Known {
                    file,
                    name: function.name.clone(),
                    qualified: function.qualified.clone(),
                    lines: told_by(parsed.text(&function.range)),
                });
            }
        }
        Self(all)
    }

    /// The one that a function of `name` and `text` has become, outside of the file `not`.
    fn find(&self, name: &str, text: &[u8], not: Option<usize>) -> Option<&Known> {
        let wanted = told_by(text);
        let mut best: Option<(f64, &Known)> = None;
        for known in self.0.iter().filter(|known| Some(known.file) != not) {
            let likeness = likeness(&wanted, &known.lines);
            let namesake = known.name == name;
            let enough = if namesake { NAMESAKE } else { STRANGER };
            if likeness < enough || (!namesake && wanted.len() < TELLING) {
                continue;
            }
            let score = likeness + if namesake { 0.5 } else { 0.0 };
            if best.is_none_or(|(top, _)| score > top) {
                best = Some((score, known));
            }
        }
        best.map(|(_, known)| known)
    }
}

/// Its lines that say something, without the white space around them.
fn told_by(text: &[u8]) -> BTreeSet<u64> {
    let says = |line: &&[u8]| line.iter().filter(|byte| byte.is_ascii_alphanumeric()).count() > 3;
    let hash = |line: &[u8]| {
        let mut hasher = DefaultHasher::new();
        line.trim_ascii().hash(&mut hasher);
        hasher.finish()
    };
    // The head holds the name, which may have changed.
    lines(text).skip(1).filter(says).map(hash).collect()
}

/// Dice's coefficient of the two.
fn likeness(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let all = one.len() + other.len();
    if all == 0 { 0.0 } else { 2.0 * number(one.intersection(other).count()) / number(all) }
}

impl Undoing {
    /// What the commit did to functions that stand elsewhere now, each hunk with what it needs.
    pub(super) fn moved(&mut self, commit: usize, side: Side, code: &mut Code<'_>) -> Vec<Unit> {
        let of = &self.history.commits[commit];
        let (path, old, new, own) = match side {
            Side::Today { revision, file } => {
                let revision = &of.files[revision];
                (revision.path.clone(), revision.old.clone(), revision.new.clone(), Some(file))
            }
            Side::Gone(at) => {
                let gone = &of.gone[at];
                let Some(new) = gone.new.clone() else { return Vec::new() };
                (gone.path.clone(), gone.old.clone(), new, None)
            }
        };
        let Some(language) = code.languages().for_path(&path).cloned() else { return Vec::new() };
        let (old, new) = (language.parse(old), language.parse(new));
        let changed = changed_functions(&old, &new, &language);
        let stays = |function: &Function, code: &Code<'_>| {
            own.and_then(|file| code.parsed(file)).is_some_and(|today| {
                today.functions().iter().any(|known| known.qualified == function.qualified)
            })
        };
        let gone: Vec<_> = changed.into_iter().filter(|(_, after)| !stays(after, code)).collect();
        if gone.is_empty() {
            return Vec::new();
        }
        if self.functions.is_none() {
            self.functions = Some(Functions::of(code));
        }
        let mut units = Vec::new();
        for (before, after) in gone {
            let functions = self.functions.as_ref();
            let found =
                functions.and_then(|all| all.find(&after.name, new.text(&after.range), own));
            if let Some(found) = found {
                let sides = Texts { old: &old, new: &new, before, after, language: &language };
                units.extend(self.units_of(&sides, found, code));
            }
        }
        units
    }

    fn units_of(&self, texts: &Texts<'_>, found: &Known, code: &mut Code<'_>) -> Vec<Unit> {
        let symbol = code.symbol().map(str::to_owned);
        let (opened, usage) = code.open_with_usage(found.file);
        let is = |function: &&Function| function.qualified == found.qualified;
        let Some(function) = opened.parsed.functions().iter().find(is) else { return Vec::new() };
        let undos = texts.undone(&opened.parsed, function);
        let language = texts.language;
        let sides = Sides {
            old: texts.old,
            today: &opened.parsed,
            path: &opened.path,
            language,
            usage,
            elsewhere: &|name| self.definition(name, opened),
        };
        let mut units: Vec<Unit> = Vec::new();
        for index in 0..undos.len() {
            let Some((hunks, edits)) = sides.completed(&undos, index) else { continue };
            let in_target = symbol.as_ref().is_none_or(|symbol| {
                undos[index].edits.iter().any(|edit| touches(&opened.parsed, edit, symbol))
            });
            if in_target && has_effect(opened, &edits) && !units.iter().any(|it| it.edits == edits)
            {
                units.push(Unit { file: found.file, hunks, edits, fit: Fit::Moved });
            }
        }
        units
    }
}

/// Functions of both sides by one name whose code differs.
fn changed_functions<'a>(
    old: &'a Parsed,
    new: &'a Parsed,
    language: &Language,
) -> Vec<(&'a Function, &'a Function)> {
    let only = |parsed: &'a Parsed, name: &str| {
        let mut all = parsed.functions().iter().filter(|function| function.qualified == name);
        all.next().filter(|_| all.next().is_none())
    };
    let mut changed = Vec::new();
    for after in new.functions().iter().filter(|function| function.parent.is_none()) {
        let (Some(before), Some(_)) = (only(old, &after.qualified), only(new, &after.qualified))
        else {
            continue;
        };
        if !language.is_same_code(old.text(&before.range), new.text(&after.range)) {
            changed.push((before, after));
        }
    }
    changed
}

/// A function before and after the commit.
struct Texts<'a> {
    old: &'a Parsed,
    new: &'a Parsed,
    before: &'a Function,
    after: &'a Function,
    language: &'a Language,
}

impl Texts<'_> {
    /// The commit's hunks in the function, where they are in today's.
    fn undone(&self, today: &Parsed, function: &Function) -> Vec<Undo> {
        let indent = today.indentation(function.range.start);
        let side = |parsed: &Parsed, function: &Function| {
            let from = parsed.indentation(function.range.start);
            let text = reindented(parsed.text(&function.range), from, indent);
            mapping::with_newlines_of(today.source(), &mapping::closed(&text, b"\n"))
        };
        let (old, new) = (side(self.old, self.before), side(self.new, self.after));
        let start = function.range.start - indent.len();
        let text = &today.source()[start..function.range.end];
        let closed = mapping::closed(text, today.newline());
        let renamed = renames::between(&new, &closed);
        let (old, new) = (renames::applied(&old, &renamed), renames::applied(&new, &renamed));
        let shifted = |edit: Edit| {
            Edit::new(edit.range.start + start..edit.range.end + start, edit.replacement)
        };
        mapping::undo(&old, &new, &closed, text.len())
            .into_iter()
            .map(|undo| Undo {
                edits: undo.edits.into_iter().map(shifted).collect(),
                fit: Fit::Moved,
                // Lines of the function, not of the file: no hunk here defines what another needs.
                old: 0..0,
            })
            .collect()
    }
}
