//! Bugs of which the fast ways of checking said something else than plain runs of the whole suite.

use super::{Error, Store};
use rusqlite::{OptionalExtension, Transaction, params};

/// What plain runs and fast ones did not agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The test framework that ran.
    pub framework: String,
    /// Id of the base that it was seen on.
    pub base: String,
    /// Content id of the bug.
    pub artifact: String,
    /// In one sentence.
    pub found: String,
}

impl Store {
    pub fn record_difference(&self, difference: &Difference) -> Result<(), Error> {
        self.write(|transaction| insert(transaction, difference))
    }

    /// The first that was seen with a framework, on any base: what makes the fast ways wrong lies in how the
    /// tests are written, which few edits change. Only those of this version of the program count.
    pub fn difference(&self, framework: &str) -> Result<Option<Difference>, Error> {
        let sql = "SELECT base, artifact, found FROM differences \
                   WHERE framework = ? AND version = ? ORDER BY number LIMIT 1";
        self.read(|connection| {
            let parameters = params![framework, env!("CARGO_PKG_VERSION")];
            let row = connection.prepare_cached(sql)?.query_row(parameters, |row| {
                Ok(Difference {
                    framework: framework.to_owned(),
                    base: row.get(0)?,
                    artifact: row.get(1)?,
                    found: row.get(2)?,
                })
            });
            row.optional()
        })
    }
}

pub(super) fn insert(
    transaction: &Transaction<'_>,
    difference: &Difference,
) -> rusqlite::Result<()> {
    let Difference { framework, base, artifact, found } = difference;
    let sql = "INSERT INTO differences (framework, version, base, artifact, found) VALUES (?, ?, ?, ?, ?)";
    let version = env!("CARGO_PKG_VERSION");
    transaction.prepare_cached(sql)?.execute(params![framework, version, base, artifact, found])?;
    Ok(())
}
