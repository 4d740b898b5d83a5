//! A task's proposals as options of the policy: what each changes, and what the failing tests say of the place.

use super::evidence::Suspicion;
use super::proposal::{Proposal, Template};
use super::ranking::Proposals;
use super::source::Source;
use crate::policy::{Names, Options, OptionsBuilder, Past, Role, Scene, Scope, Weights};
use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Localisation and template, as the fixed order weighs them.
pub const SUSPICION: &str = "suspicion.ln";
pub const SHARE: &str = "share.ln";
/// What suspicion counts in the plain order: its logarithm times this.
pub(super) const SHARPNESS: f64 = 2.0;

/// Lines so near to one that the log names are near it.
const NEAR: u32 = 4;

/// The weights whose greedy order is the fixed one, to the last bit: what training starts from.
#[must_use]
pub fn start_weights() -> Weights {
    let mut weights = Weights::new();
    weights.set(Scope::Own(Role::Solver), SUSPICION, SHARPNESS);
    weights.set(Scope::Own(Role::Solver), SHARE, 1.0);
    weights
}

/// What may be tried next.
pub(crate) struct Choices {
    pub(crate) options: Arc<Options>,
    /// Of each option: the number of the proposal.
    pub(crate) proposals: Vec<usize>,
    /// Proposals that are no options, since too many lie before them in the fixed order, which is theirs.
    pub(crate) rest: Vec<usize>,
}

impl Proposals {
    /// The proposals that are suspected while `open` tests fail and that are not accepted yet, in their order:
    /// `most` of them.
    pub(crate) fn choices(
        &self,
        accepted: &[usize],
        open: &BTreeSet<TestId>,
        past: &Past,
        most: usize,
    ) -> Choices {
        let suspicion = self.evidence.suspicion(open, &self.sources);
        let (numbers, rest) = self.foremost(&suspicion, accepted, most);
        let reach = self.evidence.reach(open, &self.sources);
        let views: Vec<View<'_>> =
            self.sources.iter().map(|source| View::of(source, &suspicion)).collect();
        let ranks = ranks(&views);
        let most = views.iter().map(View::most).fold(0.0, f64::max);
        let mut out = OptionsBuilder::new();
        for number in &numbers {
            let (file, proposal) = &self.made[*number];
            let view = &views[*file];
            let suspected = suspicion.of(&view.source.path, &proposal.lines);
            out.option();
            let kind = proposal.main().map_or("none", Template::name);
            // These first: a sum of the fixed order's terms has to be made in its order.
            out.feature(&[SUSPICION], suspected.ln());
            out.feature(&[SHARE], proposal.shares.iter().map(|(_, share)| share).sum::<f64>().ln());
            let names = view.scene.describe(kind, &proposal.edits, &mut out);
            past.describe(Role::Solver, kind, &mut out);
            if proposal.shares.len() > 1 {
                out.flag(&["several_templates"]);
            }
            let at = Place { view, proposal, kind };
            at.suspicion(suspected, most, &ranks, *file, &mut out);
            at.tests(&reach, &mut out);
            at.log(self, &mut out);
            at.words(self, &names, &mut out);
        }
        Choices { options: Arc::new(out.finish()), proposals: numbers, rest }
    }

    /// The first `most` of the fixed order by their numbers, and the others in that order.
    fn foremost(
        &self,
        suspicion: &Suspicion,
        accepted: &[usize],
        most: usize,
    ) -> (Vec<usize>, Vec<usize>) {
        let mut scored: Vec<(f64, usize)> = Vec::new();
        for (number, (file, proposal)) in self.made.iter().enumerate() {
            let suspected = suspicion.of(&self.sources[*file].path, &proposal.lines);
            if suspected > 0.0 && !accepted.contains(&number) {
                scored.push((score(proposal, suspected), number));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut numbers: Vec<usize> = scored.into_iter().map(|(_, number)| number).collect();
        let rest = numbers.split_off(most.min(numbers.len()));
        numbers.sort_unstable();
        (numbers, rest)
    }
}

/// What the fixed order goes by.
fn score(proposal: &Proposal, suspected: f64) -> f64 {
    let shares: f64 = proposal.shares.iter().map(|(_, share)| share).sum();
    SHARPNESS * suspected.ln() + shares.ln()
}

/// One file with what is asked of it for each of its proposals.
struct View<'a> {
    source: &'a Source,
    scene: Scene<'a>,
    /// Of each function: its largest suspicion.
    functions: Vec<f64>,
    /// The largest of the file.
    most: f64,
}

impl<'a> View<'a> {
    fn of(source: &'a Source, suspicion: &Suspicion) -> Self {
        let parsed = &source.parsed;
        let functions = parsed.functions().iter().map(|function| {
            let last = parsed.line_of(function.range.end.saturating_sub(1));
            suspicion.of(&source.path, &(function.line..=last))
        });
        let functions = functions.collect();
        let last = parsed.line_of(source.bytes().len());
        let most = suspicion.of(&source.path, &(0..=last));
        Self { source, scene: Scene::new(parsed), functions, most }
    }

    fn most(&self) -> f64 {
        self.most
    }

    fn function(&self, proposal: &Proposal) -> Option<usize> {
        self.source.parsed.function_at(proposal.edits.first()?.range.start)
    }
}

/// Functions of all files by their largest suspicion, the most suspicious one 0; equals share a rank.
fn ranks(views: &[View<'_>]) -> BTreeMap<(usize, usize), usize> {
    let mut all: Vec<((usize, usize), f64)> = Vec::new();
    for (file, view) in views.iter().enumerate() {
        all.extend(view.functions.iter().enumerate().map(|(at, most)| ((file, at), *most)));
    }
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut ranks = BTreeMap::new();
    let (mut rank, mut before) = (0, f64::INFINITY);
    for (place, (function, most)) in all.into_iter().enumerate() {
        if most < before {
            (rank, before) = (place, most);
        }
        ranks.insert(function, rank);
    }
    ranks
}

/// One proposal where it stands.
struct Place<'a, 'b> {
    view: &'a View<'b>,
    proposal: &'a Proposal,
    kind: &'static str,
}

impl Place<'_, '_> {
    fn suspicion(
        &self,
        suspected: f64,
        most: f64,
        ranks: &BTreeMap<(usize, usize), usize>,
        file: usize,
        out: &mut OptionsBuilder,
    ) {
        out.flag(&["suspicion=", tenth(suspected)]);
        out.flag(&["suspicion.of_most=", tenth(suspected / most)]);
        if suspected >= most - 1e-9 {
            out.flag(&["most_suspicious"]);
            out.flag(&["kind*most_suspicious=", self.kind]);
        } else {
            out.flag(&["not_most_suspicious"]);
        }
        let Some(function) = self.view.function(self.proposal) else { return };
        let of_function = self.view.functions[function];
        out.flag(&["function.suspicion=", tenth(of_function)]);
        out.flag(&["suspicion.of_function=", tenth(suspected / of_function)]);
        let rank = match ranks.get(&(file, function)).copied().unwrap_or(usize::MAX) {
            0 => "first",
            1 => "second",
            2..4 => "third",
            4..8 => "fifth",
            8..16 => "ninth",
            _ => "later",
        };
        out.flag(&["function.rank=", rank]);
    }

    /// Which tests reach its lines.
    fn tests(&self, reach: &BTreeMap<RelPath, Vec<(f64, f64)>>, out: &mut OptionsBuilder) {
        let Some(lines) = reach.get(&self.view.source.path) else { return };
        let (start, end) = (*self.proposal.lines.start(), *self.proposal.lines.end());
        let own = (start..=end).filter_map(|line| lines.get(line as usize));
        let (failing, passing) = own
            .fold((0.0_f64, 0.0_f64), |most, shares| (most.0.max(shares.0), most.1.max(shares.1)));
        let share = |share: f64| match share {
            share if share <= 0.0 => "none",
            share if share < 0.1 => "few",
            share if share < 0.5 => "some",
            share if share < 1.0 - 1e-9 => "most",
            _ => "all",
        };
        let (failing, passing) = (share(failing), share(passing));
        out.flag(&["failing=", failing]);
        out.flag(&["passing=", passing]);
        out.flag(&["failing*passing=", failing, "*", passing]);
    }

    /// Where the log stands to it, and what was raised.
    fn log(&self, all: &Proposals, out: &mut OptionsBuilder) {
        let hints = &all.evidence.hints;
        let path = &self.view.source.path;
        let (start, end) = (*self.proposal.lines.start(), *self.proposal.lines.end());
        let named = |from: u32, to: u32| {
            hints.range((path.clone(), from)..=(path.clone(), to)).next().is_some()
        };
        let parsed = &self.view.source.parsed;
        let in_function = || {
            let function = &parsed.functions()[self.view.function(self.proposal)?];
            let last = parsed.line_of(function.range.end.saturating_sub(1));
            named(function.line, last).then_some("function")
        };
        let log = if hints.is_empty() {
            "silent"
        } else if named(start, end) {
            "line"
        } else if named(start.saturating_sub(NEAR), end.saturating_add(NEAR)) {
            "near"
        } else if let Some(function) = in_function() {
            function
        } else if named(0, u32::MAX) {
            "file"
        } else {
            "elsewhere"
        };
        out.flag(&["log=", log]);
        if log == "line" {
            out.flag(&["kind*log=", self.kind]);
        }
        for raised in all.clues.raised.iter().take(3) {
            out.flag(&["kind*raised=", self.kind, "*", raised]);
            out.flag(&["log*raised=", log, "*", raised]);
        }
    }

    /// What it has in common with the text of the failing tests.
    fn words(&self, all: &Proposals, names: &Names, out: &mut OptionsBuilder) {
        let in_tests = |name: &String| all.clues.words.contains(name);
        if names.added.iter().any(in_tests) {
            out.flag(&["adds_name_of_tests"]);
        } else if !names.added.is_empty() {
            out.flag(&["adds_name_not_of_tests"]);
        }
        if names.removed.iter().any(in_tests) {
            out.flag(&["removes_name_of_tests"]);
        }
        if names.added.iter().any(|name| all.clues.missing.contains(name)) {
            out.flag(&["adds_missing_name"]);
        }
        let is_literal = |replacement: &[u8]| {
            let text = std::str::from_utf8(replacement).unwrap_or("").trim();
            all.clues.literals.contains(text)
        };
        if self.proposal.edits.iter().any(|edit| is_literal(&edit.replacement)) {
            out.flag(&["adds_literal_of_tests"]);
        }
        let function = self.view.function(self.proposal);
        let name = function.map(|at| &self.view.source.parsed.functions()[at].name);
        if name.is_some_and(in_tests) {
            out.flag(&["function_in_tests"]);
        }
    }
}

/// Ten equal steps from 0 to 1; what lies above is the last.
fn tenth(share: f64) -> &'static str {
    const STEPS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let above = (1..10_u32).filter(|step| share * 10.0 >= f64::from(*step) - 1e-9);
    STEPS[above.count()]
}
