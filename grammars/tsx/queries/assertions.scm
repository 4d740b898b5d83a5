; JavaScript's.
