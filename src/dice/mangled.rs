//! For tests: inputs made of good ones by what goes wrong on the way, the same in every run.

use super::Dice;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Inputs of one check. As many as `SSR_MCP_INPUTS` said when the tests were built, else few enough for
/// every build: `SSR_MCP_INPUTS=1000000 cargo test --release --lib mangled`.
fn count() -> u64 {
    option_env!("SSR_MCP_INPUTS").and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

/// Holds a property against inputs made of `seeds`; `words` are pieces that the format gives a meaning.
/// The input that breaks it is printed, to be kept as a seed.
#[track_caller]
pub(crate) fn check(seeds: &[&[u8]], words: &[&[u8]], property: &dyn Fn(&[u8])) {
    for number in 0..count() {
        let mut dice = Dice::new(number).fork("mangled");
        let input = match seeds.get(usize::try_from(number).unwrap_or(usize::MAX)) {
            Some(seed) => seed.to_vec(),
            None => mangled(&mut dice, seeds, words),
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| property(&input))) {
            eprintln!("input {number}: b\"{}\"", input.escape_ascii());
            resume_unwind(panic)
        }
    }
}

fn mangled(dice: &mut Dice, seeds: &[&[u8]], words: &[&[u8]]) -> Vec<u8> {
    let mut input = dice.pick(seeds).map_or_else(Vec::new, |seed| seed.to_vec());
    for _ in 0..=dice.below(6) {
        let at = dice.below(input.len() + 1);
        let end = (at + 1 + dice.below(16)).min(input.len());
        match dice.below(10) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => {
                let again = input[at..end].to_vec();
                input.splice(at..at, again);
            }
            3 => {
                let other = dice.pick(seeds).map_or(&[][..], |seed| *seed);
                let from = dice.below(other.len() + 1);
                input.splice(at.., other[from..].iter().copied());
            }
            4 => exchange_lines(dice, &mut input),
            5 | 6 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
            7 => input.insert(at, u8::try_from(dice.below(256)).unwrap_or(0)),
            _ => {
                let word = dice.pick(words).map_or(&[][..], |word| *word);
                let to = if dice.below(2) == 0 { at } else { end };
                input.splice(at..to, word.iter().copied());
            }
        }
    }
    input
}

fn exchange_lines(dice: &mut Dice, input: &mut Vec<u8>) {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
    let (one, other) = (dice.below(lines.len()), dice.below(lines.len()));
    if one < lines.len() && other < lines.len() {
        lines.swap(one, other);
        *input = lines.concat();
    }
}
