//! Which bug is practised on.

use super::begin::bug_of;
use super::proof::Kept;
use super::round::{bug_rating, player_rating, rating};
use super::{PERSON, PracticeStartRequest};
use crate::consistency::Minima;
use crate::dice::Dice;
use crate::injector::Strategy;
use crate::practice::{Candidate, Why, clues, next};
use crate::session::record::{Record, now};
use crate::session::{
    ArtifactRef, Error, InjectRequest, Job, Repository, Roles, START, Session, wrong_book,
};
use crate::store::{self, PracticeState, StoredGame};
use crate::workspace::Base;
use std::collections::BTreeSet;

/// Bugs that are made until one is valid.
const TRIES: u64 = 3;
/// Kept bugs that are looked at.
const KEPT: u32 = 200;

#[derive(Clone, Debug)]
pub enum PracticePick {
    /// One that is made for the occasion.
    New {
        strategy: Strategy,
        /// `FILE` or `FILE:SYMBOL`.
        target: Option<String>,
        /// The configuration's where `None`.
        seed: Option<u64>,
    },
    Artifact(ArtifactRef),
    /// Of the wrong-book's entry with this id, or the beginning of it; `None`: of the unsolved entry with
    /// the most failures.
    WrongBook(Option<String>),
    /// Of a family that was missed and is due; else the one nearest to the person's rating that was never
    /// practised on; else a new one.
    Next,
}

/// A bug, and why it is this one.
pub(super) struct Picked {
    pub(super) artifact: ArtifactRef,
    pub(super) why: String,
}

impl Session {
    pub(super) fn pick(&self, request: &PracticeStartRequest, job: &Job) -> Result<Picked, Error> {
        let repository = &request.repository;
        match &request.pick {
            PracticePick::New { strategy, target, seed } => {
                self.new_bug(repository, *strategy, target.as_deref(), *seed, job)
            }
            PracticePick::Artifact(reference) => {
                Ok(Picked { artifact: reference.clone(), why: "it was asked for".to_owned() })
            }
            PracticePick::WrongBook(entry) => self.failed_bug(repository, entry.as_deref()),
            PracticePick::Next => self.next_bug(repository, job),
        }
    }

    fn new_bug(
        &self,
        repository: &Repository,
        strategy: Strategy,
        target: Option<&str>,
        seed: Option<u64>,
        job: &Job,
    ) -> Result<Picked, Error> {
        let first = seed.unwrap_or(self.config().seed);
        let mut last = String::new();
        for number in 0..TRIES {
            let mut dice = Dice::new(first).fork("practice");
            let seed = if number == 0 { first } else { (0..number).fold(0, |_, _| dice.roll()) };
            let request = InjectRequest {
                repository: repository.clone(),
                strategy,
                target: target.map(str::to_owned),
                seed: Some(seed),
                policy: Some(START.to_owned()),
                out: None,
                minima: Minima::default(),
                roles: Roles::default(),
            };
            let made = self.inject(&request, &job.discreet())?;
            match made.artifact {
                Some(id) if made.valid => {
                    let artifact = ArtifactRef::Id(id);
                    return Ok(Picked { artifact, why: format!("it is new (seed {seed})") });
                }
                // Another seed would find nothing either.
                None if strategy != Strategy::Mixed => {
                    last = made.summary;
                    break;
                }
                None => last = made.summary,
                Some(_) => "a check failed".clone_into(&mut last),
            }
        }
        Err(Error::usage(format!("no bug came out: {last}; give another target, strategy or seed")))
    }

    fn failed_bug(&self, repository: &Repository, id: Option<&str>) -> Result<Picked, Error> {
        let entries = Record::open(&self.workspace(repository)?)?.wrong_book()?;
        let entry = if let Some(id) = id {
            wrong_book::named(entries, id)?
        } else {
            let mut unsolved = entries.into_iter().filter(|entry| !entry.solved);
            unsolved.next().ok_or_else(|| {
                Error::usage("the wrong-book has no unsolved entry; practise on a new bug")
            })?
        };
        let why = format!("the wrong-book has {} failures at it", entry.fail_count);
        Ok(Picked { artifact: ArtifactRef::Id(entry.artifact), why })
    }

    fn next_bug(&self, repository: &Repository, job: &Job) -> Result<Picked, Error> {
        let workspace = self.workspace(repository)?;
        let record = Record::open(&workspace)?;
        let base = workspace.freeze(self.sandbox()?.owner()).map_err(|error| job.failed(error))?;
        let (me, now) = (rating(&player_rating(&record, PERSON)?), now());
        let cards = record.store.cards().map_err(Error::harness)?;
        let due: Vec<String> =
            cards.into_iter().filter(|card| card.due <= now).map(|card| card.family).collect();
        let kept = record.store.valid_artifacts(&base.id, KEPT).map_err(Error::harness)?;
        let games = record.store.games().map_err(Error::harness)?;
        let mine: Vec<StoredGame> =
            games.into_iter().filter(|game| game.player == PERSON).collect();
        let fresh = self.never_practised(&record, &base, &kept, &mine)?;
        if let Some((found, why)) = next(&fresh, &due, me) {
            let why = match why {
                Why::Due(family) => format!("its family {family} was missed before and is due"),
                Why::Near => {
                    format!("its rating ({}) is the nearest to yours ({me})", found.rating)
                }
            };
            return Ok(Picked { artifact: ArtifactRef::Id(found.id.clone()), why });
        }
        let here = |game: &&StoredGame| kept.iter().any(|row| row.id == game.artifact);
        let lost: Vec<&StoredGame> = mine.iter().filter(|game| !game.solved).filter(here).collect();
        if let Some((game, family)) = missed(&lost, &due) {
            let why = format!("its family {family} is due, and you gave this bug up before");
            return Ok(Picked { artifact: ArtifactRef::Id(game.artifact.clone()), why });
        }
        self.new_bug(repository, Strategy::Mixed, None, None, job)
    }

    /// The kept bugs that the person has neither played nor begun.
    fn never_practised(
        &self,
        record: &Record,
        base: &Base,
        kept: &[store::Artifact],
        mine: &[StoredGame],
    ) -> Result<Vec<Candidate>, Error> {
        let rounds = record.store.practices().map_err(Error::harness)?;
        let open = rounds.iter().filter(|round| round.state == PracticeState::Open);
        let known: BTreeSet<&str> = mine
            .iter()
            .map(|game| game.artifact.as_str())
            .chain(open.map(|round| round.artifact.as_str()))
            .collect();
        let languages = self.languages()?;
        let mut fresh = Vec::new();
        for row in kept.iter().filter(|row| !known.contains(row.id.as_str())) {
            let Ok(artifact) = record.artifact(&row.id) else { continue };
            let report = serde_json::from_str::<Kept>(&row.report).unwrap_or_default();
            let failing = report.fail_to_pass.len();
            let bug = bug_rating(record, &row.id, &row.bug_inject, failing)?;
            let clues = clues(base, &bug_of(base, &artifact), &languages, &row.strategy);
            let (id, families) = (row.id.clone(), clues.families());
            fresh.push(Candidate { id, rating: rating(&bug), families });
        }
        Ok(fresh)
    }
}

/// The first lost game at a bug of the family that is due longest.
fn missed<'g>(lost: &[&'g StoredGame], due: &'g [String]) -> Option<(&'g StoredGame, &'g str)> {
    due.iter().find_map(|family| {
        let of_it = lost.iter().find(|game| {
            let families: Vec<String> = serde_json::from_str(&game.families).unwrap_or_default();
            families.contains(family)
        });
        of_it.map(|game| (*game, family.as_str()))
    })
}
