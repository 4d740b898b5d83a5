//! What a reply comes to: a call, something to be put right, or nothing.

use super::super::diary::Line;
use super::super::tool::{Call, Fault, Tool};
use super::super::{files, text_form};
use super::Talk;
use crate::model::Finish;

/// What a reply comes to.
pub(super) enum Turn {
    Call {
        call: Call,
        id: Option<String>,
        /// Ids of calls beside it, and whether there were such in text.
        unmade: Vec<String>,
        more: bool,
    },
    Fault {
        text: String,
        ids: Vec<String>,
    },
    Nothing,
}

impl Talk<'_> {
    /// What a reply comes to.
    pub(super) fn turn(&self, line: &Line) -> Turn {
        let message = &line.message;
        let cut = line.finish == Some(Finish::Length);
        let tools = self.sitting.tools;
        if tools == [Tool::Files] {
            return match files::find(&message.content) {
                Ok(submission) => Turn::Call {
                    call: Call::Submit(submission),
                    id: None,
                    unmade: Vec::new(),
                    more: false,
                },
                Err(reason) => Turn::Fault { text: reason, ids: Vec::new() },
            };
        }
        if let [first, rest @ ..] = message.tool_calls.as_slice() {
            if !self.native {
                let text = "Calls of that kind are not taken here: write them as text.".to_owned();
                return Turn::Fault { text, ids: Vec::new() };
            }
            let unmade = rest.iter().map(|call| call.id.clone()).collect();
            return match Tool::decode(first, tools) {
                Ok(call) => Turn::Call { call, id: Some(first.id.clone()), unmade, more: false },
                Err(fault) => Turn::Fault {
                    text: told(&fault, cut),
                    ids: message.tool_calls.iter().map(|call| call.id.clone()).collect(),
                },
            };
        }
        // Also a model that is offered tools may write a call as text.
        match text_form::find(&message.content, tools, cut) {
            Some(found) => match found.call {
                Ok(call) => Turn::Call { call, id: None, unmade: Vec::new(), more: found.more > 0 },
                Err(fault) => Turn::Fault { text: told(&fault, cut), ids: Vec::new() },
            },
            None if cut => Turn::Fault { text: CUT.to_owned(), ids: Vec::new() },
            None => Turn::Nothing,
        }
    }
}

const CUT: &str =
    "Your reply was cut off, since it was too long. Write less, and end it with one call.";

fn told(fault: &Fault, cut: bool) -> String {
    if cut { format!("{CUT} ({fault})") } else { format!("The call was not made: {fault}.") }
}
