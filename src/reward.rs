//! Reports and solve rates to rewards, and what watches over them.
//!
//! [`Scheme`] is the paper's (SSR, arXiv 2512.18552, equation 1) and what is used unless another
//! [`Rule`] is asked for: each is a function of what a round showed, and nothing else.

mod guard;
mod novelty;
mod rule;
mod signals;

#[cfg(test)]
mod tests;

pub use guard::{Admission, Alarm, FamilyCap, ValidRate, diverse};
pub use novelty::{Buffer, Shingles};
pub use rule::{Frontier, Learnability, Rule, Shape, Shown, Validity};
pub use signals::{Cycle, Difficulty, Level, Signal, Signals, Thresholds};

/// Parameters of the reward scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// α: how much a valid bug that all or none solve costs, from 0 to 1 (at 1 it costs as much as
    /// an invalid one by default). Default 0.8. It sets how far such a bug lies above an invalid
    /// one; it does not move the solve rate that pays best.
    pub alpha: f64,
    /// Reward of an invalid artifact, any finite number. Default -1.
    pub invalid: f64,
}

impl Default for Scheme {
    fn default() -> Self {
        Self { alpha: 0.8, invalid: -1.0 }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("a solve rate of {0} is not solved attempts / attempts: it lies in 0..=1")]
    SolveRate(f64),
    #[error("alpha is {0}: choose a number in 0..=1")]
    Alpha(f64),
    #[error("the reward of an invalid artifact is {0}: choose a finite number")]
    Invalid(f64),
    #[error("a bug with no attempts has no solve rate: make at least one attempt")]
    NoAttempts,
    #[error("{name} is {value}: choose {wanted}")]
    Parameter { name: &'static str, value: f64, wanted: &'static str },
}

impl Scheme {
    /// -1 (or what `invalid` says) for an invalid artifact, -α where all or none solve it, else
    /// 1 - (1 + α)s.
    ///
    /// `solve_rate`: solved attempts / attempts; `None` for an invalid artifact.
    pub fn injector(&self, solve_rate: Option<f64>) -> Result<f64, Refusal> {
        let alpha = checked_alpha(self.alpha)?;
        if !self.invalid.is_finite() {
            return Err(Refusal::Invalid(self.invalid));
        }
        let Some(rate) = solve_rate else { return Ok(self.invalid) };
        let rate = checked_rate(rate)?;
        if rate <= 0.0 || rate >= 1.0 { Ok(-alpha) } else { Ok(1.0 - (1.0 + alpha) * rate) }
    }
}

/// +1 for a repair, -1 for anything else.
pub fn solver(solved: bool) -> f64 {
    if solved { 1.0 } else { -1.0 }
}

/// For a player that tries one candidate after another: 1 for a repair that was the first one tried, less
/// the later it came, half at the end of the budget; 0 where none was found within it. Unlike [`solver`]
/// it tells two repairs of the same bug apart.
#[allow(clippy::cast_precision_loss, reason = "nobody runs 2^53 candidates")]
pub fn solver_by_runs(repaired_at: Option<usize>, budget: usize) -> f64 {
    match repaired_at {
        Some(at) if (1..=budget).contains(&at) => 1.0 - 0.5 * (at - 1) as f64 / budget as f64,
        _ => 0.0,
    }
}

/// The solve rate at which the expected injector reward is largest: 1 - G^(-1/(G-1)) (0.5 at G=2),
/// for G attempts; α does not move it.
///
/// At one attempt every rate gives -α, so none is best; the answer is then the limit of the formula,
/// 1 - 1/e.
pub fn best_solve_rate(attempts: usize) -> Result<f64, Refusal> {
    match checked_attempts(attempts)? {
        1.0 => Ok(1.0 - (-1.0_f64).exp()),
        attempts => Ok(1.0 - attempts.powf(-1.0 / (attempts - 1.0))),
    }
}

/// The mean injector reward of a valid bug that each of G independent attempts solves with
/// probability p: 1 - (1 + α)(p + (1 - p)^G). For display.
pub fn expected(probability: f64, attempts: usize, alpha: f64) -> Result<f64, Refusal> {
    let (alpha, p) = (checked_alpha(alpha)?, checked_rate(probability)?);
    Ok(1.0 - (1.0 + alpha) * (p + (1.0 - p).powf(checked_attempts(attempts)?)))
}

fn checked_alpha(alpha: f64) -> Result<f64, Refusal> {
    if (0.0..=1.0).contains(&alpha) { Ok(alpha) } else { Err(Refusal::Alpha(alpha)) }
}

fn checked_rate(rate: f64) -> Result<f64, Refusal> {
    if (0.0..=1.0).contains(&rate) { Ok(rate) } else { Err(Refusal::SolveRate(rate)) }
}

#[allow(clippy::cast_precision_loss, reason = "nobody makes 2^53 attempts")]
fn checked_attempts(attempts: usize) -> Result<f64, Refusal> {
    if attempts < 1 { Err(Refusal::NoAttempts) } else { Ok(attempts as f64) }
}
