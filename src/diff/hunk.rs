//! One hunk: lines kept, added and removed at a place of the old file.

/// A hunk. At least one line is added or removed; a line without `\n` is the last of its side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// How many old lines stand before the hunk.
    pub(super) at: usize,
    pub(super) lines: Vec<Line>,
}

/// A line of a hunk, with its `\n` unless it is a file's last and has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Context(Vec<u8>),
    Added(Vec<u8>),
    Removed(Vec<u8>),
}

impl Hunk {
    /// How many lines of the old file stand before the hunk's first line, as the patch states it.
    pub fn lines_before(&self) -> usize {
        self.at
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The old side: context and removed lines.
    pub fn old_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().filter(|line| !matches!(line, Line::Added(_))).map(Line::text)
    }

    /// The new side: context and added lines.
    pub fn new_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().filter(|line| !matches!(line, Line::Removed(_))).map(Line::text)
    }

    pub(super) fn has_context(&self) -> bool {
        self.lines.iter().any(|line| matches!(line, Line::Context(_)))
    }
}

impl Line {
    pub fn text(&self) -> &[u8] {
        match self {
            Self::Context(text) | Self::Added(text) | Self::Removed(text) => text,
        }
    }

    pub(super) fn text_mut(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Context(text) | Self::Added(text) | Self::Removed(text) => text,
        }
    }

    fn reversed(&self) -> Self {
        match self.clone() {
            Self::Context(text) => Self::Context(text),
            Self::Added(text) => Self::Removed(text),
            Self::Removed(text) => Self::Added(text),
        }
    }
}

/// Each hunk with how many lines of the *new* file stand before it.
pub(super) fn with_new_places(hunks: &[Hunk]) -> impl Iterator<Item = (&Hunk, usize)> {
    hunks.iter().scan((0, 0), |(added, removed), hunk| {
        // The hunks are apart, so all lines removed so far stand before this one.
        let place = hunk.at + *added - *removed;
        *added += hunk.new_lines().count();
        *removed += hunk.old_lines().count();
        Some((hunk, place))
    })
}

/// Removed lines come before added ones in every run of changes, so that reversing twice is the
/// identity and the text looks as people expect it.
pub(super) fn reversed(hunks: &[Hunk]) -> Vec<Hunk> {
    with_new_places(hunks)
        .map(|(hunk, at)| Hunk { at, lines: removed_first(hunk.lines.iter().map(Line::reversed)) })
        .collect()
}

pub(super) fn removed_first(lines: impl Iterator<Item = Line>) -> Vec<Line> {
    let mut result = Vec::new();
    let mut added = Vec::new();
    for line in lines {
        match line {
            Line::Added(_) => added.push(line),
            Line::Removed(_) => result.push(line),
            Line::Context(_) => {
                result.append(&mut added);
                result.push(line);
            }
        }
    }
    result.append(&mut added);
    result
}
