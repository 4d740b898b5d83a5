//! How a tool's caller names a strategy.

use crate::injector;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Strategy {
    Direct,
    Removal,
    History,
    Mixed,
}

/// With those that only a model knows.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum AnyStrategy {
    Direct,
    Removal,
    History,
    Mixed,
    HigherOrder,
    Feature,
}

impl From<Strategy> for injector::Strategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Direct => Self::Direct,
            Strategy::Removal => Self::Removal,
            Strategy::History => Self::History,
            Strategy::Mixed => Self::Mixed,
        }
    }
}

impl From<AnyStrategy> for injector::Strategy {
    fn from(strategy: AnyStrategy) -> Self {
        match strategy {
            AnyStrategy::Direct => Self::Direct,
            AnyStrategy::Removal => Self::Removal,
            AnyStrategy::History => Self::History,
            AnyStrategy::Mixed => Self::Mixed,
            AnyStrategy::HigherOrder => Self::HigherOrder,
            AnyStrategy::Feature => Self::Feature,
        }
    }
}
