//! What a parse yields: functions, tests, assertions, blocks, statements, expressions, imports.
//!
//! Every range is in bytes of the source. Every list is in source order (by start, the enclosing
//! node first), and an index is a position in the list of that noun.

use std::ops::Range;

pub type Span = Range<usize>;

/// A function, method, constructor or closure-free lambda that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// The names of the enclosing scopes and functions and its own, joined by the language's separator
    /// (`Class.method`, `Type::method`, `module::function`).
    pub qualified: String,
    /// The whole definition with its decorators, attributes and documentation comments.
    pub range: Span,
    /// The body: in brace languages with its braces, in Python from the first to the last statement.
    /// Empty at `range.end` where there is none (a trait's declaration).
    pub body: Span,
    pub parameters: Vec<Parameter>,
    /// The text of its return type, where one is written.
    pub returns: Option<String>,
    /// Names assigned in it, sorted, without its parameters.
    pub locals: Vec<String>,
    /// The function it is nested in.
    pub parent: Option<usize>,
    /// Its definition statement.
    pub statement: Option<usize>,
    /// The block that is its body.
    pub block: Option<usize>,
    /// Statements in it, at any depth, nested functions' not counted.
    pub statements: usize,
    /// One plus its branches, loops, handlers and boolean operators.
    pub complexity: usize,
    /// One-based line of `range.start`.
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// The text of its type, where one is written.
    pub ty: Option<String>,
    /// Its default value with what joins it to the parameter (`=1`).
    pub default: Option<Span>,
}

/// A test function, method or case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    /// With its class, module or suite, as in [`Function::qualified`].
    pub qualified: String,
    /// The whole test with its decorators.
    pub range: Span,
    /// The statement that deleting the test deletes.
    pub statement: Option<usize>,
    /// The function it is, where it is one.
    pub function: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// The whole statement; for a block that expects an exception the whole block.
    pub range: Span,
    pub statement: Option<usize>,
    /// The innermost test it is in.
    pub test: Option<usize>,
}

/// A list of statements: a body, a branch, a class body, a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub range: Span,
    /// Its statements, in order.
    pub statements: Vec<usize>,
    /// The statement whose body or branch it is.
    pub owner: Option<usize>,
    pub function: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatementKind {
    Assignment,
    AugmentedAssignment,
    Return,
    Raise,
    /// An expression for its effect, in most cases a call.
    Expression,
    If,
    Loop,
    Switch,
    Break,
    Continue,
    Try,
    With,
    Assert,
    Import,
    Definition,
    Docstring,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    /// With its decorators or attributes and with its terminator, without its trailing comment.
    pub range: Span,
    /// The block it stands in. `None`: it is a brace-less body (`if (x) return;`).
    pub block: Option<usize>,
    /// Its position among the block's statements.
    pub index: usize,
    /// How many statements the block has; 1 says that it is the only one.
    pub siblings: usize,
    pub function: Option<usize>,
    /// The statement whose body or branch it stands in.
    pub parent: Option<usize>,
    pub parts: Parts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExpressionKind {
    Binary,
    Comparison,
    Boolean,
    Not,
    Unary,
    Call,
    Subscript,
    Slice,
    Attribute,
    Name,
    Integer,
    Float,
    String,
    True,
    False,
    Null,
    /// A list, tuple, set, array literal.
    Collection,
    /// A dictionary or object literal.
    Mapping,
    Conditional,
    Lambda,
    Await,
    Range,
    Comprehension,
    Parenthesized,
    Cast,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub range: Span,
    pub function: Option<usize>,
    /// The innermost statement it is in.
    pub statement: Option<usize>,
    /// The innermost expression it is in.
    pub parent: Option<usize>,
    /// It is written to, not read (the target of an assignment or a loop).
    pub assigned: bool,
    pub parts: Parts,
}

/// What a piece of a statement or an expression is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Operator,
    Left,
    Right,
    Condition,
    /// The block or expression for the true case; the body of a loop, handler or function.
    Body,
    /// A whole `else` or `elif` clause with its keyword; the expression for the false case.
    Alternative,
    /// The block of a plain `else`.
    AlternativeBody,
    /// A whole `except`, `catch`, `finally` clause.
    Handler,
    Callee,
    /// The argument list with its parentheses.
    Arguments,
    /// One argument; where it is a keyword argument, with its name.
    Argument,
    /// One keyword argument, which is an [`Part::Argument`] too.
    Keyword,
    Object,
    Name,
    Index,
    Start,
    Stop,
    Step,
    Value,
    Target,
    /// A parameter's default value.
    Default,
    /// A written type.
    Type,
    /// The module of an import.
    Module,
    /// A name that an import binds.
    Binding,
}

/// The named pieces of a node, in source order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub(super) Vec<(Part, Span)>);

impl Parts {
    /// The first piece of that name.
    pub fn get(&self, part: Part) -> Option<&Span> {
        self.0.iter().find(|(name, _)| *name == part).map(|(_, span)| span)
    }

    pub fn all(&self, part: Part) -> impl Iterator<Item = &Span> {
        self.0.iter().filter(move |(name, _)| *name == part).map(|(_, span)| span)
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Part, Span)> {
        self.0.iter()
    }
}

impl Expression {
    pub fn operator(&self) -> Option<&Span> {
        self.parts.get(Part::Operator)
    }
    pub fn left(&self) -> Option<&Span> {
        self.parts.get(Part::Left)
    }
    pub fn right(&self) -> Option<&Span> {
        self.parts.get(Part::Right)
    }
    pub fn callee(&self) -> Option<&Span> {
        self.parts.get(Part::Callee)
    }
    /// The argument list with its parentheses.
    pub fn arguments(&self) -> Option<&Span> {
        self.parts.get(Part::Arguments)
    }
    pub fn argument_list(&self) -> Vec<&Span> {
        self.parts.all(Part::Argument).collect()
    }
}

/// An import, `use`, `include` or `require`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub range: Span,
    /// The module as written.
    pub module: String,
    /// The names it binds, where they are written.
    pub names: Vec<String>,
}
