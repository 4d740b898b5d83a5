//! Batches, which only revision 2025-03-26 has: an array of messages, whose answers make one array.
//!
//! A batch is begun piece by piece, so that what is in flight and what waits to be written stay bounded.

use super::backlog::Backlog;
use super::decode::{Decoded, decode, parse_error, refused};
use crate::wire::{Content, Framing, LONGEST};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcError,
    JsonRpcMessage, RequestId,
};
use serde::de::{Deserializer as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Most messages of one batch.
const MOST: usize = 1_000;
/// Requests of one batch that are worked on at once while its client is there.
const AT_ONCE: usize = 16;
/// Batches that are worked on at once; nothing is taken from a client that sends more.
const OPEN: usize = 4;

type Entries = VecDeque<Vec<u8>>;

/// Whether a message is an array, if it is JSON at all.
pub(super) fn is_one(message: &[u8]) -> bool {
    message.trim_ascii_start().starts_with(b"[")
}

/// The messages of a batch, or why it is none.
pub(super) fn split(message: &[u8]) -> Result<Entries, Box<JsonRpcError>> {
    let mut json = serde_json::Deserializer::from_slice(message);
    let split = json.deserialize_seq(Split).and_then(|split| json.end().map(|()| split));
    let no = |text: String| Err(Box::new(refused(None, ErrorCode::INVALID_REQUEST, text)));
    match split {
        Err(error) => Err(Box::new(parse_error(&error))),
        Ok((_, 0)) => no("a batch is empty".to_owned()),
        Ok((_, count)) if count > MOST => {
            no(format!("a batch of {count} messages is longer than the {MOST} that are taken"))
        }
        Ok((entries, _)) => Ok(entries),
    }
}

/// Keeps as many entries as a batch may have, and counts the rest.
struct Split;

impl<'de> Visitor<'de> for Split {
    type Value = (Entries, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Self::Value, A::Error> {
        let mut entries = Entries::new();
        while entries.len() < MOST {
            let Some(entry) = all.next_element::<&'de RawValue>()? else {
                let count = entries.len();
                return Ok((entries, count));
            };
            entries.push_back(entry.get().as_bytes().to_vec());
        }
        let mut count = entries.len();
        while all.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok((entries, count))
    }
}

/// What is being worked on, oldest first.
pub(super) struct Batches {
    open: Vec<Batch>,
    /// Requests of one batch that are worked on at once.
    at_once: usize,
    backlog: Arc<Backlog>,
}

struct Batch {
    framing: Framing,
    /// Not begun.
    rest: Entries,
    /// Begun and not answered.
    begun: Vec<RequestId>,
    /// In the order in which they came, which may be any.
    answers: Vec<Vec<u8>>,
    bytes: usize,
}

impl Batches {
    pub(super) fn new(backlog: Arc<Backlog>) -> Self {
        Self { open: Vec::new(), at_once: AT_ONCE, backlog }
    }

    pub(super) fn add(&mut self, framing: Framing, rest: Entries) {
        let (begun, answers) = (Vec::new(), Vec::new());
        self.open.push(Batch { framing, rest, begun, answers, bytes: 0 });
    }

    /// Whether another batch can be taken.
    pub(super) fn has_room(&self) -> bool {
        self.open.len() < OPEN
    }

    /// Nothing waits for an answer any more before it is begun.
    pub(super) fn begin_all(&mut self) {
        self.at_once = usize::MAX;
    }

    /// The next message to be worked on. What cannot be is answered within its batch.
    pub(super) fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut next = None;
        let mut at = 0;
        while let (Some(batch), None) = (self.open.get_mut(at), &next) {
            if batch.begun.len() >= self.at_once {
                at += 1;
                continue;
            }
            let Some(entry) = batch.rest.pop_front() else {
                at += 1;
                continue;
            };
            match decode(Content::Message(entry)) {
                Decoded::Message(message) => {
                    if let Some(refusal) = self.refusal(at, &message) {
                        self.open[at].answer(&refusal);
                    } else {
                        if let JsonRpcMessage::Request(request) = &*message {
                            self.open[at].begun.push(request.id.clone());
                        }
                        next = Some(*message);
                    }
                }
                Decoded::Refused(error) => batch.answer(&error),
                Decoded::Ignored => {}
            }
        }
        self.write_done();
        next
    }

    fn refusal(&self, at: usize, message: &ClientJsonRpcMessage) -> Option<JsonRpcError> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let no = |text: &str| {
            Some(refused(Some(request.id.clone()), ErrorCode::INVALID_REQUEST, text.to_owned()))
        };
        if matches!(request.request, ClientRequest::InitializeRequest(_)) {
            return no("initialize is no part of a batch");
        }
        // The answers of two could not be told apart, and one of them never comes.
        if self.open.iter().any(|batch| batch.begun.contains(&request.id)) {
            return no("a request of a batch with this id is not answered yet");
        }
        if self.open[at].bytes > LONGEST {
            return no("the answers of this batch are too long; send this request by itself");
        }
        None
    }

    /// Takes an answer to a request of a batch; `false` where it is to none.
    pub(super) fn take(&mut self, id: &RequestId, answer: &[u8]) -> bool {
        let Some(batch) = self.forget(id) else { return false };
        batch.push(answer.to_vec());
        self.write_done();
        true
    }

    /// A request that is cancelled is not answered.
    pub(super) fn cancelled(&mut self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Notification(notification) = message else { return };
        let ClientNotification::CancelledNotification(cancelled) = &notification.notification
        else {
            return;
        };
        if cancelled.params.request_id.as_ref().is_some_and(|id| self.forget(id).is_some()) {
            self.write_done();
        }
    }

    fn forget(&mut self, id: &RequestId) -> Option<&mut Batch> {
        let batch = self.open.iter_mut().find(|batch| batch.begun.contains(id))?;
        batch.begun.retain(|begun| begun != id);
        Some(batch)
    }

    /// A batch without an answer (of notifications alone) is nothing to write.
    fn write_done(&mut self) {
        for batch in self.open.extract_if(.., |batch| batch.is_done()) {
            if !batch.answers.is_empty() {
                let array = [b"[", &batch.answers.join(&b',')[..], b"]"].concat();
                self.backlog.push(batch.framing, array);
            }
        }
    }
}

impl Batch {
    fn is_done(&self) -> bool {
        self.rest.is_empty() && self.begun.is_empty()
    }

    fn answer(&mut self, error: &JsonRpcError) {
        match serde_json::to_vec(error) {
            Ok(bytes) => self.push(bytes),
            Err(error) => tracing::warn!("a message cannot be written as JSON: {error}"),
        }
    }

    fn push(&mut self, answer: Vec<u8>) {
        self.bytes += answer.len();
        self.answers.push(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_pings(ids: std::ops::Range<i64>) -> Batches {
        let mut batches = Batches::new(Arc::new(Backlog::default()));
        let ping = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).into_bytes();
        batches.add(Framing::Line, ids.map(ping).collect());
        batches
    }

    fn begin(batches: &mut Batches) -> Vec<RequestId> {
        let request = |message| match message {
            JsonRpcMessage::Request(request) => request.id,
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(|| batches.next().map(request)).collect()
    }

    #[test]
    fn so_many_requests_are_begun_at_once_until_the_client_has_left() {
        let mut batches = of_pings(0..40);
        let begun = begin(&mut batches);
        assert_eq!(begun.len(), AT_ONCE);
        assert!(batches.take(&begun[3], b"{}"));
        assert!(!batches.take(&begun[3], b"{}"), "an answer is taken once");
        assert_eq!(begin(&mut batches).len(), 1);
        batches.begin_all();
        assert_eq!(begin(&mut batches).len(), 40 - AT_ONCE - 1);
    }

    #[test]
    fn behind_answers_that_are_too_long_together_nothing_more_is_begun() {
        let mut batches = of_pings(0..40);
        let begun = begin(&mut batches);
        assert!(batches.take(&begun[0], &vec![b' '; LONGEST + 1]));
        assert!(batches.next().is_none());
        let answers = &batches.open[0].answers;
        assert_eq!(answers.len(), 1 + 40 - AT_ONCE);
        assert!(answers.last().is_some_and(|answer| answer.starts_with(b"{\"jsonrpc\"")));
        for id in &begun[1..] {
            assert!(batches.take(id, b"{}"));
        }
        assert!(batches.open.is_empty(), "it is answered");
    }

    #[test]
    fn so_many_batches_are_open_at_once() {
        let mut batches = of_pings(0..1);
        for id in 1..4 {
            assert!(batches.has_room());
            batches.open.append(&mut of_pings(id..id + 1).open);
        }
        assert!(!batches.has_room());
        let begun = begin(&mut batches);
        assert!(begun.len() == 4 && batches.take(&begun[2], b"{}") && batches.has_room());
    }
}
