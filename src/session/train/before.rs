//! Bugs that are there already, attempted to learn from, as many at once as there are cores.

use super::bugs::Place;
use super::rollouts::{attempted, tells};
use super::steps::{Gathered, Learner, short};
use crate::policy::Player;
use crate::session::{Error, Job};
use crate::solver::{self, Attempt, Prepared, Remembered};
use crate::trainer::Trainer as _;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A bug of before whose turn it is: the number of its place, and its id.
pub(super) struct Wanted {
    pub(super) at: usize,
    pub(super) id: String,
}

struct Played<'a> {
    bug: Prepared<'a>,
    /// None where it cannot be attempted.
    attempts: Vec<Attempt>,
    /// How its candidates were answered.
    answered: Remembered,
}

impl Learner<'_> {
    /// Has bugs attempted that are kept, as many at once as there are cores. What comes of them does not depend on
    /// that.
    pub(super) fn bugs_of_before(
        &self,
        number: u32,
        places: &mut [Place<'_>],
        wanted: Vec<Wanted>,
        player: Player<'_>,
        gathered: &mut Gathered,
        job: &Job,
    ) -> Result<(), Error> {
        let seed = self.seed.wrapping_add(u64::from(number));
        let outcomes = gathered.timed("again", |_| {
            let held: Vec<_> =
                wanted.iter().map(|one| Mutex::new(places[one.at].take(&one.id))).collect();
            let cores = self.session.config().cores.max(1);
            let threads = cores.min(wanted.len());
            let request = solver::Request {
                parallel: (cores / threads.max(1)).max(1),
                ..self.attempts(seed)
            };
            let (places, next) = (&*places, AtomicUsize::new(0));
            let done = Mutex::new(BTreeMap::new());
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        loop {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            let Some(one) = wanted.get(at) else { break };
                            let place = &places[one.at];
                            let held = lock(&held[at]).take();
                            let bug = held.map_or_else(|| place.survey(&one.id, seed), Ok);
                            let player = Player { past: &place.past, ..player };
                            let outcome = bug.and_then(|bug| play(bug, &request, player, job));
                            lock(&done).insert(at, outcome);
                        }
                    });
                }
            });
            done.into_inner().unwrap_or_else(PoisonError::into_inner)
        });
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        for (one, outcome) in wanted.into_iter().zip(outcomes.into_values()) {
            let Played { bug, attempts, answered } = outcome?;
            let (place, id) = (&mut places[one.at], one.id);
            if let Some(reason) = bug.refusal() {
                job.step(&format!("the bug {} cannot be attempted: {reason}", short(&id)));
            }
            let (options, cut) = bug.options();
            place.put_back(&id, bug);
            let group = attempted(&id, &attempts, self.request.runs, self.trainer.version());
            place.turns.told(&id, tells(&group));
            if attempts.is_empty() {
                continue;
            }
            gathered.again += 1;
            gathered.options += options;
            gathered.options_cut += cut;
            gathered.candidates += answered;
            gathered.groups.push(group);
            if place.records() {
                let opened = place.opened;
                gathered.timed("keep", |_| {
                    let artifact = opened.record.artifact(&id)?;
                    opened.record.keep_attempts(&opened.harness, &artifact, &attempts, None)
                })?;
            }
        }
        Ok(())
    }
}

fn play<'a>(
    bug: Prepared<'a>,
    request: &solver::Request,
    player: Player<'_>,
    job: &Job,
) -> Result<Played<'a>, Error> {
    let before = bug.remembered();
    let attempts = match bug.refusal() {
        Some(_) => Vec::new(),
        None => bug.attempts(request, Some(player)).map_err(|error| job.failed(error))?,
    };
    // It may be long until it is attempted again.
    bug.leave();
    let answered = bug.remembered() - before;
    Ok(Played { bug, attempts, answered })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
