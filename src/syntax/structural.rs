//! Edits by structure: mutations and removals of code, weakenings of tests.
//!
//! An edit keeps every byte outside it. Applied alone, each gives different bytes; the sets are in
//! source order and free of duplicates.

use super::{Language, Parsed};
use crate::text::Edit;

/// What a mutation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    ComparisonBoundary,
    ComparisonNegation,
    Arithmetic,
    Bitwise,
    BooleanOperator,
    Unary,
    NegateCondition,
    DropNot,
    Constant,
    BooleanConstant,
    StringConstant,
    SwapOperands,
    SwapArguments,
    DropArgument,
    DropDefault,
    ReplaceName,
    ReplaceAttribute,
    NeutralReturn,
    CallToArgument,
    OffByOne,
    BreakContinue,
    InvertBranches,
    RemoveElse,
    RemoveConditional,
    AssignmentOperator,
    RemoveAssignment,
    RemoveCall,
    RemoveLoop,
    RemoveWrapper,
    ShuffleStatements,
    EarlyReturn,
    BreakChain,
}

impl Operator {
    /// A stable name in snake case.
    pub fn name(self) -> &'static str {
        todo!()
    }
}

/// A small change of behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    pub operator: Operator,
    /// Sorted, not overlapping.
    pub edits: Vec<Edit>,
    pub function: Option<usize>,
    /// One-based line of the first edit.
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemovalKind {
    /// A function's body; the signature stays.
    Body,
    /// Two to six consecutive statements of a block.
    Statements,
    /// A whole branch, loop or try.
    Branch,
    /// A whole function or method.
    Function,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    pub what: RemovalKind,
    pub edits: Vec<Edit>,
    /// The function it is in, or removes.
    pub function: Option<usize>,
    /// How many lines of source go.
    pub lines: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WeakeningKind {
    Assertion,
    Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    pub what: WeakeningKind,
    /// The test it is in, or removes.
    pub test: Option<usize>,
    /// The qualified name of the test.
    pub name: String,
    /// The statement that goes.
    pub statement: usize,
    /// The edits that make this weakening alone; several go through [`merge`].
    pub edits: Vec<Edit>,
}

pub fn mutations(_parsed: &Parsed, _language: &Language) -> Vec<Mutation> {
    todo!()
}

pub fn removals(_parsed: &Parsed, _language: &Language) -> Vec<Removal> {
    todo!()
}

/// Of a test file. Assertions first, then tests, each in source order.
pub fn weakenings(_parsed: &Parsed, _language: &Language) -> Vec<Weakening> {
    todo!()
}

/// The edits that make several weakenings of one file at once: nested ones count once, blocks and
/// classes that become empty get the language's empty statement.
pub fn merge(_parsed: &Parsed, _language: &Language, _weakenings: &[&Weakening]) -> Vec<Edit> {
    todo!()
}

/// The edits that delete these statements, lines and all.
pub fn delete(_parsed: &Parsed, _language: &Language, _statements: &[usize]) -> Vec<Edit> {
    todo!()
}
