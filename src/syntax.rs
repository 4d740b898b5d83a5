//! Languages loaded from `grammars/`, named queries, edit sites. The only user of tree-sitter.

/// All languages that are known.
pub struct Languages {}
