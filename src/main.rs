//! The binary: the sandbox helper's early exit, then flags, logging, one face, an exit code.

use clap::{CommandFactory, Parser};
use ssr_mcp::cli::{self, Arguments, Exit, Mcp, Verb};
use ssr_mcp::config::{self, Config, Environment};
use ssr_mcp::session::Session;
use ssr_mcp::wire::{Input, Output, Protocol, protocol};
use ssr_mcp::{lsp, mcp};
use std::io::IsTerminal;
use std::process::ExitCode;

fn main() -> ExitCode {
    ssr_mcp::sandbox::helper_main();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help and version go to standard output with 0, the rest to standard error with 2.
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            error.print().unwrap_or_default();
            return code.into();
        }
    };
    let environment = Environment::of_process();
    let seed = config::seed_from_clock();
    let config = match Config::new(
        &arguments.flags(),
        &environment,
        seed,
        config::cores(),
        config::memory(),
    ) {
        Ok(config) => config,
        Err(error) => {
            cli::complain(&error);
            return Exit::Harness.into();
        }
    };
    log_to_stderr(&config.log);
    if config.has_keys() {
        ssr_mcp::model::keep_from_dumps();
    }
    match arguments.command {
        _ if arguments.stdio => ended(serve(config, None)),
        Some(Verb::Mcp(Mcp { http: None, .. })) => ended(serve(config, Some(Protocol::Mcp))),
        Some(Verb::Lsp(_)) => ended(serve(config, Some(Protocol::Lsp))),
        Some(Verb::Mcp(mcp)) => serve_http(config, &mcp),
        Some(Verb::Command(command)) => {
            cli::run(&Session::new(config), &command, arguments.json, mcp::self_test).into()
        }
        None if std::io::stdin().is_terminal() => {
            let help = Arguments::command().render_help();
            cli::complain(&format!("a command or --stdio is missing\n\n{help}"));
            Exit::Usage.into()
        }
        None => ended(serve(config, None)),
    }
}

/// Serves on standard input and output: what is said, or what the first message speaks.
fn serve(config: Config, said: Option<Protocol>) -> anyhow::Result<Exit> {
    use anyhow::Context;
    let output = Output::take_stdout()
        .context("standard output cannot be kept for the protocol; start ssr-mcp with it open")?;
    let mut input = Input::stdin();
    let Some(first) = input.receive() else { return Ok(Exit::Done) };
    match said.unwrap_or_else(|| protocol(&first)) {
        Protocol::Mcp => {
            mcp::serve(Session::new(config), first, input, output)?;
            Ok(Exit::Done)
        }
        Protocol::Lsp => match lsp::serve(Session::new(config), first, input, output)? {
            lsp::Ended::InOrder => Ok(Exit::Done),
            lsp::Ended::Abruptly => Ok(Exit::Negative),
        },
    }
}

fn serve_http(config: Config, mcp: &Mcp) -> ExitCode {
    let Some(address) = mcp.http else { return Exit::Usage.into() };
    let token = match config.http_token(mcp.token_file.as_deref()) {
        Ok(token) => token,
        Err(error) => {
            cli::complain(&error);
            return Exit::Usage.into();
        }
    };
    let told = |taken| cli::note(&format!("ssr-mcp: MCP is served at http://{taken}/mcp"));
    ended(
        mcp::serve_http(Session::new(config), address, token, mcp.allow_host.clone(), told)
            .map(|()| Exit::Done),
    )
}

fn ended(ended: anyhow::Result<Exit>) -> ExitCode {
    match ended {
        Ok(exit) => exit.into(),
        Err(error) => {
            cli::complain(&format!("{error:#}"));
            Exit::Harness.into()
        }
    }
}

/// Standard output belongs to answers and to the protocol.
fn log_to_stderr(filter: &str) {
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(filter)
        .with_ansi(false)
        .init();
}
