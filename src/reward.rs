//! Reports and solve rates to rewards (SSR, arXiv 2512.18552, equation 1).

/// Parameters of the reward scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// α: how much a valid bug that all or none solve costs. Default 0.8.
    pub alpha: f64,
    /// Reward of an invalid artifact. Default -1.
    pub invalid: f64,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {}

impl Scheme {
    /// `solve_rate`: solved attempts / attempts; `None` for an invalid artifact.
    pub fn injector(&self, _solve_rate: Option<f64>) -> Result<f64, Refusal> {
        todo!()
    }
}

/// +1 for a repair, -1 for anything else.
pub fn solver(_solved: bool) -> f64 {
    todo!()
}

/// The solve rate at which the expected injector reward is largest: 1 - G^(-1/(G-1)) (0.5 at G=2).
pub fn best_solve_rate(_attempts: usize) -> Result<f64, Refusal> {
    todo!()
}
