//! Patches: what is read, refused, applied and printed.

mod applying;
mod mangled;
mod of_a_model;
mod parsing;
mod properties;
mod writing;

use super::*;
use crate::tree::File;

fn path(text: &str) -> RelPath {
    RelPath::parse(text.as_bytes()).expect("a valid path")
}

/// A tree of plain files.
fn tree(files: &[(&str, &[u8])]) -> Changes {
    files.iter().map(|(name, bytes)| (path(name), Some(File::plain(*bytes)))).collect()
}
