//! A conversation with the server in this process, in each era, through its real transport: what `doctor`
//! tells of the protocol.

use super::serve_as;
use super::server::Server;
use crate::config::{Config, ToolGroup};
use crate::session::{ProtocolCheck, Session};
use crate::wire::{Content, Frame, Frames, Framing, Input, LONGEST, Output};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

/// An answer takes milliseconds; this is for a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// The newest revision of each era.
const MODERN: &str = "2026-07-28";
const SHAKEN: &str = "2025-11-25";

/// Speaks as a client of each era would.
pub fn self_test(config: &Config) -> Vec<ProtocolCheck> {
    [MODERN, SHAKEN].into_iter().map(|revision| check(config, revision)).collect()
}

fn check(config: &Config, revision: &str) -> ProtocolCheck {
    let mut tools = 0;
    let problem = spoken(config, revision, &mut tools).err();
    ProtocolCheck { revision: revision.to_owned(), passed: problem.is_none(), tools, problem }
}

fn spoken(config: &Config, revision: &str, tools: &mut usize) -> Result<(), String> {
    let mut client = Client::of(config, revision)?;
    client.meet()?;
    let listed = client.ask("tools/list", json!({}))?;
    let names = listed["tools"].as_array().map(|tools| tools.iter().map(|tool| &tool["name"]));
    let names: Vec<&Value> = names.ok_or("tools/list names no tools")?.collect();
    *tools = names.len();
    if !names.contains(&&json!("score_reward")) {
        return Err("tools/list lacks score_reward".to_owned());
    }
    let call = json!({ "name": "score_reward", "arguments": { "solved": 2 } });
    let answer = client.ask("tools/call", call)?;
    if answer["structuredContent"]["solve_rate"] != 0.25 {
        return Err(format!("score_reward of 2 solved attempts in 8 answers {answer}"));
    }
    client.leave()
}

/// The other end of a server's pipes.
struct Client {
    revision: String,
    /// `None` once the client has left.
    input: Option<File>,
    output: File,
    frames: Frames,
    asked: i64,
}

impl Client {
    /// A client, and a server on a thread of its own that ends with it.
    fn of(config: &Config, revision: &str) -> Result<Self, String> {
        let pipe = || {
            pipe_with(PipeFlags::CLOEXEC).map_err(|error| format!("no pipe can be made ({error})"))
        };
        let ((theirs, input), (output, ours)) = (pipe()?, pipe()?);
        let mut config = config.clone();
        config.tools = ToolGroup::ALL.into_iter().collect();
        std::thread::spawn(move || {
            let mut input = Input::pipe(theirs);
            let Some(first) = input.receive() else { return };
            if let Err(error) = serve(config, first, input, Output::pipe(ours)) {
                tracing::warn!("the server that doctor spoke to ended: {error:#}");
            }
        });
        let (input, output) = (Some(input.into()), output.into());
        let (revision, frames) = (revision.to_owned(), Frames::new(LONGEST));
        Ok(Self { revision, input, output, frames, asked: 0 })
    }

    fn meet(&mut self) -> Result<(), String> {
        if self.revision == MODERN {
            let answer = self.ask("server/discover", json!({}))?;
            let versions = answer["supportedVersions"].as_array();
            let named = versions.is_some_and(|versions| versions.contains(&json!(MODERN)));
            return named.then_some(()).ok_or_else(|| format!("server/discover answers {answer}"));
        }
        let client = json!({ "name": "ssr-mcp doctor", "version": env!("CARGO_PKG_VERSION") });
        let hello = json!({ "protocolVersion": SHAKEN, "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", hello)?;
        if answer["protocolVersion"] != SHAKEN {
            return Err(format!("initialize answers {answer}"));
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    /// The result of a request.
    fn ask(&mut self, method: &str, mut params: Value) -> Result<Value, String> {
        if self.revision == MODERN {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.asked += 1;
        let asked = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": asked, "method": method, "params": params }))?;
        loop {
            let Some(frame) = self.receive()? else {
                return Err(format!("the server ended at {method}"));
            };
            let Frame { framing: Framing::Line, content: Content::Message(bytes) } = frame else {
                return Err(format!("the answer to {method} is no line"));
            };
            let answer: Value = serde_json::from_slice(&bytes)
                .map_err(|error| format!("the answer to {method} is no JSON ({error})"))?;
            if answer["id"] != asked {
                continue;
            }
            return match answer.get("result") {
                Some(result) => Ok(result.clone()),
                None => Err(format!("{method} is answered {answer}")),
            };
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let line = format!("{message}\n");
        let sent = self.input.as_mut().map_or(Ok(()), |input| input.write_all(line.as_bytes()));
        sent.map_err(|error| format!("the server takes no more requests ({error})"))
    }

    /// What the server writes next; `None` once it has ended.
    fn receive(&mut self) -> Result<Option<Frame>, String> {
        let mut piece = vec![0; 64 * 1024];
        loop {
            if let Some(frame) = self.frames.pop() {
                return Ok(Some(frame));
            }
            let mut polled = [PollFd::new(&self.output, PollFlags::IN)];
            let within = PATIENCE.try_into().ok();
            match poll(&mut polled, within.as_ref()) {
                Ok(0) => return Err(format!("there was no answer in {} s", PATIENCE.as_secs())),
                Err(rustix::io::Errno::INTR) => continue,
                _ => {}
            }
            match self.output.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(length) => self.frames.push(&piece[..length]),
                Err(error) => return Err(format!("the server cannot be read ({error})")),
            }
        }
    }

    /// A server ends when its client leaves.
    fn leave(mut self) -> Result<(), String> {
        self.input = None;
        while self.receive()?.is_some() {}
        Ok(())
    }
}

fn serve(config: Config, first: Frame, input: Input, output: Output) -> anyhow::Result<()> {
    serve_as(Server::new(Session::new(config))?, first, input, output)
}
