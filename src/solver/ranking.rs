//! All proposals of a task, and the order in which one attempt tries them.

use super::evidence::Evidence;
use super::features::{Choices, SHARPNESS};
use super::proposal::{Proposal, Template};
use super::search::Space;
use super::source::Source;
use super::templates::{self, Clues, Thresholds};
use crate::dice::Dice;
use crate::policy::{self, Drawn, Player, Role};
use crate::text::{Edit, apply_edits};
use crate::tree::{Changes, File, RelPath, Tree};
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// So many statements, of all files, are looked at by the cheap templates.
const CHEAP: usize = 250;
/// And so many by those that make many proposals.
const DEAR: usize = 50;

/// The proposals for the suspicious files of one task. Shared by all its attempts.
pub(crate) struct Proposals {
    pub(super) sources: Vec<Source>,
    executable: Vec<bool>,
    pub(super) evidence: Evidence,
    pub(super) clues: Clues,
    /// With the number of the source.
    pub(super) made: Vec<(usize, Proposal)>,
}

impl Proposals {
    pub(crate) fn new(
        tree: &dyn Tree,
        sources: Vec<Source>,
        evidence: Evidence,
        failing: &BTreeSet<TestId>,
        clues: Clues,
    ) -> Self {
        let suspicion = evidence.suspicion(failing, &sources);
        let mut of_statements: Vec<f64> = Vec::new();
        for source in &sources {
            for statement in source.parsed.statements() {
                let line = source.parsed.line_of(statement.range.start);
                of_statements.push(suspicion.of(&source.path, &(line..=line)));
            }
        }
        of_statements.sort_by(|a, b| b.total_cmp(a));
        let thresholds = Thresholds {
            cheap: least_of(&of_statements, CHEAP),
            dear: least_of(&of_statements, DEAR),
        };
        let mut proposals = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let made = templates::propose(source, &suspicion, thresholds, &clues);
            proposals.extend(made.into_iter().map(|proposal| (number, proposal)));
        }
        let executable = sources
            .iter()
            .map(|source| tree.read(&source.path).is_some_and(|file| file.executable))
            .collect();
        Self { sources, executable, evidence, clues, made: proposals }
    }

    pub(crate) fn len(&self) -> usize {
        self.made.len()
    }

    /// The proposals put together; `None` where they do not fit together or do not parse.
    pub(super) fn candidate(&self, proposals: &[usize]) -> Option<Changes> {
        let mut edits: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
        for number in proposals {
            let (file, proposal) = &self.made[*number];
            edits.entry(*file).or_default().extend(proposal.edits.iter().cloned());
        }
        let mut changes = Changes::new();
        for (file, edits) in edits {
            let source = &self.sources[file];
            let new = apply_edits(source.bytes(), &edits).ok()?;
            if new == source.bytes()
                || source.language.syntax_errors(&new) > source.parsed.syntax_errors()
            {
                return None;
            }
            let executable = self.executable[file];
            changes.write(source.path.clone(), File { bytes: new.into(), executable });
        }
        Some(changes)
    }
}

/// The suspicion from which on about `count` statements are. Equally suspicious ones are taken
/// together, unless that more than doubles the count.
fn least_of(descending: &[f64], count: usize) -> f64 {
    let Some(least) = descending.get(count.min(descending.len().saturating_sub(1))) else {
        return f64::MAX;
    };
    let taken = descending.partition_point(|suspicion| suspicion >= least);
    let above = descending.partition_point(|suspicion| suspicion > least);
    let least = if taken > 2 * count && above > 0 { descending[above - 1] } else { *least };
    least.max(f64::MIN_POSITIVE)
}

/// How one attempt sees the proposals: every attempt believes a little differently.
#[derive(Clone, Debug)]
pub(crate) struct Taste {
    /// How far the order is left to chance: 0 not at all, 1 samples by score.
    temperature: f64,
    /// How much localisation counts: suspicion is raised to it.
    sharpness: f64,
    emphasis: BTreeMap<Template, f64>,
    /// Seed of the noise.
    noise: u64,
}

impl Taste {
    /// Attempt 0 takes the plain order.
    pub(crate) fn of(seed: u64, attempt: usize) -> Self {
        let mut dice = Dice::new(seed).fork(&format!("attempt {attempt}"));
        let noise = dice.roll();
        if attempt == 0 {
            let emphasis = BTreeMap::new();
            return Self { temperature: 0.0, sharpness: SHARPNESS, emphasis, noise };
        }
        let mut choose = dice.fork("taste");
        let temperature = 0.15 + 0.3 * choose.unit();
        let sharpness = 1.0 + 2.5 * choose.unit();
        let emphasis = Template::ALL
            .into_iter()
            // Within a factor of about one and a half either way.
            .map(|template| (template, (0.9 * (choose.unit() - 0.5)).exp()))
            .collect();
        Self { temperature, sharpness, emphasis, noise }
    }

    fn score(&self, number: usize, proposal: &Proposal, suspicion: f64) -> f64 {
        let shares: f64 = proposal
            .shares
            .iter()
            .map(|(template, share)| share * self.emphasis.get(template).copied().unwrap_or(1.0))
            .sum();
        let score = self.sharpness * suspicion.ln() + shares.ln();
        if self.temperature == 0.0 {
            return score;
        }
        // Gumbel noise on the logarithm: taking the largest samples in proportion to the score.
        let step = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let unit = Dice::new(self.noise ^ step).unit();
        score - self.temperature * (-unit.max(f64::MIN_POSITIVE).ln()).max(f64::MIN_POSITIVE).ln()
    }
}

/// One attempt's view.
pub(crate) struct Ranked<'a> {
    pub(crate) proposals: &'a Proposals,
    pub(crate) taste: Taste,
}

impl Space for Ranked<'_> {
    type Candidate = Changes;

    fn ranked(&self, accepted: &[usize], open: &BTreeSet<TestId>) -> Vec<usize> {
        let all = self.proposals;
        let suspicion = all.evidence.suspicion(open, &all.sources);
        let mut scored: Vec<(f64, usize)> = Vec::new();
        for (number, (file, proposal)) in all.made.iter().enumerate() {
            let suspected = suspicion.of(&all.sources[*file].path, &proposal.lines);
            if suspected > 0.0 && !accepted.contains(&number) {
                scored.push((self.taste.score(number, proposal, suspected), number));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().map(|(_, number)| number).collect()
    }

    fn candidate(&self, proposals: &[usize]) -> Option<Changes> {
        self.proposals.candidate(proposals)
    }

    fn digest(&self, candidate: &Changes) -> String {
        candidate.digest()
    }
}

/// Of each choice so many proposals, the first in the fixed order, are options of a policy: a large
/// repository has tens of thousands, and what lies further back is not reached by any budget.
pub(crate) const OPTIONS: usize = 4000;

/// One attempt's view by a policy.
pub(crate) struct Learned<'a> {
    pub(crate) proposals: &'a Proposals,
    /// What is chosen from on the task itself: the same in every attempt.
    pub(crate) first: &'a Choices,
    pub(crate) player: Player<'a>,
    pub(crate) seed: u64,
    pub(crate) attempt: usize,
}

impl Learned<'_> {
    fn temperature(&self) -> f64 {
        self.player.sampling.temperature(Role::Solver, self.attempt)
    }

    /// Options in the order in which they were drawn.
    fn order(&self, accepted: &[usize], logits: &[f64]) -> Vec<usize> {
        // Each state of the search is a choice of its own.
        let label = format!("policy {} {accepted:?}", self.attempt);
        let mut dice = Dice::new(self.seed).fork(&label);
        policy::draw(logits, self.temperature(), logits.len(), &mut dice)
    }

    fn by(&self, accepted: &[usize], choices: &Choices) -> Vec<usize> {
        let logits = self.player.weights.logits(Role::Solver, &choices.options);
        let drawn = self.order(accepted, &logits);
        let drawn = drawn.into_iter().map(|option| choices.proposals[option]);
        drawn.chain(choices.rest.iter().copied()).collect()
    }

    /// What was drawn on the task itself up to the last one that was run: `tried`.
    pub(crate) fn drawn(&self, tried: &[usize]) -> Option<Drawn> {
        let Choices { options, proposals, .. } = self.first;
        let logits = self.player.weights.logits(Role::Solver, options);
        let mut taken = self.order(&[], &logits);
        let tried: BTreeSet<usize> = tried.iter().copied().collect();
        let last = taken.iter().rposition(|option| tried.contains(&proposals[*option]));
        taken.truncate(last.map_or(0, |last| last + 1));
        Drawn::of(Arc::clone(options), &logits, taken, self.temperature()).ok()
    }
}

impl Space for Learned<'_> {
    type Candidate = Changes;

    fn ranked(&self, accepted: &[usize], open: &BTreeSet<TestId>) -> Vec<usize> {
        if accepted.is_empty() {
            return self.by(accepted, self.first);
        }
        let choices = self.proposals.choices(accepted, open, self.player.past, OPTIONS);
        self.by(accepted, &choices)
    }

    fn candidate(&self, proposals: &[usize]) -> Option<Changes> {
        self.proposals.candidate(proposals)
    }

    fn digest(&self, candidate: &Changes) -> String {
        candidate.digest()
    }
}

/// The files that evidence speaks of.
pub(crate) fn files(evidence: &Evidence) -> BTreeSet<RelPath> {
    evidence.units.iter().map(|(path, _)| path.clone()).collect()
}
