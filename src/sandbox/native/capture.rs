//! A stream's head and tail within a fixed memory.

use super::Captured;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Capture {
    keep_head: usize,
    keep_tail: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Capture {
    pub(super) fn new(keep_head: usize, keep_tail: usize) -> Self {
        Self { keep_head, keep_tail, head: Vec::new(), tail: VecDeque::new(), dropped: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.keep_head - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Of a piece longer than the tail only its end can stay.
        let (passing, last) = rest.split_at(rest.len().saturating_sub(self.keep_tail));
        self.dropped += passing.len() as u64;
        let excess = (self.tail.len() + last.len()).saturating_sub(self.keep_tail);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
        self.tail.extend(last);
    }

    pub(super) fn finish(self) -> Captured {
        Captured { head: self.head, tail: self.tail.into(), dropped: self.dropped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn head_and_tail_are_the_ends_of_what_was_pushed(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            keep_head in 0_usize..50,
            keep_tail in 0_usize..50,
        ) {
            let mut capture = Capture::new(keep_head, keep_tail);
            for piece in &pieces {
                capture.push(piece);
            }
            let all = pieces.concat();
            let got = capture.finish();
            let (head, rest) = all.split_at(keep_head.min(all.len()));
            let cut = rest.len().saturating_sub(keep_tail);
            prop_assert_eq!(got.head, head);
            prop_assert_eq!(got.tail, &rest[cut..]);
            prop_assert_eq!(got.dropped, cut as u64);
        }
    }
}
