//! Between our frames and the byte streams that `tower-lsp` works on.

use crate::wire::{Content, Frame, Frames, Framing, Input, Output, Unreadable};
use serde_json::{Value, json};
use std::sync::mpsc;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::Handle;
use tower_lsp::jsonrpc::{Request, Response};

/// Bytes that wait between the two sides; whoever writes more waits.
const WAITING: usize = 64 * 1024;

/// The streams for `tower-lsp`: what it reads, and what it writes to. Two threads stand behind them and end
/// with their other ends.
pub(super) fn streams(
    first: Frame,
    input: Input,
    output: Output,
) -> (DuplexStream, DuplexStream, mpsc::Receiver<()>) {
    let (ours_in, theirs_in) = duplex(WAITING);
    let (theirs_out, ours_out) = duplex(WAITING);
    // One writer, so that messages are never cut by each other.
    let (messages, written) = mpsc::sync_channel::<Vec<u8>>(16);
    let (ended, over) = mpsc::channel();
    let handle = Handle::current();
    let (reading, answers) = (handle.clone(), messages.clone());
    std::thread::spawn(move || read(&reading, first, input, ours_in, &answers));
    std::thread::spawn(move || collect(&handle, ours_out, &messages));
    std::thread::spawn(move || {
        write(output, &written);
        drop(ended);
    });
    (theirs_in, theirs_out, over)
}

fn read(
    handle: &Handle,
    first: Frame,
    mut input: Input,
    mut to: DuplexStream,
    answers: &mpsc::SyncSender<Vec<u8>>,
) {
    let mut next = Some(first);
    while let Some(frame) = next {
        match frame.content {
            Content::Message(bytes) if let Some(refusal) = refused(&bytes) => {
                if answers.send(refusal).is_err() {
                    return;
                }
            }
            Content::Message(bytes) => {
                let mut whole = format!("Content-Length: {}\r\n\r\n", bytes.len()).into_bytes();
                whole.extend_from_slice(&bytes);
                if handle.block_on(to.write_all(&whole)).is_err() {
                    return;
                }
            }
            Content::Unreadable(why) => {
                if answers.send(refusal(&why)).is_err() {
                    return;
                }
            }
        }
        next = input.receive();
    }
}

/// The answer to what `tower-lsp` could not read: it would serve nothing after it.
fn refused(bytes: &[u8]) -> Option<Vec<u8>> {
    if serde_json::from_slice::<Request>(bytes).is_ok()
        || serde_json::from_slice::<Response>(bytes).is_ok()
    {
        return None;
    }
    Some(match serde_json::from_slice::<Value>(bytes) {
        Ok(message) => {
            let id = message.get("id").filter(|id| id.is_i64() || id.is_string());
            error(id.unwrap_or(&Value::Null), -32600, "the message is no request of JSON-RPC 2.0")
        }
        Err(why) => error(&Value::Null, -32700, &format!("the message is no JSON: {why}")),
    })
}

fn refusal(why: &Unreadable) -> Vec<u8> {
    match why {
        Unreadable::TooLong { bytes, id } => {
            let most = crate::wire::LONGEST;
            let text = format!("the message has {bytes} bytes; at most {most} are taken");
            error(id.as_ref().unwrap_or(&Value::Null), -32600, &text)
        }
        Unreadable::Header(why) => error(&Value::Null, -32700, why),
    }
}

fn error(id: &Value, code: i32, text: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": text });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()
}

/// Cuts what the server writes into its messages.
fn collect(handle: &Handle, mut from: DuplexStream, messages: &mpsc::SyncSender<Vec<u8>>) {
    let mut frames = Frames::new(usize::MAX);
    let mut piece = vec![0; 16 * 1024];
    loop {
        let length = match handle.block_on(from.read(&mut piece)) {
            Ok(0) | Err(_) => return,
            Ok(length) => length,
        };
        frames.push(&piece[..length]);
        while let Some(frame) = frames.pop() {
            let Content::Message(bytes) = frame.content else { continue };
            if messages.send(bytes).is_err() {
                return;
            }
        }
    }
}

/// Ends once everything was written and nothing more comes, or nobody reads.
fn write(mut output: Output, messages: &mpsc::Receiver<Vec<u8>>) {
    for message in messages {
        if let Err(error) = output.write(Framing::Header, &message) {
            tracing::debug!("the client is gone: {error}");
            return;
        }
    }
}
