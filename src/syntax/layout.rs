//! Lines, indentation and deleting statements without a trace.
