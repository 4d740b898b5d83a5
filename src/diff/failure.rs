//! Why a patch does not apply to a tree.

use super::Mode;
use crate::tree::RelPath;

/// Why a patch does not apply to a tree. An outcome: never treated as "unchanged". Hunks of a file
/// and lines of the tree's file count from 1; text is shown with replacement characters where it is
/// not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyFailure {
    #[error("{path}: there is no such file to patch")]
    Missing { path: RelPath },
    #[error("{path}: the patch makes this file but it is there already")]
    Exists { path: RelPath },
    #[error("{path}: the patch says mode {stated}, the file has {found}")]
    ModeDiffers { path: RelPath, stated: Mode, found: Mode },
    #[error(
        "{path}: hunk {hunk} does not fit: line {line} should be {expected:?} and is {}",
        found.as_ref().map_or_else(|| "past the end of the file".to_owned(), |text| format!("{text:?}"))
    )]
    Context { path: RelPath, hunk: usize, line: usize, expected: String, found: Option<String> },
    #[error(
        "{path}: hunk {hunk} is not at its stated line and fits at both line {first} and line {second}: \
         give more context or the right line"
    )]
    Ambiguous { path: RelPath, hunk: usize, first: usize, second: usize },
    #[error("{path}: hunk {hunk} fits only where an earlier hunk has changed the file")]
    Order { path: RelPath, hunk: usize },
    #[error("{path}: after hunk {hunk} a line inside the file would lack its newline")]
    NoNewline { path: RelPath, hunk: usize },
    #[error("{path}: the patch deletes this file but leaves lines in it")]
    ContentLeft { path: RelPath },
    #[error("{path}: {other} would be inside it, and it is a file")]
    InTheWay { path: RelPath, other: RelPath },
}
