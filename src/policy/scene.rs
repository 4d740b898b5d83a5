//! Edits of a parsed file as features: what is changed, in what, how deep, how much.
//!
//! The words are those of [`syntax`](crate::syntax), so that they mean the same in every language. A name of
//! a feature is part of every checkpoint: one that is spelt anew has the weight 0.

use super::OptionsBuilder;
use crate::syntax::{Expression, Parsed, Span, Statement};
use crate::text::{Edit, identifiers};
use std::collections::{BTreeMap, BTreeSet};

/// One file, with what its edits are asked for again and again.
pub struct Scene<'a> {
    parsed: &'a Parsed,
    /// Of each statement: how many statements it stands in.
    depths: Vec<usize>,
    /// Of each function: how often its text has each identifier.
    uses: Vec<BTreeMap<&'a str, usize>>,
    size: &'static str,
}

/// The identifiers that edits bring in and take away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub added: BTreeSet<String>,
    pub removed: BTreeSet<String>,
}

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Words that are no names, in the languages there are.
const KEYWORDS: [&str; 24] = [
    "True",
    "False",
    "None",
    "true",
    "false",
    "null",
    "nil",
    "undefined",
    "not",
    "and",
    "or",
    "in",
    "is",
    "self",
    "this",
    "break",
    "continue",
    "return",
    "pass",
    "yield",
    "await",
    "if",
    "else",
    "raise",
];

impl<'a> Scene<'a> {
    #[must_use]
    pub fn new(parsed: &'a Parsed) -> Self {
        let mut depths: Vec<usize> = Vec::with_capacity(parsed.statements().len());
        for statement in parsed.statements() {
            // An enclosing statement stands before what it holds.
            let around = statement.parent.and_then(|parent| depths.get(parent));
            depths.push(around.map_or(0, |depth| depth + 1));
        }
        let uses = parsed.functions().iter().map(|function| {
            let mut uses = BTreeMap::new();
            for (_, word) in identifiers(parsed.text(&function.range)) {
                *uses.entry(word).or_insert(0) += 1;
            }
            uses
        });
        let uses = uses.collect();
        Self { parsed, depths, uses, size: doublings(parsed.source().len() / 64) }
    }

    /// Gives the current option the features of its edits (sorted, not overlapping). `kind`: by a stable name,
    /// what is done.
    pub fn describe(&self, kind: &str, edits: &[Edit], out: &mut OptionsBuilder) -> Names {
        out.flag(&["kind=", kind]);
        out.flag(&["edits=", DIGITS[edits.len().min(4)]]);
        let Some(first) = edits.first() else { return Names::default() };
        let tokens: Vec<_> = edits.iter().map(|it| widened(self.parsed.source(), it)).collect();
        let statement = self.statement(&first.range);
        self.place(kind, first, statement, out);
        self.surroundings(first, statement, out);
        change(kind, &tokens[0], out);
        let names = names(&tokens);
        self.variables(kind, first, &names, out);
        let sizes = tokens.iter().map(|(old, new)| (words(old), words(new)));
        let (old, new) = sizes.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let grown = match (old, new) {
            (old, new) if new > old + 6 => "much",
            (old, new) if new > old => "some",
            (old, new) if new == old => "none",
            (old, new) if new + 6 >= old => "less",
            _ => "much_less",
        };
        out.flag(&["grown=", grown]);
        out.flag(&["kind*grown=", kind, "*", grown]);
        out.flag(&["old_size=", doublings(old)]);
        names
    }

    /// The nodes around it.
    fn place(&self, kind: &str, edit: &Edit, statement: Option<usize>, out: &mut OptionsBuilder) {
        let of = statement.map(|number| &self.parsed.statements()[number]);
        let stands = of.map_or_else(|| "None".to_owned(), |it| format!("{:?}", it.kind));
        out.flag(&["statement=", &stands]);
        out.flag(&["kind*statement=", kind, "*", &stands]);
        let expression = self.expression(&edit.range);
        let node = expression.map_or_else(|| "None".to_owned(), |it| format!("{:?}", it.kind));
        out.flag(&["expression=", &node]);
        out.flag(&["kind*expression=", kind, "*", &node]);
        let around = self.role(edit, expression, of);
        out.flag(&["in=", &around]);
        out.flag(&["kind*in=", kind, "*", &around]);
        if expression.is_some_and(|it| it.assigned) {
            out.flag(&["assigned"]);
        }
    }

    /// What the edited piece is in its parent: `If.Condition`, `Call.Argument`.
    fn role(
        &self,
        edit: &Edit,
        expression: Option<&Expression>,
        statement: Option<&Statement>,
    ) -> String {
        let holds = |span: &Span| span.start <= edit.range.start && edit.range.end <= span.end;
        let named = |parts: &crate::syntax::Parts| {
            let smallest = parts.iter().filter(|(_, span)| holds(span));
            smallest.min_by_key(|(_, span)| span.len()).map(|(part, _)| *part)
        };
        let parent = expression.and_then(|it| it.parent).map(|at| &self.parsed.expressions()[at]);
        // The piece is a part of the expression, or the expression is a part of what it is in.
        let in_expression = expression.and_then(|it| Some((it.kind, named(&it.parts)?)));
        let in_parent = || parent.and_then(|it| Some((it.kind, named(&it.parts)?)));
        if let Some((kind, part)) = in_expression.or_else(in_parent) {
            return format!("{kind:?}.{part:?}");
        }
        match statement.and_then(|it| Some((it.kind, named(&it.parts)?))) {
            Some((kind, part)) => format!("{kind:?}.{part:?}"),
            None => "None".to_owned(),
        }
    }

    /// How deep, where in its block and function, and how large these are.
    fn surroundings(&self, edit: &Edit, statement: Option<usize>, out: &mut OptionsBuilder) {
        out.flag(&["file_size=", self.size]);
        if let Some(number) = statement {
            let of = &self.parsed.statements()[number];
            out.flag(&["depth=", DIGITS[self.depths[number].min(6)]]);
            if of.siblings == 1 {
                out.flag(&["only_statement"]);
            } else if of.index == 0 {
                out.flag(&["first_statement"]);
            } else if of.index + 1 == of.siblings {
                out.flag(&["last_statement"]);
            }
        }
        let Some(number) = self.parsed.function_at(edit.range.start) else {
            out.flag(&["top_level"]);
            return;
        };
        let function = &self.parsed.functions()[number];
        out.flag(&["function_size=", doublings(function.statements)]);
        out.flag(&["complexity=", doublings(function.complexity)]);
        out.flag(&["parameters=", DIGITS[function.parameters.len().min(4)]]);
        if function.parent.is_some() {
            out.flag(&["inner_function"]);
        }
        if edit.range.start < function.body.start {
            out.flag(&["head"]);
        } else {
            let behind = edit.range.start - function.body.start;
            let quarter = 4 * behind / function.body.len().max(1);
            out.flag(&["quarter=", DIGITS[quarter.min(3)]]);
        }
    }

    /// What becomes of the function's own variables.
    fn variables(&self, kind: &str, edit: &Edit, names: &Names, out: &mut OptionsBuilder) {
        let Some(function) = self.parsed.function_at(edit.range.start) else { return };
        let own = self.parsed.names_in(function);
        let uses = |name: &str| self.uses[function].get(name).copied().unwrap_or(0);
        let is_own = |name: &str| own.contains(&name);
        if names.added.iter().any(|name| is_own(name) && uses(name) <= 1) {
            out.flag(&["revives_unused"]);
            out.flag(&["kind*revives_unused=", kind]);
        } else if names.added.iter().any(|name| is_own(name)) {
            out.flag(&["adds_variable"]);
        }
        if names.added.iter().any(|name| uses(name) == 0) {
            out.flag(&["adds_foreign_name"]);
        }
        // Where it is bound, and where it was read.
        if names.removed.iter().any(|name| is_own(name) && uses(name) <= 2) {
            out.flag(&["forgets_variable"]);
            out.flag(&["kind*forgets_variable=", kind]);
        }
    }

    /// The innermost statement that holds a range.
    fn statement(&self, range: &Span) -> Option<usize> {
        let all = self.parsed.statements();
        let last = all.partition_point(|it| it.range.start <= range.start).checked_sub(1);
        climb(last, range, &|at| (&all[at].range, all[at].parent))
    }

    /// The innermost expression that holds a range.
    fn expression(&self, range: &Span) -> Option<&'a Expression> {
        let all = self.parsed.expressions();
        let last = all.partition_point(|it| it.range.start <= range.start).checked_sub(1);
        climb(last, range, &|at| (&all[at].range, all[at].parent)).map(|at| &all[at])
    }
}

/// Which token becomes which.
fn change(kind: &str, (old, new): &(Vec<u8>, Vec<u8>), out: &mut OptionsBuilder) {
    let (old, new) = (token(old), token(new));
    out.flag(&["old=", &old]);
    out.flag(&["new=", &new]);
    out.flag(&["change=", &old, ">", &new]);
    out.flag(&["kind*new=", kind, "*", &new]);
}

fn names(tokens: &[(Vec<u8>, Vec<u8>)]) -> Names {
    let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
    for (old, new) in tokens {
        before.extend(identifiers(old).map(|(_, word)| word));
        after.extend(identifiers(new).map(|(_, word)| word));
    }
    let only = |these: &BTreeSet<&str>, those: &BTreeSet<&str>| {
        let left = these.difference(those).filter(|name| !KEYWORDS.contains(*name));
        left.map(|name| (*name).to_owned()).collect()
    };
    Names { added: only(&after, &before), removed: only(&before, &after) }
}

/// From the last node that begins before a range up to one that holds it: ranges nest or are apart.
fn climb<'a>(
    mut at: Option<usize>,
    range: &Span,
    node: &dyn Fn(usize) -> (&'a Span, Option<usize>),
) -> Option<usize> {
    while let Some(index) = at {
        let (span, parent) = node(index);
        if span.start <= range.start && range.end <= span.end {
            return Some(index);
        }
        at = parent;
    }
    None
}

/// What an edit changes, in whole tokens: an edit that takes `=` off `<=` makes `<` of it.
fn widened(source: &[u8], edit: &Edit) -> (Vec<u8>, Vec<u8>) {
    let old = source.get(edit.range.clone()).unwrap_or_default();
    let (before, after) = (&source[..edit.range.start], &source[edit.range.end..]);
    let same = |edge: Option<&u8>, next: Option<&u8>| match (edge, next) {
        (Some(edge), Some(next)) => class(*edge) == class(*next) && class(*edge) != Class::Other,
        _ => false,
    };
    let run = |class_of: u8, bytes: &mut dyn Iterator<Item = &u8>| {
        bytes.take_while(|byte| class(**byte) == class(class_of)).count()
    };
    let starts = [old.first().or(after.first()), edit.replacement.first().or(after.first())];
    let front = match before.last() {
        Some(edge) if starts.iter().any(|start| same(Some(edge), *start)) => {
            run(*edge, &mut before.iter().rev())
        }
        _ => 0,
    };
    let ends = [old.last().or(before.last()), edit.replacement.last().or(before.last())];
    let back = match after.first() {
        Some(edge) if ends.iter().any(|end| same(*end, Some(edge))) => {
            run(*edge, &mut after.iter())
        }
        _ => 0,
    };
    let (front, back) = (&before[before.len() - front..], &after[..back]);
    ([front, old, back].concat(), [front, &edit.replacement, back].concat())
}

#[derive(PartialEq, Eq)]
enum Class {
    Word,
    Operator,
    Other,
}

fn class(byte: u8) -> Class {
    if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 {
        Class::Word
    } else if b"=<>!+-*/%&|^~".contains(&byte) {
        Class::Operator
    } else {
        Class::Other
    }
}

/// What a piece of code is, without what it is called.
fn token(text: &[u8]) -> String {
    let text = text.trim_ascii();
    let all = |wanted: Class| text.iter().all(|byte| class(*byte) == wanted);
    let small = [b"0".as_slice(), b"1", b"-1", b"2", b"[]", b"{}", b"()"];
    match std::str::from_utf8(text) {
        Ok("") => "nothing",
        Ok(text) if KEYWORDS.contains(&text) || small.contains(&text.as_bytes()) => text,
        Ok(operator) if operator.len() <= 3 && all(Class::Operator) => operator,
        Ok(_) if text[0].is_ascii_digit() => "number",
        Ok(_) if all(Class::Word) => "name",
        Ok(_) if matches!(text[0], b'"' | b'\'') => "text",
        Ok(text) if text.contains('\n') => "lines",
        _ => "code",
    }
    .to_owned()
}

/// Words and operators of a text.
fn words(text: &[u8]) -> usize {
    let mut count = 0;
    let mut before = Class::Other;
    for byte in text {
        let now = class(*byte);
        let counts = match now {
            Class::Other => !byte.is_ascii_whitespace(),
            _ => now != before,
        };
        count += usize::from(counts);
        before = now;
    }
    count
}

/// The number of times that 1 must be doubled to be more: 0, 1, 2 to 3, 4 to 7, …
pub(crate) fn doublings(count: usize) -> &'static str {
    let bits = usize::BITS - count.leading_zeros();
    DIGITS[usize::try_from(bits).unwrap_or(9).min(9)]
}
