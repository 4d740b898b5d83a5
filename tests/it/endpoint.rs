//! A scripted server of models: in this process, on a free port of loopback, with every way to answer badly.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What is answered.
pub(crate) enum Say {
    Json(u16, Value),
    /// Status, headers as lines, body.
    Text(u16, String, Vec<u8>),
    /// Server-sent events, each the data of one; then the connection ends in order.
    Events(Vec<String>),
    /// The same, and the connection breaks in the middle of the chunked body.
    EventsThenNothing(Vec<String>),
    /// This much of a body that was promised longer.
    Truncated(Vec<u8>),
    /// Pieces of a body without an end.
    Endless(Vec<u8>),
    /// Nothing, until the server ends.
    Nothing,
    /// The connection ends before a byte.
    Closed,
}

type Script = dyn Fn(&Seen) -> Say + Send + Sync;

pub(crate) struct Endpoint {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    ended: Arc<AtomicBool>,
}

impl Endpoint {
    pub(crate) fn new(script: impl Fn(&Seen) -> Say + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let ended: Arc<AtomicBool> = Arc::default();
        let (log, over): (_, Arc<AtomicBool>) = (seen.clone(), ended.clone());
        let script: Arc<Script> = Arc::new(script);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (script, log, over) = (script.clone(), log.clone(), over.clone());
                std::thread::spawn(move || {
                    serve(stream, &*script, &log, &over);
                });
            }
        });
        Self { address, seen, ended }
    }

    /// The first answer first; the last one again and again.
    pub(crate) fn saying(answers: impl IntoIterator<Item = Say>) -> Self {
        let answers = Mutex::new(answers.into_iter().collect::<std::collections::VecDeque<_>>());
        Self::new(move |_| {
            let mut answers = answers.lock().unwrap();
            match answers.pop_front() {
                Some(Say::Json(status, value)) if answers.is_empty() => {
                    answers.push_back(Say::Json(status, value.clone()));
                    Say::Json(status, value)
                }
                Some(Say::Text(status, headers, body)) if answers.is_empty() => {
                    answers.push_back(Say::Text(status, headers.clone(), body.clone()));
                    Say::Text(status, headers, body)
                }
                Some(answer) => answer,
                None => Say::Closed,
            }
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the listener.
        TcpStream::connect(self.address).ok();
    }
}

/// A complete answer that says this.
pub(crate) fn completion(content: &str) -> Value {
    json!({
        "id": "x",
        "model": "scripted",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": content },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 12, "completion_tokens": 3 },
    })
}

fn serve(stream: TcpStream, script: &Script, log: &Mutex<Vec<Seen>>, ended: &AtomicBool) {
    stream.set_nodelay(true).ok();
    let Ok(reading) = stream.try_clone() else { return };
    let mut reader = BufReader::new(reading);
    let mut stream = stream;
    while let Some(seen) = request(&mut reader) {
        log.lock().unwrap().push(seen.clone());
        if answer(&mut stream, script(&seen), ended).is_none() {
            return;
        }
    }
}

pub(crate) fn request(reader: &mut impl BufRead) -> Option<Seen> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { method, path, headers, body })
}

/// `None` where the connection ends.
fn answer(stream: &mut impl Write, say: Say, ended: &AtomicBool) -> Option<()> {
    match say {
        Say::Json(status, value) => {
            let body = value.to_string().into_bytes();
            whole(stream, status, "content-type: application/json\r\n", &body)
        }
        Say::Text(status, headers, body) => whole(stream, status, &headers, &body),
        Say::Events(events) => {
            head_of_events(stream)?;
            for event in events {
                chunk(stream, format!("data: {event}\n\n").as_bytes())?;
            }
            stream.write_all(b"0\r\n\r\n").ok()
        }
        Say::EventsThenNothing(events) => {
            head_of_events(stream)?;
            for event in events {
                chunk(stream, format!("data: {event}\n\n").as_bytes())?;
            }
            None
        }
        Say::Truncated(body) => {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len() + 1000
            );
            stream.write_all(head.as_bytes()).ok()?;
            stream.write_all(&body).ok()?;
            stream.flush().ok()?;
            None
        }
        Say::Endless(piece) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes()).ok()?;
            while !ended.load(Ordering::Relaxed) {
                chunk(stream, &piece)?;
            }
            None
        }
        Say::Nothing => {
            while !ended.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(50));
            }
            None
        }
        Say::Closed => None,
    }
}

fn whole(stream: &mut impl Write, status: u16, headers: &str, body: &[u8]) -> Option<()> {
    let head = format!("HTTP/1.1 {status} Said\r\n{headers}content-length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat()).ok()
}

fn head_of_events(stream: &mut impl Write) -> Option<()> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).ok()
}

fn chunk(stream: &mut impl Write, bytes: &[u8]) -> Option<()> {
    let head = format!("{:x}\r\n", bytes.len());
    stream.write_all(&[head.as_bytes(), bytes, b"\r\n"].concat()).ok()
}
