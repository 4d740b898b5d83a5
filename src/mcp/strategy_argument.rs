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
