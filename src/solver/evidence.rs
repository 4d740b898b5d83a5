//! Which lines each test reaches, and how suspicious that makes them (Ochiai).

use super::source::Source;
use super::words;
use crate::syntax::StatementKind;
use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// What one test reaches.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    pub(crate) test: TestId,
    /// Units by number, each with how surely the test reaches it (0 to 1).
    pub(crate) hits: Vec<(usize, f64)>,
}

/// What all tests reach. A unit is a line where coverage was measured, else a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) units: Vec<(RelPath, RangeInclusive<u32>)>,
    /// Of tests that fail and of tests that pass.
    pub(crate) failing: Vec<Spectrum>,
    pub(crate) passing: Vec<Spectrum>,
    /// Places that the log of the failure names.
    pub(crate) hints: BTreeMap<(RelPath, u32), usize>,
}

/// Suspicion by file and line. Relative: 0 is innocent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Suspicion(BTreeMap<RelPath, Vec<f64>>);

impl Suspicion {
    /// The most suspicious of the lines.
    pub(crate) fn of(&self, path: &RelPath, lines: &RangeInclusive<u32>) -> f64 {
        let Some(scores) = self.0.get(path) else { return 0.0 };
        let start = (*lines.start() as usize).min(scores.len());
        let end = (*lines.end() as usize + 1).min(scores.len());
        scores[start..end.max(start)].iter().copied().fold(0.0, f64::max)
    }
}

impl Evidence {
    /// Measured coverage as evidence.
    pub(crate) fn measured(
        coverage: &BTreeMap<TestId, BTreeMap<RelPath, BTreeSet<u32>>>,
        failing: &BTreeSet<TestId>,
        eligible: &dyn Fn(&RelPath) -> bool,
    ) -> Self {
        let mut numbers: BTreeMap<(&RelPath, u32), usize> = BTreeMap::new();
        let mut evidence = Self::default();
        for (test, files) in coverage {
            let mut hits = Vec::new();
            for (path, lines) in files.iter().filter(|(path, _)| eligible(path)) {
                for line in lines {
                    let next = numbers.len();
                    let unit = *numbers.entry((path, *line)).or_insert(next);
                    if unit == evidence.units.len() {
                        evidence.units.push((path.clone(), *line..=*line));
                    }
                    hits.push((unit, 1.0));
                }
            }
            let spectrum = Spectrum { test: test.clone(), hits };
            if failing.contains(test) {
                evidence.failing.push(spectrum);
            } else {
                evidence.passing.push(spectrum);
            }
        }
        evidence
    }

    /// Whether some failing test reaches something.
    pub(crate) fn speaks(&self) -> bool {
        self.failing.iter().any(|spectrum| !spectrum.hits.is_empty())
    }

    /// Ochiai `ef/√((ef+nf)(ef+ep))` of every unit, for the failing tests in `open` as a whole and
    /// for each group of them (one class or file of tests may see one fault only); the larger
    /// counts.
    #[allow(clippy::cast_precision_loss, reason = "counts of tests")]
    fn ochiai(&self, open: &BTreeSet<TestId>) -> Vec<f64> {
        let mut passed = vec![0.0; self.units.len()];
        for (unit, weight) in self.passing.iter().flat_map(|spectrum| &spectrum.hits) {
            passed[*unit] += weight;
        }
        let mut groups: BTreeMap<&str, Vec<&Spectrum>> = BTreeMap::new();
        for spectrum in self.failing.iter().filter(|spectrum| open.contains(&spectrum.test)) {
            groups.entry("").or_default().push(spectrum);
            let group = spectrum.test.rsplit_once("::").map_or("-", |(group, _)| group);
            groups.entry(group).or_default().push(spectrum);
        }
        let mut scores = vec![0.0_f64; self.units.len()];
        for (group, spectra) in groups {
            let discount = if group.is_empty() { 1.0 } else { 0.9 };
            let mut failed = vec![0.0; self.units.len()];
            for (unit, weight) in spectra.iter().flat_map(|spectrum| &spectrum.hits) {
                failed[*unit] += weight;
            }
            for (unit, score) in scores.iter_mut().enumerate() {
                let ef: f64 = failed[unit];
                if ef > 0.0 {
                    let all = spectra.len() as f64 * (ef + passed[unit]);
                    *score = score.max(discount * ef / all.sqrt());
                }
            }
        }
        scores
    }

    /// Of every line of `sources`: which share of the failing tests in `open` reaches it, and which share of
    /// the passing ones.
    #[allow(clippy::cast_precision_loss, reason = "counts of tests")]
    pub(crate) fn reach(
        &self,
        open: &BTreeSet<TestId>,
        sources: &[Source],
    ) -> BTreeMap<RelPath, Vec<(f64, f64)>> {
        let failing = || self.failing.iter().filter(|spectrum| open.contains(&spectrum.test));
        let shares = |hits: &mut dyn Iterator<Item = &(usize, f64)>, tests: usize| {
            let mut shares = vec![0.0; self.units.len()];
            for (unit, weight) in hits {
                shares[*unit] += weight / tests.max(1) as f64;
            }
            shares
        };
        let failed = shares(&mut failing().flat_map(|it| &it.hits), failing().count());
        let passed = shares(&mut self.passing.iter().flat_map(|it| &it.hits), self.passing.len());
        let mut lines: BTreeMap<RelPath, Vec<(f64, f64)>> = sources
            .iter()
            .map(|source| {
                let last = source.parsed.line_of(source.bytes().len()) as usize;
                (source.path.clone(), vec![(0.0, 0.0); last + 1])
            })
            .collect();
        let mut units: Vec<_> = self.units.iter().zip(failed.into_iter().zip(passed)).collect();
        // As in `suspicion`: an inner function's own share replaces the outer one's.
        units.sort_by_key(|((_, lines), _)| std::cmp::Reverse(lines.end() - lines.start()));
        for ((path, span), shares) in units {
            let Some(of_file) = lines.get_mut(path) else { continue };
            for line in span.clone() {
                if let Some(at) = of_file.get_mut(line as usize) {
                    *at = shares;
                }
            }
        }
        lines
    }

    /// Suspicion of every line of `sources`, as the tests in `open` show it.
    pub(crate) fn suspicion(&self, open: &BTreeSet<TestId>, sources: &[Source]) -> Suspicion {
        let mut suspicion = Suspicion::default();
        for source in sources {
            let last = source.parsed.line_of(source.bytes().len()) as usize;
            suspicion.0.insert(source.path.clone(), vec![0.0; last + 1]);
        }
        // Inner functions come after outer ones, and their own score replaces the outer one.
        let mut units: Vec<_> = self.units.iter().zip(self.ochiai(open)).collect();
        units.sort_by_key(|((_, lines), _)| std::cmp::Reverse(lines.end() - lines.start()));
        for ((path, lines), score) in units {
            for line in lines.clone() {
                if let Some(at) =
                    suspicion.0.get_mut(path).and_then(|lines| lines.get_mut(line as usize))
                {
                    *at = score;
                }
            }
        }
        for source in sources {
            if let Some(scores) = suspicion.0.get_mut(&source.path) {
                self.heed_hints(source, scores);
                spread(source, scores);
            }
        }
        suspicion
    }

    fn heed_hints(&self, source: &Source, scores: &mut [f64]) {
        for (_, line) in self.hints.keys().filter(|(path, _)| *path == source.path) {
            let inside = source.parsed.functions().iter().filter(|function| {
                let last = source.parsed.line_of(function.range.end.saturating_sub(1));
                (function.line..=last).contains(line)
            });
            for function in inside {
                let last = source.parsed.line_of(function.range.end.saturating_sub(1));
                for score in scores.iter_mut().take(last as usize + 1).skip(function.line as usize)
                {
                    *score *= 1.2;
                }
            }
            if let Some(score) = scores.get_mut(*line as usize) {
                *score = (*score * 1.5).max(0.4);
            }
        }
    }
}

/// Code that runs at import is reached by no test: a definition's head is as suspicious as half its
/// body, a module's or class's constants as a third of the code that names them, the rest a little.
fn spread(source: &Source, scores: &mut [f64]) {
    let parsed = &source.parsed;
    for function in parsed.functions() {
        let last = parsed.line_of(function.range.end.saturating_sub(1)) as usize;
        let body = parsed.line_of(function.body.start) as usize;
        let most = most(scores, body, last);
        raise(scores, function.line as usize..body, most * 0.5);
    }
    let before = scores.to_vec();
    let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
    for (at, word) in words::identifiers(source.bytes()) {
        let score = before.get(parsed.line_of(at) as usize).copied().unwrap_or(0.0);
        let known = by_name.entry(word).or_insert(0.0);
        *known = known.max(score);
    }
    for statement in parsed.statements().iter().filter(|statement| statement.function.is_none()) {
        if matches!(statement.kind, StatementKind::Definition | StatementKind::Docstring)
            || parsed.functions().iter().any(|f| overlaps(&f.range, &statement.range))
        {
            continue;
        }
        let text = parsed.text(&statement.range);
        let head = text.split(|byte| *byte == b'=').next().unwrap_or(text);
        let named = words::identifiers(head)
            .filter_map(|(_, word)| by_name.get(word).copied())
            .fold(0.0, f64::max);
        let first = parsed.line_of(statement.range.start) as usize;
        let last = parsed.line_of(statement.range.end.saturating_sub(1)) as usize;
        raise(scores, first..last + 1, named * 0.3);
    }
    let floor = most(scores, 0, scores.len().saturating_sub(1)) * 0.005;
    for score in scores.iter_mut() {
        *score = score.max(floor);
    }
}

fn raise(scores: &mut [f64], lines: std::ops::Range<usize>, least: f64) {
    for score in scores.iter_mut().take(lines.end).skip(lines.start) {
        *score = score.max(least);
    }
}

fn overlaps(a: &std::ops::Range<usize>, b: &std::ops::Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

fn most(scores: &[f64], first: usize, last: usize) -> f64 {
    let last = (last + 1).min(scores.len());
    scores[first.min(last)..last].iter().copied().fold(0.0, f64::max)
}
