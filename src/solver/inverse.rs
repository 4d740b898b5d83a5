//! Whether a bug's inverse is among the proposals for it: the ceiling of every order. Only evaluations ask,
//! since it takes the original.

use super::proposal::Proposal;
use super::ranking::Proposals;
use crate::text::apply_edits;
use crate::tree::Tree;

/// Proposals at the same place that are tried in pairs, at most.
const NEAR: usize = 400;

impl Proposals {
    /// One proposal, or two that fit together, which lead to the files of `original`, but for what is written
    /// otherwise and means the same: see [`bare`].
    pub(super) fn inverse(&self, original: &dyn Tree) -> Option<Vec<usize>> {
        let wanted: Vec<Vec<u8>> = self
            .sources
            .iter()
            .map(|source| original.read(&source.path).map(|file| file.bytes.to_vec()))
            .collect::<Option<_>>()?;
        let differ: Vec<usize> = (0..self.sources.len())
            .filter(|file| wanted[*file] != self.sources[*file].bytes())
            .collect();
        // Where each file's texts begin and end to differ.
        let spans: Vec<(usize, usize)> = self
            .sources
            .iter()
            .zip(&wanted)
            .map(|(source, wanted)| differing(source.bytes(), wanted))
            .collect();
        let bare_wanted: Vec<Vec<u8>> = wanted.iter().map(|text| bare(text)).collect();
        let mut near = Vec::new();
        for (number, (file, proposal)) in self.made.iter().enumerate() {
            if !differ.contains(file) || !touches(proposal, spans[*file]) {
                continue;
            }
            let edits = &proposal.edits;
            let made = apply_edits(self.sources[*file].bytes(), edits).unwrap_or_default();
            if bare(&made) == bare_wanted[*file] {
                if differ.len() == 1 {
                    return Some(vec![number]);
                }
                near.insert(0, number);
            } else if nearer(self.sources[*file].bytes(), &made, &wanted[*file]) {
                near.push(number);
            }
        }
        near.truncate(NEAR);
        for (at, first) in near.iter().enumerate() {
            for second in &near[at + 1..] {
                let both = vec![*first, *second];
                let files: Vec<usize> = both.iter().map(|number| self.made[*number].0).collect();
                if !differ.iter().all(|file| files.contains(file)) {
                    continue;
                }
                let Some(changes) = self.candidate(&both) else { continue };
                let whole = differ.iter().all(|file| {
                    let made = changes.get(&self.sources[*file].path).flatten();
                    made.is_some_and(|made| bare(&made.bytes) == bare_wanted[*file])
                });
                if whole {
                    return Some(both);
                }
            }
        }
        None
    }
}

/// From the first byte of `now` that differs to behind the last.
fn differing(now: &[u8], wanted: &[u8]) -> (usize, usize) {
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let before = now.iter().zip(wanted).take_while(same).count();
    let after = now[before..].iter().rev().zip(wanted[before..].iter().rev());
    (before, now.len() - after.take_while(same).count())
}

/// A text without white space, parentheses and lines that say `pass`: repairs put a condition in parentheses, or a
/// statement before the filler that a removal left. Whether it is the same is for the grade to say.
fn bare(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|byte| *byte == b'\n');
    let counts = |byte: &&u8| !byte.is_ascii_whitespace() && !b"()".contains(byte);
    lines
        .filter(|line| line.trim_ascii() != b"pass")
        .flat_map(|line| line.iter().filter(counts).copied())
        .collect()
}

fn touches(proposal: &Proposal, (start, end): (usize, usize)) -> bool {
    proposal.edits.iter().any(|edit| edit.range.start <= end && start <= edit.range.end)
}

/// Whether less differs at one end, and no more at the other: a part of the inverse.
fn nearer(now: &[u8], made: &[u8], wanted: &[u8]) -> bool {
    let ends = |text: &[u8]| {
        let (start, end) = differing(text, wanted);
        (start, text.len() - end)
    };
    let (was, is) = (ends(now), ends(made));
    was != is && was.0 <= is.0 && was.1 <= is.1
}

#[cfg(test)]
mod tests {
    use super::{bare, differing, nearer};

    #[test]
    fn what_is_written_otherwise_is_the_same() {
        let texts: [&[u8]; 2] = [b"if a:\n    x = 1\n    pass\n", b"if (a):\n  x = 1\n"];
        assert_eq!(bare(texts[0]), bare(texts[1]));
        assert_ne!(bare(b"x = passed\n"), bare(b"x = ed\n"));
    }

    #[test]
    fn a_part_of_the_inverse_leaves_less_that_differs() {
        assert_eq!(differing(b"a-b", b"a+b"), (1, 2));
        assert_eq!(differing(b"ab", b"a+b"), (1, 1));
        assert_eq!(differing(b"aa", b"aaa"), (2, 2));
        // Two faults: either repair is a part, and a change of something else is none.
        assert!(nearer(b"a-b-c", b"a+b-c", b"a+b+c"));
        assert!(nearer(b"a-b-c", b"a-b+c", b"a+b+c"));
        assert!(!nearer(b"a-b-c", b"x-b-c", b"a+b+c"));
        assert!(!nearer(b"a-b-c", b"a-b-c", b"a+b+c"));
    }
}
