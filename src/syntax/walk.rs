//! One walk over the tree that turns roles into the lists of `Parsed`.
