//! An argument more: what other calls of the same function pass, names in scope; a default value put
//! back on a parameter.

use super::super::donors::last_name;
use super::super::proposal::{Collector, Template};
use super::{Work, replace};
use crate::syntax::ExpressionKind;
use crate::text::Edit;
use std::collections::BTreeSet;

pub(super) fn propose(work: &Work<'_>, out: &mut Collector<'_>) {
    for expression in work.suspects() {
        if expression.kind != ExpressionKind::Call {
            continue;
        }
        let (Some(callee), Some(arguments)) = (expression.callee(), expression.arguments()) else {
            continue;
        };
        let Some(scope) = work.scope(expression.function) else { continue };
        let list = expression.argument_list();
        let have: Vec<&[u8]> = list.iter().map(|argument| work.text(argument)).collect();
        let mut extra: Vec<(Vec<u8>, f64)> = Vec::new();
        if let Some(known) = work.donors.arguments.get(last_name(work.text(callee))) {
            for text in known.iter().filter(|text| !have.contains(&&text[..])) {
                if work.source.in_scope(text, expression.function) {
                    extra.push((text.clone(), 1.0));
                }
                if let Some(key) = text.split(|byte| *byte == b'=').next()
                    && key.len() < text.len()
                    && key.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                {
                    let names = scope
                        .names
                        .iter()
                        .map(|(name, near)| ([key, b"=", name.as_bytes()].concat(), 0.3 * near));
                    extra.extend(names);
                }
            }
        }
        for (name, closeness) in scope.names.iter().filter(|(n, _)| !have.contains(&n.as_bytes())) {
            extra.push((name.clone().into_bytes(), 0.25 * closeness));
            if work.source.language.name() == "python" {
                extra.push((format!("{name}={name}").into_bytes(), 0.1 * closeness));
            }
        }
        let tokens = work.source.language.tokens();
        for word in [&tokens.yes, &tokens.no, &tokens.null].into_iter().filter(|w| !w.is_empty()) {
            extra.push((word.as_bytes().to_vec(), 0.1));
        }
        for (number, near) in scope.donors.iter().take(40) {
            let donor = &work.donors.expressions[*number];
            extra.push((donor.text.clone(), 0.06 * near));
        }
        let mut alternatives: Vec<(Vec<Edit>, f64)> = Vec::new();
        for (text, closeness) in extra {
            let (Some(first), Some(end)) = (list.first(), list.last()) else {
                let inside = [b"(", &text[..], b")"].concat();
                alternatives.push((replace(arguments, inside), closeness));
                continue;
            };
            if !text.contains(&b'=') {
                let in_front = [&text[..], b", "].concat();
                let at = first.start..first.start;
                alternatives.push((vec![Edit::new(at, in_front)], closeness * 0.5));
            }
            let behind = [b", ", &text[..]].concat();
            alternatives.push((vec![Edit::new(end.end..end.end, behind)], closeness));
        }
        // A call of something like a function in the same file is the likelier to have lost one.
        out.site((Template::Argument, 0.7), &work.lines_of(expression), 24, alternatives);
    }
    defaults(work, out);
}

/// `def f(x)` to `def f(x=None)`: for languages that write defaults with `=` and need no types.
fn defaults(work: &Work<'_>, out: &mut Collector<'_>) {
    let language = &work.source.language;
    if language.typed() {
        return;
    }
    let parsed = &work.source.parsed;
    let known = written_defaults(work);
    for function in parsed.functions() {
        let Some(statement) = function.statement else { continue };
        if work.suspicion[statement] < work.thresholds.cheap {
            continue;
        }
        let head = parsed.text(&(function.range.start..function.body.start));
        for parameter in &function.parameters {
            let found =
                super::super::words::identifiers(head).filter(|(_, w)| *w == parameter.name);
            let Some((at, _)) = found.last() else { continue };
            let end = at + parameter.name.len();
            if !matches!(head.get(end), Some(b',' | b')')) {
                continue;
            }
            let at = function.range.start + end;
            let tokens = language.tokens();
            let values = [
                (tokens.null.as_str(), 1.0),
                (&tokens.no, 0.6),
                (&tokens.yes, 0.5),
                ("0", 0.4),
                ("1", 0.3),
                ("''", 0.3),
                ("()", 0.2),
            ];
            let mut alternatives: Vec<(Vec<Edit>, f64)> = values
                .into_iter()
                .filter(|(value, _)| !value.is_empty())
                .map(|(value, near)| (vec![Edit::new(at..at, format!("={value}"))], near))
                .collect();
            for (name, value) in &known {
                let near = if *name == parameter.name { 2.0 } else { 0.2 };
                alternatives.push((vec![Edit::new(at..at, format!("={value}"))], near));
            }
            let namesake = |name: &&String| name.ends_with(&parameter.name);
            for name in parsed.module_names().iter().filter(namesake) {
                alternatives.push((vec![Edit::new(at..at, format!("={name}"))], 1.0));
            }
            let line = parsed.line_of(at);
            out.site((Template::Argument, 0.6), &(function.line..=line), 14, alternatives);
        }
    }
}

/// Parameters and their defaults, as the file's definitions write them.
fn written_defaults<'a>(work: &Work<'a>) -> BTreeSet<(String, &'a str)> {
    let mut known = BTreeSet::new();
    for function in work.source.parsed.functions() {
        let head = work.source.str(&(function.range.start..function.body.start));
        for parameter in &function.parameters {
            let Some((_, rest)) = head.split_once(&format!("{}=", parameter.name)) else {
                continue;
            };
            let mut depth = 0;
            let end = rest.find(|c: char| {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth -= 1,
                    _ => {}
                }
                depth < 0 || (depth == 0 && c == ',')
            });
            let value = rest[..end.unwrap_or(0)].trim();
            if !value.is_empty() && value.len() < 40 {
                known.insert((parameter.name.clone(), value));
            }
        }
    }
    known
}
