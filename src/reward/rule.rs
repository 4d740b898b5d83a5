//! Which scheme pays the injector: the paper's, Absolute Zero's learnability, or Ornith's frontier.

use super::{Refusal, Scheme, checked_rate};

/// What a round showed of an injected bug.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shown {
    pub validity: Validity,
    /// Solved attempts / attempts. `None`: not attempted, as an invalid bug is.
    pub solve_rate: Option<f64>,
    /// From 0 (known) to 1 (like nothing before). `None`: not judged.
    pub novelty: Option<f64>,
}

/// Ornith's three conditions of a valid task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validity {
    /// The script runs, and its parser reads what it prints.
    pub runs: bool,
    /// What is known to be right passes: the original code.
    pub right_passes: bool,
    /// What is known to be wrong fails: the bug, left as it is.
    pub wrong_fails: bool,
}

impl Validity {
    /// Of a bug that passed every consistency check: they ask for all three and more.
    pub const WHOLE: Self = Self { runs: true, right_passes: true, wrong_fails: true };

    #[must_use]
    pub fn holds(self) -> bool {
        self.runs && self.right_passes && self.wrong_fails
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// SSR, equation 1. Blind to novelty.
    Ssr(Scheme),
    /// Absolute Zero Reasoner (arXiv 2505.03335), section 3.1. Blind to novelty.
    Azr(Learnability),
    /// Ornith 1.5: validity times difficulty times novelty.
    Ornith(Frontier),
}

/// 1 less the solve rate; `flat` where nobody solved it or everybody did; `invalid` for an invalid bug.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learnability {
    /// Default 0, as in the paper's equation 4. Its code pays -0.5.
    pub flat: f64,
    /// Default -1. A penalty of only -0.1 was seen to let the share of valid proposals collapse elsewhere:
    /// watch [`ValidRate`](super::ValidRate) when changing it.
    pub invalid: f64,
}

impl Default for Learnability {
    fn default() -> Self {
        Self { flat: 0.0, invalid: -1.0 }
    }
}

/// Validity (0 or 1) times difficulty (how near the solve rate is to a target) times novelty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frontier {
    /// The solve rate that pays best, inside 0..1. Default 0.2.
    pub target: f64,
    pub shape: Shape,
    /// What a bug that is known already keeps of its reward, 0..=1. Default 0.
    pub floor: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// `exp(-(p - target)² / 2σ²)`. The width was not published; 0.3 is what others took.
    Gaussian { sigma: f64 },
    /// `1 - |p - target| / max(target, 1 - target)`.
    Linear,
}

impl Default for Frontier {
    fn default() -> Self {
        Self { target: 0.2, shape: Shape::Gaussian { sigma: 0.3 }, floor: 0.0 }
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self::Ssr(Scheme::default())
    }
}

impl Rule {
    pub const NAMES: [&'static str; 3] = ["ssr", "azr", "ornith"];

    /// A scheme with its usual parameters.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ssr" => Self::default(),
            "azr" => Self::Azr(Learnability::default()),
            "ornith" => Self::Ornith(Frontier::default()),
            _ => return None,
        })
    }

    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ssr(_) => "ssr",
            Self::Azr(_) => "azr",
            Self::Ornith(_) => "ornith",
        }
    }

    /// The injector's reward. A bug that was never attempted is paid like an invalid one.
    pub fn injector(&self, shown: &Shown) -> Result<f64, Refusal> {
        let rate = shown.solve_rate.filter(|_| shown.validity.holds());
        match self {
            Self::Ssr(scheme) => scheme.injector(rate),
            Self::Azr(learnability) => learnability.injector(rate),
            Self::Ornith(frontier) => frontier.injector(rate, shown.novelty),
        }
    }
}

impl Learnability {
    fn injector(&self, rate: Option<f64>) -> Result<f64, Refusal> {
        for (name, value) in [("flat", self.flat), ("invalid", self.invalid)] {
            if !value.is_finite() {
                return Err(Refusal::Parameter { name, value, wanted: "a finite number" });
            }
        }
        let Some(rate) = rate else { return Ok(self.invalid) };
        let rate = checked_rate(rate)?;
        Ok(if rate <= 0.0 || rate >= 1.0 { self.flat } else { 1.0 - rate })
    }
}

impl Frontier {
    /// How near the rate is to the target: 1 there, and 0 where nobody solved it, whatever the curve says:
    /// both shapes would pay more for a bug that nobody solves than for one that half of all do.
    pub fn difficulty(&self, rate: f64) -> Result<f64, Refusal> {
        let rate = checked_rate(rate)?;
        let target = self.target;
        if !(target > 0.0 && target < 1.0) {
            let wanted = "a number inside 0..1";
            return Err(Refusal::Parameter { name: "target", value: target, wanted });
        }
        if rate <= 0.0 {
            return Ok(0.0);
        }
        let distance = rate - target;
        match self.shape {
            Shape::Linear => Ok(1.0 - distance.abs() / target.max(1.0 - target)),
            Shape::Gaussian { sigma } if sigma > 0.0 && sigma.is_finite() => {
                Ok((-distance * distance / (2.0 * sigma * sigma)).exp())
            }
            Shape::Gaussian { sigma } => {
                let wanted = "a number above 0";
                Err(Refusal::Parameter { name: "sigma", value: sigma, wanted })
            }
        }
    }

    fn injector(&self, rate: Option<f64>, novelty: Option<f64>) -> Result<f64, Refusal> {
        let within = |name, value: f64| {
            let wanted = "a number in 0..=1";
            let fits = (0.0..=1.0).contains(&value);
            if fits { Ok(value) } else { Err(Refusal::Parameter { name, value, wanted }) }
        };
        let floor = within("floor", self.floor)?;
        let novelty = within("novelty", novelty.unwrap_or(1.0))?;
        let difficulty = rate.map_or(Ok(0.0), |rate| self.difficulty(rate))?;
        Ok(difficulty * (floor + (1.0 - floor) * novelty))
    }
}
