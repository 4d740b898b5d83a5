//! The shape of `grammar.toml`, and where its text comes from.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The texts of one grammar folder, already read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrammarSource {
    /// The folder as errors name it.
    pub folder: String,
    /// `grammar.toml`. Where a built-in language of that name exists, its keys are laid over it.
    pub grammar_toml: Option<String>,
    /// File name without `.scm` to text. A user's patterns come before the built-in ones, and the
    /// first pattern that names a node decides what the node is.
    pub queries: BTreeMap<String, String>,
}

/// How a block is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockStyle {
    /// By indentation; may not be empty.
    Indent,
    /// Between braces; may be empty.
    Braces,
    /// Closed by a word (`end`); may be empty.
    Words,
}

/// The words that edits are written with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// The literals; empty where the language has none.
    #[serde(rename = "true")]
    pub yes: String,
    #[serde(rename = "false")]
    pub no: String,
    pub null: String,
    /// What a returned value is replaced by so that it still type-checks.
    pub neutral_value: String,
    /// `$` is the operand: `not $`, `!$`.
    pub not: String,
    /// `$` is the operand, put in parentheses where it is not simple.
    pub not_complex: String,
    pub and: String,
    pub or: String,
    /// `$1`, `$2`, `$3`: condition, value if true, value if false.
    pub conditional: String,
    /// A statement that does nothing (`pass`), where a block or branch may not be empty.
    pub empty_statement: String,
    /// A function's whole body as a statement (`return None`).
    pub stub_statement: String,
    /// A return without a value.
    pub return_statement: String,
    /// What ends a statement (`;`).
    pub terminator: String,
    /// An equality operator.
    pub equal: String,
}

/// One `grammar.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grammar {
    pub(super) name: String,
    /// The key of the compiled-in grammar.
    #[serde(rename = "grammar")]
    pub(super) parser: String,
    pub(super) extensions: Vec<String>,
    /// Patterns as in `.gitignore`.
    pub(super) test_files: Vec<String>,
    /// Files that sway tests without being tests.
    #[serde(default)]
    pub(super) test_support: Vec<String>,
    /// Joins the parts of a qualified name.
    pub(super) separator: String,
    pub(super) blocks: BlockStyle,
    /// Names are exchanged only where their types are written and equal.
    pub(super) typed: bool,
    /// A block's last expression is its value.
    #[serde(default)]
    pub(super) tail_values: bool,
    /// The function that a program starts with, where a whole program may be one test.
    #[serde(default)]
    pub(super) program: Option<String>,
    pub(super) comments: Comments,
    pub(super) tokens: Tokens,
    /// Table name to operator to its replacements. The tables: `boundary`, `negation`, `arithmetic`,
    /// `bitwise`, `boolean`, `assignment`, `unary`, `range`.
    #[serde(default)]
    pub(super) operators: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Functions whose last positional argument (of one or two) is the end of a range.
    #[serde(default)]
    pub(super) range_calls: Vec<String>,
    /// Type without its arguments to the values that may stand for a returned one. Where it is empty,
    /// `tokens.neutral_value` serves every function.
    #[serde(default)]
    pub(super) neutral: BTreeMap<String, Vec<String>>,
    /// Operators whose operands may not be exchanged without a change of meaning.
    #[serde(default)]
    pub(super) ordered: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Comments {
    pub(super) line: String,
    #[serde(default)]
    pub(super) block: Vec<String>,
}
