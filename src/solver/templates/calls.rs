//! Calls that a function could make: of the file's functions and of its own object's methods, with what it has under
//! the parameters' names. A call that was taken away stands nowhere any more where it was the only one.

use super::Work;
use crate::syntax::Function;
use std::collections::BTreeMap;

/// Calls a function draws on at most.
const MOST: usize = 60;
/// Where a single argument may be anything: so many names are tried.
const NAMES: usize = 4;
/// What methods call their own object, in Python and Rust.
const SELF: &str = "self";

/// Texts with their closeness, and the callees that want exactly one argument.
pub(super) struct Calls {
    pub(super) texts: Vec<(String, f64)>,
    pub(super) unary: Vec<(String, f64)>,
}

pub(super) fn of(
    work: &Work<'_>,
    function: Option<usize>,
    likeness: &BTreeMap<Option<usize>, f64>,
) -> Calls {
    let (mut texts, mut unary) = (Vec::new(), Vec::new());
    let functions = work.source.parsed.functions();
    let names = work.source.local_names(function);
    let own = function.map(|at| &functions[at]);
    for (number, other) in functions.iter().enumerate() {
        if Some(number) == function || other.parent.is_some_and(|parent| Some(parent) != function) {
            continue;
        }
        let Some(callee) = callee(own, other) else { continue };
        let near = 0.2 + 0.8 * likeness.get(&Some(number)).copied().unwrap_or(0.0);
        let mentioned = if work.clues.words.contains(&other.name) { 1.3 } else { 1.0 };
        let wanted: Vec<&str> = other
            .parameters
            .iter()
            .filter(|parameter| parameter.name != SELF && parameter.default.is_none())
            .map(|parameter| parameter.name.as_str())
            .collect();
        let closeness = near * mentioned;
        if let [_] = wanted[..] {
            unary.push((callee.clone(), closeness));
        }
        if wanted.iter().all(|name| names.contains(name)) {
            texts.push((format!("{callee}({})", wanted.join(", ")), closeness));
        } else if let [_] = wanted[..] {
            let guesses = names.iter().filter(|name| **name != SELF).take(NAMES);
            texts.extend(guesses.map(|name| (format!("{callee}({name})"), 0.5 * closeness)));
        }
    }
    for list in [&mut texts, &mut unary] {
        list.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        list.truncate(MOST);
    }
    Calls { texts, unary }
}

/// How a function names another one: plainly, or as a method of the same class or type; `None` where it cannot.
fn callee(own: Option<&Function>, other: &Function) -> Option<String> {
    if is_method(other) {
        let own = own.filter(|own| is_method(own))?;
        // What stands before the name is the same.
        let shares =
            own.qualified.strip_suffix(&own.name)? == other.qualified.strip_suffix(&other.name)?;
        return shares.then(|| format!("{SELF}.{}", other.name));
    }
    (other.qualified == other.name || other.parent.is_some()).then(|| other.name.clone())
}

fn is_method(function: &Function) -> bool {
    function.parameters.first().is_some_and(|first| first.name == SELF)
}
