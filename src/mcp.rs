//! The MCP face over standard input and output: decodes a call, runs one verb, encodes the answer.
//! The only user of `rmcp`.

mod apply;
mod artifact_argument;
mod call;
mod check_artifact;
mod fit;
mod grade_patch;
mod inject_bug;
mod job;
mod play_argument;
mod play_bash;
mod play_begin;
mod play_create;
mod play_edit;
mod play_read;
mod play_submit;
mod prompts;
mod replay_bug;
mod repository_argument;
mod resources;
mod run_parser;
mod schema;
mod score_reward;
mod server;
mod solve;
mod stdio;
mod strategy_argument;
mod tool;
mod train_step;
mod unnoticed_edits;
mod workspace_status;
mod wrong_book;

use crate::session::Session;
use anyhow::Context;
use rmcp::ServiceExt;
use server::Server;
use std::time::Duration;

/// How long work in flight gets to end after the client has gone.
const GRACE: Duration = Duration::from_secs(5);

/// Serves until standard input ends. From here on standard output is the protocol's alone.
pub fn serve(session: Session) -> anyhow::Result<()> {
    let output = stdio::take_standard_output()
        .context("standard output cannot be kept for the protocol; start ssr-mcp with it open")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime cannot start")?;
    let face = Server::new(session)?;
    let served = runtime.block_on(async {
        let transport = (tokio::io::stdin(), tokio::fs::File::from_std(output));
        let running = match face.serve(transport).await {
            Ok(running) => running,
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                return Err(error).context("the MCP client's first messages are no handshake");
            }
        };
        running.waiting().await.context("the MCP service ended badly")?;
        Ok(())
    });
    runtime.shutdown_timeout(GRACE);
    served
}
