//! Which code an input ran through: the counters that LLVM's own instrumentation keeps in a test binary that
//! was built for it (the command stands in `ARCHITECTURE.md`). Without, nothing is counted, and nothing costs.
//!
//! A crate by itself: only here is unsafe code needed for it. One thread at a time may use it.

use std::sync::Mutex;

/// Where the counters of each part of the program are, one byte an edge.
static PARTS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// LLVM calls it before `main`, once for each part of the program.
#[unsafe(no_mangle)]
pub extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, stop: *mut u8) {
    let part = (start as usize, stop as usize);
    let mut parts = PARTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if part.0 < part.1 && !parts.contains(&part) {
        parts.push(part);
    }
}

/// What all inputs so far ran through.
#[derive(Default)]
pub struct Seen(Vec<u8>);

/// How many edges are counted; 0 where the program was not built for it.
pub fn edges() -> usize {
    parts().iter().map(|(start, stop)| stop - start).sum()
}

fn parts() -> Vec<(usize, usize)> {
    PARTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// Before an input.
pub fn reset() {
    for (start, stop) in parts() {
        // SAFETY: LLVM gave the bounds of bytes that live as long as the program. They are written by
        // instrumented code without synchronisation; the caller has one thread.
        unsafe { std::ptr::write_bytes(start as *mut u8, 0, stop - start) };
    }
}

impl Seen {
    /// After an input: whether it ran through an edge that none did, or another order of magnitude of times.
    pub fn learns(&mut self) -> bool {
        let (mut at, mut new) = (0, false);
        self.0.resize(edges(), 0);
        for (start, stop) in parts() {
            // SAFETY: as in `reset`.
            let counters = unsafe { std::slice::from_raw_parts(start as *const u8, stop - start) };
            for chunk in counters.chunks(16) {
                let words: [u8; 16] = match chunk.try_into() {
                    Ok(words) => words,
                    Err(_) => [1; 16],
                };
                if u128::from_ne_bytes(words) != 0 {
                    for (counter, seen) in chunk.iter().zip(&mut self.0[at..]) {
                        let bucket = bucket(*counter);
                        new |= bucket & !*seen != 0;
                        *seen |= bucket;
                    }
                }
                at += chunk.len();
            }
        }
        new
    }

    /// How many edges were run through.
    pub fn count(&self) -> usize {
        self.0.iter().filter(|seen| **seen != 0).count()
    }
}

fn bucket(times: u8) -> u8 {
    match times {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        128.. => 128,
    }
}
