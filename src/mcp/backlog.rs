//! What is answered and not yet written.

use crate::wire::{Framing, Output};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Bytes that may wait to be written before nothing more is taken from the client.
const MUCH: usize = 4 * 1024 * 1024;

pub(super) struct Backlog {
    queue: Mutex<Queue>,
    changed: Condvar,
    closed: watch::Sender<bool>,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<(Framing, Vec<u8>)>,
    /// With the one that is being written.
    bytes: usize,
    ended: bool,
}

impl Default for Backlog {
    fn default() -> Self {
        Self { queue: Mutex::default(), changed: Condvar::new(), closed: watch::Sender::new(false) }
    }
}

impl Backlog {
    pub(super) fn push(&self, framing: Framing, message: Vec<u8>) {
        if self.is_closed() {
            return;
        }
        let mut queue = self.queue();
        queue.bytes += message.len();
        queue.messages.push_back((framing, message));
        self.changed.notify_all();
    }

    /// Whether the client takes what it is sent; waits for that so long.
    pub(super) fn is_taken(&self, within: Duration) -> bool {
        let much = |queue: &mut Queue| queue.bytes > MUCH && !queue.ended;
        let waited = self.changed.wait_timeout_while(self.queue(), within, much);
        let (queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        queue.bytes <= MUCH || queue.ended
    }

    /// Nothing more is pushed.
    pub(super) fn end(&self) {
        self.queue().ended = true;
        self.changed.notify_all();
    }

    /// Until everything is written that ever will be.
    pub(super) async fn closed(&self) {
        // The sender is `self`: it cannot be gone.
        let _gone = self.closed.subscribe().wait_for(|closed| *closed).await.is_err();
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Writes until the end, or until the client is gone.
    pub(super) fn write_to(&self, mut output: Output) {
        while let Some((framing, message)) = self.next() {
            if let Err(error) = output.write(framing, &message) {
                tracing::debug!("the client takes no more answers: {error}");
                break;
            }
            self.queue().bytes -= message.len();
            self.changed.notify_all();
        }
        self.end();
        self.closed.send_replace(true);
    }

    fn next(&self) -> Option<(Framing, Vec<u8>)> {
        let idle = |queue: &mut Queue| queue.messages.is_empty() && !queue.ended;
        let waited = self.changed.wait_while(self.queue(), idle);
        waited.unwrap_or_else(PoisonError::into_inner).messages.pop_front()
    }

    /// No step on the queue can stop halfway, so that a poisoned one is a sound one.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
