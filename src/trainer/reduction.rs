//! How the losses of single choices become one: what is averaged over what.

/// Roles are averaged apart: a solver makes many more choices than an injector, whose share would vanish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// The mean over all choices of the step (DAPO).
    #[default]
    Choice,
    /// The mean over a rollout's choices, then over rollouts (GRPO). A long wrong rollout is let off lightly.
    Rollout,
    /// The sum over a rollout's choices by a constant (their largest number), then the mean over rollouts
    /// (Dr. GRPO).
    Constant(usize),
}

impl Reduction {
    /// The factor of each choice of a rollout, for rollouts of these lengths: those that are left once what
    /// carries no signal is gone. A rollout without choices has none to count.
    #[allow(clippy::cast_precision_loss, reason = "nobody makes 2^52 choices")]
    pub fn factors(self, lengths: &[usize]) -> Vec<f64> {
        let rollouts = lengths.len() as f64;
        let choices = lengths.iter().sum::<usize>() as f64;
        let factor = |length: usize| match self {
            _ if length == 0 => 0.0,
            Self::Choice => 1.0 / choices,
            Self::Rollout => 1.0 / (length as f64 * rollouts),
            Self::Constant(constant) => 1.0 / (constant.max(1) as f64 * rollouts),
        };
        lengths.iter().map(|length| factor(*length)).collect()
    }
}
