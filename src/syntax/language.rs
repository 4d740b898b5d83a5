//! One language: which files are its own, how it is parsed, which words its edits use.

use super::error::GrammarError;
use super::grammar::{BlockStyle, Grammar, Tokens};
use super::languages::QueryText;
use super::outline;
use super::parsed::Parsed;
use super::roles::{self, Compiled};
use super::walk;
use crate::tree::RelPath;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tree_sitter_language::LanguageFn;

/// Cheap to clone.
#[derive(Clone)]
pub struct Language(Arc<Inner>);

struct Inner {
    grammar: Grammar,
    tree_sitter: tree_sitter::Language,
    queries: Vec<QueryText>,
    compiled: OnceLock<Result<Vec<Compiled>, GrammarError>>,
    tests: Gitignore,
    support: Gitignore,
}

impl Language {
    pub(super) fn new(
        grammar: Grammar,
        function: LanguageFn,
        queries: Vec<QueryText>,
        file: &str,
    ) -> Result<Self, GrammarError> {
        let tests = patterns(&grammar.test_files, file)?;
        let support = patterns(&grammar.test_support, file)?;
        let tree_sitter = tree_sitter::Language::new(function);
        let compiled = OnceLock::new();
        Ok(Self(Arc::new(Inner { grammar, tree_sitter, queries, compiled, tests, support })))
    }

    /// Compiles the queries, once.
    pub(super) fn compile(&self) -> Result<&[Compiled], GrammarError> {
        let compiled = self.0.compiled.get_or_init(|| {
            self.0.queries.iter().map(|query| compile(&self.0.tree_sitter, query)).collect()
        });
        compiled.as_deref().map_err(Clone::clone)
    }

    /// Whether the queries compile. They are compiled once, here or at the first parse.
    pub fn check(&self) -> Result<(), GrammarError> {
        self.compile().map(|_| ())
    }

    pub fn name(&self) -> &str {
        &self.0.grammar.name
    }

    pub fn extensions(&self) -> &[String] {
        &self.0.grammar.extensions
    }

    /// Whether the file belongs to the tests, by its path; also where it only sways them.
    pub fn is_test_path(&self, path: &RelPath) -> bool {
        matches(&self.0.tests, path) || self.is_test_support_path(path)
    }

    /// Whether the file sways tests without holding any (`conftest.py`).
    pub fn is_test_support_path(&self, path: &RelPath) -> bool {
        matches(&self.0.support, path)
    }

    /// Never fails: what is not understood is counted in [`Parsed::syntax_errors`].
    pub fn parse(&self, source: impl Into<Arc<[u8]>>) -> Parsed {
        let source: Arc<[u8]> = source.into();
        let readable = readable(&source);
        let lists = match (self.tree(&readable), self.compile()) {
            (Some(tree), Ok(queries)) => {
                let roles = roles::collect(queries, &tree, &readable);
                walk::walk(&tree, &source, &roles, &self.0.grammar.separator)
            }
            _ => walk::Lists { syntax_errors: 1, ..walk::Lists::default() },
        };
        Parsed::new(source, lists)
    }

    /// Only the number of syntax errors, several times cheaper than [`Language::parse`].
    pub fn syntax_errors(&self, source: &[u8]) -> usize {
        let Some(tree) = self.tree(&readable(source)) else { return 1 };
        if !tree.root_node().has_error() {
            return 0;
        }
        let mut errors = 0;
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            errors += usize::from(node.is_error() || node.is_missing());
            if node.has_error() && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return errors;
                }
            }
        }
    }

    /// Whether two texts are the same code: their syntax trees are equal but for comments,
    /// documentation strings, and white space outside literals.
    pub fn is_same_code(&self, one: &[u8], other: &[u8]) -> bool {
        let outline = |source: &[u8]| {
            let readable = readable(source);
            let tree = self.tree(&readable)?;
            Some(outline::of(&tree, &readable, &self.parse(source)))
        };
        one == other || outline(one).is_some_and(|one| Some(one) == outline(other))
    }

    fn tree(&self, source: &[u8]) -> Option<tree_sitter::Tree> {
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&self.0.tree_sitter).ok()?;
        parser.parse(source, None)
    }

    pub fn tokens(&self) -> &Tokens {
        &self.0.grammar.tokens
    }

    pub fn blocks(&self) -> BlockStyle {
        self.0.grammar.blocks
    }

    /// Names are exchanged only where their types are written and equal.
    pub fn typed(&self) -> bool {
        self.0.grammar.typed
    }

    /// Whether a call of that name makes a range of numbers (`range`).
    pub fn is_range_call(&self, callee: &str) -> bool {
        self.0.grammar.range_calls.iter().any(|known| known == callee)
    }

    /// A block's last expression is its value.
    /// The function that a program starts with, where a whole program may be one test.
    pub fn program(&self) -> Option<&str> {
        self.0.grammar.program.as_deref()
    }

    pub fn has_tail_values(&self) -> bool {
        self.0.grammar.tail_values
    }

    /// Values that may stand for what a function returns, given the text of its return type.
    pub fn neutral_values(&self, returns: Option<&str>) -> Vec<&str> {
        if self.0.grammar.neutral.is_empty() {
            return vec![&self.tokens().neutral_value];
        }
        let head = returns.map(|ty| ty.split('<').next().unwrap_or(ty).trim());
        let values = head.and_then(|head| self.0.grammar.neutral.get(head));
        values.into_iter().flatten().map(String::as_str).collect()
    }

    /// The null literal.
    pub fn null(&self) -> &str {
        &self.tokens().null
    }

    pub fn stub_statement(&self) -> &str {
        &self.tokens().stub_statement
    }

    pub fn line_comment(&self) -> &str {
        &self.0.grammar.comments.line
    }

    /// What opens and closes a block comment.
    pub fn block_comment(&self) -> Option<(&str, &str)> {
        match &self.0.grammar.comments.block[..] {
            [open, close] => Some((open, close)),
            _ => None,
        }
    }

    /// The negation of an expression; one that is not simple (a name, a call, a literal) is put in
    /// parentheses where the language needs it.
    pub fn negated(&self, expression: &[u8], simple: bool) -> Vec<u8> {
        let tokens = self.tokens();
        fill(if simple { &tokens.not } else { &tokens.not_complex }, &[("$", expression)])
    }

    /// The conditional expression.
    pub fn conditional(&self, condition: &[u8], yes: &[u8], no: &[u8]) -> Vec<u8> {
        fill(&self.tokens().conditional, &[("$1", condition), ("$2", yes), ("$3", no)])
    }

    /// The operators that may stand for `operator`, each with its table's name (`boundary`,
    /// `negation`, `arithmetic`, `bitwise`, `boolean`, `assignment`, `unary`).
    pub fn operator_swaps(&self, operator: &str) -> Vec<(&str, &str)> {
        let tables = self.0.grammar.operators.iter();
        tables
            .flat_map(|(table, swaps)| {
                swaps.get(operator).into_iter().flatten().map(|to| (table.as_str(), to.as_str()))
            })
            .collect()
    }

    /// The replacements of `operator` in one table.
    pub fn swaps_in(&self, table: &str, operator: &str) -> &[String] {
        let swaps = self.0.grammar.operators.get(table).and_then(|swaps| swaps.get(operator));
        swaps.map_or(&[], Vec::as_slice)
    }

    /// Every operator of a table, sorted.
    pub fn operators(&self, table: &str) -> impl Iterator<Item = &str> {
        self.0
            .grammar
            .operators
            .get(table)
            .into_iter()
            .flat_map(|swaps| swaps.keys().map(String::as_str))
    }

    /// Whether exchanging the operands changes the meaning.
    pub fn is_ordered(&self, operator: &str) -> bool {
        self.0.grammar.ordered.iter().any(|known| known == operator)
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Language({})", self.name())
    }
}

/// The source as the parser reads it: it knows UTF-8 only, so every byte of another encoding becomes
/// a letter. Offsets stay.
fn readable(source: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(source).is_ok() {
        return Cow::Borrowed(source);
    }
    let mut bytes = Vec::with_capacity(source.len());
    for chunk in source.utf8_chunks() {
        bytes.extend_from_slice(chunk.valid().as_bytes());
        bytes.extend(chunk.invalid().iter().map(|_| b'x'));
    }
    Cow::Owned(bytes)
}

/// A template with its places filled. A byte string that is put in is not looked at again.
fn fill(template: &str, values: &[(&str, &[u8])]) -> Vec<u8> {
    let mut filled = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        filled.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        if let Some((place, value)) = values.iter().find(|(place, _)| rest.starts_with(place)) {
            filled.extend_from_slice(value);
            rest = &rest[place.len()..];
        } else {
            filled.push(b'$');
            rest = &rest[1..];
        }
    }
    filled.extend_from_slice(rest.as_bytes());
    filled
}

fn compile(language: &tree_sitter::Language, text: &QueryText) -> Result<Compiled, GrammarError> {
    let query =
        tree_sitter::Query::new(language, &text.text).map_err(|error| GrammarError::Query {
            file: text.file.clone(),
            line: error.row + 1,
            column: error.column + 1,
            message: format!(
                "{:?}: {}",
                error.kind,
                error.message.lines().next().unwrap_or_default()
            ),
        })?;
    let roles = query.capture_names().iter().map(|name| {
        roles::role(name).ok_or_else(|| GrammarError::UnknownCapture {
            file: text.file.clone(),
            line: 1 + text.text[..text.text.find(&format!("@{name}")).unwrap_or(0)]
                .matches('\n')
                .count(),
            capture: (*name).to_owned(),
        })
    });
    let roles = roles.collect::<Result<_, _>>()?;
    Ok(Compiled { query, roles })
}

fn patterns(lines: &[String], file: &str) -> Result<Gitignore, GrammarError> {
    let mut builder = GitignoreBuilder::new("");
    for line in lines {
        let refused = |error: ignore::Error| GrammarError::Pattern {
            file: file.to_owned(),
            pattern: line.clone(),
            message: error.to_string(),
        };
        builder.add_line(None, line).map_err(refused)?;
    }
    builder.build().map_err(|error| GrammarError::Pattern {
        file: file.to_owned(),
        pattern: lines.join(", "),
        message: error.to_string(),
    })
}

fn matches(patterns: &Gitignore, path: &RelPath) -> bool {
    patterns.matched_path_or_any_parents(path.as_str(), false).is_ignore()
}
