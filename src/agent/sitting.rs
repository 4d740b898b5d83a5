//! One session as it is asked for, and what becomes of what it submits.

use super::{Error, Prompt, Scene, Submission, Tool, Who};
use crate::scaffold::Room;
use std::path::Path;

/// One session as it is asked for.
pub struct Sitting<'a> {
    pub who: &'a Who,
    /// The texts that the opening is made of, for its hash.
    pub prompts: &'a [Prompt],
    pub tools: &'a [Tool],
    pub scene: Scene<'a>,
    /// The task, given where the tree is.
    pub task: &'a dyn Fn(&Path) -> String,
    pub seed: u64,
}

/// What becomes of a submission.
pub enum Verdict {
    Kept {
        /// What is kept of it; the last one counts.
        kept: String,
        /// What the model is shown.
        echo: String,
        /// Nothing more is wanted.
        over: bool,
    },
    /// The reason, for the model: it may submit again.
    Refused(String),
}

/// Looks at a submission. Told to the model is only what the verdict says.
pub type Judge<'a> = &'a mut dyn FnMut(&mut Room, &Submission) -> Result<Verdict, Error>;
