//! The rounds of a run: played one after another, each kept whole before it is told.

use super::by_model::lessons;
use super::inject::injection;
use super::open::Opened;
use super::play::scheme;
use super::played::{Cast, Detail, Origin, PlayedRound, row, shown};
use super::policy::Policy;
use super::roles::name_of;
use super::runs::Hold;
use super::warnings::{differs, warnings};
use super::{CsvLog, Error, Event, Job, PlayRequest, Session, past, record};
use crate::agent::{self, Account, Bounds, Seat, Spent, Stage, Who};
use crate::artifact::Artifact;
use crate::dice::Dice;
use crate::episode::{self, Begun, Players, Progress, Round, Rules};
use crate::injector::{self, Counts, Injected, Target};
use crate::policy::{Player, Sampling};
use crate::solver;
use crate::store;
use crate::wrong_book::{self, Choice};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

/// Rounds to be played: ask for one after another.
pub struct Game<'a> {
    session: &'a Session,
    opened: Opened,
    request: PlayRequest,
    target: Option<Target>,
    hold: Hold,
    /// Shared by all sessions with models.
    bounds: Arc<Bounds>,
    /// What the embedded players go by.
    policy: Option<Policy>,
    /// The run's bugs so far, those of a process before this one included.
    kept: Vec<store::Kept>,
    /// So many of them are in the CSV file, if there is one.
    logged: usize,
}

/// What a worker does: a bug from its beginning, or one that is there already.
enum Task {
    Whole(usize),
    Rest(Box<Item>),
}

/// A bug that is ready to be proved and attempted, and where it came from.
struct Item {
    begun: Begun,
    rules: Rules,
    origin: Origin,
    /// Entries of the wrong-book that are used up with it.
    fed: Vec<String>,
}

impl<'a> Game<'a> {
    pub(super) fn new(
        session: &'a Session,
        (opened, request, target): (Opened, PlayRequest, Option<Target>),
        (hold, kept): (Hold, Vec<store::Kept>),
        (bounds, policy): (Arc<Bounds>, Option<Policy>),
    ) -> Self {
        Self { session, opened, request, target, hold, bounds, policy, kept, logged: 0 }
    }
}

impl Game<'_> {
    /// The first round's seed.
    pub fn seed(&self) -> u64 {
        self.hold.run.seed
    }

    /// What a person should know of how the run came about: that it goes on, for one.
    pub fn note(&self) -> Option<&str> {
        self.hold.note.as_deref()
    }

    /// Whether a bug of the run, those of a process before this one included, was valid.
    pub fn any_valid(&self) -> bool {
        self.kept.iter().any(|kept| Detail::of(&kept.round).valid)
    }

    /// Plays the next round; `None` when none is left to begin.
    pub fn round(&mut self, job: &Job) -> Result<Option<Vec<PlayedRound>>, Error> {
        if self.hold.is_over() {
            return Ok(None);
        }
        let number = self.hold.run.next as usize;
        job.tell(Event::Round { number, of: self.hold.run.planned.map(|of| of as usize) });
        let roles = &self.request.roles;
        let before = self.hold.run.next.saturating_sub(1);
        if roles.any() && roles.swapped(before) != roles.swapped(before + 1) {
            let (injector, solver) = roles.of(before + 1);
            let (injector, solver) = (name_of(injector), name_of(solver));
            job.step(&format!("the roles change places: {injector} injects, {solver} solves"));
        }
        if let Some(policy) = &mut self.policy {
            // As every process finds it that goes on with the run.
            policy.past = past::of(&self.opened.record.store)?;
        }
        let finished = self.played(job).inspect_err(|error| self.pause(error))?;
        self.keep(finished).map(Some)
    }

    /// The run waits until a person says that it may go on.
    fn pause(&self, error: &Error) {
        if let Error::NeedsPerson(reason) = error
            && let Err(error) = self.opened.record.store.set_waits(&self.hold.run.id, Some(reason))
        {
            tracing::warn!("that the run waits for a person is not kept: {error}");
        }
    }

    /// What models have taken so far, a role and phase each.
    pub fn spent(&self) -> BTreeMap<Account, Spent> {
        self.bounds.meter.accounts()
    }

    /// Writes the lines that a CSV file lacks of this run.
    pub fn log(&mut self, csv: &CsvLog) -> Result<(), Error> {
        csv.sync(&self.kept[self.logged..])?;
        self.logged = self.kept.len();
        Ok(())
    }

    /// Says that everything was played, kept and told: the same command then begins another run.
    pub fn finish(self) -> Result<(), Error> {
        self.hold.finish(&self.opened.record)
    }

    /// The embedded injector's bugs are made one after another, so that each knows those before it; checks and
    /// attempts, and all that models do, run beside each other. Neither depends on how many do so at once.
    fn played(&self, job: &Job) -> Result<Vec<(Item, Round)>, Error> {
        let roles = &self.request.roles;
        let cores = self.session.config().cores;
        // Who waits for a model needs no core.
        let workers = if roles.any() { roles.concurrency.max(cores) } else { cores };
        let workers = self.request.batch.min(workers);
        let by_model = roles.of(self.hold.run.next).0.is_some();
        let (give, take) = mpsc::channel::<(usize, Task)>();
        let take = Mutex::new(take);
        let done = Mutex::new(BTreeMap::new());
        let failed = AtomicBool::new(false);
        let work = || {
            loop {
                let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok((at, task)) = next else { break };
                if failed.load(Ordering::Relaxed) {
                    continue;
                }
                let item = match task {
                    Task::Whole(at) => self.begin(at, &BTreeSet::new(), job),
                    Task::Rest(item) => Ok(*item),
                };
                let finished = item.and_then(|item| {
                    let round = self.finished(&item, job)?;
                    Ok((item, round))
                });
                failed.fetch_or(finished.is_err(), Ordering::Relaxed);
                done.lock().unwrap_or_else(PoisonError::into_inner).insert(at, finished);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work);
            }
            // Dropped at the end, which lets the workers go.
            let give = give;
            let mut trees = BTreeSet::new();
            for at in 0..self.request.batch {
                if failed.load(Ordering::Relaxed) {
                    break;
                }
                let task = if by_model {
                    Task::Whole(at)
                } else {
                    let item = self.begin(at, &trees, job).inspect_err(|_| {
                        failed.store(true, Ordering::Relaxed);
                    })?;
                    trees.insert(item.begun.tree_digest().to_owned());
                    Task::Rest(Box::new(item))
                };
                let gone = || Error::harness(anyhow::anyhow!("the workers of a round are gone"));
                give.send((at, task)).map_err(|_| gone())?;
            }
            Ok::<(), Error>(())
        })?;
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    /// The first half of one bug of the round. `trees`: those of the bugs before it.
    fn begin(&self, at: usize, trees: &BTreeSet<String>, job: &Job) -> Result<Item, Error> {
        let run = &self.hold.run;
        let before = u64::from(run.next.saturating_sub(1)).wrapping_mul(self.request.batch as u64);
        let seed = run.seed.wrapping_add(before).wrapping_add(at as u64);
        let minima = self.request.minima;
        let (strategy, lessons) = lessons(&self.opened, self.request.strategy)?;
        let history = self.opened.history(
            strategy,
            seed,
            self.target.as_ref(),
            self.policy.is_some(),
            job,
        )?;
        let rules = Rules {
            injector: injection(strategy, seed, self.target.clone(), minima, history),
            solver: self.attempts(seed),
            minima,
            scheme: scheme(&self.request),
        };
        let mut origin = Origin {
            run: run.id.clone(),
            step: run.next,
            item: u32::try_from(at).unwrap_or(u32::MAX),
            seed,
            parent: None,
            entry: None,
        };
        let known = |digest: &str| trees.contains(digest) || self.opened.record.known(digest);
        let mut fed = Vec::new();
        let every = self.request.second_order;
        if at == 0 && every > 0 && run.next.is_multiple_of(every) {
            let found = self.out_of_wrong_book(seed, &known, &mut origin, &mut fed)?;
            if let Some(begun) = found {
                return Ok(Item { begun, rules, origin, fed });
            }
        }
        let Opened { harness, languages, .. } = &self.opened;
        let tell = |progress: Progress| job.tell(progress);
        let (injector, _) = self.seats();
        let who = who(&origin);
        let injector = injector.as_ref().map(|seat| injector::ByModel {
            stage: self.stage(),
            seat,
            who: &who,
            style: self.request.roles.style,
            tells: self.request.roles.tells,
            lessons: &lessons,
        });
        let players = Players { injector, policy: self.player(), ..Players::default() };
        let begun = episode::begin(harness, languages, (&rules, &players), &known, &tell)
            .map_err(|error| job.stopped(error))?;
        Ok(Item { begun, rules, origin, fed })
    }

    /// How the round's attempts are made.
    fn attempts(&self, seed: u64) -> solver::Request {
        let PlayRequest { attempts, runs, roles, .. } = &self.request;
        let embedded = self.session.solver(*attempts, *runs, seed);
        match roles.of(self.hold.run.next).1 {
            Some(_) => solver::Request { parallel: roles.concurrency, ..embedded },
            None => embedded,
        }
    }

    /// Who plays the round.
    fn cast(&self) -> Cast {
        let roles = &self.request.roles;
        let (injector, solver) = roles.of(self.hold.run.next);
        Cast {
            injector: name_of(injector),
            solver: name_of(solver),
            swapped: roles.swapped(self.hold.run.next),
        }
    }

    fn seats(&self) -> (Option<Seat>, Option<Seat>) {
        self.request.roles.seats(self.hold.run.next, &self.bounds)
    }

    fn player(&self) -> Option<Player<'_>> {
        self.policy.as_ref().map(|policy| policy.player(Sampling::FirstGreedy))
    }

    fn stage(&self) -> Stage<'_> {
        Stage { harness: &self.opened.harness, workspace: &self.opened.workspace }
    }

    /// A bug from the wrong-book, if it has one to be played. Entries that turn out to make no bug of
    /// their own are used up.
    fn out_of_wrong_book(
        &self,
        seed: u64,
        known: &dyn Fn(&str) -> bool,
        origin: &mut Origin,
        fed: &mut Vec<String>,
    ) -> Result<Option<Begun>, Error> {
        let Opened { harness, record, .. } = &self.opened;
        let mut entries = record.wrong_book()?;
        let mut dice = Dice::new(seed).fork("wrong-book");
        loop {
            let (entry, second) = match wrong_book::choose(&entries, &harness.base().id, &mut dice)
            {
                None => return Ok(None),
                Some(Choice::SecondOrder(entry)) => (entry.clone(), true),
                Some(Choice::Again(entry)) => (entry.clone(), false),
            };
            let bug = record.bug_of(&entry)?;
            origin.entry = Some(entry.id.clone());
            let short = entry.artifact.get(..12).unwrap_or_default();
            let injected = |artifact, tree_digest, summary| Injected {
                artifact,
                strategy: bug.strategy,
                tree_digest,
                summary,
                counts: Counts::default(),
                origin: None,
                tried: Vec::new(),
            };
            if !second {
                origin.parent = bug.parent;
                let summary = format!("the bug {short} again: {}", entry.reason);
                let again = injected(bug.artifact, bug.tree_digest, summary);
                return Ok(Some(Begun::again(again, entry.bug_order)));
            }
            fed.push(entry.id.clone());
            match wrong_book::second_order(harness, &bug.artifact, &entry.patch, known) {
                Ok(wrong_book::SecondOrder { artifact, tree_digest }) => {
                    origin.parent = Some(entry.artifact.clone());
                    let summary =
                        format!("a failed repair of {short} on top of it: {}", entry.reason);
                    let second = injected(artifact, tree_digest, summary);
                    return Ok(Some(Begun::second_order(second, bug.lists)));
                }
                Err(unfit) => {
                    tracing::info!("the failed repair {} makes no bug: {unfit}", entry.id);
                    origin.entry = None;
                    entries.retain(|other| other.id != entry.id);
                }
            }
        }
    }

    /// The second half.
    fn finished(&self, item: &Item, job: &Job) -> Result<Round, Error> {
        let Opened { harness, languages, .. } = &self.opened;
        let tell = |progress: Progress| job.tell(progress);
        let (_, solver) = self.seats();
        let who = who(&item.origin);
        let solver = solver.as_ref().map(|seat| solver::ByModel {
            stage: self.stage(),
            seat,
            who: &who,
            hidden: self.request.roles.hidden,
        });
        let players = Players { solver, policy: self.player(), ..Players::default() };
        let rules = (&item.rules, &players);
        episode::finish(harness, languages, rules, item.begun.clone(), &tell)
            .map_err(|error| job.stopped(error))
    }

    /// Writes the whole round down at once, then tells it: what is shown has been kept.
    fn keep(&mut self, finished: Vec<(Item, Round)>) -> Result<Vec<PlayedRound>, Error> {
        let ready = finished
            .iter()
            .map(|(item, round)| self.prepare(item, round))
            .collect::<Result<Vec<_>, Error>>()?;
        let cast = self.cast();
        let next = self.hold.run.next.saturating_add(1);
        let played: Vec<_> = ready.iter().map(Ready::played).collect();
        let record = &self.opened.record;
        let kept = record
            .store
            .commit_round(Some((&self.hold.run.id, next)), &played)
            .map_err(Error::harness)?;
        self.hold.run.next = next;
        let before = record.counts()?.valid;
        // Not sooner: bugs of one round are judged the same way, however many workers there are.
        if ready.iter().any(|ready| ready.difference.is_some()) {
            self.opened.harness.stop_fast_ways();
        }
        let mut told = Vec::new();
        for (((item, round), ready), kept) in finished.into_iter().zip(ready).zip(kept) {
            let mut bug = shown(round, item.origin, &kept, cast.clone());
            let differs = ready.difference.map(|difference| differs(&difference, before));
            bug.best_solve_rate = crate::reward::best_solve_rate(self.request.attempts).ok();
            bug.folder = ready.folder.map(|folder| folder.display().to_string());
            self.kept.push(kept);
            bug.warnings = differs.into_iter().chain(warnings(&self.kept)).collect();
            told.push(bug);
        }
        Ok(told)
    }

    /// Writes the artifact's folder, and makes the rows for the store.
    fn prepare(&self, item: &Item, round: &Round) -> Result<Ready, Error> {
        let Opened { harness, record, .. } = &self.opened;
        let (mut folder, mut artifact) = (None, None);
        if let (Some(made), Some(report)) = (&round.artifact, &round.report) {
            let origin = record::Origin {
                strategy: round.strategy,
                seed: item.origin.seed,
                base: &harness.base().id,
                tree_digest: &round.tree_digest,
                report,
                parent: item.origin.parent.as_deref(),
            };
            let (dir, row) = record.prepare(made, &origin)?;
            (folder, artifact) = (Some(dir), Some(row));
        }
        let group = match &round.artifact {
            Some(made) if !round.attempts.is_empty() => {
                Some(record::group(harness, made, round.bug_order, &round.attempts)?)
            }
            _ => None,
        };
        let id = round.artifact.as_ref().map(Artifact::id);
        let difference = round
            .report
            .as_ref()
            .and_then(|report| record::difference(harness, id.as_deref()?, report));
        let row = row(round, id, &item.origin, &self.cast())?;
        let (fed, kinds) = (item.fed.clone(), past::of_injector(&round.tried));
        Ok(Ready { folder, artifact, group, row, fed, difference, kinds })
    }
}

/// Whose sessions those of a bug are.
fn who(origin: &Origin) -> Who {
    Who {
        run: origin.run.clone(),
        step: origin.step,
        item: origin.item,
        role: agent::Role::Injector,
        phase: "",
        attempt: 0,
        artifact: None,
        now: record::now(),
    }
}

/// The rows of one bug.
struct Ready {
    folder: Option<PathBuf>,
    artifact: Option<store::Artifact>,
    group: Option<store::Group>,
    row: store::Round,
    fed: Vec<String>,
    difference: Option<store::Difference>,
    kinds: Vec<store::KindCount>,
}

impl Ready {
    fn played(&self) -> store::Played<'_> {
        store::Played {
            round: &self.row,
            artifact: self.artifact.as_ref(),
            group: self.group.as_ref(),
            fed: &self.fed,
            difference: self.difference.as_ref(),
            kinds: &self.kinds,
        }
    }
}
