//! `ssr-mcp instructions`.

use super::{Context, Ended, Exit};
use crate::session::INSTRUCTIONS;

#[derive(serde::Serialize)]
struct Instructions {
    instructions: &'static str,
}

pub(super) fn run(context: &mut Context<'_>) -> Ended {
    let answer = Instructions { instructions: INSTRUCTIONS };
    context.out.answer(&answer, |answer| answer.instructions.to_owned())?;
    Ok(Exit::Done)
}
