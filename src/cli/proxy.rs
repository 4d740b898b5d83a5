//! `ssr-mcp proxy`.

use super::{Context, Ended, Exit, out, probe};
use crate::config::Player;
use crate::session::{ProxyRequest, Repository};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Pass another program's requests on to a model, and record them for training
///
/// An OpenAI-compatible server on loopback: give its URL to whatever drives a model, with any key. Requests go to
/// the role's provider with your key; token ids and log-probabilities are asked for where the server knows them;
/// every turn is kept in the repository's state directory. A client says whose turn it is by the headers
/// X-Session-Id, X-Task-Id, X-Role and X-Group-Id; without the first, a request goes on with the conversation that
/// it begins with. Who replaces a model's weights under its name says which they are by X-Weights-Version; a turn by
/// others than its rollout's first, and what comes without token ids, is kept and marked as not trainable on-policy.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    ssr-mcp proxy --listen 127.0.0.1:8089\n  \
    ssr-mcp proxy --model my-policy@vllm     then: OPENAI_BASE_URL=http://127.0.0.1:PORT/v1 your-agent")]
pub struct Proxy {
    /// The repository whose settings are used and whose state directory keeps what is recorded
    #[arg(default_value = ".")]
    repo: PathBuf,
    /// Whose model and provider
    #[arg(long, default_value = "solver", value_parser = probe::player())]
    role: Player,
    /// This model: MODEL or MODEL@PROVIDER
    #[arg(long)]
    model: Option<String>,
    /// An address of loopback; port 0 is a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

pub(super) fn run(command: &Proxy, context: &mut Context<'_>) -> Ended {
    let request = ProxyRequest {
        repository: Repository { dir: Some(command.repo.clone()), ..Repository::default() },
        player: command.role,
        model: command.model.clone(),
        address: command.listen,
    };
    let json = context.out.wants_json();
    let told = |address: SocketAddr, to: &str| {
        let url = format!("http://{address}/v1");
        let written = if json {
            out::json(&serde_json::json!({ "url": url, "passes_on_to": to }))
        } else {
            out::line(&format!("recording at {url}, for {to}; Ctrl-C ends it"))
        };
        if let Err(error) = written {
            tracing::debug!("standard output is closed: {error}");
        }
    };
    context.session.proxy(&request, told, &context.job)?;
    Ok(Exit::Done)
}
