//! The direct strategy's sites: small structural mutations.

use super::site::Site;
use crate::syntax::structural::{Mutation, Operator, mutations};
use crate::syntax::{Language, Parsed};

/// Every mutation of the file as a site, in source order.
pub(super) fn sites(parsed: &Parsed, language: &Language) -> Vec<Site> {
    mutations(parsed, language).into_iter().map(site).collect()
}

fn site(mutation: Mutation) -> Site {
    Site {
        family: mutation.operator.name(),
        appeal: appeal(mutation.operator),
        function: mutation.function,
        edits: mutation.edits,
        line: mutation.line,
    }
}

/// Texts are mostly messages that no test looks at, and a neutral return value breaks all there is
/// to break: neither makes a bug worth solving as often as the rest.
fn appeal(operator: Operator) -> f64 {
    match operator {
        Operator::StringConstant => 0.3,
        Operator::NeutralReturn | Operator::EarlyReturn => 0.4,
        _ => 1.0,
    }
}
