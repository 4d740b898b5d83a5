//! What each kind of edit did in this workspace: counts, by who made it.

use super::{Error, Store};
use rusqlite::{Transaction, params};

/// Edits of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindCount {
    /// Who made them.
    pub role: String,
    pub kind: String,
    /// How many were tried, and how many of these did what they should.
    pub tried: u64,
    pub worked: u64,
}

impl Store {
    /// All that is known, in a fixed order.
    pub fn kinds(&self) -> Result<Vec<KindCount>, Error> {
        let sql = "SELECT role, kind, tried, worked FROM kinds ORDER BY role, kind";
        self.read(|connection| {
            let mut query = connection.prepare_cached(sql)?;
            let count = |row: &rusqlite::Row<'_>, at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            let kind = |row: &rusqlite::Row<'_>| {
                Ok(KindCount {
                    role: row.get(0)?,
                    kind: row.get(1)?,
                    tried: count(row, 2)?,
                    worked: count(row, 3)?,
                })
            };
            query.query_map([], kind)?.collect()
        })
    }
}

/// Adds to what is known.
pub(super) fn add(transaction: &Transaction<'_>, counts: &[KindCount]) -> rusqlite::Result<()> {
    let sql = "INSERT INTO kinds (role, kind, tried, worked) VALUES (?, ?, ?, ?) ON CONFLICT (role, kind) \
        DO UPDATE SET tried = tried + excluded.tried, worked = worked + excluded.worked";
    let mut add = transaction.prepare_cached(sql)?;
    for of in counts {
        let counts = params![of.role, of.kind, of.tried.cast_signed(), of.worked.cast_signed()];
        add.execute(counts)?;
    }
    Ok(())
}
