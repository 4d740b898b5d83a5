//! What a solver is given.

use crate::artifact::Artifact;
use crate::dice::Dice;
use crate::diff::Patch;
use crate::tree::{Changes, Overlaid, RelPath, Tree};

/// What a solver sees: the tree with bug and weakening applied, and the reversed weakening. No
/// history, no artifact file, no original of a changed file.
#[derive(Clone, Debug)]
pub struct Task {
    /// Bug and weakening, laid over the base.
    pub changes: Changes,
    /// The reversed weakening: a git diff that turns the weakened tests back into the original ones.
    pub oracle: Vec<u8>,
    pub test_files: Vec<RelPath>,
    /// `changes` with `oracle` applied: the bug under the original tests.
    strong: Changes,
}

/// The artifact's patches do not lead to a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplayable {
    #[error("{part} is refused: {refusal}")]
    Refused { part: &'static str, refusal: crate::diff::Refusal },
    #[error("{part} does not apply: {failure}")]
    DoesNotApply { part: &'static str, failure: crate::diff::ApplyFailure },
}

impl Task {
    pub fn of(base: &dyn Tree, artifact: &Artifact) -> Result<Self, Unplayable> {
        let bug = apply("bug_inject.diff", &artifact.bug_inject, base, &Changes::new())?;
        let weakening = parse("test_weaken.diff", &artifact.test_weaken)?;
        let changes = apply("test_weaken.diff", &artifact.test_weaken, base, &bug)?;
        Ok(Self {
            oracle: weakening.reversed().to_bytes(),
            test_files: artifact.test_files.clone(),
            strong: bug.against(base),
            changes: changes.against(base),
        })
    }

    /// The part of the oracle that is public where so much of it (0 to 1) stays hidden, chosen by seed. At least
    /// one hunk is public: the attempt is graded by all of them.
    pub fn public(&self, hidden: f64, seed: u64) -> Vec<u8> {
        let Ok(oracle) = Patch::parse(&self.oracle) else { return self.oracle.clone() };
        let parts = oracle.parts();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of few"
        )]
        let hide = ((parts as f64 * hidden.clamp(0.0, 1.0)) as usize).min(parts.saturating_sub(1));
        if hide == 0 {
            return self.oracle.clone();
        }
        let mut order: Vec<usize> = (0..parts).collect();
        Dice::new(seed).fork("public").shuffle(&mut order);
        let (hidden, mut next) = (&order[..hide], 0..);
        let public = oracle.part(&mut || next.next().is_some_and(|part| !hidden.contains(&part)));
        public.to_bytes()
    }

    /// The state on which a solver sees the failure: the bug under the original tests.
    pub fn with_oracle(&self) -> &Changes {
        &self.strong
    }
}

fn parse(part: &'static str, bytes: &[u8]) -> Result<Patch, Unplayable> {
    Patch::parse(bytes).map_err(|refusal| Unplayable::Refused { part, refusal })
}

fn apply(
    part: &'static str,
    bytes: &[u8],
    base: &dyn Tree,
    below: &Changes,
) -> Result<Changes, Unplayable> {
    let tree = Overlaid { base, changes: below };
    let changes = parse(part, bytes)?
        .apply(&tree)
        .map_err(|failure| Unplayable::DoesNotApply { part, failure })?;
    Ok(below.then(&changes))
}
