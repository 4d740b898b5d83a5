//! Which policy the embedded players go by: a file, the one that was trained in the workspace, or none.

use super::record::Record;
use super::{Error, Session, past};
use crate::policy::{Checkpoint, Past, Player, Sampling, Weights};
use crate::workspace::Workspace;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The name by which players go by their fixed rules, whatever was trained.
pub const START: &str = "start";
/// No policy of ours comes near this size.
const LARGEST: u64 = 256 << 20;

/// A policy that was read.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) weights: Weights,
    pub(super) hash: String,
    /// Of the workspace, when it was asked for.
    pub(super) past: Past,
}

impl Policy {
    pub(super) fn player(&self, sampling: Sampling) -> Player<'_> {
        Player { weights: &self.weights, past: &self.past, hash: &self.hash, sampling }
    }
}

/// The policy of a workspace.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PolicyLine {
    /// The file that `train` writes, and that play, inject and solve go by unless told otherwise.
    pub path: String,
    /// Null if it cannot be read.
    pub hash: Option<String>,
    /// Updates that made it.
    pub updates: Option<u64>,
    /// Why it cannot be used, and what to do; null if it can.
    pub problem: Option<String>,
}

/// Where a workspace's own lies.
pub(super) fn own(state: &Path) -> PathBuf {
    state.join("policy").join("checkpoint")
}

/// The bytes of a checkpoint; `None` where there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let read = || {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::usage(format!(
            "the policy {} cannot be read ({error}); name another with --policy",
            path.display()
        ))),
    }
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<(Policy, Checkpoint), Error> {
    let refused = |refusal| Error::usage(format!("the policy {}: {refusal}", path.display()));
    let checkpoint = Checkpoint::parse(bytes).map_err(refused)?;
    let weights = checkpoint.policy().map_err(refused)?.clone();
    let hash = checkpoint.hash();
    Ok((Policy { weights, hash, past: Past::default() }, checkpoint))
}

impl Session {
    /// `wanted`: a file, or `start` for the fixed rules; where nothing is said, what was trained in the
    /// workspace, if anything was. `None`: the fixed rules.
    pub(super) fn policy(
        &self,
        wanted: Option<&str>,
        workspace: &Workspace,
    ) -> Result<Option<Policy>, Error> {
        let policy = match wanted {
            Some(START) => return Ok(None),
            Some(file) => {
                let path = self.config().cwd.join(file);
                let bytes = read(&path)?.ok_or_else(|| {
                    Error::usage(format!(
                        "there is no policy {}; give a checkpoint that `train --out` wrote, or `start`",
                        path.display()
                    ))
                })?;
                parsed(&path, &bytes)?.0
            }
            None => {
                let path = own(&workspace.state);
                let Some(bytes) = read(&path)? else { return Ok(None) };
                let trained = parsed(&path, &bytes).map_err(|error| {
                    Error::usage(format!(
                        "{error}. It was trained in this workspace: remove the file, or play with --policy \
                         start"
                    ))
                });
                trained?.0
            }
        };
        let past = past::of(&Record::open(workspace)?.store)?;
        Ok(Some(Policy { past, ..policy }))
    }
}

/// What was trained in a workspace; `None` if nothing was.
pub(super) fn policy_line(workspace: &Workspace) -> Option<PolicyLine> {
    let path = own(&workspace.state);
    let line = |hash, updates, problem| {
        Some(PolicyLine { path: path.display().to_string(), hash, updates, problem })
    };
    match read(&path).and_then(|bytes| bytes.map(|bytes| parsed(&path, &bytes)).transpose()) {
        Ok(None) => None,
        Ok(Some((policy, checkpoint))) => {
            let updates = checkpoint.facts.get("updates").and_then(|text| text.parse().ok());
            line(Some(policy.hash), updates, None)
        }
        Err(error) => line(None, None, Some(error.to_string())),
    }
}
