//! Weakenings: assertions and tests deleted without a trace. Nothing is ever commented out.

use super::super::layout::delete;
use super::super::{Language, Parsed};
use crate::text::Edit;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WeakeningKind {
    Assertion,
    Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    pub what: WeakeningKind,
    /// The test it is in, or removes. `None`: an assertion in a helper.
    pub test: Option<usize>,
    /// The qualified name of the test, or of the helper.
    pub name: String,
    /// The statement that goes.
    pub statement: usize,
    /// The edits that make this weakening alone; several go through [`merge`].
    pub edits: Vec<Edit>,
}

/// Of a test file. Assertions first, then tests, each in source order.
pub fn weakenings(parsed: &Parsed, language: &Language) -> Vec<Weakening> {
    let mut found = Vec::new();
    for assertion in parsed.assertions() {
        let Some(statement) = assertion.statement else { continue };
        let function = parsed.statements()[statement].function;
        let helper = function.map(|function| parsed.functions()[function].qualified.clone());
        let test = assertion.test.map(|test| parsed.tests()[test].qualified.clone());
        found.push(Weakening {
            what: WeakeningKind::Assertion,
            test: assertion.test,
            name: test.or(helper).unwrap_or_default(),
            statement,
            edits: delete(parsed, language, &[statement]),
        });
    }
    for (id, test) in parsed.tests().iter().enumerate() {
        let Some(statement) = test.statement else { continue };
        found.push(Weakening {
            what: WeakeningKind::Test,
            test: Some(id),
            name: test.qualified.clone(),
            statement,
            edits: delete(parsed, language, &[statement]),
        });
    }
    found.retain(|weakening| {
        !weakening.edits.iter().all(|edit| parsed.text(&edit.range) == edit.replacement)
    });
    found
}

/// The edits that make several weakenings of one file at once: nested ones count once, blocks and
/// classes that become empty get the language's empty statement.
pub fn merge(parsed: &Parsed, language: &Language, weakenings: &[&Weakening]) -> Vec<Edit> {
    let statements: Vec<usize> = weakenings.iter().map(|weakening| weakening.statement).collect();
    delete(parsed, language, &statements)
}
