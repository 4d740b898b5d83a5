//! The command line: reads arguments, calls one verb, writes the answer.
//!
//! Standard output carries answers only (with `--json` one JSON object on its last line; `play`
//! writes one a round, `train` one a step); everything else goes to standard error.

mod arguments;
mod check;
mod config;
mod doctor;
mod eval;
mod exit;
mod grade;
mod inject;
mod instructions;
mod models;
mod out;
mod parse;
mod play;
mod practice;
mod probe;
mod progress;
mod proxy;
mod report;
mod score;
mod setup;
mod solve;
mod state;
mod status;
mod table;
mod train;
mod unnoticed;
mod wrong_book;

pub use arguments::{Arguments, Command, Mcp, Verb};
pub use exit::Exit;
pub use out::{complain, note};

use crate::config::Config;
use crate::session::{Error, Job, ProtocolCheck, Session};
use out::Out;
use progress::Progress;

/// Why a command ended without an answer.
enum Failure {
    Verb(Error),
    /// Standard output is gone: nobody is left to tell.
    Closed,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Verb(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Verb(Error::Usage(format!("the answer cannot be written ({error})")))
        }
    }
}

type Ended = Result<Exit, Failure>;

/// Speaks to the MCP server in this process: given, since faces do not know each other.
pub type SelfTest = fn(&Config) -> Vec<ProtocolCheck>;

/// What every command is given.
struct Context<'a> {
    session: &'a Session,
    protocol: SelfTest,
    out: Out,
    progress: Progress,
    job: Job,
}

/// Runs one command to its exit code. Ctrl-C, SIGTERM and SIGHUP end it promptly and in order; a
/// second one ends it at once.
pub fn run(session: &Session, command: &Command, json: bool, protocol: SelfTest) -> Exit {
    let cancel = crate::sandbox::Cancel::new();
    if let Err(error) = exit::cancel_on_signal(cancel.clone()) {
        tracing::warn!("Ctrl-C will not end runs in order: {error}");
    }
    let progress = Progress::new();
    let listener = progress.clone();
    let job = Job::new(cancel, move |event| listener.tell(&event));
    let mut context = Context { session, protocol, out: Out::new(json), progress, job };
    let ended = match command {
        Command::Play(command) => play::run(command, &mut context),
        Command::Inject(command) => inject::run(command, &mut context),
        Command::Check(command) => check::run(command, &mut context),
        Command::Solve(command) => solve::run(command, &mut context),
        Command::Eval(command) => eval::run(command, &mut context),
        Command::Train(command) => train::run(command, &mut context),
        Command::Grade(command) => grade::run(command, &mut context),
        Command::Parse(command) => parse::run(command, &mut context),
        Command::Score(command) => score::run(command, &mut context),
        Command::WrongBook(command) => wrong_book::run(command, &mut context),
        Command::Unnoticed(command) => unnoticed::run(command, &mut context),
        Command::Practice(command) => practice::run(command, &mut context),
        Command::Report(command) => report::run(command, &mut context),
        Command::Status(command) => status::run(command, &mut context),
        Command::State(command) => state::run(command, &mut context),
        Command::Probe(command) => probe::run(command, &mut context),
        Command::Proxy(command) => proxy::run(command, &mut context),
        Command::Config(command) => config::run(command, &mut context),
        Command::Doctor => doctor::run(&mut context),
        Command::Setup(command) => setup::run(command, &mut context),
        Command::Instructions => instructions::run(&mut context),
    };
    context.progress.clear();
    match ended {
        Ok(exit) => exit,
        Err(Failure::Closed) => Exit::Done,
        Err(Failure::Verb(error)) => {
            complain(&error);
            // A reader of the last line finds the reason there, too.
            let told = serde_json::json!({ "error": error.to_string(), "kind": error.kind() });
            if json && out::json(&told).is_err() {
                tracing::debug!("standard output is closed");
            }
            Exit::of(&error)
        }
    }
}
