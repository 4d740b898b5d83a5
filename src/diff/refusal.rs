//! Why a patch is refused before anything is applied.

use super::{MAX_BYTES, MAX_FILES};
use crate::tree::{PathRefusal, RelPath};

/// Why a patch is refused before anything is applied. Line numbers are of the patch, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the patch has {bytes} bytes, more than {MAX_BYTES}: split it")]
    TooLarge { bytes: usize },
    #[error("the patch names more than {MAX_FILES} files: split it")]
    TooManyFiles,
    #[error("the text holds no file change: give a unified diff with `---`, `+++` and `@@` lines")]
    NothingFound,
    #[error(
        "line {line}: path {path:?} is refused: {reason}; name a file inside the tree, from its root"
    )]
    Path { line: usize, path: String, reason: PathRefusal },
    #[error(
        "line {line}: {path:?} is a symbolic link (mode 120000): only regular files may be patched"
    )]
    Symlink { line: usize, path: String },
    #[error(
        "line {line}: {path:?} is a submodule (mode 160000): only regular files may be patched"
    )]
    Gitlink { line: usize, path: String },
    #[error(
        "line {line}: mode {mode:?} of {path:?} is neither 100644 nor 100755: use one of these"
    )]
    Mode { line: usize, path: String, mode: String },
    #[error("line {line}: a binary change: only text hunks are taken")]
    Binary { line: usize },
    #[error("line {line}: a copied file: write it as a new file")]
    Copy { line: usize },
    #[error(
        "line {line}: {path} appears twice on the same side of the patch: put all its hunks under one header"
    )]
    Duplicate { line: usize, path: RelPath },
    #[error("line {line}: broken file header: {reason}")]
    Header { line: usize, reason: HeaderFault },
    #[error("line {line}: broken hunk: {reason}")]
    Hunk { line: usize, reason: HunkFault },
}

/// What is wrong with a file header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    #[error("a combined diff (of a merge): make a diff against one parent")]
    Combined,
    #[error("the old and the new name differ without `rename from` and `rename to`")]
    NamesDiffer,
    #[error(
        "the name is quoted but the quoting is broken: use C-style escapes and a closing quote"
    )]
    Quoting,
    #[error("`---` without `+++` on the next line")]
    NoNewName,
    #[error("`/dev/null` on both sides")]
    NoFile,
    #[error("the file's names, modes or `/dev/null` contradict each other")]
    Contradiction,
    #[error("the line is given twice for one file")]
    Repeated,
    #[error("it changes nothing: no hunk, no mode, no new name")]
    NoChange,
}

/// What is wrong with a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HunkFault {
    #[error("expected `@@ -start,count +start,count @@`")]
    Header,
    #[error("a hunk without a file header above it: `---` and `+++` come first")]
    NoFile,
    #[error("the text ends before the counts of the hunk's header are reached")]
    Ends,
    #[error(
        "the line starts with none of space, `+`, `-` and `\\`, but the header counts more lines"
    )]
    BadLine,
    #[error("more lines of its kind than the hunk's header counts")]
    TooMany,
    #[error("`\\ No newline at end of file` stands where the file cannot end")]
    NoNewline,
    #[error("the hunk does not come after the one before it, or overlaps it")]
    Order,
    #[error("the hunk changes nothing")]
    NoChange,
    #[error(
        "a new file's hunk may only add lines, from line 0; a deleted file's may only remove them, to line 0"
    )]
    WholeFile,
}
