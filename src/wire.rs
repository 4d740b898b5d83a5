//! Standard input and output as framed messages, and which protocol the first of them speaks.
//!
//! Both faces that are protocols sit on this; neither protocol's types are known here.

mod frames;
mod ids;
mod input;
mod opening;
mod output;

#[cfg(test)]
mod tests;

pub use frames::{Content, Frame, Frames, Framing, Unreadable};
pub use input::Input;
pub use opening::{Protocol, protocol};
pub use output::Output;

/// Longest message that is taken: what `rmcp` takes by default, too. A longer one is answered with an
/// error and dropped as it comes in.
pub const LONGEST: usize = 16 * 1024 * 1024;
