//! The hint ladder: file, function, line, family of the edit. Each rung tells more, and costs more.

use super::clue::{Clues, Place};
use super::family::in_words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    File,
    Function,
    Line,
    Family,
}

impl Rung {
    pub const ALL: [Self; 4] = [Self::File, Self::Function, Self::Line, Self::Family];

    /// The rung after so many that were used.
    #[must_use]
    pub fn after(used: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(used).ok()?).copied()
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Function => "function",
            Self::Line => "line",
            Self::Family => "family",
        }
    }

    /// The hint, one sentence for each place.
    #[must_use]
    pub fn tell(self, clues: &Clues) -> String {
        let mut told: Vec<String> = Vec::new();
        for place in &clues.places {
            let text = self.of(place);
            if !told.contains(&text) {
                told.push(text);
            }
        }
        told.join("; ")
    }

    fn of(self, place: &Place) -> String {
        let file = &place.file;
        match self {
            Self::File => format!("look in {file}"),
            Self::Function => match &place.function {
                Some(function) => format!("look at {function} in {file}"),
                None => format!("look outside of functions in {file}"),
            },
            Self::Line => format!("look at line {} of {file}, as it was shown", place.line),
            Self::Family => format!("at line {} of {file}, {}", place.line, in_words(&place.kind)),
        }
    }
}
