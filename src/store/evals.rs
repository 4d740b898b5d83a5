//! What evaluations came to, case by case: what an interrupted one goes on with.

use super::{Error, Store};
use rusqlite::{Row, params};

/// One attempt at one case.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalOutcome {
    /// Of the evaluation: cases, policy, budget and seed.
    pub eval: String,
    pub case: String,
    /// Which attempt of its case, from 0.
    pub number: u32,
    pub package: String,
    pub outcome: String,
    /// Candidate repairs that were run.
    pub runs: u32,
    pub seconds: f64,
    pub detail: String,
}

/// An evaluation as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eval {
    pub id: String,
    /// Seconds since 1970.
    pub begun: i64,
    /// JSON: what was asked for.
    pub settings: String,
    /// JSON: what it came to; `None` while it is not over.
    pub answer: Option<String>,
}

impl Store {
    /// Begins an evaluation, or finds the one of before.
    pub fn begin_eval(&self, eval: &Eval) -> Result<(), Error> {
        self.write(|transaction| {
            let sql =
                "INSERT INTO evals (id, begun, settings) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
            transaction.prepare_cached(sql)?.execute(params![
                eval.id,
                eval.begun,
                eval.settings
            ])?;
            Ok(())
        })
    }

    /// As if it had never begun.
    pub fn forget_eval(&self, id: &str) -> Result<(), Error> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM eval_outcomes WHERE eval = ?", [id])?;
            transaction.execute("DELETE FROM evals WHERE id = ?", [id])?;
            Ok(())
        })
    }

    /// What is known already stays as it is.
    pub fn keep_eval_outcome(&self, one: &EvalOutcome) -> Result<(), Error> {
        self.write(|transaction| {
            let sql = "INSERT INTO eval_outcomes (eval, case_id, number, package, outcome, runs, seconds, \
                detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
            transaction.prepare_cached(sql)?.execute(params![
                one.eval,
                one.case,
                one.number,
                one.package,
                one.outcome,
                one.runs,
                one.seconds,
                one.detail,
            ])?;
            Ok(())
        })
    }

    pub fn end_eval(&self, id: &str, answer: &str) -> Result<(), Error> {
        self.write(|transaction| {
            let sql = "UPDATE evals SET answer = ? WHERE id = ?";
            transaction.prepare_cached(sql)?.execute(params![answer, id])?;
            Ok(())
        })
    }

    /// All that is known of an evaluation, in the order in which it was found out.
    pub fn eval_outcomes(&self, eval: &str) -> Result<Vec<EvalOutcome>, Error> {
        let sql = "SELECT eval, case_id, number, package, outcome, runs, seconds, detail \
            FROM eval_outcomes WHERE eval = ? ORDER BY id";
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_map([eval], outcome)?.collect()
        })
    }

    /// Oldest first.
    pub fn evals(&self) -> Result<Vec<Eval>, Error> {
        let sql = "SELECT id, begun, settings, answer FROM evals ORDER BY number";
        self.read(|connection| {
            let eval = |row: &Row<'_>| {
                Ok(Eval {
                    id: row.get(0)?,
                    begun: row.get(1)?,
                    settings: row.get(2)?,
                    answer: row.get(3)?,
                })
            };
            connection.prepare_cached(sql)?.query_map([], eval)?.collect()
        })
    }
}

fn outcome(row: &Row<'_>) -> rusqlite::Result<EvalOutcome> {
    Ok(EvalOutcome {
        eval: row.get(0)?,
        case: row.get(1)?,
        number: row.get(2)?,
        package: row.get(3)?,
        outcome: row.get(4)?,
        runs: row.get(5)?,
        seconds: row.get(6)?,
        detail: row.get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evaluation_keeps_the_first_word_on_a_case_until_it_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let eval = Eval { id: "e".to_owned(), begun: 5, settings: "{}".to_owned(), answer: None };
        store.begin_eval(&eval).unwrap();
        store.begin_eval(&Eval { begun: 9, ..eval.clone() }).unwrap();
        assert_eq!(store.evals().unwrap(), [eval]);
        let outcome = |outcome: &str| EvalOutcome {
            eval: "e".to_owned(),
            case: "c".to_owned(),
            number: 0,
            package: "p".to_owned(),
            outcome: outcome.to_owned(),
            runs: 3,
            seconds: 0.5,
            detail: String::new(),
        };
        store.keep_eval_outcome(&outcome("repaired")).unwrap();
        store.keep_eval_outcome(&outcome("not_repaired")).unwrap();
        assert_eq!(store.eval_outcomes("e").unwrap(), [outcome("repaired")]);
        assert_eq!(store.eval_outcomes("f").unwrap(), []);
        store.end_eval("e", "{}").unwrap();
        assert_eq!(store.evals().unwrap()[0].answer.as_deref(), Some("{}"));
        store.forget_eval("e").unwrap();
        assert_eq!((store.evals().unwrap(), store.eval_outcomes("e").unwrap()), (vec![], vec![]));
    }
}
