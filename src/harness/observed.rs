//! What the tests see of single edits of one file.

use super::instruments::{SURVEY, output};
use super::{Error, Harness};
use crate::runner::{Reaction, Watched};
use crate::tree::Changes;

impl Harness {
    /// Tries the edits in order in one sandbox; the result is shorter where it was brought down or ran out
    /// of time. `None` where the framework cannot tell. What is kept as a survivor must still be run plainly.
    pub fn observe(&self, watched: &Watched<'_>) -> Result<Option<Vec<Reaction>>, Error> {
        let Some(instrument) = self.runner.observe_program(watched) else { return Ok(None) };
        let mounts = self.caches.for_checks()?;
        let finished = self.measure_with(&Changes::new(), mounts, &instrument, SURVEY)?;
        let said = super::script::ending(&finished.stdout.head);
        tracing::debug!(end = ?finished.end, wall = ?finished.wall, cpu = ?finished.cpu, said, "observed");
        let output = output(&finished, &instrument).unwrap_or_default();
        Ok(Some(self.runner.read_observed(&output)))
    }
}
