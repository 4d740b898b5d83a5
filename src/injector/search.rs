//! The search: draw, run, combine, hide, until one bug stands.

use super::bench::{Bench, Plan};
use super::candidate::Candidate;
use super::code::Code;
use super::draft::{Draft, Used, draw, draw_file};
use super::hide::{Exposed, hide, hide_by_older, hides};
use super::history::{Drawn, Undoing, Within};
use super::inverse::{Noticed, combine};
use super::learned::{self, Choice, Fate, Tried};
use super::{Counts, Injected, NotInjected, Request, Strategy};
use crate::artifact::Artifact;
use crate::dice::Dice;
use crate::diff::Patch;
use crate::harness::Error;
use crate::policy::{self, Player};
use crate::tree::{Changes, RelPath};
use crate::verdict::{Outcome, TestId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A bug that breaks more than this share of its tests is dull, and taken only where there is no
/// other: as percent.
const DULL: usize = 80;
/// Dull bugs that are kept for that case.
const KEPT: usize = 3;
/// Drafts that come to nothing (no parse, known trees) in a row before the search gives up.
const IDLE: usize = 400;
/// How often every site may be drawn on again once all have been.
const PASSES: usize = 3;

pub(super) struct Search<'a> {
    bench: Bench<'a>,
    code: Code<'a>,
    strategy: Strategy,
    /// For the strategy `history`.
    undoing: Option<Undoing>,
    request: &'a Request,
    known: &'a dyn Fn(&str) -> bool,
    dice: Dice,
    used: Used,
    exhausted: BTreeSet<usize>,
    passes: usize,
    seen: BTreeSet<String>,
    /// Digests of the candidates that came to an end in `finish`.
    finished: BTreeSet<String>,
    pool: Vec<Pooled>,
    dull: Vec<Candidate>,
    counts: Counts,
    player: Option<Player<'a>>,
    /// What it drew.
    tried: Vec<Tried>,
}

/// A draft that tests notice.
struct Pooled {
    draft: Draft,
    failing: BTreeSet<TestId>,
}

/// The passing tests that fail under a bug, and the log of that run.
struct Failing {
    tests: BTreeSet<TestId>,
    log: Arc<[u8]>,
}

enum Reaction {
    Unnoticed,
    Broken,
    Noticed { failing: BTreeSet<TestId>, dull: bool },
}

impl<'a> Search<'a> {
    pub(super) fn new(
        (bench, code): (Bench<'a>, Code<'a>),
        strategy: Strategy,
        undoing: Option<Undoing>,
        request: &'a Request,
        known: &'a dyn Fn(&str) -> bool,
        player: Option<Player<'a>>,
    ) -> Self {
        Self {
            bench,
            code,
            strategy,
            undoing,
            request,
            known,
            dice: Dice::new(request.seed).fork("injector"),
            used: Used::default(),
            exhausted: BTreeSet::new(),
            passes: 1,
            seen: BTreeSet::new(),
            finished: BTreeSet::new(),
            pool: Vec::new(),
            dull: Vec::new(),
            counts: Counts::default(),
            player,
            tried: Vec::new(),
        }
    }

    pub(super) fn play(mut self) -> Result<Result<Injected, NotInjected>, Error> {
        let mut wanted = self.wanted_files();
        for ran in 0..self.request.candidates {
            if self.bench.harness().cancel().is_cancelled() {
                return Err(Error::Cancelled);
            }
            if ran * 2 >= self.request.candidates {
                wanted = self.least_files();
            }
            let Some(draft) = self.propose() else { break };
            if let Some(injected) = self.try_draft(draft, wanted)? {
                return Ok(Ok(injected));
            }
        }
        self.last_resort()
    }

    /// The number asked for, and one more in an eighth of all bugs: harder, but twice as dear.
    fn wanted_files(&mut self) -> usize {
        let least = self.least_files();
        let more = self.dice.below(8) == 0
            && self.request.target.is_none()
            && self.code.files().len() > least;
        least + usize::from(more)
    }

    fn least_files(&self) -> usize {
        self.request.changed_files.max(1)
    }

    /// The next draft that parses and leads to a tree not seen before.
    fn propose(&mut self) -> Option<Draft> {
        for _ in 0..IDLE {
            let drawn = match &mut self.undoing {
                Some(undoing) => undoing.draw(&mut self.dice, &mut self.code),
                None => self.draw(),
            };
            let draft = match drawn {
                Drawn::Draft(draft) => draft,
                Drawn::Nothing => continue,
                Drawn::End => return None,
            };
            self.counts.proposed += 1;
            if !self.parses(&draft) {
                self.counts.unparsable += 1;
                self.came_to([&draft], Fate::Nothing);
                continue;
            }
            let digest = Candidate::of([draft.clone()]).changes().digest();
            if !self.seen.insert(digest.clone())
                || (self.least_files() == 1 && (self.known)(&digest))
            {
                self.counts.duplicates += 1;
                continue;
            }
            return Some(draft);
        }
        None
    }

    /// A draft of a few sites.
    fn draw(&mut self) -> Drawn {
        let Some((file, by)) = self.draw_file() else {
            if self.passes == PASSES {
                return Drawn::End;
            }
            self.passes += 1;
            self.exhausted.clear();
            self.used = Used::default();
            return Drawn::Nothing;
        };
        let tests = self.code.files()[file].tests.clone();
        let opened = self.code.open(file);
        let drawn = match self.player {
            None => draw(&mut self.dice, self.strategy, opened, &tests, &mut self.used),
            Some(player) => {
                let place = (opened, tests.as_slice());
                let drawn =
                    learned::draw(&mut self.dice, self.strategy, place, &mut self.used, player);
                drawn.map(|(draft, mut tried)| {
                    tried.choices.extend(by.map(|drawn| (Choice::File, drawn)));
                    self.tried.push(tried);
                    Draft { drawn: Some(self.tried.len() - 1), ..draft }
                })
            }
        };
        if drawn.is_none() {
            self.exhausted.insert(file);
        }
        drawn.map_or(Drawn::Nothing, Drawn::Draft)
    }

    /// With what a policy drew, where one plays.
    fn draw_file(&mut self) -> Option<(usize, Option<policy::Drawn>)> {
        let files = self.code.files();
        match self.player {
            None => Some((draw_file(&mut self.dice, files, &self.exhausted)?, None)),
            Some(player) => {
                let drawn = learned::draw_file(&mut self.dice, files, &self.exhausted, player)?;
                Some((drawn.0, Some(drawn.1)))
            }
        }
    }

    /// Whether a draft has no more syntax errors than its file has.
    fn parses(&mut self, draft: &Draft) -> bool {
        let files = self.code.files();
        let Some(file) = files.iter().position(|file| file.path == draft.path) else {
            return false;
        };
        let opened = self.code.open(file);
        opened.language.syntax_errors(&draft.file.bytes) <= opened.parsed.syntax_errors()
    }

    fn try_draft(&mut self, draft: Draft, wanted: usize) -> Result<Option<Injected>, Error> {
        let reaction = self.react(&draft)?;
        if matches!(reaction, Reaction::Unnoticed | Reaction::Broken) {
            self.came_to([&draft], Fate::Nothing);
        }
        match reaction {
            Reaction::Unnoticed => self.counts.unnoticed += 1,
            Reaction::Broken => self.counts.broken += 1,
            Reaction::Noticed { dull: true, .. } => self.keep_dull(Candidate::of([draft])),
            Reaction::Noticed { failing, .. } => {
                self.pool.push(Pooled { draft, failing });
                if let Some(candidate) = self.combined(wanted) {
                    return self.finish(&candidate, false);
                }
            }
        }
        Ok(None)
    }

    /// What became of drafts that a policy drew.
    fn came_to<'d>(&mut self, drafts: impl IntoIterator<Item = &'d Draft>, fate: Fate) {
        for number in drafts.into_iter().filter_map(|draft| draft.drawn) {
            if let Some(tried) = self.tried.get_mut(number) {
                tried.fate = fate;
            }
        }
    }

    fn keep_dull(&mut self, candidate: Candidate) {
        if self.least_files() == 1 && self.dull.len() < KEPT {
            self.dull.push(candidate);
        }
    }

    /// What the tests that reach the draft's file say of it alone.
    fn react(&mut self, draft: &Draft) -> Result<Reaction, Error> {
        let candidate = Candidate::of([draft.clone()]);
        let plan = self.bench.planned(&candidate.tests());
        let failing = self.failing(&plan, &candidate.changes())?;
        Ok(match failing.map(|failing| failing.tests) {
            None => Reaction::Broken,
            Some(failing) if failing.is_empty() => Reaction::Unnoticed,
            Some(failing) => {
                Reaction::Noticed { dull: is_dull(failing.len(), plan.passing.len()), failing }
            }
        })
    }

    /// What the script says of base + `changes`; `None` where it gives no verdict or a passing test
    /// does not report.
    fn failing(&self, plan: &Plan, changes: &Changes) -> Result<Option<Failing>, Error> {
        let run = self.bench.run(changes, plan)?;
        let tests = run.verdicts.ok().and_then(|verdicts| plan.failing(&verdicts));
        Ok(tests.map(|tests| Failing { tests, log: run.log }))
    }

    /// Drafts of different files, the newest among them, each of which matters.
    fn combined(&mut self, wanted: usize) -> Option<Candidate> {
        let noticed: Vec<Noticed<'_>> = self
            .pool
            .iter()
            .map(|pooled| Noticed { path: &pooled.draft.path, failing: &pooled.failing })
            .collect();
        let chosen = combine(&noticed, wanted)?;
        let failing: BTreeSet<&TestId> =
            chosen.iter().flat_map(|index| &self.pool[*index].failing).collect();
        if failing.len() < self.request.failing_tests {
            return None;
        }
        if chosen.len() > 1 {
            self.counts.proposed += 1;
        }
        Some(Candidate::of(chosen.into_iter().map(|index| self.pool[index].draft.clone())))
    }

    /// Proves a candidate with the artifact's own script, and hides it.
    fn finish(&mut self, candidate: &Candidate, dull: bool) -> Result<Option<Injected>, Error> {
        let changes = candidate.changes();
        let tree_digest = changes.digest();
        if !self.finished.insert(tree_digest.clone()) && !dull {
            return Ok(None);
        }
        if (self.known)(&tree_digest) {
            self.counts.duplicates += 1;
            return Ok(None);
        }
        let Some(plan) = self.bench.proved(&candidate.tests())? else {
            self.counts.broken += 1;
            return Ok(None);
        };
        self.bench.prepare(&changes, &plan)?;
        let Some(Failing { tests: failing, log }) = self.failing(&plan, &changes)? else {
            self.counts.broken += 1;
            return Ok(None);
        };
        if failing.len() < self.request.failing_tests.max(1) {
            self.counts.unnoticed += 1;
            return Ok(None);
        }
        if !dull && is_dull(failing.len(), plan.passing.len()) {
            self.keep_dull(candidate.clone());
            return Ok(None);
        }
        self.bench.repeat(&changes, &plan)?;
        if !self.every_file_is_needed(&plan, &changes, &failing)? {
            self.counts.unneeded += 1;
            self.came_to(candidate.drafts(), Fate::Nothing);
            return Ok(None);
        }
        let bug = Exposed { changes: &changes, failing: &failing, log: &log };
        let Some(weakened) = self.weakened(candidate, &plan, &bug)? else {
            self.counts.unhidden += 1;
            self.came_to(candidate.drafts(), Fate::Nothing);
            return Ok(None);
        };
        self.came_to(candidate.drafts(), Fate::Bug);
        let base = self.bench.harness().base();
        Ok(Some(Injected {
            artifact: Artifact {
                bug_inject: Patch::between(base, &changes).to_bytes(),
                test_weaken: Patch::between(base, &weakened).to_bytes(),
                test_script: plan.script.clone(),
                test_parser: self.bench.parser().to_vec(),
                test_files: plan.test_files.clone(),
            },
            strategy: self.strategy,
            tree_digest,
            summary: candidate.summary(self.strategy),
            counts: self.counts.clone(),
            tried: std::mem::take(&mut self.tried),
            origin: self.undoing.as_ref().and_then(|undoing| {
                undoing.origin(candidate, base, &|path| self.code.is_test(path))
            }),
        }))
    }

    /// The tests as they were before the commits that the bug undoes, where that hides it; else the failing
    /// ones alone as they were, with what takes the least away from those that this does not heal.
    fn weakened(
        &self,
        candidate: &Candidate,
        plan: &Plan,
        bug: &Exposed<'_>,
    ) -> Result<Option<Changes>, Error> {
        let (tree, languages) = (self.bench.harness().base(), self.code.languages());
        let Some(undoing) = &self.undoing else {
            return hide(&self.bench, languages, plan, bug, &Changes::new());
        };
        let older = |within: Within<'_>| {
            undoing.older_tests(candidate, tree, &plan.test_files, languages, within)
        };
        let whole = older(&|_, _| true);
        if let Some(whole) = &whole
            && hides(&self.bench, plan, bug, whole)?
        {
            return Ok(Some(whole.clone()));
        }
        if whole.is_some()
            && let Some(hidden) = hide_by_older(&self.bench, languages, plan, bug, &older)?
        {
            return Ok(Some(hidden));
        }
        hide(&self.bench, languages, plan, bug, &Changes::new())
    }

    /// Inverse mutation (paper, check 7), for bugs of several files: of a single file it is the
    /// original that is left.
    fn every_file_is_needed(
        &self,
        plan: &Plan,
        changes: &Changes,
        failing: &BTreeSet<TestId>,
    ) -> Result<bool, Error> {
        let paths: Vec<&RelPath> = changes.paths().collect();
        for path in paths.iter().filter(|_| paths.len() > 1) {
            let mut restored = changes.clone();
            restored.restore(path);
            let run = self.bench.run_some(&restored, plan, failing)?;
            let Ok(verdicts) = run.verdicts else { return Ok(false) };
            if !failing.iter().any(|id| verdicts.of(id) == Outcome::Passed) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Fewer files than were hoped for, then dull bugs, then none.
    fn last_resort(mut self) -> Result<Result<Injected, NotInjected>, Error> {
        let least = self.least_files();
        let pool = std::mem::take(&mut self.pool);
        for pooled in pool {
            self.pool.push(pooled);
            if let Some(candidate) = self.combined(least)
                && let Some(injected) = self.finish(&candidate, false)?
            {
                return Ok(Ok(injected));
            }
        }
        for candidate in std::mem::take(&mut self.dull) {
            if let Some(injected) = self.finish(&candidate, true)? {
                return Ok(Ok(injected));
            }
        }
        let reason = match (&self.undoing, self.counts.proposed) {
            (Some(_), 0) => self.nothing_to_undo(),
            _ => reason(&self.counts),
        };
        Ok(Err(NotInjected { reason, counts: self.counts, tried: self.tried }))
    }
}

impl Search<'_> {
    fn nothing_to_undo(&self) -> String {
        let place = self.code.symbol().map(|symbol| format!(" in `{symbol}`")).unwrap_or_default();
        format!(
            "nothing that commits changed{place} can be undone on today's code; use another strategy or \
             another target"
        )
    }
}

fn is_dull(failing: usize, of: usize) -> bool {
    failing * 100 > of * DULL
}

fn reason(counts: &Counts) -> String {
    format!(
        "no bug came of {} candidates: {} did not parse, {} were known already, {} no test noticed, \
         {} kept the suite from running, {} did without a changed file, {} could not be hidden; \
         try another seed, another strategy or more candidates",
        counts.proposed,
        counts.unparsable,
        counts.duplicates,
        counts.unnoticed,
        counts.broken,
        counts.unneeded,
        counts.unhidden
    )
}
