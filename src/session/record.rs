//! What survives a round, in the session's terms: bugs, rounds, attempts of one workspace.

use super::{Error, folder};
use crate::artifact::Artifact;
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};

pub(super) struct Record {
    bugs: PathBuf,
}

impl Record {
    pub(super) fn open(workspace: &Workspace) -> Result<Self, Error> {
        Ok(Self { bugs: workspace.state.join("bugs") })
    }

    /// Where an artifact's folder is or will be.
    pub(super) fn folder_of(&self, id: &str) -> PathBuf {
        self.bugs.join(id)
    }

    /// Whether the bug (by the digest of its tree) was made before.
    pub(super) fn known(&self, _tree_digest: &str) -> bool {
        false
    }

    /// Writes the artifact beneath the state directory, and to `out` where one is named. Gives the
    /// folder to show.
    pub(super) fn keep(&self, artifact: &Artifact, out: Option<&Path>) -> Result<PathBuf, Error> {
        let own = self.folder_of(&artifact.id());
        folder::write(&own, artifact)?;
        match out {
            Some(out) => folder::write(out, artifact).map(|()| out.to_owned()),
            None => Ok(own),
        }
    }

    /// By id, or by a prefix of it that fits one artifact only.
    pub(super) fn artifact(&self, id: &str) -> Result<Artifact, Error> {
        let fitting: Vec<String> =
            self.ids().into_iter().filter(|known| known.starts_with(id)).collect();
        match fitting.as_slice() {
            [one] => folder::read(&self.folder_of(one)),
            [] => Err(Error::usage(format!(
                "no artifact of this repository has the id {id}; `ssr-mcp status` lists the last ones"
            ))),
            several => Err(Error::usage(format!(
                "{} artifacts of this repository have an id that begins with {id}; give more of it",
                several.len()
            ))),
        }
    }

    /// Sorted.
    fn ids(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.bugs) else { return Vec::new() };
        let mut ids: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .collect();
        ids.sort();
        ids
    }

    pub(super) fn artifacts(&self) -> usize {
        self.ids().len()
    }
}
