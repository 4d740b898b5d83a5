//! Code modelled on functions that are alike: what they do and this one does not. What a removal took
//! away can come back in no other way, as nothing remembers it.

use super::super::place;
use super::super::proposal::{Collector, Template};
use super::super::words;
use super::{Work, replace};
use crate::syntax::{Statement, StatementKind};
use crate::text::Edit;
use std::collections::{BTreeMap, BTreeSet};

/// How many functions serve as models.
const MODELS: usize = 8;
/// Longer statements are not copied.
const LONGEST: usize = 900;

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    let prime: BTreeSet<usize> = work
        .statements(work.thresholds.dear)
        .filter_map(|(_, statement)| statement.function)
        .collect();
    for function in prime {
        let Some(scope) = work.scope(Some(function)) else { continue };
        let mut models: Vec<(usize, f64)> = scope
            .likeness
            .iter()
            .filter_map(|(other, near)| Some(((*other)?, *near)))
            .filter(|(other, near)| *other != function && *near > 0.08)
            .collect();
        models.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        models.truncate(MODELS);
        for (model, near) in models {
            Pair::new(work, function, model, near).propose(out);
        }
    }
}

struct Pair<'a, 'b> {
    work: &'b Work<'a>,
    function: usize,
    near: f64,
    /// The function's statements, and the model's.
    own: Vec<(usize, &'a Statement)>,
    others: Vec<(usize, &'a Statement)>,
    /// The model's parameters to those of the function.
    rename: BTreeMap<String, String>,
    /// The function's statements without regard to white space.
    texts: BTreeMap<Vec<u8>, usize>,
}

impl<'a, 'b> Pair<'a, 'b> {
    fn new(work: &'b Work<'a>, function: usize, model: usize, near: f64) -> Self {
        let parsed = &work.source.parsed;
        let statements_of = |function: usize| -> Vec<(usize, &'a Statement)> {
            let all = parsed.statements().iter().enumerate();
            all.filter(|(_, statement)| statement.function == Some(function)).collect()
        };
        let names = |function: usize| parsed.functions()[function].parameters.iter();
        let mut rename = BTreeMap::new();
        for (theirs, ours) in names(model).zip(names(function)) {
            let known = names(function).any(|parameter| parameter.name == theirs.name);
            if theirs.name != ours.name && !known {
                rename.insert(theirs.name.clone(), ours.name.clone());
            }
        }
        let own = statements_of(function);
        let texts = own
            .iter()
            .map(|(number, statement)| (words::squeezed(parsed.text(&statement.range)), *number))
            .collect();
        Self { work, function, near, own, others: statements_of(model), rename, texts }
    }

    fn propose(&self, out: &mut Collector<'_>) {
        for (number, model) in &self.others {
            if model.kind == StatementKind::Docstring
                || model.range.len() > LONGEST
                || !place::alone(self.work.source, &model.range)
            {
                continue;
            }
            let text = self.adapted(model);
            if self.texts.contains_key(&words::squeezed(&text)) {
                continue;
            }
            self.insert(*number, model, &text, out);
            self.exchange(model, &text, out);
        }
        self.body(out);
    }

    fn adapted(&self, model: &Statement) -> Vec<u8> {
        let text = place::flush(self.work.source, &model.range);
        words::renamed(&text, &|word| self.rename.get(word).cloned())
    }

    /// The statement of the function that says the same as the model's statement at `place`.
    fn twin(&self, block: Option<usize>, place: Option<usize>) -> Option<&'a Statement> {
        let parsed = &self.work.source.parsed;
        let other = *parsed.blocks()[block?].statements.get(place?)?;
        let text = words::squeezed(&self.adapted(&parsed.statements()[other]));
        self.texts.get(&text).map(|number| &parsed.statements()[*number])
    }

    /// Where the model's neighbours stand in the function, else anywhere in it.
    fn insert(&self, _number: usize, model: &Statement, text: &[u8], out: &mut Collector<'_>) {
        let source = self.work.source;
        if !source.in_scope(text, Some(self.function)) && model.kind != StatementKind::Assignment {
            return;
        }
        let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
        let mut lines = None;
        let before = self.twin(model.block, model.index.checked_sub(1));
        let after = self.twin(model.block, Some(model.index + 1));
        for (twin, behind) in [(before, true), (after, false)] {
            let Some(twin) = twin.filter(|twin| place::alone(source, &twin.range)) else {
                continue;
            };
            let edit = if behind {
                place::after(source, &twin.range, text)
            } else {
                place::before(source, &twin.range, text)
            };
            alternatives.push((vec![edit], 1.0));
            lines = Some(self.work.lines(None, &twin.range));
        }
        let aligned = !alternatives.is_empty();
        if !aligned {
            for (number, own) in &self.own {
                if own.kind == StatementKind::Docstring
                    || !place::alone(source, &own.range)
                    || self.work.suspicion[*number] < self.work.thresholds.cheap
                {
                    continue;
                }
                let start = if own.index == 0 && model.index == 0 { 1.0 } else { 0.4 };
                alternatives.push((vec![place::before(source, &own.range, text)], start));
                lines.get_or_insert(self.work.lines(Some(*number), &own.range));
            }
        }
        if let Some(lines) = lines {
            let fit = self.near * if aligned { 1.0 } else { 0.25 };
            out.site((Template::Sibling, fit), &lines, 8, alternatives);
        }
    }

    /// A similar statement of the function for the model's.
    fn exchange(&self, model: &Statement, text: &[u8], out: &mut Collector<'_>) {
        let source = self.work.source;
        let words_of = |text: &[u8]| -> BTreeSet<String> {
            words::identifiers(text).map(|(_, word)| word.to_owned()).collect()
        };
        let theirs = words_of(text);
        for (number, own) in &self.own {
            if own.kind != model.kind && own.kind != StatementKind::Return {
                continue;
            }
            let mut alike = words::jaccard(&theirs, &words_of(self.work.text(&own.range)));
            if own.kind == model.kind && own.index == model.index {
                alike += 0.1;
            }
            if alike < 0.4
                || self.work.suspicion[*number] < self.work.thresholds.cheap
                || !source.in_scope(text, Some(self.function))
            {
                continue;
            }
            let edit = place::in_place(source, &own.range, text);
            let lines = self.work.lines(Some(*number), &own.range);
            out.site(
                (Template::Sibling, self.near * alike * 0.7),
                &lines,
                1,
                vec![(vec![edit], 1.0)],
            );
        }
    }

    /// A short body for the model's whole body.
    fn body(&self, out: &mut Collector<'_>) {
        let parsed = &self.work.source.parsed;
        let top =
            |statements: &[(usize, &Statement)]| statements.first().and_then(|(_, s)| s.block);
        let (Some(own), Some(theirs)) = (top(&self.own), top(&self.others)) else { return };
        let code = |block: usize| {
            let statements = parsed.blocks()[block].statements.iter();
            let mut code = statements
                .map(|number| &parsed.statements()[*number])
                .filter(|statement| statement.kind != StatementKind::Docstring);
            let first = code.next()?.range.clone();
            Some(first.start..code.next_back().map_or(first.end, |last| last.range.end))
        };
        let (Some(own), Some(theirs)) = (code(own), code(theirs)) else { return };
        if self.own.len() > 3 || theirs.len() > 2 * LONGEST || !place::alone(self.work.source, &own)
        {
            return;
        }
        let text = place::flush(self.work.source, &theirs);
        let text = words::renamed(&text, &|word| self.rename.get(word).cloned());
        let edit = place::in_place(self.work.source, &own, &text);
        let lines = self.work.lines(None, &own);
        let edits = replace(&edit.range, edit.replacement);
        out.site((Template::Sibling, self.near), &lines, 1, vec![(edits, 1.0)]);
    }
}
