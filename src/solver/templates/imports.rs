//! An import put back: a name that the log calls undefined, as other files import it.

use super::super::place;
use super::super::proposal::{Collector, Template};
use super::Work;
use crate::syntax::StatementKind;

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    let parsed = &work.source.parsed;
    let mut top = parsed.statements().iter().filter(|statement| statement.parent.is_none());
    let is_code = |kind| !matches!(kind, StatementKind::Docstring);
    let Some(first) = top.find(|s| is_code(s.kind) && place::alone(work.source, &s.range)) else {
        return;
    };
    for name in &work.clues.missing {
        if parsed.module_names().contains(name) {
            continue;
        }
        let used =
            super::super::words::identifiers(work.source.bytes()).any(|(_, word)| word == name);
        if !used {
            continue;
        }
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for import in work.clues.imports.get(name).into_iter().flatten() {
            texts.push(import.clone().into_bytes());
        }
        if work.source.language.name() == "python" {
            texts.push(format!("import {name}").into_bytes());
        }
        let alternatives = texts
            .into_iter()
            .map(|text| (vec![place::before(work.source, &first.range, &text)], 1.0))
            .collect();
        // The line is not executed by a test: the log is the evidence.
        let line = parsed.line_of(first.range.start);
        out.site((Template::Import, 50.0), &(line..=line), 6, alternatives);
    }
}
