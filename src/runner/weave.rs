//! Weaves candidate changes, or probes, into a tree, so that one build holds all of them.
//!
//! A candidate that differs from the tree in bodies of functions only becomes versions of these bodies.
//! The rest of the candidates must be built one by one.

use super::{Piece, Probe, Switch, Woven};
use crate::syntax::{Function, Language, Languages, Parsed, Span, StatementKind};
use crate::tree::{Changes, RelPath, Tree};
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;
mod watched;

pub use watched::{Watching, watched};

/// Text that may be added to a tree, bytes: compilers get slow.
const LARGEST: usize = 600_000;

/// Candidates in one build.
#[derive(Debug, Default)]
pub struct Versions {
    pub woven: Woven,
    /// The candidate's place plus one, and the groups that it needs.
    pub numbers: Vec<(usize, Vec<usize>)>,
    /// Places of candidates that cannot be woven.
    pub alone: Vec<usize>,
}

/// Weaves as many of the candidates as fit, from the first on; a place that is in neither list did not
/// fit any more.
pub fn versions(
    tree: &dyn Tree,
    languages: &Languages,
    switch: &Switch,
    candidates: &[Changes],
) -> Versions {
    let mut cloth = Cloth { tree, languages, switch, files: BTreeMap::new() };
    let mut result = Versions::default();
    let mut chosen: Vec<(usize, Vec<Body>)> = Vec::new();
    let mut size = 0;
    for (place, candidate) in candidates.iter().enumerate() {
        let Some(bodies) = cloth.bodies(candidate) else {
            result.alone.push(place);
            continue;
        };
        let added: usize = bodies.iter().map(|body| body.text.len()).sum();
        if size + added > LARGEST && !chosen.is_empty() {
            break;
        }
        size += added;
        chosen.push((place, bodies));
    }
    // Equal bodies of several candidates are one version.
    let mut by_function: BTreeMap<(RelPath, usize), BTreeMap<Vec<u8>, Vec<usize>>> =
        BTreeMap::new();
    for (place, bodies) in &chosen {
        for body in bodies {
            let texts = by_function.entry((body.path.clone(), body.function)).or_default();
            texts.entry(body.text.clone()).or_default().push(place + 1);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut paths: BTreeMap<RelPath, Vec<Insertion>> = BTreeMap::new();
    for ((path, function), texts) in by_function {
        let whole = result.woven.group(None);
        let mut before = vec![Piece { group: Some(whole), text: switch.begin.clone().into() }];
        for (text, numbers) in texts {
            let group = result.woven.group(Some(whole));
            let alternatives: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let head = switch.version.replace("@N@", &alternatives.join(&switch.or));
            before.push(Piece { group: Some(group), text: [head.as_bytes(), &text].concat() });
            for number in numbers {
                groups.entry(number).or_default().push(group);
            }
        }
        before.push(Piece { group: Some(whole), text: switch.rest.clone().into() });
        let after = vec![Piece { group: Some(whole), text: switch.end.clone().into() }];
        let body = cloth.files[&path].0.functions()[function].body.clone();
        paths.entry(path).or_default().push((body, before, after));
    }
    for (path, insertions) in paths {
        let pieces = pieces(cloth.files[&path].0.source(), insertions);
        result.woven.files.insert(path, pieces);
    }
    result.numbers = groups.into_iter().collect();
    result
}

/// Probes for every statement and every value of a case: the woven tree, and what each probe stands for.
pub fn probes(
    tree: &dyn Tree,
    languages: &Languages,
    switch: &Switch,
    paths: &BTreeSet<RelPath>,
) -> (Woven, Vec<Probe>) {
    let mut cloth = Cloth { tree, languages, switch, files: BTreeMap::new() };
    let mut woven = Woven::default();
    let mut probes = Vec::new();
    for path in paths {
        let Some((parsed, _)) = cloth.open(path) else { continue };
        let mut insertions = Vec::new();
        for (span, is_value) in places(parsed, switch) {
            let number = probes.len().to_string();
            let group = woven.group(None);
            let lines = lines(parsed, &span);
            probes.push(Probe { path: path.clone(), lines, group });
            let group = Some(group);
            let mut head = switch.probe.replace("@N@", &number);
            let mut after = Vec::new();
            if is_value {
                head.insert_str(0, &switch.open);
                after.push(Piece { group, text: switch.close.clone().into() });
            }
            insertions.push((span, vec![Piece { group, text: head.into() }], after));
        }
        if !insertions.is_empty() {
            woven.files.insert(path.clone(), pieces(parsed.source(), insertions));
        }
    }
    (woven, probes)
}

/// A span, what goes before it and what behind it.
type Insertion = (Span, Vec<Piece>, Vec<Piece>);

/// One function's body in a candidate.
struct Body {
    path: RelPath,
    function: usize,
    text: Vec<u8>,
}

struct Cloth<'a> {
    tree: &'a dyn Tree,
    languages: &'a Languages,
    switch: &'a Switch,
    files: BTreeMap<RelPath, (Parsed, Language)>,
}

impl Cloth<'_> {
    fn open(&mut self, path: &RelPath) -> Option<&(Parsed, Language)> {
        if !self.files.contains_key(path) {
            let language = self.languages.for_path(path)?.clone();
            let parsed = language.parse(self.tree.read(path)?.bytes);
            self.files.insert(path.clone(), (parsed, language));
        }
        self.files.get(path)
    }

    /// The bodies in which a candidate differs from the tree; `None` where it differs elsewhere.
    fn bodies(&mut self, candidate: &Changes) -> Option<Vec<Body>> {
        let mut bodies = Vec::new();
        for (path, file) in candidate.iter() {
            let switch = self.switch;
            let (old, language) = self.open(path)?;
            let new = language.parse(file?.bytes.clone());
            for (function, text) in differing(old, &new, switch)? {
                bodies.push(Body { path: path.clone(), function, text });
            }
        }
        (!bodies.is_empty()).then_some(bodies)
    }
}

/// The outermost functions whose bodies differ; `None` where anything else does, or where one of them
/// cannot choose.
fn differing(old: &Parsed, new: &Parsed, switch: &Switch) -> Option<Vec<(usize, Vec<u8>)>> {
    let (of_old, of_new) = (outermost(old), outermost(new));
    if of_old.len() != of_new.len() {
        return None;
    }
    let mut found = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    for ((function, before), (_, after)) in of_old.into_iter().zip(of_new) {
        let same = old.text(&(at_old..before.body.start)) == new.text(&(at_new..after.body.start));
        if !same {
            return None;
        }
        let text = new.text(&after.body);
        if old.text(&before.body) != text {
            if !may_choose(old, before, switch) {
                return None;
            }
            found.push((function, text.to_vec()));
        }
        (at_old, at_new) = (before.body.end, after.body.end);
    }
    let (old_end, new_end) = (old.source().len(), new.source().len());
    (old.text(&(at_old..old_end)) == new.text(&(at_new..new_end))).then_some(found)
}

fn outermost(parsed: &Parsed) -> Vec<(usize, &Function)> {
    let functions = parsed.functions().iter().enumerate();
    functions.filter(|(_, f)| f.parent.is_none() && !f.body.is_empty()).collect()
}

fn may_choose(parsed: &Parsed, function: &Function, switch: &Switch) -> bool {
    let head = parsed.text(&(function.range.start..function.body.start));
    let head = String::from_utf8_lossy(head);
    !switch.never.iter().any(|words| head.contains(words.as_str()))
}

/// Where probes go: before statements of functions, and around values of cases.
fn places(parsed: &Parsed, switch: &Switch) -> Vec<(Span, bool)> {
    let functions = parsed.functions();
    let free = |function: Option<usize>| {
        let mut next = function;
        let mut any = false;
        while let Some(number) = next {
            any = true;
            if !may_choose(parsed, &functions[number], switch) {
                return false;
            }
            next = functions[number].parent;
        }
        any
    };
    let silent = [StatementKind::Definition, StatementKind::Import, StatementKind::Docstring];
    let statements = parsed.statements().iter().filter(|statement| {
        statement.block.is_some()
            && !silent.contains(&statement.kind)
            && free(statement.function)
            && !parsed.is_test_code(statement.range.start)
    });
    let blocks: BTreeSet<usize> = parsed.blocks().iter().map(|block| block.range.start).collect();
    let values = parsed.choices().iter().filter(|span| {
        !blocks.contains(&span.start)
            && free(parsed.function_at(span.start))
            && !parsed.is_test_code(span.start)
    });
    let mut places: Vec<(Span, bool)> = statements
        .map(|statement| (statement.range.clone(), false))
        .chain(values.map(|span| (span.clone(), true)))
        .collect();
    // The enclosing one first, so that its opening stands before what is in it.
    places.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    places
}

/// The lines of a span down to where a block opens in it, or a case begins.
fn lines(parsed: &Parsed, span: &Span) -> Vec<u32> {
    let inside = |start: &usize| span.start < *start && *start < span.end;
    let from = parsed.blocks().partition_point(|block| block.range.start <= span.start);
    let block = parsed.blocks().get(from).map(|block| block.range.start).filter(inside);
    let from = parsed.choices().partition_point(|choice| choice.start <= span.start);
    let choice = parsed.choices().get(from).map(|choice| choice.start).filter(inside);
    let first = parsed.line_of(span.start);
    let last = match (block, choice) {
        (_, Some(choice)) if block.is_none_or(|block| choice <= block) => {
            parsed.line_of(choice) - 1
        }
        (Some(block), _) => parsed.line_of(block),
        (None, _) => parsed.line_of(span.end.saturating_sub(1)),
    };
    (first..=last.max(first)).collect()
}

/// The text with pieces put before and behind spans. Spans nest or are apart, and come sorted by start,
/// the enclosing one first.
fn pieces(source: &[u8], insertions: Vec<Insertion>) -> Vec<Piece> {
    let mut result = Vec::new();
    let mut at = 0;
    let mut open: Vec<(usize, Vec<Piece>)> = Vec::new();
    let mut copy = |result: &mut Vec<Piece>, to: usize| {
        if at < to {
            result.push(Piece { group: None, text: source[at..to].to_vec() });
            at = to;
        }
    };
    for (span, before, after) in insertions {
        while open.last().is_some_and(|(end, _)| *end <= span.start) {
            let Some((end, after)) = open.pop() else { break };
            copy(&mut result, end);
            result.extend(after);
        }
        copy(&mut result, span.start);
        result.extend(before);
        open.push((span.end, after));
    }
    while let Some((end, after)) = open.pop() {
        copy(&mut result, end);
        result.extend(after);
    }
    copy(&mut result, source.len());
    result
}
