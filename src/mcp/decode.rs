//! A frame to a message of the protocol, or to the error that answers it. `rmcp` says nothing to what
//! is no JSON, and takes a known method with unfit parameters for an unknown method.

use crate::wire::{Content, LONGEST, Unreadable};
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcError, JsonRpcMessage, RequestId,
};
use serde_json::Value;

pub(super) enum Decoded {
    Message(Box<ClientJsonRpcMessage>),
    Refused(JsonRpcError),
    Ignored,
}

/// Methods of requests that clients may send in any revision.
const METHODS: [&str; 19] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
    "skills/list",
];

pub(super) fn decode(content: Content) -> Decoded {
    let bytes = match content {
        Content::Message(bytes) => bytes,
        Content::Unreadable(unreadable) => return Decoded::Refused(unread(unreadable)),
    };
    match serde_json::from_slice::<ClientJsonRpcMessage>(&bytes) {
        Ok(JsonRpcMessage::Request(request)) => match &request.request {
            ClientRequest::CustomRequest(custom) if METHODS.contains(&&*custom.method) => {
                let text = format!(
                    "the parameters of {} do not fit its schema in the protocol",
                    custom.method
                );
                Decoded::Refused(refused(Some(request.id), ErrorCode::INVALID_PARAMS, text))
            }
            _ => Decoded::Message(Box::new(JsonRpcMessage::Request(request))),
        },
        Ok(message) => Decoded::Message(Box::new(message)),
        Err(_) => unfit(&bytes),
    }
}

fn unread(unreadable: Unreadable) -> JsonRpcError {
    let (id, text) = match unreadable {
        Unreadable::TooLong { bytes, id } => {
            let text = format!(
                "a message of {bytes} bytes is longer than the {LONGEST} that are taken; pass a path \
                 where a tool takes one"
            );
            (id, text)
        }
        Unreadable::Header(why) => (None, why.to_owned()),
    };
    JsonRpcError::new(id.and_then(request_id), ErrorData::invalid_request(text, None))
}

/// Answers what is no message of the protocol.
fn unfit(bytes: &[u8]) -> Decoded {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return Decoded::Refused(parse_error(&error)),
    };
    if value.is_array() {
        let text = "an array of messages is taken only as a batch, which revision 2025-03-26 alone has; \
                    send each message by itself";
        return Decoded::Refused(refused(None, ErrorCode::INVALID_REQUEST, text.to_owned()));
    }
    let id = value.get("id").cloned();
    if value.get("method").is_some() && id.is_none() {
        // A notification is never answered.
        return Decoded::Ignored;
    }
    let text = "a message is no JSON-RPC 2.0 request, notification or response";
    let id = id.and_then(request_id);
    Decoded::Refused(refused(id, ErrorCode::INVALID_REQUEST, text.to_owned()))
}

pub(super) fn parse_error(error: &serde_json::Error) -> JsonRpcError {
    refused(None, ErrorCode::PARSE_ERROR, format!("a message is no JSON ({error})"))
}

fn request_id(id: Value) -> Option<RequestId> {
    serde_json::from_value(id).ok()
}

pub(super) fn refused(id: Option<RequestId>, code: ErrorCode, text: String) -> JsonRpcError {
    JsonRpcError::new(id, ErrorData::new(code, text, None))
}
