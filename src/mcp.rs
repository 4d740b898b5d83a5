//! The MCP face, over standard input and output or HTTP: decodes a call, runs one verb, encodes the
//! answer. The only user of `rmcp`.

mod apply;
mod artifact_argument;
mod backlog;
mod batch;
mod call;
mod check_artifact;
mod decode;
mod eras;
mod fit;
mod grade_patch;
mod http;
mod inject_bug;
mod job;
mod model_argument;
mod play_argument;
mod play_bash;
mod play_begin;
mod play_create;
mod play_edit;
mod play_read;
mod play_submit;
mod practice_argument;
mod practice_check;
mod practice_hint;
mod practice_reveal;
mod practice_run;
mod practice_start;
mod practice_status;
mod prompts;
mod replay_bug;
mod repository_argument;
mod resources;
mod run_parser;
mod schema;
mod score_reward;
mod self_test;
mod server;
mod solve;
mod strategy_argument;
mod tool;
mod train_step;
mod transport;
mod unnoticed_edits;
mod workspace_status;
mod wrong_book;

#[cfg(test)]
mod tests;

pub use self_test::self_test;

use crate::config::Token;
use crate::session::Session;
use crate::wire::{Frame, Input, Output};
use anyhow::Context;
use eras::Eras;
use rmcp::ServerHandler;
use server::Server;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::runtime::Runtime;
use transport::Stdio;

/// How long work in flight gets to end after the client has gone.
const GRACE: Duration = Duration::from_secs(5);

/// Serves until standard input ends. `first` was read from `input` before.
pub fn serve(session: Session, first: Frame, input: Input, output: Output) -> anyhow::Result<()> {
    serve_as(Server::new(session)?, first, input, output)
}

/// Serves over HTTP until the process ends. `hosts` are names that `Host` may have beside addresses; `told` is given the address that was taken.
pub fn serve_http(
    session: Session,
    address: SocketAddr,
    token: Option<Token>,
    hosts: Vec<String>,
    told: impl FnOnce(SocketAddr),
) -> anyhow::Result<()> {
    serve_http_as(Server::new(session)?, address, token, hosts, told)
}

/// [`serve`] with any handler: what tests of the protocol layer put in the place of our tools.
pub fn serve_as(
    server: impl ServerHandler,
    first: Frame,
    input: Input,
    output: Output,
) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let transport = Stdio::new(first, input, output);
        let eras = Eras::new(server, transport.ended());
        let running = rmcp::service::serve_directly(eras, transport, None);
        running.waiting().await
    });
    runtime.shutdown_timeout(GRACE);
    ended.context("the MCP service ended badly").map(drop)
}

/// [`serve_http`] with any handler.
pub fn serve_http_as(
    server: impl ServerHandler + Clone,
    address: SocketAddr,
    token: Option<Token>,
    hosts: Vec<String>,
    told: impl FnOnce(SocketAddr),
) -> anyhow::Result<()> {
    runtime()?.block_on(http::serve(server, address, token, hosts, told))
}

fn runtime() -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime cannot start")
}
