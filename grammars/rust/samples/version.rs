//! Versions.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

const LIMIT: usize = 64;

/// A version.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pre: Option<String>,
}

impl Version {
    /// A version of two numbers.
    #[must_use]
    pub fn new(major: u64, minor: u64) -> Self {
        Version { major, minor, pre: None }
    }

    pub fn is_before(&self, other: &Version) -> bool {
        if self.major != other.major {
            return self.major < other.major;
        }
        self.minor < other.minor || !self.pre.is_none() && other.pre.is_none()
    }

    fn bump(&mut self, by: u64, limit: u64) -> u64 {
        let mut steps = 0;
        while steps < by {
            if self.minor >= limit {
                self.minor = 0;
                self.major += 1;
                break;
            } else {
                self.minor += 1;
            }
            steps += 1;
        }
        clamp(limit, by);
        steps
    }
}

impl Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)?;
        if let Some(pre) = &self.pre {
            formatter.write_str("-")?;
            formatter.write_str(pre)?;
        }
        Ok(())
    }
}

fn clamp(value: u64, limit: u64) -> u64 {
    if value > limit { limit } else { value }
}

pub fn parse(text: &str, strict: bool) -> Option<Version> {
    let mut parts = text.split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = match parts.next() {
        Some(part) if strict => part.parse().ok()?,
        Some(part) => part.parse().unwrap_or(0),
        None => 0,
    };
    if parts.next().is_some() && text.len() > LIMIT {
        return None;
    }
    Some(Version::new(major, minor))
}

pub fn count(words: &[&str], from: usize) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for at in from..words.len() {
        *counts.entry(words[at].to_owned()).or_insert(0) += 1;
    }
    counts
}

/// Mixes two numbers.
pub fn mix(seed: u32, value: u32, shift: i32) -> i32 {
    let high = seed << 4 | value & 0xff;
    let low = (high + value) * 3 % 7 - seed / 2;
    let mut sum = -shift + low as i32;
    sum -= i32::try_from(value).unwrap_or(0);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_before(a: &str, b: &str) {
        assert!(parse(a, true).unwrap().is_before(&parse(b, true).unwrap()));
    }

    /// The order of two.
    #[test]
    fn orders() {
        assert_before("1.2", "1.3");
        assert_before("1.9", "2.0");
    }

    #[test]
    #[should_panic(expected = "unwrap")]
    fn refuses() {
        let version = parse("x", true);

        assert_eq!(version, None, "not a number");
        debug_assert_ne!(version.unwrap().major, 0);
    }

    #[test]
    fn counts() {
        for word in ["a", "b"] {
            assert_eq!(count(&[word], 0)[word], 1);
        }
        assert!(count(&[], 0).is_empty())
    }
}
