//! Four signals of one cycle that tell whether self-play is healthy: valid share, difficulty, novelty, and
//! how often cheating was caught (Ornith's monitoring).

/// What one cycle (a batch of rounds) showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cycle {
    pub proposed: usize,
    pub valid: usize,
    /// Of each valid bug that was attempted.
    pub solve_rates: Vec<f64>,
    /// Of each valid bug that was judged.
    pub novelties: Vec<f64>,
    /// The mean novelty of the cycle before.
    pub novelty_before: Option<f64>,
    pub attempts: usize,
    /// Attempts and bugs in which cheating was caught.
    pub intercepted: usize,
}

/// From where on a signal warns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The valid share: below and above, either bugs are not bugs or nothing is dared. Default 0.1, 0.99.
    pub valid: (f64, f64),
    /// The mean solve rate that is aimed at, and how far it may be off. Default p*(8) and 0.15.
    pub target: f64,
    pub off_target: f64,
    /// The least share of bugs that some attempts solve and some do not: only these teach. Default 0.2.
    pub mixed: f64,
    /// The least mean novelty, and the share of the last cycle's that may be lost. Default 0.2, 0.25.
    pub novelty: f64,
    pub novelty_lost: f64,
    /// The largest share of attempts in which cheating is caught. Default 0.05.
    pub cheating: f64,
    /// After so many attempts without one interception the watch may be blind. `None`, the default: the
    /// players cannot cheat, as the embedded ones cannot.
    pub blind_after: Option<usize>,
    /// Fewer things than that say nothing. Default 10.
    pub least: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            valid: (0.1, 0.99),
            target: 1.0 - 8.0_f64.powf(-1.0 / 7.0),
            off_target: 0.15,
            mixed: 0.2,
            novelty: 0.2,
            novelty_lost: 0.25,
            cheating: 0.05,
            blind_after: None,
            least: 10,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Ok,
    Warn,
    /// Too little was seen.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Signal {
    pub level: Level,
    /// `None` where nothing was seen.
    pub value: Option<f64>,
    /// Why it warns; empty otherwise.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Difficulty {
    /// Its value is the mean solve rate.
    pub signal: Signal,
    /// How many bugs have which solve rate: 0; ten steps of a tenth in between, each with its upper end; 1.
    pub histogram: [usize; 12],
    /// The share of bugs that some attempts solve and some do not.
    pub mixed: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Signals {
    pub validity: Signal,
    pub difficulty: Difficulty,
    pub novelty: Signal,
    pub interceptions: Signal,
}

impl Signals {
    #[must_use]
    pub fn of(cycle: &Cycle, thresholds: &Thresholds) -> Self {
        Self {
            validity: validity(cycle, thresholds),
            difficulty: difficulty(cycle, thresholds),
            novelty: novelty(cycle, thresholds),
            interceptions: interceptions(cycle, thresholds),
        }
    }

    /// The reasons of all that warn.
    pub fn warnings(&self) -> Vec<&str> {
        [&self.validity, &self.difficulty.signal, &self.novelty, &self.interceptions]
            .into_iter()
            .filter(|signal| signal.level == Level::Warn)
            .map(|signal| signal.reason.as_str())
            .collect()
    }
}

/// A signal of `seen` things; the first complaint that holds is its reason.
fn signal(
    value: Option<f64>,
    seen: usize,
    thresholds: &Thresholds,
    complaints: &[(bool, String)],
) -> Signal {
    let none = String::new();
    if seen < thresholds.least || value.is_none() {
        return Signal { level: Level::Unknown, value, reason: none };
    }
    match complaints.iter().find(|(holds, _)| *holds) {
        Some((_, reason)) => Signal { level: Level::Warn, value, reason: reason.clone() },
        None => Signal { level: Level::Ok, value, reason: none },
    }
}

fn validity(cycle: &Cycle, thresholds: &Thresholds) -> Signal {
    let value = share(cycle.valid, cycle.proposed);
    let rate = value.unwrap_or(0.0);
    let (low, high) = thresholds.valid;
    let complaints = [
        (
            rate < low,
            format!("{rate:.2} of the proposed bugs are valid: the injector has lost the way"),
        ),
        (
            rate > high,
            format!("{rate:.2} of the proposed bugs are valid: the injector dares nothing"),
        ),
    ];
    signal(value, cycle.proposed, thresholds, &complaints)
}

fn difficulty(cycle: &Cycle, thresholds: &Thresholds) -> Difficulty {
    let rates = &cycle.solve_rates;
    let mut histogram = [0; 12];
    for rate in rates {
        histogram[bin(*rate)] += 1;
    }
    let value = mean(rates);
    let mixed =
        share(rates.iter().filter(|rate| **rate > 0.0 && **rate < 1.0).count(), rates.len());
    let off = (value.unwrap_or(0.0) - thresholds.target).abs();
    let complaints = [
        (
            mixed.unwrap_or(0.0) < thresholds.mixed,
            format!(
                "{:.2} of the bugs are solved by some attempts and not by others: the rest teaches nothing",
                mixed.unwrap_or(0.0)
            ),
        ),
        (
            off > thresholds.off_target,
            format!(
                "the mean solve rate is {:.2}, far from {:.2}, which pays best",
                value.unwrap_or(0.0),
                thresholds.target
            ),
        ),
    ];
    Difficulty { signal: signal(value, rates.len(), thresholds, &complaints), histogram, mixed }
}

/// 0 for a rate of 0, 11 for 1, and k for one in ((k - 1) / 10, k / 10].
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate times ten, rounded up, lies in 1..=10"
)]
fn bin(rate: f64) -> usize {
    if rate <= 0.0 {
        0
    } else if rate >= 1.0 {
        11
    } else {
        // 3 of 10 is 0.3 and a little, times ten: the last digits are no step of their own.
        ((rate * 10.0 - 1e-9).ceil() as usize).clamp(1, 10)
    }
}

fn novelty(cycle: &Cycle, thresholds: &Thresholds) -> Signal {
    let value = mean(&cycle.novelties);
    let now = value.unwrap_or(0.0);
    let kept = cycle.novelty_before.map_or(0.0, |before| before * (1.0 - thresholds.novelty_lost));
    let complaints = [
        (
            now < thresholds.novelty,
            format!("the mean novelty is {now:.2}: the bugs repeat what was there before"),
        ),
        (
            now < kept,
            format!(
                "the mean novelty fell from {:.2} to {now:.2}",
                cycle.novelty_before.unwrap_or(0.0)
            ),
        ),
    ];
    signal(value, cycle.novelties.len(), thresholds, &complaints)
}

fn interceptions(cycle: &Cycle, thresholds: &Thresholds) -> Signal {
    let value = share(cycle.intercepted, cycle.attempts);
    let rate = value.unwrap_or(0.0);
    let silent = cycle.intercepted == 0
        && thresholds.blind_after.is_some_and(|after| cycle.attempts >= after);
    let complaints = [
        (
            rate > thresholds.cheating,
            format!(
                "cheating was caught in {rate:.2} of the attempts: it may pay where it is not caught"
            ),
        ),
        (
            silent,
            format!(
                "no cheating was caught in {} attempts: the watch may be blind",
                cycle.attempts
            ),
        ),
    ];
    signal(value, cycle.attempts, thresholds, &complaints)
}

#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
