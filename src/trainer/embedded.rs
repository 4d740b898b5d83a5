//! The embedded policy behind the seam.

use super::adam::{Adam, Moments};
use super::average::Average;
use super::loss::{Loss, k1, k2};
use super::tally::Tally;
use super::{Datum, Logs, Order, Sampled, Stepped, Trainer};
use crate::dice::Dice;
use crate::policy::{self, Checkpoint, Draws, Misdrawn, Options, Role, Weights};
use std::collections::BTreeMap;

/// Kept facts of this module's own; what the caller notes has [`NOTE`] before it.
const UPDATES: &str = "updates";
const STEPS: &str = "steps";
const DECAY: &str = "average.decay";
const SEEN: &str = "average.weight";
const NOTE: &str = "note ";

/// What a policy begins as.
#[derive(Clone, Debug, Default)]
pub struct Base {
    pub weights: Weights,
    pub average: Average,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    pub(super) weights: Weights,
    /// Those of the beginning, which a divergence is measured from.
    start: Weights,
    average: Average,
    moments: Moments,
    pub(super) updates: u64,
    pub(super) gathered: Option<Weights>,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("rollout {datum} of the batch: {source}")]
    Misdrawn { datum: usize, source: Misdrawn },
    #[error(
        "rollout {datum} of the batch has {taken} choices and {found} {what}: there must be one for each"
    )]
    Lengths { datum: usize, taken: usize, found: usize, what: &'static str },
    #[error(
        "rollout {datum} of the batch has {what} that are no finite numbers: it cannot be learned from"
    )]
    NotFinite { datum: usize, what: &'static str },
    #[error(
        "rollout {datum} of the batch was made at temperature {temperature}: only what was sampled at a \
         temperature above 0 can be learned from"
    )]
    Temperature { datum: usize, temperature: f64 },
    #[error(transparent)]
    Checkpoint(#[from] policy::Refusal),
}

impl Embedded {
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// What is played with: the mean of the last steps; before the first one the weights themselves.
    pub fn averaged(&self) -> &Weights {
        self.average.weights().unwrap_or(&self.weights)
    }

    /// The policy alone, as a file that players read.
    pub fn policy(&self, notes: &BTreeMap<String, String>) -> Checkpoint {
        let tables = [(policy::WEIGHTS.to_owned(), self.averaged().clone())].into();
        let mut facts = noted(notes);
        facts.insert(UPDATES.to_owned(), self.updates.to_string());
        Checkpoint { tables, facts }
    }

    fn seen<'a>(&self, datum: &Datum<'a, Options>) -> Seen<'a> {
        Seen {
            role: datum.role,
            input: datum.input,
            live: self.weights.logits(datum.role, datum.input),
            start: self.start.logits(datum.role, datum.input),
            gradient: vec![0.0; datum.input.len()],
        }
    }
}

/// One input as one role sees it: rollouts of a group share it, so that it is scored once for all of them.
struct Seen<'a> {
    role: Role,
    input: &'a Options,
    live: Vec<f64>,
    start: Vec<f64>,
    /// By logits, summed over its rollouts.
    gradient: Vec<f64>,
}

impl Seen<'_> {
    fn is_of(&self, datum: &Datum<'_, Options>) -> bool {
        self.role == datum.role && std::ptr::eq(self.input, datum.input)
    }

    /// What the loss of one rollout is; its gradient is added.
    fn pass(
        &mut self,
        number: usize,
        datum: &Datum<'_, Options>,
        loss: &Loss,
    ) -> Result<Tally, Refusal> {
        sound(number, datum)?;
        let misdrawn = |source| Refusal::Misdrawn { datum: number, source };
        let logits = cooled(&self.live, datum.temperature);
        let draws = Draws::new(&logits, datum.taken).map_err(misdrawn)?;
        let start_logits = cooled(&self.start, datum.temperature);
        let start = Draws::new(&start_logits, datum.taken).map_err(misdrawn)?.log_probabilities();
        let entropies = draws.entropies();
        let mut tally = Tally::default();
        let mut by_log = Vec::with_capacity(datum.taken.len());
        for (at, log) in draws.log_probabilities().into_iter().enumerate() {
            let (sampled, old) = (datum.sampled[at], datum.old.map(|old| old[at]));
            let rated = loss.surrogate.rate(log, old, sampled, datum.advantages[at]);
            let whole = rated.loss + loss.kl * k2(log, start[at]) - loss.entropy * entropies[at];
            tally.note(
                &rated,
                (sampled, old.unwrap_or(log)),
                (log, start[at]),
                loss.surrogate.truncate,
            );
            tally.loss += datum.factor * whole;
            tally.entropy += entropies[at];
            by_log.push(datum.factor * (rated.slope + loss.kl * k1(log, start[at])));
        }
        let by_entropy = vec![-datum.factor * loss.entropy; by_log.len()];
        let gradient = draws.gradient(&by_log, &by_entropy);
        for (sum, slope) in self.gradient.iter_mut().zip(gradient) {
            *sum += slope / datum.temperature;
        }
        Ok(tally)
    }
}

impl Trainer for Embedded {
    type Base = Base;
    type Input = Options;
    type Error = Refusal;

    fn create(base: Base) -> Result<Self, Refusal> {
        Ok(Self {
            start: base.weights.clone(),
            weights: base.weights,
            average: base.average,
            moments: Moments::default(),
            updates: 0,
            gathered: None,
        })
    }

    fn version(&self) -> u64 {
        self.updates
    }

    fn sample(&self, order: &Order<'_, Options>, dice: &mut Dice) -> Result<Vec<Sampled>, Refusal> {
        let logits = self.weights.logits(order.role, order.input);
        let heat = if order.temperature > 0.0 { order.temperature } else { 1.0 };
        let cooled = cooled(&logits, heat);
        let rollout = |_| {
            let taken = policy::draw(&logits, order.temperature, order.choices, dice);
            let draws = Draws::new(&cooled, &taken);
            let draws = draws.map_err(|source| Refusal::Misdrawn { datum: 0, source })?;
            let logs = draws.log_probabilities();
            Ok(Sampled { taken, logs, version: self.updates })
        };
        (0..order.rollouts).map(rollout).collect()
    }

    fn forward(&self, data: &[Datum<'_, Options>]) -> Result<Vec<Logs>, Refusal> {
        let mut all = Vec::with_capacity(data.len());
        let mut seen: Option<Seen<'_>> = None;
        for (number, datum) in data.iter().enumerate() {
            warm(number, datum)?;
            let seen = match &mut seen {
                Some(seen) if seen.is_of(datum) => seen,
                other => other.insert(self.seen(datum)),
            };
            let logs = |logits: &[f64]| -> Result<Vec<f64>, Refusal> {
                let logits = cooled(logits, datum.temperature);
                let draws = Draws::new(&logits, datum.taken);
                let draws = draws.map_err(|source| Refusal::Misdrawn { datum: number, source })?;
                Ok(draws.log_probabilities())
            };
            all.push(Logs { live: logs(&seen.live)?, start: logs(&seen.start)? });
        }
        Ok(all)
    }

    fn forward_backward(
        &mut self,
        data: &[Datum<'_, Options>],
        loss: &Loss,
    ) -> Result<BTreeMap<Role, Tally>, Refusal> {
        let mut tallies: BTreeMap<Role, Tally> = BTreeMap::new();
        let mut gradient = Weights::new();
        let mut last: Option<Seen<'_>> = None;
        for (number, datum) in data.iter().enumerate() {
            if !last.as_ref().is_some_and(|seen| seen.is_of(datum)) {
                let before = last.replace(self.seen(datum));
                if let Some(it) = before {
                    gradient.add_gradient(it.role, it.input, &it.gradient);
                }
            }
            let Some(seen) = &mut last else { continue };
            let tally = seen.pass(number, datum, loss)?;
            tallies.entry(datum.role).or_default().add(&tally);
        }
        if let Some(it) = last {
            gradient.add_gradient(it.role, it.input, &it.gradient);
        }
        if !data.is_empty() {
            self.gathered.get_or_insert_with(Weights::new).add_scaled(&gradient, 1.0);
        }
        Ok(tallies)
    }

    fn optim_step(&mut self, adam: &Adam) -> Result<Stepped, Refusal> {
        let Some(gradient) = self.gathered.take() else { return Ok(Stepped::NoGradient) };
        let norm = gradient.norm();
        if !norm.is_finite() {
            return Ok(Stepped::NotFinite);
        }
        adam.step(&mut self.weights, &mut self.moments, gradient);
        self.average.note(&self.weights);
        self.updates += 1;
        Ok(Stepped::Done { norm })
    }

    fn save(&self, notes: &BTreeMap<String, String>) -> Result<Vec<u8>, Refusal> {
        let mut facts = noted(notes);
        facts.insert(UPDATES.to_owned(), self.updates.to_string());
        facts.insert(STEPS.to_owned(), self.moments.steps.to_string());
        facts.insert(DECAY.to_owned(), format!("{:?}", self.average.decay));
        facts.insert(SEEN.to_owned(), format!("{:?}", self.average.weight));
        let tables = [
            (policy::WEIGHTS, &self.weights),
            ("start", &self.start),
            (policy::AVERAGE, &self.average.mean),
            ("first", &self.moments.first),
            ("second", &self.moments.second),
        ];
        let tables = tables.map(|(name, weights)| (name.to_owned(), weights.clone()));
        Ok(Checkpoint { tables: tables.into(), facts }.to_bytes())
    }

    fn load(&mut self, bytes: &[u8]) -> Result<BTreeMap<String, String>, Refusal> {
        let Checkpoint { mut tables, facts } = Checkpoint::parse(bytes)?;
        let mut table =
            |name: &'static str| tables.remove(name).ok_or(policy::Refusal::Missing(name));
        *self = Self {
            weights: table(policy::WEIGHTS)?,
            start: table("start")?,
            average: Average {
                decay: number(&facts, DECAY)?,
                mean: table(policy::AVERAGE)?,
                weight: number(&facts, SEEN)?,
            },
            moments: Moments {
                first: table("first")?,
                second: table("second")?,
                steps: number(&facts, STEPS)?,
            },
            updates: number(&facts, UPDATES)?,
            gathered: None,
        };
        let note =
            |(key, value): (String, String)| Some((key.strip_prefix(NOTE)?.to_owned(), value));
        Ok(facts.into_iter().filter_map(note).collect())
    }
}

fn noted(notes: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    notes.iter().map(|(key, value)| (format!("{NOTE}{key}"), value.clone())).collect()
}

fn number<T: std::str::FromStr>(
    facts: &BTreeMap<String, String>,
    name: &'static str,
) -> Result<T, policy::Refusal> {
    facts.get(name).and_then(|text| text.parse().ok()).ok_or(policy::Refusal::Missing(name))
}

/// The logits at the temperature that a rollout was made at.
fn cooled(logits: &[f64], temperature: f64) -> Vec<f64> {
    logits.iter().map(|logit| logit / temperature).collect()
}

fn warm(number: usize, datum: &Datum<'_, Options>) -> Result<(), Refusal> {
    let temperature = datum.temperature;
    if temperature > 0.0 && temperature.is_finite() {
        Ok(())
    } else {
        Err(Refusal::Temperature { datum: number, temperature })
    }
}

fn sound(number: usize, datum: &Datum<'_, Options>) -> Result<(), Refusal> {
    warm(number, datum)?;
    let taken = datum.taken.len();
    let lists = [
        ("logarithms of the sampler", Some(datum.sampled)),
        ("old logarithms", datum.old),
        ("advantages", Some(datum.advantages.as_slice())),
        ("factors", Some(std::slice::from_ref(&datum.factor))),
    ];
    for (what, list) in lists {
        let Some(list) = list else { continue };
        if what != "factors" && list.len() != taken {
            return Err(Refusal::Lengths { datum: number, taken, found: list.len(), what });
        }
        if list.iter().any(|value| !value.is_finite()) {
            return Err(Refusal::NotFinite { datum: number, what });
        }
    }
    Ok(())
}
