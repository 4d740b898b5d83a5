//! A patch over bytes: parse, print, apply, reverse, make; and the policy of what a patch may touch.
//!
//! Lines are byte strings with their `\n`, so that CRLF, lone carriage returns, byte order marks and
//! any encoding pass through unread. `diffy` finds the differing lines of two files; everything
//! else is here, because its application takes the nearest of several places.

mod align;
mod apply;
mod failure;
mod header;
mod hunk;
mod make;
mod name;
mod parse;
mod print;
mod refusal;
#[cfg(test)]
mod tests;
mod written;

pub use align::Nowhere;
pub use failure::ApplyFailure;
pub use hunk::{Hunk, Line};
pub use refusal::Refusal;
pub use written::Unplaced;

use crate::tree::{Changes, RelPath, Tree};
use std::collections::BTreeSet;
use std::ops::Range;

/// The most bytes that a patch may have.
pub const MAX_BYTES: usize = 16 << 20;
/// The most files that a patch may name.
pub const MAX_FILES: usize = 1000;

/// A parsed patch that passed the policy: text hunks on regular files inside the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    files: Vec<FilePatch>,
}

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    kind: Kind,
    /// Ascending and apart from each other.
    hunks: Vec<Hunk>,
}

/// What becomes of the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `mode: None`, here and below, where the patch is silent, as plain `---`/`+++` patches are.
    /// The file then has mode 100644.
    Added {
        path: RelPath,
        mode: Option<Mode>,
    },
    /// A stated mode must be the file's.
    Deleted {
        path: RelPath,
        mode: Option<Mode>,
    },
    Modified {
        path: RelPath,
        modes: Option<ModeChange>,
    },
    Renamed {
        from: RelPath,
        to: RelPath,
        modes: Option<ModeChange>,
    },
}

/// The two modes that a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 100644
    Plain,
    /// 100755
    Executable,
}

/// A change of mode; the old one must be the file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeChange {
    pub old: Mode,
    pub new: Mode,
}

/// Lines of an old text that lines of a new one take the place of, counted from 0. One of the ranges
/// may be empty: it then stands at the place between two lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// What differs between two lists of lines, ascending; at least one equal line stands between two
/// changes. The least difference, as in [`Patch::between`].
pub fn line_changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<LineChange> {
    make::line_changes(old, new)
}

impl Patch {
    /// Reads a unified diff, with or without git's headers and with prose around them.
    ///
    /// Paths: the prefixes `a/` and `b/` are dropped where both sides have them (in either order, or
    /// beside `/dev/null`); otherwise the names are taken whole. A carriage return at the end of a
    /// header line is dropped, in a hunk it is content. Start lines of the new side are worked out
    /// again from the old side. Text of white space alone is the empty patch.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        parse::patch(bytes)
    }

    /// Reads a patch as models write them, for a tree: what is wrong with it as a text is put right, and each
    /// hunk must fit in exactly one place, its context with small differences, what it removes as it is.
    /// The result is exact for the tree.
    pub fn written(bytes: &[u8], tree: &dyn Tree) -> Result<Self, Unplaced> {
        written::patch(bytes, tree)
    }

    /// A part of the patch: hunks of changed files, and other files as a whole, that `keep` says yes to, in
    /// their order.
    #[must_use]
    pub fn part(&self, keep: &mut dyn FnMut() -> bool) -> Self {
        let files = self.files.iter().filter_map(|file| match &file.kind {
            Kind::Modified { .. } if !file.hunks.is_empty() => {
                let hunks: Vec<Hunk> = file.hunks.iter().filter(|_| keep()).cloned().collect();
                (!hunks.is_empty()).then(|| FilePatch { kind: file.kind.clone(), hunks })
            }
            _ => keep().then(|| file.clone()),
        });
        Self { files: files.collect() }
    }

    /// How many parts [`part`](Self::part) asks for.
    pub fn parts(&self) -> usize {
        let parts = self.files.iter().map(|file| match &file.kind {
            Kind::Modified { .. } => file.hunks.len().max(1),
            _ => 1,
        });
        parts.sum()
    }

    /// The patch that turns `base` into `base` with `changes`: git format, 3 lines of context,
    /// paths sorted. Entries equal to the base are left out. Every file counts as text. No limit on
    /// size: a patch over [`MAX_BYTES`] or [`MAX_FILES`] applies but does not parse again.
    pub fn between(base: &dyn Tree, changes: &Changes) -> Self {
        make::between(base, changes)
    }

    /// The patch as text that [`Patch::parse`] reads back to an equal value and that `git apply` and
    /// GNU patch accept.
    pub fn to_bytes(&self) -> Vec<u8> {
        print::patch(self)
    }

    /// The patch that undoes this one.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { files: self.files.iter().map(FilePatch::reversed).collect() }
    }

    /// What applying to `tree` changes. Strict: context must match; a hunk may have moved only if it
    /// has context and fits in exactly one place. All files or none.
    pub fn apply(&self, tree: &dyn Tree) -> Result<Changes, ApplyFailure> {
        apply::patch(self, tree)
    }

    /// The files, in the order of the patch.
    pub fn files(&self) -> &[FilePatch] {
        &self.files
    }

    /// What the patch does to one file; `None` where it does not name it.
    pub fn of_file(&self, path: &RelPath) -> Option<Self> {
        let names = |file: &&FilePatch| [file.old_path(), file.new_path()].contains(&Some(path));
        let file = self.files.iter().find(names)?;
        Some(Self { files: vec![file.clone()] })
    }

    /// Every path the patch names, old and new, sorted.
    pub fn paths(&self) -> Vec<RelPath> {
        let all: BTreeSet<_> = self
            .files
            .iter()
            .flat_map(|file| [file.old_path(), file.new_path()])
            .flatten()
            .collect();
        all.into_iter().cloned().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Added and removed lines.
    pub fn changed_lines(&self) -> (usize, usize) {
        self.files
            .iter()
            .map(FilePatch::changed_lines)
            .fold((0, 0), |sum, file| (sum.0 + file.0, sum.1 + file.1))
    }
}

impl FilePatch {
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// Where the file is before; `None` for an added file.
    pub fn old_path(&self) -> Option<&RelPath> {
        match &self.kind {
            Kind::Added { .. } => None,
            Kind::Deleted { path, .. } | Kind::Modified { path, .. } => Some(path),
            Kind::Renamed { from, .. } => Some(from),
        }
    }

    /// Where the file is afterwards; `None` for a deleted file.
    pub fn new_path(&self) -> Option<&RelPath> {
        match &self.kind {
            Kind::Deleted { .. } => None,
            Kind::Added { path, .. } | Kind::Modified { path, .. } => Some(path),
            Kind::Renamed { to, .. } => Some(to),
        }
    }

    /// Added and removed lines.
    pub fn changed_lines(&self) -> (usize, usize) {
        self.hunks.iter().flat_map(Hunk::lines).fold((0, 0), |(added, removed), line| match line {
            Line::Context(_) => (added, removed),
            Line::Added(_) => (added + 1, removed),
            Line::Removed(_) => (added, removed + 1),
        })
    }

    fn reversed(&self) -> Self {
        let kind = match self.kind.clone() {
            Kind::Added { path, mode } => Kind::Deleted { path, mode },
            Kind::Deleted { path, mode } => Kind::Added { path, mode },
            Kind::Modified { path, modes } => {
                Kind::Modified { path, modes: modes.map(ModeChange::reversed) }
            }
            Kind::Renamed { from, to, modes } => {
                Kind::Renamed { from: to, to: from, modes: modes.map(ModeChange::reversed) }
            }
        };
        Self { kind, hunks: hunk::reversed(&self.hunks) }
    }
}

impl Mode {
    pub fn of(executable: bool) -> Self {
        if executable { Self::Executable } else { Self::Plain }
    }

    /// As git writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "100644",
            Self::Executable => "100755",
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl ModeChange {
    fn reversed(self) -> Self {
        Self { old: self.new, new: self.old }
    }
}
