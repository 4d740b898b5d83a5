//! One proposed repair: its edits, the lines it doubts, and which templates propose it.

use crate::text::Edit;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A kind of repair, in the order in which `QuixBugs` fixes were found by enumeration: cheap changes
/// of one token first, then donors from the same file, synthesised statements last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Template {
    Operator,
    Negation,
    Swap,
    Constant,
    Name,
    Attribute,
    PlusMinusOne,
    Shrink,
    Delete,
    Donor,
    Condition,
    Wrap,
    Grow,
    Argument,
    Sibling,
    Insert,
    Return,
    Guard,
    Import,
}

impl Template {
    pub(crate) const ALL: [Self; 19] = [
        Self::Operator,
        Self::Negation,
        Self::Swap,
        Self::Constant,
        Self::Name,
        Self::Attribute,
        Self::PlusMinusOne,
        Self::Shrink,
        Self::Delete,
        Self::Donor,
        Self::Condition,
        Self::Wrap,
        Self::Grow,
        Self::Argument,
        Self::Sibling,
        Self::Insert,
        Self::Return,
        Self::Guard,
        Self::Import,
    ];

    /// A stable name: it is part of every policy's file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Negation => "negation",
            Self::Swap => "swap",
            Self::Constant => "constant",
            Self::Name => "name",
            Self::Attribute => "attribute",
            Self::PlusMinusOne => "plus_minus_one",
            Self::Shrink => "shrink",
            Self::Delete => "delete",
            Self::Donor => "donor",
            Self::Condition => "condition",
            Self::Wrap => "wrap",
            Self::Grow => "grow",
            Self::Argument => "argument",
            Self::Sibling => "sibling",
            Self::Insert => "insert",
            Self::Return => "return",
            Self::Guard => "guard",
            Self::Import => "import",
        }
    }

    /// How likely this template holds the repair of a site that it fits, before anything else is
    /// known. All alternatives at the site share it.
    pub(crate) fn prior(self) -> f64 {
        match self {
            Self::Operator => 1.0,
            Self::Negation => 0.8,
            Self::Swap | Self::Sibling | Self::Import => 0.5,
            Self::Constant | Self::Argument => 0.6,
            Self::Name | Self::Insert | Self::Return => 0.4,
            Self::Attribute | Self::Shrink | Self::Condition | Self::Guard => 0.3,
            Self::PlusMinusOne | Self::Delete | Self::Donor => 0.25,
            Self::Wrap | Self::Grow => 0.12,
        }
    }
}

/// A proposed repair of one file.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    /// Sorted, not overlapping, as small as they can be.
    pub(crate) edits: Vec<Edit>,
    /// The lines (from 1) of the code that it holds for wrong.
    pub(crate) lines: RangeInclusive<u32>,
    /// Every template that proposes it, with its share of the chance that its site is the fault.
    pub(crate) shares: Vec<(Template, f64)>,
}

impl Proposal {
    /// The template with the largest share; the first of equals.
    pub(crate) fn main(&self) -> Option<Template> {
        let mut main: Option<(Template, f64)> = None;
        for (template, share) in &self.shares {
            if main.is_none_or(|(_, most)| *share > most) {
                main = Some((*template, *share));
            }
        }
        main.map(|(template, _)| template)
    }
}

/// Collects the proposals for one file; equal ones are one, with their shares added.
pub(crate) struct Collector<'a> {
    source: &'a [u8],
    index: BTreeMap<Vec<(usize, usize, Vec<u8>)>, usize>,
    proposals: Vec<Proposal>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(source: &'a [u8]) -> Self {
        Self { source, index: BTreeMap::new(), proposals: Vec::new() }
    }

    /// Adds the alternatives of one site: edits and closeness. The closeness is relative: the
    /// template's prior, times how well the site fits it, is shared out among the `keep` closest
    /// alternatives.
    pub(crate) fn site(
        &mut self,
        (template, fit): (Template, f64),
        lines: &RangeInclusive<u32>,
        keep: usize,
        mut alternatives: Vec<(Vec<Edit>, f64)>,
    ) {
        alternatives.retain(|(_, closeness)| *closeness > 0.0);
        alternatives.sort_by(|a, b| b.1.total_cmp(&a.1));
        alternatives.truncate(keep);
        let total: f64 = alternatives.iter().map(|(_, closeness)| closeness).sum();
        for (edits, closeness) in alternatives {
            self.add(template, lines, edits, template.prior() * fit * closeness / total);
        }
    }

    fn add(
        &mut self,
        template: Template,
        lines: &RangeInclusive<u32>,
        edits: Vec<Edit>,
        share: f64,
    ) {
        let mut edits: Vec<Edit> =
            edits.into_iter().filter_map(|edit| smallest(self.source, edit)).collect();
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        if edits.is_empty() {
            return;
        }
        let key = edits
            .iter()
            .map(|edit| (edit.range.start, edit.range.end, edit.replacement.clone()))
            .collect();
        let at = *self.index.entry(key).or_insert(self.proposals.len());
        if at == self.proposals.len() {
            self.proposals.push(Proposal {
                edits,
                lines: lines.clone(),
                shares: vec![(template, share)],
            });
            return;
        }
        let shares = &mut self.proposals[at].shares;
        match shares.iter_mut().find(|(known, _)| *known == template) {
            Some((_, known)) => *known += share,
            None => shares.push((template, share)),
        }
    }

    pub(crate) fn finish(self) -> Vec<Proposal> {
        self.proposals
    }
}

/// The edit without the bytes that it keeps at its ends; `None` where it changes nothing.
fn smallest(source: &[u8], edit: Edit) -> Option<Edit> {
    let Edit { mut range, replacement } = edit;
    let old = source.get(range.clone())?;
    if old == replacement {
        return None;
    }
    let front = old.iter().zip(&replacement).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(replacement.len()) - front;
    let back = old
        .iter()
        .rev()
        .zip(replacement.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    range.start += front;
    range.end -= back;
    let replacement = replacement[front..replacement.len() - back].to_vec();
    Some(Edit { range, replacement })
}
