//! `apply`: a patch on the developer's own tree. The only verb that writes there, and only what was shown.

use super::{Error, Repository, Session};
use crate::diff::Patch;
use crate::workspace::{NotApplied, Planned};

/// What a patch would do to the tree as it is.
#[derive(Clone, Debug)]
pub struct Plan {
    pub files: Vec<String>,
    /// The change, for a person to look at.
    pub diff: String,
    /// Of the change and of the files as they are.
    pub digest: String,
}

impl Session {
    pub fn plan_patch(&self, repository: &Repository, patch: &[u8]) -> Result<Plan, Error> {
        let planned = self.planned(repository, patch)?;
        Ok(Plan {
            files: planned.paths().map(ToString::to_string).collect(),
            diff: String::from_utf8_lossy(&planned.diff()).into_owned(),
            digest: planned.digest(),
        })
    }

    /// Writes a patch. `digest`: of the plan that a person agreed to; anything else is refused.
    pub fn apply_patch(
        &self,
        repository: &Repository,
        patch: &[u8],
        digest: &str,
    ) -> Result<(), Error> {
        let planned = self.planned(repository, patch)?;
        if planned.digest() != digest {
            return Err(Error::usage(
                "the files are not as they were when the change was shown; nothing was written, ask again",
            ));
        }
        planned.write().map_err(refused)
    }

    fn planned(&self, repository: &Repository, patch: &[u8]) -> Result<Planned, Error> {
        let workspace = self.workspace(repository)?;
        let patch = Patch::parse(patch)
            .map_err(|refusal| Error::usage(format!("the patch is refused: {refusal}")))?;
        let planned = workspace.plan(&patch).map_err(refused)?;
        if planned.paths().next().is_none() {
            return Err(Error::usage("the patch changes nothing: the files are like that already"));
        }
        Ok(planned)
    }
}

fn refused(why: NotApplied) -> Error {
    match why {
        NotApplied::Unwritable { .. } | NotApplied::HalfDone { .. } => Error::harness(why),
        other => Error::usage(other.to_string()),
    }
}
