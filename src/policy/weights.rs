//! The weights of named features, what both roles share and what each adds; gradients have the same shape.

use super::{Options, Role};
use std::collections::BTreeMap;
use std::sync::Arc;

/// No weight lies further from zero: with [`LARGEST_VALUE`](super::LARGEST_VALUE) every logit is finite.
pub const LARGEST_WEIGHT: f64 = 1e9;

/// Whose a weight is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Shared,
    Own(Role),
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::Shared, Self::Own(Role::Injector), Self::Own(Role::Solver)];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Own(role) => role.name(),
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

type Table = BTreeMap<Arc<str>, f64>;

/// A feature that is not there has the weight 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    shared: Table,
    injector: Table,
    solver: Table,
}

impl Weights {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn get(&self, scope: Scope, name: &str) -> f64 {
        self.table(scope).get(name).copied().unwrap_or(0.0)
    }

    pub fn set(&mut self, scope: Scope, name: &str, weight: f64) {
        self.table_mut(scope).insert(name.into(), weight);
    }

    /// Every weight: by scope, then by name.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, &Arc<str>, f64)> {
        Scope::ALL.into_iter().flat_map(|scope| {
            self.table(scope).iter().map(move |(name, weight)| (scope, name, *weight))
        })
    }

    pub fn len(&self) -> usize {
        self.shared.len() + self.injector.len() + self.solver.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn is_finite(&self) -> bool {
        self.iter().all(|(_, _, weight)| weight.is_finite())
    }

    /// The Euclidean norm.
    pub fn norm(&self) -> f64 {
        self.iter().map(|(_, _, weight)| weight * weight).sum::<f64>().sqrt()
    }

    pub fn scale(&mut self, by: f64) {
        for scope in Scope::ALL {
            for weight in self.table_mut(scope).values_mut() {
                *weight *= by;
            }
        }
    }

    /// Adds another's weights, each times `by`.
    pub fn add_scaled(&mut self, other: &Self, by: f64) {
        for scope in Scope::ALL {
            for (name, weight) in other.table(scope) {
                self.add(scope, name, weight * by);
            }
        }
    }

    pub(crate) fn add(&mut self, scope: Scope, name: &Arc<str>, by: f64) {
        *self.table_mut(scope).entry(Arc::clone(name)).or_insert(0.0) += by;
    }

    /// The logit of every option as a role sees it.
    pub fn logits(&self, role: Role, options: &Options) -> Vec<f64> {
        let weights: Vec<f64> = options
            .names()
            .iter()
            .map(|name| self.get(Scope::Shared, name) + self.get(Scope::Own(role), name))
            .collect();
        options.sums(&weights)
    }

    /// The chain rule: adds to this gradient what a gradient by logits means for the weights.
    pub fn add_gradient(&mut self, role: Role, options: &Options, by_logit: &[f64]) {
        for (name, gradient) in options.names().iter().zip(options.columns(by_logit)) {
            if gradient != 0.0 {
                self.add(Scope::Shared, name, gradient);
                self.add(Scope::Own(role), name, gradient);
            }
        }
    }

    fn table(&self, scope: Scope) -> &Table {
        match scope {
            Scope::Shared => &self.shared,
            Scope::Own(Role::Injector) => &self.injector,
            Scope::Own(Role::Solver) => &self.solver,
        }
    }

    fn table_mut(&mut self, scope: Scope) -> &mut Table {
        match scope {
            Scope::Shared => &mut self.shared,
            Scope::Own(Role::Injector) => &mut self.injector,
            Scope::Own(Role::Solver) => &mut self.solver,
        }
    }
}
