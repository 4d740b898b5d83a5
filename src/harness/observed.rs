//! What the tests see of single edits of one file.

use super::instruments::{SURVEY, output};
use super::{Error, Harness};
use crate::runner::{Instrument, Reaction, Watched, WovenEdit, weave};
use crate::syntax::Languages;
use crate::tree::{Changes, RelPath};
use std::time::Duration;

impl Harness {
    /// Tries the edits in order in one sandbox; the result is shorter where it was brought down or ran out
    /// of time. `None` where the framework cannot tell. What is kept as a survivor must still be run plainly.
    pub fn observe(&self, watched: &Watched<'_>) -> Result<Option<Vec<Reaction>>, Error> {
        let Some(instrument) = self.runner.observe_program(watched) else { return Ok(None) };
        self.reactions(&instrument).map(Some)
    }

    /// The same where code is built: edits of one file and the tests of each, in one build.
    pub fn observe_woven(
        &self,
        path: &RelPath,
        edits: &[(Changes, WovenEdit)],
        each: Duration,
    ) -> Result<Option<Vec<Reaction>>, Error> {
        let Some(switch) = self.runner.switch() else { return Ok(None) };
        let (changes, tests): (Vec<Changes>, Vec<WovenEdit>) = edits.iter().cloned().unzip();
        let languages = Languages::builtin();
        let watching = weave::watched(&*self.base, &languages, switch, path, &changes);
        let instrument = watching
            .and_then(|watching| self.runner.watch_program(&*self.base, &watching, &tests, each));
        let Some(instrument) = instrument else { return Ok(None) };
        self.reactions(&instrument).map(Some)
    }

    fn reactions(&self, instrument: &Instrument) -> Result<Vec<Reaction>, Error> {
        let mounts = self.caches.for_checks()?;
        let finished = self.measure_with(&Changes::new(), mounts, instrument, SURVEY)?;
        let said = super::script::ending(&finished.stdout.head);
        tracing::debug!(end = ?finished.end, wall = ?finished.wall, cpu = ?finished.cpu, said, "observed");
        let output = output(&finished, instrument).unwrap_or_default();
        Ok(self.runner.read_observed(&output))
    }
}
