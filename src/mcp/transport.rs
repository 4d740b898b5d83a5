//! Our transport below `rmcp`: frames in, frames out, each answer in the framing that was last spoken.
//! What cannot be read is answered here, and the server lives on; memory is bounded also where nobody
//! reads what we write.

use super::backlog::Backlog;
use super::batch::{self, Batches};
use super::decode::{Decoded, decode};
use crate::wire::{Content, Frame, Framing, Input, Output};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use rmcp::transport::Transport;
use serde::Serialize;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Frames that are read ahead.
const AHEAD: usize = 16;
/// How long what was answered gets to be read once nothing more is asked.
const LAST: Duration = Duration::from_secs(1);
/// How often it is looked whether a client that does not read has gone.
const LOOK: Duration = Duration::from_millis(100);

pub(super) struct Stdio {
    frames: mpsc::Receiver<Frame>,
    /// What the client last spoke in.
    framing: Framing,
    backlog: Arc<Backlog>,
    /// The `initialize` that is not answered yet. What was sent right behind it rests on its answer,
    /// and `rmcp` would begin both at once.
    handshake: Option<RequestId>,
    /// What the last `initialize` agreed on.
    revision: Option<ProtocolVersion>,
    batches: Batches,
    ended: watch::Sender<bool>,
}

impl Stdio {
    /// `first` was read from `input` before.
    pub(super) fn new(first: Frame, input: Input, output: Output) -> Self {
        let (sender, frames) = mpsc::channel(AHEAD);
        let framing = first.framing;
        let backlog = Arc::new(Backlog::default());
        let (reads, writes) = (backlog.clone(), backlog.clone());
        std::thread::spawn(move || read(first, input, &sender, &reads));
        std::thread::spawn(move || writes.write_to(output));
        let batches = Batches::new(backlog.clone());
        let ended = watch::Sender::new(false);
        Self { frames, framing, backlog, handshake: None, revision: None, batches, ended }
    }

    /// True once nothing more comes from the client.
    pub(super) fn ended(&self) -> watch::Receiver<bool> {
        self.ended.subscribe()
    }

    async fn frame(&mut self) -> Option<Frame> {
        tokio::select! {
            frame = self.frames.recv(), if self.handshake.is_none() && self.batches.has_room() => frame,
            () = self.backlog.closed() => None,
        }
    }

    fn write(&mut self, message: &impl Serialize, id: Option<&RequestId>) {
        match serde_json::to_vec(message) {
            Ok(bytes) if id.is_some_and(|id| self.batches.take(id, &bytes)) => {}
            Ok(bytes) => self.backlog.push(self.framing, bytes),
            Err(error) => tracing::warn!("a message cannot be written as JSON: {error}"),
        }
    }

    /// A message of the client's, as the layer above is given it.
    fn taken(&mut self, message: ClientJsonRpcMessage) -> ClientJsonRpcMessage {
        self.batches.cancelled(&message);
        message
    }

    /// A batch's messages are worked on one after another; `true` where the frame is one.
    fn open_batch(&mut self, frame: &Frame) -> bool {
        let Content::Message(bytes) = &frame.content else { return false };
        if self.revision != Some(ProtocolVersion::V_2025_03_26) || !batch::is_one(bytes) {
            return false;
        }
        match batch::split(bytes) {
            Ok(entries) => self.batches.add(frame.framing, entries),
            Err(error) => self.write(&error, None),
        }
        true
    }
}

/// Hands on what comes in, no more than is answered: while much is left unread by the client, nothing
/// is taken from it.
fn read(first: Frame, mut input: Input, sender: &mpsc::Sender<Frame>, backlog: &Backlog) {
    let mut next = Some(first);
    while let Some(frame) = next {
        while !backlog.is_taken(LOOK) {
            if input.hung_up(Duration::ZERO) {
                return;
            }
        }
        if sender.blocking_send(frame).is_err() {
            return;
        }
        next = input.receive();
    }
}

fn handshake(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let is_one = matches!(request.request, ClientRequest::InitializeRequest(_));
    is_one.then(|| request.id.clone())
}

fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// The revision that an answer to `initialize` names; none where it is an error.
fn agreed(message: &ServerJsonRpcMessage) -> Option<ProtocolVersion> {
    let JsonRpcMessage::Response(response) = message else { return None };
    let ServerResult::InitializeResult(result) = &response.result else { return None };
    Some(result.protocol_version.clone())
}

impl Transport<RoleServer> for Stdio {
    type Error = Infallible;

    /// Never waits, and never fails: a client that is gone is nobody to tell. Of progress, what is
    /// behind a full backlog is left out.
    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let progress = matches!(
            &message,
            JsonRpcMessage::Notification(notification)
                if matches!(notification.notification, ServerNotification::ProgressNotification(_))
        );
        let id = answered(&message).cloned();
        if id.is_some() && id == self.handshake {
            self.handshake = None;
            self.revision = agreed(&message);
        }
        if !progress || self.backlog.is_taken(Duration::ZERO) {
            self.write(&message, id.as_ref());
        }
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.batches.next() {
                return Some(self.taken(message));
            }
            let Some(frame) = self.frame().await else {
                self.ended.send_replace(true);
                if self.backlog.is_closed() {
                    return None;
                }
                // From here on requests of a batch are as single ones: begun, and given a last while.
                self.batches.begin_all();
                let message = self.batches.next()?;
                return Some(self.taken(message));
            };
            self.framing = frame.framing;
            if self.open_batch(&frame) {
                continue;
            }
            match decode(frame.content) {
                Decoded::Message(message) => {
                    self.handshake = handshake(&message);
                    return Some(self.taken(*message));
                }
                Decoded::Refused(error) => self.write(&error, None),
                Decoded::Ignored => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.backlog.end();
        if tokio::time::timeout(LAST, self.backlog.closed()).await.is_err() {
            tracing::debug!("the client left answers unread");
        }
        Ok(())
    }
}
