//! What a node is: the captures of all queries, by node.
