//! What tests reach, guessed from names: the functions that a test names, those that they name, and
//! so on. For where coverage cannot be measured.

use super::evidence::{Evidence, Spectrum};
use super::source::Source;
use super::words;
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};

/// Calls are followed so deep.
const DEPTH: usize = 5;
/// How much less sure each further call is.
const DECAY: f64 = 0.7;
/// At most so many passing tests are looked at.
const SAMPLE: usize = 400;

/// Names that code is called by without being written: left what a caller writes, right the
/// functions that may run.
const HIDDEN: &[(&str, &[&str])] = &[
    ("parse", &["from_str"]),
    ("to_string", &["fmt", "__str__", "toString"]),
    ("format", &["fmt", "__format__", "__str__"]),
    ("assert_eq", &["eq", "fmt", "__eq__"]),
    ("assert_ne", &["eq"]),
    ("assertEqual", &["__eq__", "__repr__"]),
    ("into", &["from"]),
    ("try_into", &["try_from"]),
    ("collect", &["from_iter", "next"]),
    ("iter", &["__iter__", "next"]),
    ("len", &["__len__"]),
    ("str", &["__str__"]),
    ("repr", &["__repr__"]),
    ("list", &["__iter__"]),
    ("sorted", &["__lt__"]),
    ("sort", &["cmp", "partial_cmp"]),
    ("cmp", &["partial_cmp", "cmp"]),
    ("hash", &["__hash__"]),
    ("next", &["__next__"]),
    ("default", &["default"]),
];

struct Graph<'a> {
    /// Sources that may be repaired, then files of tests.
    files: Vec<&'a Source>,
    eligible: usize,
    /// Functions: file and number in it.
    nodes: Vec<(usize, usize)>,
    by_name: BTreeMap<&'a str, Vec<usize>>,
    edges: Vec<Vec<(usize, f64)>>,
}

/// Evidence from names. `outcomes`: every test of the run, and whether it failed.
pub(super) fn guessed(
    sources: &[Source],
    tests: &[Source],
    outcomes: &BTreeMap<TestId, bool>,
) -> Evidence {
    let graph = Graph::new(sources, tests);
    let mut evidence = Evidence::default();
    let mut units = BTreeMap::new();
    for (node, (file, function)) in graph.nodes.iter().enumerate() {
        if *file >= graph.eligible {
            continue;
        }
        let source = graph.files[*file];
        let function = &source.parsed.functions()[*function];
        let last = source.parsed.line_of(function.range.end.saturating_sub(1));
        units.insert(node, evidence.units.len());
        evidence.units.push((source.path.clone(), function.line..=last));
    }
    let passing = outcomes.values().filter(|failed| !**failed).count();
    let step = passing.div_ceil(SAMPLE).max(1);
    let mut seen_passing = 0;
    for (test, failed) in outcomes {
        if !failed {
            seen_passing += 1;
            if seen_passing % step != 0 {
                continue;
            }
        }
        let Some(root) = graph.test(test) else { continue };
        let reached = graph.reached(root);
        let hits = reached
            .into_iter()
            .filter_map(|(node, weight)| Some((*units.get(&node)?, weight)))
            .collect();
        let spectrum = Spectrum { test: test.clone(), hits };
        if *failed { evidence.failing.push(spectrum) } else { evidence.passing.push(spectrum) }
    }
    evidence
}

impl<'a> Graph<'a> {
    fn new(sources: &'a [Source], tests: &'a [Source]) -> Self {
        let files: Vec<&Source> = sources.iter().chain(tests).collect();
        let mut nodes = Vec::new();
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            for (function, found) in file.parsed.functions().iter().enumerate() {
                by_name.entry(&found.name).or_default().push(nodes.len());
                nodes.push((number, function));
            }
        }
        let mut graph = Self { files, eligible: sources.len(), nodes, by_name, edges: Vec::new() };
        graph.edges = (0..graph.nodes.len()).map(|node| graph.named_in(node)).collect();
        graph
    }

    /// The functions whose names stand in a function's text, and how surely they are meant.
    fn named_in(&self, node: usize) -> Vec<(usize, f64)> {
        let (file, function) = self.nodes[node];
        let source = self.files[file];
        let text = source.parsed.text(&source.parsed.functions()[function].range);
        let words: BTreeSet<&str> = words::identifiers(text).map(|(_, word)| word).collect();
        let mut edges: BTreeMap<usize, f64> = BTreeMap::new();
        let mut meet = |name: &str, sure: f64| {
            let Some(targets) = self.by_name.get(name) else { return };
            let scoped = |target: usize| {
                let (file, function) = self.nodes[target];
                let qualified = &self.files[file].parsed.functions()[function].qualified;
                let scope = qualified.len().saturating_sub(name.len());
                words::identifiers(&qualified.as_bytes()[..scope]).any(|(_, w)| words.contains(w))
            };
            let chosen: Vec<(usize, f64)> = targets
                .iter()
                .map(|target| (*target, if scoped(*target) { 3.0 } else { 1.0 }))
                .collect();
            let total: f64 = chosen.iter().map(|(_, weight)| weight).sum();
            for (target, weight) in chosen {
                // One of three homonyms is likelier reached than its plain share says.
                let share = sure * (weight / total).sqrt();
                let known = edges.entry(target).or_insert(0.0);
                *known = known.max(share);
            }
        };
        for word in &words {
            meet(word, 1.0);
            for (_, hidden) in HIDDEN.iter().filter(|(written, _)| written == word) {
                for name in *hidden {
                    meet(name, 0.6);
                }
            }
        }
        edges.remove(&node);
        edges.into_iter().collect()
    }

    /// The function of a test id: its name is the id's last part, and as much of the rest as
    /// possible agrees.
    fn test(&self, id: &str) -> Option<usize> {
        let plain = id.split('[').next().unwrap_or(id);
        let words: BTreeSet<&str> = words::identifiers(plain.as_bytes()).map(|(_, w)| w).collect();
        let name = words::identifiers(plain.as_bytes()).last()?.1;
        let agreeing = |node: &usize| {
            let (file, function) = self.nodes[*node];
            let source = self.files[file];
            let qualified = source.parsed.functions()[function].qualified.as_bytes();
            let path = source.path.as_str();
            let shared = words::identifiers(qualified)
                .chain(words::identifiers(path.as_bytes()))
                .filter(|(_, word)| words.contains(word))
                .count();
            (usize::from(id.starts_with(path)), usize::from(file >= self.eligible), shared)
        };
        self.by_name.get(name)?.iter().copied().max_by_key(agreeing)
    }

    fn reached(&self, root: usize) -> BTreeMap<usize, f64> {
        let mut best: BTreeMap<usize, f64> = BTreeMap::new();
        let mut front = BTreeMap::from([(root, 1.0)]);
        for _ in 0..DEPTH {
            let mut next: BTreeMap<usize, f64> = BTreeMap::new();
            for (node, weight) in front {
                // Helpers of the tests cost nothing: only code under test is deep.
                let decay = if self.nodes[node].0 < self.eligible { DECAY } else { 1.0 };
                for (target, sure) in &self.edges[node] {
                    let weight = weight * decay * sure;
                    if weight > 0.02 && best.get(target).is_none_or(|known| weight > *known) {
                        best.insert(*target, weight);
                        next.insert(*target, weight);
                    }
                }
            }
            front = next;
        }
        best
    }
}
