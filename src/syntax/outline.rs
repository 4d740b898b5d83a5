//! A syntax tree without what does nothing: comments, documentation strings, white space.

use super::model::{Span, StatementKind};
use super::parsed::Parsed;

/// A node with what its text is, where it is a leaf.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Node {
    Enter(u16),
    Leaf(u16, Vec<u8>),
    Leave,
}

/// The nodes in source order.
pub(super) fn of(tree: &tree_sitter::Tree, source: &[u8], parsed: &Parsed) -> Vec<Node> {
    let docstrings = parsed.statements().iter().filter(|it| it.kind == StatementKind::Docstring);
    let mut idle: Vec<&Span> =
        parsed.comments().iter().chain(docstrings.map(|it| &it.range)).collect();
    idle.sort_by_key(|span| span.start);
    let is_idle = |start: usize, end: usize| {
        let before = idle.partition_point(|span| span.start <= start);
        before.checked_sub(1).is_some_and(|at| end <= idle[at].end && start < end)
    };
    let mut nodes = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if !is_idle(node.start_byte(), node.end_byte()) {
            if cursor.goto_first_child() {
                nodes.push(Node::Enter(node.kind_id()));
                continue;
            }
            nodes.push(Node::Leaf(node.kind_id(), source[node.byte_range()].to_vec()));
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return nodes;
            }
            nodes.push(Node::Leave);
        }
    }
}
