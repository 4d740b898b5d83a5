"""A small plain-text bookkeeping library."""
