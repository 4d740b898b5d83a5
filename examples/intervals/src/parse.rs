//! The text format: `1..5, 7, -3..=-1`.

use crate::{Interval, IntervalSet};
use std::fmt;
use std::str::FromStr;

/// What stands where it should not: the part's number, from one, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub part: usize,
    pub reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Empty,
    NotANumber,
    Backwards,
    TooLarge,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Reason::Empty => "is empty",
            Reason::NotANumber => "is not a number or a range",
            Reason::Backwards => "ends before it begins",
            Reason::TooLarge => "is too large",
        };
        write!(f, "part {} {reason}", self.part)
    }
}

impl std::error::Error for ParseError {}

impl FromStr for IntervalSet {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut set = IntervalSet::new();
        if text.trim().is_empty() {
            return Ok(set);
        }
        for (place, part) in text.split(',').enumerate() {
            let error = |reason| ParseError { part: place + 1, reason };
            set.insert(interval(part.trim()).map_err(error)?);
        }
        Ok(set)
    }
}

fn interval(part: &str) -> Result<Interval, Reason> {
    if part.is_empty() {
        return Err(Reason::Empty);
    }
    let (start, end) = match part.split_once("..") {
        None => {
            let start = number(part)?;
            (start, next(start)?)
        }
        Some((start, end)) => match end.strip_prefix('=') {
            Some(last) => (number(start)?, next(number(last)?)?),
            None => (number(start)?, number(end)?),
        },
    };
    Interval::new(start, end).ok_or(Reason::Backwards)
}

fn next(number: i64) -> Result<i64, Reason> {
    number.checked_add(1).ok_or(Reason::TooLarge)
}

fn number(text: &str) -> Result<i64, Reason> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Reason::NotANumber);
    }
    text.parse().map_err(|_| Reason::TooLarge)
}
