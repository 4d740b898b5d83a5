//! The binary: the sandbox helper's early exit, then flags, logging, one face, an exit code.

use clap::{CommandFactory, Parser};
use ssr_mcp::cli::{self, Arguments, Exit};
use ssr_mcp::config::{self, Config, Environment};
use ssr_mcp::session::Session;
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
    let session = Session::new(config);
    match arguments.command {
        _ if arguments.stdio => serve(session),
        Some(command) => cli::run(&session, &command, arguments.json).into(),
        None => {
            let help = Arguments::command().render_help();
            cli::complain(&format!("a command or --stdio is missing\n\n{help}"));
            Exit::Usage.into()
        }
    }
}

fn serve(session: Session) -> ExitCode {
    match ssr_mcp::mcp::serve(session) {
        Ok(()) => Exit::Done.into(),
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
