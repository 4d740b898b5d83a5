//! Flags that say who plays, and by which bounds.

use crate::agent::Budget;
use crate::injector::Style;
use crate::sandbox::Cancel;
use crate::session::{DEFAULT_CONCURRENCY, EMBEDDED, Error, Roles, Session};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::Path;

const MODELS: &str = "Models";

/// Of `play`.
#[derive(Debug, clap::Args)]
pub(super) struct Models {
    #[command(flatten)]
    injector: InjectorModel,
    #[command(flatten)]
    solver: SolverModel,
    #[command(flatten)]
    bound: Bound,
    /// Have the two change places every so many rounds; 0: never
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = MODELS)]
    swap: u32,
}

/// Who makes the bugs, and how.
#[derive(Debug, clap::Args)]
pub(super) struct InjectorModel {
    /// Have this model make the bugs: MODEL, MODEL@PROVIDER, or `configured`, the one of `INJECT_MODEL` or a file;
    /// `embedded`: none
    #[arg(long, value_name = "MODEL", default_value = EMBEDDED, help_heading = MODELS)]
    injector: String,
    /// How a model is led to a bug: free, one session; staged: look around, inject, weaken, each anew; files: one
    /// reply without tools [default: free, or staged where the context is below 40,000 tokens]
    #[arg(long, value_parser = style(), help_heading = MODELS)]
    style: Option<Style>,
    /// Tell a model once which check its bug fails, and let it put that right
    #[arg(long, help_heading = MODELS)]
    tell_checks: bool,
}

/// Who makes the attempts, and how.
#[derive(Debug, clap::Args)]
pub(super) struct SolverModel {
    /// Have this model make the attempts: MODEL, MODEL@PROVIDER, or `configured`, the one of `SOLVE_MODEL` or a file;
    /// `embedded`: none
    #[arg(long, value_name = "MODEL", default_value = EMBEDDED, help_heading = MODELS)]
    solver: String,
    /// How much of the improved tests a model is not told, from 0 to 1; attempts are graded by all of them
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, help_heading = MODELS)]
    hidden_share: f64,
    /// Sessions with models at once
    #[arg(long, value_name = "N", default_value_t = DEFAULT_CONCURRENCY, help_heading = MODELS)]
    concurrency: usize,
}

#[derive(Debug, clap::Args)]
pub(super) struct Bound {
    /// Stop before more than this is spent: tokens (200k, 5M) or, where prices are configured, money ($2.50)
    #[arg(long, value_name = "N|$N", value_parser = budget, help_heading = MODELS)]
    budget: Option<Budget>,
}

impl Models {
    pub(super) fn roles(
        &self,
        session: &Session,
        repo: &Path,
        cancel: &Cancel,
    ) -> Result<Roles, Error> {
        let names = (&*self.injector.injector, &*self.solver.solver);
        let (injector, solver) = session.players(repo, names, cancel)?;
        let roles = Roles { injector, solver, swap: self.swap, ..Roles::default() };
        Ok(self.bound.within(self.solver.with(self.injector.with(roles))))
    }
}

impl InjectorModel {
    /// Of `inject`.
    pub(super) fn roles(
        &self,
        session: &Session,
        (repo, bound): (&Path, &Bound),
        cancel: &Cancel,
    ) -> Result<Roles, Error> {
        let (injector, _) = session.players(repo, (&self.injector, EMBEDDED), cancel)?;
        Ok(bound.within(self.with(Roles { injector, ..Roles::default() })))
    }

    fn with(&self, roles: Roles) -> Roles {
        Roles { style: self.style, tells: self.tell_checks, ..roles }
    }
}

impl SolverModel {
    /// Of `solve`.
    pub(super) fn roles(
        &self,
        session: &Session,
        (repo, bound): (&Path, &Bound),
        cancel: &Cancel,
    ) -> Result<Roles, Error> {
        let (_, solver) = session.players(repo, (EMBEDDED, &self.solver), cancel)?;
        Ok(bound.within(self.with(Roles { solver, ..Roles::default() })))
    }

    fn with(&self, roles: Roles) -> Roles {
        Roles { hidden: self.hidden_share, concurrency: self.concurrency, ..roles }
    }
}

impl Bound {
    fn within(&self, roles: Roles) -> Roles {
        Roles { budget: self.budget.unwrap_or_default(), ..roles }
    }
}

fn style() -> impl TypedValueParser<Value = Style> {
    PossibleValuesParser::new(["free", "staged", "files"]).map(|name| match name.as_str() {
        "free" => Style::Free,
        "staged" => Style::Staged,
        _ => Style::Files,
    })
}

/// Reads `200k`, `5M`, `12345`, `$2.50`.
fn budget(text: &str) -> Result<Budget, String> {
    let refusal = || "give a number of tokens (200k, 5M) or of money ($2.50)".to_owned();
    if let Some(money) = text.strip_prefix('$') {
        let money: f64 = money.parse().map_err(|_| refusal())?;
        let sound = money.is_finite() && money > 0.0;
        return sound.then_some(Budget { tokens: None, money: Some(money) }).ok_or_else(refusal);
    }
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let times = match unit {
        "" => 1,
        "k" | "K" => 1000,
        "m" | "M" => 1_000_000,
        _ => return Err(refusal()),
    };
    let tokens = number.parse::<u64>().ok().and_then(|number| number.checked_mul(times));
    let tokens = tokens.filter(|tokens| *tokens > 0).ok_or_else(refusal)?;
    Ok(Budget { tokens: Some(tokens), money: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, tokens: Option<u64>, money: Option<f64>) {
        let expect = (tokens.is_some() || money.is_some()).then_some(Budget { tokens, money });
        assert_eq!(budget(text).ok(), expect, "{text}");
    }

    #[test]
    fn a_budget_is_tokens_or_money() {
        check("12345", Some(12345), None);
        check("200k", Some(200_000), None);
        check("5M", Some(5_000_000), None);
        check("$2.50", None, Some(2.5));
        for text in ["", "0", "k", "5x", "-1", "$", "$-1", "$inf", "$0", "99999999999999999M"] {
            check(text, None, None);
        }
    }
}
