//! Old code made to fit today's: names it needs come back, signatures stay as callers know them.

use super::super::words::{Usage, words};
use super::mapping::Undo;
use crate::syntax::{Function, Language, Parsed, Statement, StatementKind};
use crate::text::{Edit, apply_edits, lines};
use crate::tree::RelPath;
use std::collections::BTreeSet;

/// Rounds in which hunks that define what others need are taken in.
const ROUNDS: usize = 6;

/// The two sides of a hunk's file.
pub(super) struct Sides<'a> {
    /// Before the commit.
    pub old: &'a Parsed,
    pub today: &'a Parsed,
    pub path: &'a RelPath,
    pub language: &'a Language,
    /// Of the whole repository today.
    pub usage: &'a Usage,
    /// A definition of a top-level name in what other files once were.
    pub elsewhere: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

impl Sides<'_> {
    /// The hunk, and what it needs: hunks that define names it uses, and imports of such names. The
    /// hunks' indices and all edits; `None` where something stays missing.
    pub(super) fn completed(
        &self,
        undos: &[Undo],
        first: usize,
    ) -> Option<(Vec<usize>, Vec<Edit>)> {
        let mut taken = BTreeSet::from([first]);
        // Definitions that come back without a hunk of their own.
        let mut returned: Vec<Edit> = Vec::new();
        for _ in 0..ROUNDS {
            let edits = taken.iter().flat_map(|at| undos[*at].edits.clone()).collect();
            let mut edits = self.without_gone_imports(edits);
            edits.extend(returned.iter().cloned());
            let text = apply_edits(self.today.source(), &edits).ok()?;
            let text = self.language.parse(text);
            let lost = lost(self.today, &text, self.path, self.usage);
            if !lost.is_empty() {
                let users = self.takers(undos, &taken, &lost);
                if users.is_empty() {
                    return None;
                }
                taken.extend(users);
                continue;
            }
            let place = undos[first].edits.first()?.range.start;
            let (mut imports, mut again) = (BTreeSet::new(), false);
            let methods = self.missing_methods(&edits, &text);
            for name in self.missing(&edits, &text).difference(&methods) {
                let defines = |at: &usize| !taken.contains(at) && self.defines(&undos[*at], name);
                let gone = || !self.usage.has(name.as_bytes()) && (self.elsewhere)(name).is_some();
                match self.import(name) {
                    Some(import) if !gone() => {
                        imports.insert(import);
                        continue;
                    }
                    None if (0..undos.len()).any(|at| defines(&at)) => {
                        taken.extend((0..undos.len()).find(defines));
                    }
                    _ => returned.push(self.definition(name, place)?),
                }
                again = true;
            }
            for name in &methods {
                returned.push(self.method(name, place)?);
                again = true;
            }
            if !again {
                let edits = edits.into_iter().chain(self.imported(&imports)).collect();
                return Some((taken.into_iter().collect(), edits));
            }
        }
        None
    }

    /// Whether the hunk brings back and takes away nothing but imports, which come back with what needs
    /// them.
    pub(super) fn is_imports_only(&self, undo: &Undo) -> bool {
        let taken = undo.edits.iter().all(|edit| only_imports(self.today, edit.range.clone()));
        let start =
            |line: usize| lines(self.old.source()).take(line).map(<[u8]>::len).sum::<usize>();
        taken && only_imports(self.old, start(undo.old.start)..start(undo.old.end))
    }

    /// Names that the old lines use, that the old file had at its top level and that the new text no
    /// longer has.
    fn missing(&self, edits: &[Edit], text: &Parsed) -> BTreeSet<String> {
        let used = edits.iter().flat_map(|edit| {
            words(&edit.replacement)
                .map(|at| String::from_utf8_lossy(&edit.replacement[at]).into_owned())
        });
        let had = self.old.module_names();
        used.filter(|name| had.contains(name) && !text.module_names().contains(name)).collect()
    }

    /// The other hunks that take uses of these names away.
    fn takers(
        &self,
        undos: &[Undo],
        taken: &BTreeSet<usize>,
        names: &BTreeSet<&[u8]>,
    ) -> BTreeSet<usize> {
        let takes_away = |undo: &Undo| {
            undo.edits.iter().any(|edit| {
                let gone = self.today.text(&edit.range);
                words(gone).any(|at| names.contains(&gone[at]))
            })
        };
        (0..undos.len()).filter(|at| !taken.contains(at) && takes_away(&undos[*at])).collect()
    }

    /// The old file's import of a name, as a whole statement at the top level.
    fn import(&self, name: &str) -> Option<&[u8]> {
        let at_top = |start: usize| {
            self.old.indentation(start).is_empty() && self.old.function_at(start).is_none()
        };
        let binds = |names: &[String]| names.iter().any(|it| it == name);
        let found = self.old.imports().iter().find(|it| binds(&it.names) && at_top(it.range.start));
        found.map(|import| self.old.text(&import.range).trim_ascii_end())
    }

    /// The import statements put behind today's last one, or at the start of what is no documentation.
    fn imported(&self, imports: &BTreeSet<&[u8]>) -> Option<Edit> {
        if imports.is_empty() {
            return None;
        }
        let today = self.today;
        let top = |start: usize| today.indentation(start).is_empty();
        let last = today
            .imports()
            .iter()
            .rev()
            .find(|it| top(it.range.start) && today.function_at(it.range.start).is_none());
        let newline = today.newline();
        let text: Vec<u8> = imports.iter().flat_map(|it| [*it, newline].concat()).collect();
        let place = if let Some(import) = last {
            let rest = &today.source()[import.range.end..];
            let line = lines(rest).next().unwrap_or_default();
            import.range.end + if line.ends_with(b"\n") { line.len() } else { return None }
        } else {
            let code = |it: &&Statement| it.kind != StatementKind::Docstring;
            today.statements().iter().find(code)?.range.start
        };
        Some(Edit::new(place..place, text))
    }

    /// Whether the hunk brings back a line at the top level that has the name in it.
    fn defines(&self, undo: &Undo, name: &str) -> bool {
        let old: Vec<&[u8]> = lines(self.old.source()).collect();
        let top = |line: &&&[u8]| !line.starts_with(b" ") && !line.starts_with(b"\t");
        let has = |line: &[u8]| words(line).any(|at| line[at] == *name.as_bytes());
        old.get(undo.old.clone()).unwrap_or_default().iter().filter(top).any(|line| has(line))
    }
}

fn only_imports(parsed: &Parsed, range: std::ops::Range<usize>) -> bool {
    let spans = parsed.imports().iter().map(|import| &import.range).chain(parsed.comments());
    let spans: Vec<_> = spans.collect();
    let source = parsed.source();
    range
        .clone()
        .all(|at| source[at].is_ascii_whitespace() || spans.iter().any(|span| span.contains(&at)))
}

/// Names of today's top level that a text no longer has and that it, or another file, still uses.
pub(super) fn lost<'t>(
    today: &'t Parsed,
    text: &'t Parsed,
    path: &RelPath,
    usage: &Usage,
) -> BTreeSet<&'t [u8]> {
    let gone = today.module_names().difference(text.module_names()).map(String::as_bytes);
    let source = text.source();
    let used =
        |name: &&[u8]| usage.outside(path, name) || words(source).any(|at| source[at] == **name);
    gone.filter(used).collect()
}

/// The text with today's signatures where a function's parameters are others than today's and its
/// body does not need them: so callers of today find what they call.
pub(super) fn with_signatures(today: &Parsed, text: Vec<u8>, language: &Language) -> Vec<u8> {
    let drafted = language.parse(text);
    let mut edits = Vec::new();
    for function in drafted.functions() {
        let same = |other: &&Function| other.qualified == function.qualified;
        let [now] = &today.functions().iter().filter(same).collect::<Vec<_>>()[..] else {
            continue;
        };
        if drafted.functions().iter().filter(same).count() != 1 {
            continue;
        }
        let body = drafted.text(&function.body);
        if body.is_empty() || now.body.is_empty() || body == today.text(&now.body) {
            continue;
        }
        let names = |of: &Function| -> BTreeSet<String> {
            of.parameters.iter().map(|parameter| parameter.name.clone()).collect()
        };
        let (had, has) = (names(function), names(now));
        let needs = |name: &&String| words(body).any(|at| body[at] == *name.as_bytes());
        if had == has || had.difference(&has).any(|name| needs(&name)) {
            continue;
        }
        let signature = |of: &Function| of.range.start..of.body.start;
        edits.push(Edit::new(signature(function), today.text(&signature(now))));
    }
    apply_edits(drafted.source(), &edits).unwrap_or_else(|_| drafted.source().to_vec())
}
