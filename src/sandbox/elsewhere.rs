//! Other systems than Linux: refused, with what to do.

use super::{Cancel, ChangeSet, Error, Finished, Reply, Step, Tier, Unavailable, View};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// There is none.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) owner: Option<(u32, u32)>,
    pub(super) tier: Tier,
    never: Infallible,
}

impl Machine {
    pub(super) fn probe(
        _tier: Tier,
        _helper: &Path,
        _scratch: &Path,
        _path: &[PathBuf],
    ) -> Result<Arc<Self>, Unavailable> {
        Err(Unavailable {
            reason: format!("Untrusted code cannot be isolated on {} yet", std::env::consts::OS),
            fix: "Use Linux 5.19 or newer, a Linux virtual machine, or WSL2 on Windows; sandbox-exec on macOS, \
                  job objects on Windows and containers anywhere are planned"
                .into(),
        })
    }
}

#[derive(Debug)]
pub(super) struct Live(Infallible);

impl Live {
    pub(super) fn start(machine: &Arc<Machine>, _view: &View) -> Result<Self, Error> {
        match machine.never {}
    }

    pub(super) fn wait_ready(&mut self) -> Result<(), Error> {
        match self.0 {}
    }

    pub(super) fn root(&self) -> Option<&Path> {
        match self.0 {}
    }

    pub(super) fn run(&mut self, _step: &Step, _cancel: &Cancel) -> Result<Finished, Error> {
        match self.0 {}
    }

    pub(super) fn changes(&mut self) -> Result<ChangeSet, Error> {
        match self.0 {}
    }
}

#[derive(Debug)]
pub(super) struct Talk(Infallible);

impl Talk {
    pub(super) fn begin(live: Live, _step: &Step) -> Result<Self, Error> {
        match live.0 {}
    }

    pub(super) fn ask(
        &mut self,
        _line: &[u8],
        _limit: Duration,
        _cancel: &Cancel,
    ) -> Result<Reply, Error> {
        match self.0 {}
    }
}

pub(super) fn helper_main() {}
