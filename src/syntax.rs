//! Languages loaded from `grammars/`, named queries, edit sites. The only user of tree-sitter.
