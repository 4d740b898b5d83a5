//! What a node is: the captures of all queries, by node.

use super::model::{ExpressionKind, Part, Parts, Span, StatementKind};
use std::collections::HashMap;
use tree_sitter::{Node, Query, QueryCursor, StreamingIterator as _, Tree};

/// One capture name's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Statement(StatementKind),
    Expression(ExpressionKind),
    Part(Part),
    Flag(Flag),
    /// Named for a predicate only.
    Private,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Flag {
    /// Holds parts, has no kind.
    Parts = 1,
    Function = 1 << 1,
    Scope = 1 << 2,
    Parameter = 1 << 3,
    Test = 1 << 4,
    Assertion = 1 << 5,
    Import = 1 << 6,
    Block = 1 << 7,
    /// Neither it nor what is in it is a site.
    Ignore = 1 << 8,
    /// It is no expression; what is in it may be.
    Skip = 1 << 9,
    /// The definition in it is the same thing as it.
    Wrapper = 1 << 10,
    /// Belongs to the sibling after it.
    Leading = 1 << 11,
    /// A name assigned here.
    Local = 1 << 12,
    /// Adds one to the complexity.
    Branch = 1 << 13,
    /// Holds tests inside a code file.
    Suite = 1 << 14,
    /// The value of one case of many: a block or an expression.
    Choice = 1 << 15,
}

/// Those that own the parts captured in the same match.
const OWNERS: u32 = Flag::Parts as u32
    | Flag::Function as u32
    | Flag::Scope as u32
    | Flag::Parameter as u32
    | Flag::Test as u32
    | Flag::Import as u32;

/// `None`: no such capture.
pub(super) fn role(capture: &str) -> Option<Role> {
    if capture.starts_with('_') {
        return Some(Role::Private);
    }
    if let Some(kind) = capture.strip_prefix("statement.") {
        return statement_kind(kind).map(Role::Statement);
    }
    if let Some(kind) = capture.strip_prefix("expression.") {
        return expression_kind(kind).map(Role::Expression);
    }
    flag(capture).map(Role::Flag).or_else(|| part(capture).map(Role::Part))
}

fn flag(name: &str) -> Option<Flag> {
    Some(match name {
        "parts" => Flag::Parts,
        "function" => Flag::Function,
        "scope" => Flag::Scope,
        "parameter" => Flag::Parameter,
        "test" => Flag::Test,
        "assertion" => Flag::Assertion,
        "import" => Flag::Import,
        "block" => Flag::Block,
        "ignore" => Flag::Ignore,
        "skip" => Flag::Skip,
        "wrapper" => Flag::Wrapper,
        "leading" => Flag::Leading,
        "local" => Flag::Local,
        "branch" => Flag::Branch,
        "suite" => Flag::Suite,
        "choice" => Flag::Choice,
        _ => return None,
    })
}

fn part(name: &str) -> Option<Part> {
    Some(match name {
        "operator" => Part::Operator,
        "left" => Part::Left,
        "right" => Part::Right,
        "condition" => Part::Condition,
        "body" => Part::Body,
        "alternative" => Part::Alternative,
        "alternative.body" => Part::AlternativeBody,
        "handler" => Part::Handler,
        "callee" => Part::Callee,
        "arguments" => Part::Arguments,
        "argument" => Part::Argument,
        "keyword" => Part::Keyword,
        "object" => Part::Object,
        "name" => Part::Name,
        "index" => Part::Index,
        "start" => Part::Start,
        "stop" => Part::Stop,
        "step" => Part::Step,
        "value" => Part::Value,
        "target" => Part::Target,
        "default" => Part::Default,
        "type" => Part::Type,
        "module" => Part::Module,
        "binding" => Part::Binding,
        _ => return None,
    })
}

fn statement_kind(name: &str) -> Option<StatementKind> {
    use StatementKind as K;
    Some(match name {
        "assignment" => K::Assignment,
        "augmented_assignment" => K::AugmentedAssignment,
        "return" => K::Return,
        "raise" => K::Raise,
        "expression" => K::Expression,
        "if" => K::If,
        "loop" => K::Loop,
        "switch" => K::Switch,
        "break" => K::Break,
        "continue" => K::Continue,
        "try" => K::Try,
        "with" => K::With,
        "assert" => K::Assert,
        "import" => K::Import,
        "definition" => K::Definition,
        "docstring" => K::Docstring,
        "other" => K::Other,
        _ => return None,
    })
}

fn expression_kind(name: &str) -> Option<ExpressionKind> {
    use ExpressionKind as K;
    Some(match name {
        "binary" => K::Binary,
        "comparison" => K::Comparison,
        "boolean" => K::Boolean,
        "not" => K::Not,
        "unary" => K::Unary,
        "call" => K::Call,
        "subscript" => K::Subscript,
        "slice" => K::Slice,
        "attribute" => K::Attribute,
        "name" => K::Name,
        "integer" => K::Integer,
        "float" => K::Float,
        "string" => K::String,
        "true" => K::True,
        "false" => K::False,
        "null" => K::Null,
        "collection" => K::Collection,
        "mapping" => K::Mapping,
        "conditional" => K::Conditional,
        "lambda" => K::Lambda,
        "await" => K::Await,
        "range" => K::Range,
        "comprehension" => K::Comprehension,
        "parenthesized" => K::Parenthesized,
        "cast" => K::Cast,
        "other" => K::Other,
        _ => return None,
    })
}

/// A compiled query with what each capture means.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) query: Query,
    pub(super) roles: Vec<Role>,
}

/// All that the queries say about one node.
#[derive(Debug, Default)]
pub(super) struct NodeRoles {
    flags: u32,
    statement: Option<(usize, StatementKind)>,
    expression: Option<(usize, ExpressionKind)>,
    parts: Vec<(Part, Span)>,
}

impl NodeRoles {
    pub(super) fn is(&self, flag: Flag) -> bool {
        self.flags & flag as u32 != 0
    }

    pub(super) fn statement(&self) -> Option<StatementKind> {
        self.statement.map(|(_, kind)| kind)
    }

    pub(super) fn expression(&self) -> Option<ExpressionKind> {
        if self.is(Flag::Skip) { None } else { self.expression.map(|(_, kind)| kind) }
    }

    /// In source order, without duplicates.
    pub(super) fn parts(&self) -> Parts {
        let mut parts = self.parts.clone();
        parts.sort_by_key(|(part, span)| (span.start, span.end, *part));
        parts.dedup();
        Parts(parts)
    }

    pub(super) fn part(&self, part: Part) -> Option<&Span> {
        self.parts.iter().find(|(name, _)| *name == part).map(|(_, span)| span)
    }
}

/// By node id. Looked up only, never iterated: its order is not deterministic.
pub(super) type RoleMap = HashMap<usize, NodeRoles>;

/// Runs the queries, in order of priority: the first pattern that gives a node a kind decides it.
pub(super) fn collect(queries: &[Compiled], tree: &Tree, source: &[u8]) -> RoleMap {
    let mut map = RoleMap::with_capacity(source.len() / 8);
    let mut rank = 0;
    for compiled in queries {
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&compiled.query, tree.root_node(), source);
        while let Some(found) = matches.next() {
            add_match(&mut map, compiled, rank + found.pattern_index, found.captures());
        }
        rank += compiled.query.pattern_count();
    }
    map
}

fn add_match(
    map: &mut RoleMap,
    compiled: &Compiled,
    rank: usize,
    captures: &[tree_sitter::QueryCapture<'_>],
) {
    let role = |index: u32| compiled.roles[index as usize];
    for capture in captures {
        let entry = match role(capture.index) {
            Role::Part(Part::Name) => {
                map.entry(capture.node.id()).or_default().flags |= Flag::Skip as u32;
                continue;
            }
            Role::Part(_) | Role::Private => continue,
            _ => map.entry(capture.node.id()).or_default(),
        };
        match role(capture.index) {
            Role::Statement(kind) if entry.statement.is_none_or(|(old, _)| rank < old) => {
                entry.statement = Some((rank, kind));
            }
            Role::Expression(kind) if entry.expression.is_none_or(|(old, _)| rank < old) => {
                entry.expression = Some((rank, kind));
            }
            Role::Flag(flag) => entry.flags |= flag as u32,
            _ => {}
        }
    }
    if captures.len() < 2 {
        return;
    }
    for owner in captures {
        if !is_owner(role(owner.index)) {
            continue;
        }
        for capture in captures {
            if let Role::Part(part) = role(capture.index) {
                let entry = map.entry(owner.node.id()).or_default();
                entry.parts.push((part, capture.node.byte_range()));
            }
        }
    }
}

fn is_owner(role: Role) -> bool {
    match role {
        Role::Statement(_) | Role::Expression(_) => true,
        Role::Flag(flag) => flag as u32 & OWNERS != 0,
        Role::Part(_) | Role::Private => false,
    }
}

/// The roles of a node, where it has any.
pub(super) fn of<'a>(map: &'a RoleMap, node: &Node<'_>) -> Option<&'a NodeRoles> {
    map.get(&node.id())
}
