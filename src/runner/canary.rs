//! Tests that prove something about a run: a file that must break, tests that must fail.

use super::{Runner, embedded, spec};
use crate::dice::Dice;
use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::BTreeMap;

/// A test file whose outcomes are known. Where a test that must fail passes, something replaced the
/// runner or its comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    pub path: RelPath,
    pub content: Vec<u8>,
    /// The test file whose text may stand before the content.
    pub continues: Option<RelPath>,
    pub must_fail: Vec<TestId>,
    pub must_pass: Vec<TestId>,
}

/// Parts of names such as tests have, so that a canary looks like any other test file.
const WORDS: [&str; 40] = [
    "parse", "merge", "split", "count", "total", "order", "range", "index", "cache", "token",
    "group", "limit", "round", "match", "label", "field", "value", "entry", "state", "chain",
    "batch", "queue", "trace", "scale", "shift", "clamp", "width", "depth", "bounds", "prefix",
    "suffix", "offset", "empty", "nested", "invalid", "default", "single", "reverse", "large",
    "unicode",
];

impl Runner {
    /// A new test file beside one of `beside`; names and values hang on the seed. `None` where the
    /// framework's data has no canary or where no place for one is known.
    pub fn canary(&self, seed: u64, beside: &[RelPath]) -> Option<Canary> {
        let bound = &self.0;
        let data = bound.spec.canary.as_ref().filter(|_| bound.command.is_none())?;
        let mut dice = Dice::new(seed).fork("canary");
        let neighbour = dice.pick(beside)?;
        let directory = match bound.spec.tools {
            spec::ToolKind::Cargo => bound.crates.tests_directory(neighbour)?,
            _ => neighbour.parent().to_owned(),
        };
        let values = Values::roll(&mut dice);
        let file = beside_name(&values.fill(&data.file), neighbour);
        let path = if directory.is_empty() { file } else { format!("{directory}/{file}") };
        let id = |name: &String| format!("{path}::{}", values.fill(name));
        let package = bound.modules.package(neighbour).unwrap_or_default();
        let template = embedded::file(bound.spec.folder(), &data.template);
        Some(Canary {
            must_fail: data.fails.iter().map(id).collect(),
            must_pass: data.passes.iter().map(id).collect(),
            content: values.fill(template).replace("@package@", package).into_bytes(),
            continues: data.continues.then(|| neighbour.clone()),
            path: RelPath::parse(path.as_bytes()).ok()?,
        })
    }

    /// The file with a statement at its end that fails when the file is imported or compiled. A file that
    /// is no code of the language comes back empty.
    pub fn sabotage(&self, path: &RelPath, bytes: &[u8]) -> Vec<u8> {
        let statements = &self.0.spec.sabotage;
        let Some(statement) = statements.get(path.extension()) else { return Vec::new() };
        [bytes, b"\n", statement.as_bytes(), b"\n"].concat()
    }
}

/// `@stem@` stands for the neighbour's stem: the new file matches the project's own pattern for names
/// and is run right after it, when the code under test has been imported and called. `@base@` and
/// `@rest@` are what stands before and from the first dot of the neighbour's name.
fn beside_name(file: &str, neighbour: &RelPath) -> String {
    let name = neighbour.file_name();
    let (base, rest) = name.split_at(name.find('.').unwrap_or(name.len()));
    let file = &file.replace("@base@", base).replace("@rest@", rest);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    match stem.strip_suffix("_test").filter(|stem| !stem.starts_with("test_")) {
        Some(short) => file.replace("@stem@", short).replacen('.', "_test.", 1),
        None => file.replace("@stem@", stem),
    }
}

/// What stands for the places of a template: `@a@` .. `@j@` names, `@A@` .. `@J@` the same names in
/// camel case, `@1@` .. `@9@` numbers; all different.
struct Values(BTreeMap<String, String>);

impl Values {
    fn roll(dice: &mut Dice) -> Self {
        let mut words = WORDS.to_vec();
        dice.shuffle(&mut words);
        let mut values = BTreeMap::new();
        for (letter, pair) in ('a'..='j').zip(words.chunks_exact(2)) {
            values.insert(format!("@{letter}@"), format!("{}_{}", pair[0], pair[1]));
            let camel = format!("{}{}", capital(pair[0]), capital(pair[1]));
            values.insert(format!("@{}@", letter.to_ascii_uppercase()), camel);
        }
        let mut number = 2;
        for place in 1..=9 {
            number += 2 + dice.below(40);
            values.insert(format!("@{place}@"), number.to_string());
        }
        Self(values)
    }

    fn fill(&self, template: &str) -> String {
        self.0.iter().fold(template.to_owned(), |text, (place, value)| text.replace(place, value))
    }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
