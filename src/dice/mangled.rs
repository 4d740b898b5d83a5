//! For tests: inputs made of good ones by what goes wrong on the way, the same in every run.
//!
//! Where the tests were built to count what an input runs through (`tests/fuzz`), inputs that come by
//! something new are mangled further, and the shortest of them are kept as seeds where that is asked for.

use super::Dice;
use coverage::Seen;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

/// Seeds that are kept of one check, and how long each may be.
const KEPT: usize = 60;
const LONGEST_KEPT: usize = 400;

/// Inputs of one check. As many as `SSR_MCP_INPUTS` said when the tests were built, else few enough for
/// every build: `SSR_MCP_INPUTS=1000000 cargo test --release --lib mangled`.
fn count() -> u64 {
    option_env!("SSR_MCP_INPUTS").and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

/// Holds a property against inputs made of `seeds` and of those kept by the check's name; `words` are
/// pieces that the format gives a meaning. The input that breaks it is printed, to be kept as a seed.
#[track_caller]
pub(crate) fn check(name: &str, seeds: &[&[u8]], words: &[&[u8]], property: &dyn Fn(&[u8])) {
    let kept = kept(name);
    let mut corpus: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.to_vec()).chain(kept).collect();
    let (first, guided) = (corpus.len(), coverage::edges() > 0);
    let mut seen = Seen::default();
    for number in 0..count() {
        let mut dice = Dice::new(number).fork("mangled");
        let input = match corpus.get(usize::try_from(number).unwrap_or(usize::MAX)) {
            Some(given) if usize::try_from(number).is_ok_and(|number| number < first) => {
                given.clone()
            }
            _ => mangled(&mut dice, &corpus, words),
        };
        if guided {
            coverage::reset();
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| property(&input))) {
            eprintln!("{name}, input {number}: b\"{}\"", input.escape_ascii());
            resume_unwind(panic)
        }
        if guided && seen.learns() && number >= first as u64 {
            corpus.push(input);
        }
    }
    if guided {
        eprintln!(
            "{name}: {} edges, {} inputs kept for new ones",
            seen.count(),
            corpus.len() - first
        );
        keep(name, seeds, &corpus, property);
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fuzz/seeds/{name}.txt"))
}

/// The seeds that guided runs left, one a line, escaped.
fn kept(name: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(file(name)).unwrap_or_default();
    text.lines().map(unescaped).collect()
}

/// Writes the shortest inputs that together run through what all of them do, where the tests were built
/// with `SSR_MCP_SEEDS`.
fn keep(name: &str, given: &[&[u8]], corpus: &[Vec<u8>], property: &dyn Fn(&[u8])) {
    if option_env!("SSR_MCP_SEEDS").is_none() {
        return;
    }
    let mut seen = Seen::default();
    let mut learns = |input: &[u8]| {
        coverage::reset();
        property(input);
        seen.learns()
    };
    for seed in given {
        learns(seed);
    }
    let mut rest: Vec<&Vec<u8>> = corpus.iter().filter(|it| it.len() <= LONGEST_KEPT).collect();
    rest.sort_by_key(|input| (input.len(), *input));
    let chosen = rest.into_iter().filter(|input| learns(input)).take(KEPT);
    let lines: BTreeSet<String> = chosen.map(|input| input.escape_ascii().to_string()).collect();
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    std::fs::write(file(name), text).expect("seeds can be written where the sources are");
}

/// What `escape_ascii` wrote.
fn unescaped(line: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), line.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let (byte, taken) = match (first, behind) {
            (b'\\', [b'n', ..]) => (b'\n', 1),
            (b'\\', [b'r', ..]) => (b'\r', 1),
            (b'\\', [b't', ..]) => (b'\t', 1),
            (b'\\', [b'x', high, low, ..]) => {
                let digits = [*high, *low];
                let text = std::str::from_utf8(&digits).unwrap_or("00");
                (u8::from_str_radix(text, 16).unwrap_or(0), 3)
            }
            (b'\\', [other, ..]) => (*other, 1),
            (other, _) => (*other, 0),
        };
        bytes.push(byte);
        rest = &behind[taken..];
    }
    bytes
}

fn mangled(dice: &mut Dice, seeds: &[Vec<u8>], words: &[&[u8]]) -> Vec<u8> {
    let mut input = dice.pick(seeds).cloned().unwrap_or_default();
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
                let other = dice.pick(seeds).map_or(&[][..], Vec::as_slice);
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

#[test]
fn a_kept_seed_is_read_as_it_was() {
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(unescaped(&all.escape_ascii().to_string()), all);
}
