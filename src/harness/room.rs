//! A sandbox that stays open on a tree, for who plays by hand: what the runs of its role see.

use super::{Audience, Error, Harness};
use crate::sandbox::{self, Limits};
use crate::tree::Changes;
use crate::workspace::Base;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// What a command may print before it is ended, bytes.
const OUTPUT: u64 = 64 << 20;

impl Harness {
    /// Opens `tree` + `changes`. A solver is shown no cache that was made from a file which `hidden` changes;
    /// `tree` is the base with these, or the base itself. `kept`: bytes of a command's output that are kept, of its beginning and of its end.
    pub fn room(
        &self,
        tree: &Base,
        changes: Changes,
        hidden: &Changes,
        audience: Audience,
        kept: usize,
    ) -> Result<sandbox::Session, Error> {
        let caches = match audience {
            Audience::Check => self.caches.for_checks()?,
            Audience::Solver => self.caches.for_solvers(hidden)?,
        };
        let mut view = self.view(changes, caches);
        view.layers = vec![tree.dir.clone()];
        view.limits =
            Limits { keep_head: kept, keep_tail: kept, output: OUTPUT, ..view.limits.clone() };
        Ok(self.sandbox.open(&view)?)
    }

    /// The environment of the runs.
    pub fn environment(&self) -> BTreeMap<OsString, OsString> {
        self.runner.tools().env.clone()
    }
}
