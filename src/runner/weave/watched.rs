//! Functions whose calls are noted, and edits of them as versions: what a build holds that tells what tests
//! see of edits.

use super::{Cloth, Insertion, pieces};
use crate::runner::{Piece, Switch, Woven};
use crate::syntax::{Function, Languages, Parsed};
use crate::tree::{Changes, RelPath, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// A file in which calls are noted, with edits of it.
#[derive(Debug, Default)]
pub struct Watching {
    pub woven: Woven,
    /// The edit's place plus one, and the groups that it needs.
    pub numbers: Vec<(usize, Vec<usize>)>,
    /// Edits' places to the functions (by place in [`Parsed::functions`]) that they are in.
    pub functions: BTreeMap<usize, usize>,
    /// The groups without which a function's calls are not noted: by function, of the original and of
    /// versions by number.
    pub notes: BTreeMap<(usize, usize), usize>,
}

/// Weaves edits of one file, each of one function's body. Others are left out of `functions`.
pub fn watched(
    tree: &dyn Tree,
    languages: &Languages,
    switch: &Switch,
    path: &RelPath,
    edits: &[Changes],
) -> Option<Watching> {
    let notes = switch.notes.as_ref()?;
    let mut cloth = Cloth { tree, languages, switch, files: BTreeMap::new() };
    let mut versions: BTreeMap<usize, Vec<(usize, Vec<u8>)>> = BTreeMap::new();
    let mut result = Watching::default();
    for (place, edit) in edits.iter().enumerate() {
        let Some(bodies) = cloth.bodies(edit) else { continue };
        let [body] = bodies.as_slice() else { continue };
        versions.entry(body.function).or_default().push((place + 1, body.text.clone()));
        result.functions.insert(place, body.function);
    }
    let (parsed, _) = cloth.open(path)?;
    let mut insertions: Vec<Insertion> = Vec::new();
    for (number, function) in super::outermost(parsed) {
        if !super::may_choose(parsed, function, switch) || parsed.is_test_code(function.range.start)
        {
            continue;
        }
        let around = Around::new(parsed, number, function, notes);
        let whole = result.woven.group(None);
        let mut before = vec![Piece { group: Some(whole), text: switch.begin.clone().into() }];
        for (version, text) in versions.remove(&number).unwrap_or_default() {
            let group = result.woven.group(Some(whole));
            let head = switch.version.replace("@N@", &version.to_string());
            before.push(Piece { group: Some(group), text: head.into() });
            let note = result.woven.group(Some(group));
            result.notes.insert((number, version), note);
            result.numbers.push((version, vec![group]));
            before.push(Piece { group: Some(note), text: around.before.clone().into() });
            before.push(Piece { group: Some(group), text });
            before.push(Piece { group: Some(note), text: around.after.clone().into() });
        }
        let note = result.woven.group(Some(whole));
        result.notes.insert((number, 0), note);
        before.push(Piece { group: Some(whole), text: switch.rest.clone().into() });
        before.push(Piece { group: Some(note), text: around.before.into() });
        let after = vec![
            Piece { group: Some(note), text: around.after.into() },
            Piece { group: Some(whole), text: switch.end.clone().into() },
        ];
        insertions.push((function.body.clone(), before, after));
    }
    let text = pieces(parsed.source(), insertions);
    result.woven.files.insert(path.clone(), text);
    result.numbers.sort_unstable();
    Some(result)
}

/// What stands around a body whose calls are noted.
struct Around {
    before: String,
    after: String,
}

impl Around {
    fn new(
        parsed: &Parsed,
        number: usize,
        function: &Function,
        notes: &crate::runner::Notes,
    ) -> Self {
        let head =
            String::from_utf8_lossy(parsed.text(&(function.range.start..function.body.start)))
                .into_owned();
        let head = &head[head.find(&format!("fn {}", function.name)).unwrap_or(0)..];
        let receiver = words(head).contains("self").then(|| "self".to_owned());
        let names: Vec<String> = receiver
            .iter()
            .cloned()
            .chain(function.parameters.iter().map(|parameter| parameter.name.clone()))
            .collect();
        let mut lent: Vec<String> = function
            .parameters
            .iter()
            .filter(|parameter| parameter.ty.as_deref().is_some_and(|ty| ty.starts_with("&mut")))
            .map(|parameter| parameter.name.clone())
            .collect();
        if receiver.is_some() && head.contains("&mut self") {
            lent.insert(0, "self".to_owned());
        }
        let returns = function.returns.clone().unwrap_or_else(|| notes.nothing.clone());
        // A result that borrows may borrow from what was lent: then that cannot be looked at.
        // (A formatter has nothing to show.)
        lent.retain(|name| name == "self" || !head.contains(&notes.writer));
        if returns.contains(['&', '\'']) {
            lent.clear();
        }
        let texts = |names: &[String]| -> String {
            names.iter().map(|name| notes.value.replace("@V@", name)).collect()
        };
        let writes = receiver.is_some() && head.contains(&notes.writer);
        let written = if writes { notes.written.clone() } else { String::new() };
        let name = function.qualified.replace('"', "");
        let fill = |text: &str| {
            text.replace("@F@", &number.to_string())
                .replace("@NAME@", &name)
                .replace("@ARGUMENTS@", &texts(&names))
                .replace("@LENT@", &(texts(&lent) + &written))
                .replace("@RETURNS@", &returns)
        };
        Self { before: fill(&notes.before), after: fill(&notes.after) }
    }
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}
