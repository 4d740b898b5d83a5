//! What models cost: tokens and money a role and phase, and a budget that is never passed.

use super::Error;
use crate::model::Usage;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Money for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Price {
    pub prompt: f64,
    /// Of the prompt's tokens that the server had worked out before.
    pub cached: f64,
    pub completion: f64,
}

impl Price {
    pub fn of(&self, usage: &Usage) -> f64 {
        let cached = usage.cached_tokens.unwrap_or(0).min(usage.prompt_tokens);
        let fresh = usage.prompt_tokens - cached;
        let parts = [
            (fresh, self.prompt),
            (cached, self.cached),
            (usage.completion_tokens, self.completion),
        ];
        #[expect(clippy::cast_precision_loss, reason = "a number of tokens")]
        parts.iter().map(|(tokens, price)| *tokens as f64 * price / 1e6).sum()
    }
}

/// The most that may be spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    pub tokens: Option<u64>,
    pub money: Option<f64>,
}

/// What was spent, and on how much.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
pub struct Spent {
    /// Requests that were answered.
    pub requests: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Of the prompts' tokens: those that the server had worked out before.
    pub cached_tokens: u64,
    /// Requests whose tokens the server did not count: they are estimated.
    pub estimated: u64,
    /// Null where a price is not configured.
    pub money: Option<f64>,
    /// Seconds that requests took, those beside each other added up.
    pub seconds: f64,
}

impl Spent {
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }

    pub fn add(&mut self, other: &Self) {
        self.money = match (self.requests, self.money, other.requests, other.money) {
            (0, _, _, money) | (_, money, 0, _) => money,
            (_, Some(one), _, Some(more)) => Some(one + more),
            _ => None,
        };
        self.requests += other.requests;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cached_tokens += other.cached_tokens;
        self.estimated += other.estimated;
        self.seconds += other.seconds;
    }
}

/// Whose spending: role and phase.
pub type Account = (super::Role, &'static str);

/// All that a run spends. Shared by threads.
#[derive(Debug, Default)]
pub struct Meter {
    budget: Budget,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    accounts: BTreeMap<Account, Spent>,
    /// What requests that are under way may come to.
    reserved: Reserved,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reserved {
    tokens: u64,
    money: f64,
}

/// Room in the budget for one request; given back when dropped.
#[derive(Debug)]
pub struct Reservation<'a> {
    meter: &'a Meter,
    reserved: Reserved,
}

impl Meter {
    pub fn new(budget: Budget) -> Self {
        Self { budget, kept: Mutex::default() }
    }

    /// Room for a request that may come to so much, as far as can be told; refused where the budget does not
    /// hold it, beside what is spent and under way.
    pub fn reserve(&self, most: &Usage, price: Option<&Price>) -> Result<Reservation<'_>, Error> {
        let reserved = Reserved {
            tokens: most.prompt_tokens + most.completion_tokens,
            money: price.map_or(0.0, |price| price.of(most)),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = kept.total();
        let tokens = spent.tokens() + kept.reserved.tokens + reserved.tokens;
        let money = spent.money.unwrap_or(0.0) + kept.reserved.money + reserved.money;
        if self.budget.tokens.is_some_and(|most| tokens > most)
            || self.budget.money.is_some_and(|most| money > most)
        {
            return Err(Error::OutOfBudget { spent: Box::new(spent), budget: self.budget });
        }
        kept.reserved.tokens += reserved.tokens;
        kept.reserved.money += reserved.money;
        Ok(Reservation { meter: self, reserved })
    }

    pub fn spend(&self, account: Account, spent: &Spent) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.accounts.entry(account).or_default().add(spent);
    }

    pub fn accounts(&self) -> BTreeMap<Account, Spent> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).accounts.clone()
    }

    pub fn total(&self) -> Spent {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).total()
    }
}

impl Kept {
    fn total(&self) -> Spent {
        let mut total = Spent::default();
        self.accounts.values().for_each(|spent| total.add(spent));
        total
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut kept = self.meter.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.reserved.tokens -= self.reserved.tokens;
        kept.reserved.money -= self.reserved.money;
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tokens, self.money) {
            (Some(tokens), None) => write!(f, "{tokens} tokens"),
            (None, Some(money)) => write!(f, "{money} of money"),
            (Some(tokens), Some(money)) => write!(f, "{tokens} tokens or {money} of money"),
            (None, None) => f.write_str("no end"),
        }
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens in {} requests", self.tokens(), self.requests)?;
        self.money.map_or(Ok(()), |money| write!(f, ", {money:.4} of money"))
    }
}

/// About how many tokens a text has: what no server has counted. Rather too many than too few.
pub fn estimate(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::super::Role;
    use super::*;

    fn usage(prompt: u64, completion: u64) -> Usage {
        Usage { prompt_tokens: prompt, completion_tokens: completion, cached_tokens: None }
    }

    fn spent(prompt: u64, completion: u64, money: Option<f64>) -> Spent {
        Spent {
            requests: 1,
            prompt_tokens: prompt,
            completion_tokens: completion,
            money,
            ..Spent::default()
        }
    }

    #[test]
    fn a_price_counts_cached_tokens_apart() {
        let price = Price { prompt: 2.0, cached: 0.5, completion: 10.0 };
        let usage = Usage {
            prompt_tokens: 1_000_000,
            completion_tokens: 100_000,
            cached_tokens: Some(400_000),
        };
        assert!((price.of(&usage) - 2.4).abs() < 1e-9, "{}", price.of(&usage));
        let odd = Usage { cached_tokens: Some(9_000_000), ..usage };
        assert!((price.of(&odd) - 1.5).abs() < 1e-9);
    }

    #[test]
    fn money_is_unknown_as_soon_as_a_part_of_it_is() {
        let mut sum = spent(1, 1, Some(0.5));
        sum.add(&spent(1, 1, Some(0.25)));
        assert_eq!((sum.money, sum.tokens(), sum.requests), (Some(0.75), 4, 2));
        sum.add(&spent(1, 1, None));
        assert_eq!(sum.money, None);
        let mut none = Spent::default();
        none.add(&spent(1, 1, Some(0.5)));
        assert_eq!(none.money, Some(0.5));
    }

    #[test]
    fn a_budget_holds_what_is_spent_and_what_is_under_way() {
        let meter = Meter::new(Budget { tokens: Some(100), money: None });
        let first = meter.reserve(&usage(40, 20), None).expect("it fits");
        assert!(matches!(
            meter.reserve(&usage(40, 1), None),
            Err(Error::OutOfBudget { budget: Budget { tokens: Some(100), .. }, .. })
        ));
        meter.spend((Role::Solver, "solve"), &spent(40, 5, None));
        drop(first);
        drop(meter.reserve(&usage(40, 15), None).expect("45 are spent"));
        assert!(meter.reserve(&usage(40, 16), None).is_err());
        assert_eq!(meter.total().tokens(), 45);
    }

    #[test]
    fn money_has_a_budget_too() {
        let meter = Meter::new(Budget { tokens: None, money: Some(1.0) });
        let price = Price { prompt: 1.0, cached: 1.0, completion: 1.0 };
        meter.spend((Role::Injector, "free"), &spent(1, 1, Some(0.9)));
        assert!(meter.reserve(&usage(100_000, 0), Some(&price)).is_ok());
        assert!(meter.reserve(&usage(100_001, 0), Some(&price)).is_err());
    }
}
