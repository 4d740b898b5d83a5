//! Commands and flags, with the help that a newcomer learns the tool from.

use crate::config::{Flags, ToolGroup};
use crate::consistency::Minima;
use crate::injector::Strategy;
use crate::runner::Overrides;
use crate::sandbox::Tier;
use crate::session::{DEFAULT_ATTEMPTS, Repository, time_limit};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const TOOLS: &str =
    "Offer these groups of tools only: core, play, practice [default: $SSR_MCP_TOOLS, else all]";
const STATE_DIR: &str = "Where everything is kept [default: $SSR_MCP_STATE_DIR, else \
    $XDG_STATE_HOME/ssr-mcp, else ~/.local/state/ssr-mcp]";
const REPORT: &str =
    "The JUnit XML file that --test-command writes, relative to the repository's root";
const VERBOSE: &str =
    "Say more on standard error; twice for more. SSR_MCP_LOG takes a filter instead";
const CONFIG: &str =
    "Settings of models over all others: a file like ssr-mcp.toml, or an ssr_config.json";
/// Where flags are listed that every command takes.
const EVERYWHERE: &str = "Options of every command";

/// Self-play on your own repository: puts in a bug that is proven real and hidden by weakened
/// tests, has it solved from the reversed weakening, grades honestly in a sandbox, scores both roles.
///
/// The repository is never written to, and nothing is run in it: tests run in a sandbox on a copy.
#[derive(Debug, Parser)]
#[command(
    name = "ssr-mcp",
    version,
    after_help = "Examples:\n  \
        ssr-mcp doctor                          what this machine offers\n  \
        ssr-mcp play . --rounds 3               three rounds on the repository here\n  \
        ssr-mcp inject . --out /tmp/bug         one bug, as a folder of five files\n  \
        ssr-mcp check /tmp/bug --repo .         is that bug real?\n  \
        ssr-mcp solve /tmp/bug --repo .         eight attempts to repair it\n  \
        ssr-mcp unnoticed .                     edits that your tests do not notice\n  \
        ssr-mcp practice start                  a bug of your own code to look for\n  \
        ssr-mcp setup codex                     register it with a coding agent\n  \
        ssr-mcp mcp                             MCP server on standard input and output\n\n\
        Exit codes: 0 done; 1 a negative outcome (an invalid artifact, an unsolved bug); 2 arguments \
        that cannot be used; 3 the harness could not do its work, or was cancelled."
)]
pub struct Arguments {
    /// Serve on standard input and output the protocol that the first message speaks; so does
    /// ssr-mcp without a command where its input is no terminal
    #[arg(long, overrides_with = "stdio")]
    pub stdio: bool,
    #[command(flatten)]
    appended: Appended,
    /// Write one JSON object on the last line of standard output (`play`: one a round, `train`: one a step)
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub json: bool,
    #[arg(long, help = STATE_DIR, global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    pub state_dir: Option<PathBuf>,
    /// Isolate runs by this tier or not at all [default: the best that works; `doctor` tells]
    #[arg(long, global = true, value_name = "TIER", value_parser = tier(), help_heading = EVERYWHERE)]
    pub sandbox: Option<Tier>,
    #[arg(long, help = CONFIG, global = true, value_name = "FILE", help_heading = EVERYWHERE)]
    pub config: Option<PathBuf>,
    #[arg(short, long, help = VERBOSE, global = true, action = clap::ArgAction::Count, help_heading = EVERYWHERE)]
    pub verbose: u8,
    #[command(subcommand)]
    pub command: Option<Verb>,
}

impl Arguments {
    pub fn flags(&self) -> Flags {
        let tools = match &self.command {
            Some(Verb::Mcp(mcp)) => mcp.tools.clone(),
            _ => Vec::new(),
        };
        Flags {
            state_dir: self.state_dir.clone(),
            sandbox: self.sandbox,
            verbose: self.verbose,
            tools,
            config: self.config.clone(),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    Mcp(Mcp),
    Lsp(Lsp),
    #[command(flatten)]
    Command(Command),
}

/// Serve LSP on standard input and output: code actions, lenses and practice in an editor.
#[derive(Debug, Args)]
#[command(
    after_help = "What editors' configurations start; see the README for each. Arguments that editors append, such \
                        as --stdio and --clientProcessId, are accepted."
)]
pub struct Lsp {
    /// Accepted, for clients that append it
    #[arg(long, overrides_with = "stdio", hide = true)]
    stdio: bool,
    #[command(flatten)]
    appended: Appended,
}

/// Serve MCP on standard input and output, or over HTTP.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        ssr-mcp mcp                             what a coding agent's configuration starts\n  \
        ssr-mcp mcp --tools core,play           without what is for practice\n  \
        ssr-mcp mcp --http 127.0.0.1:0          streamable HTTP on a free port, told on standard error\n\n\
        Over HTTP, addresses that other machines reach are served only with a token, which clients \
        send as `Authorization: Bearer TOKEN`: SSR_MCP_HTTP_TOKEN or --token-file.")]
pub struct Mcp {
    /// Serve streamable HTTP at this address
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub http: Option<SocketAddr>,
    #[arg(long, value_name = "GROUP,...", value_delimiter = ',', help = TOOLS)]
    pub tools: Vec<ToolGroup>,
    /// Read the token that clients must send from this file
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// Serve requests that name this host, too, beside localhost and addresses; may be repeated
    #[arg(long, value_name = "NAME", requires = "http", value_parser = host_name)]
    pub allow_host: Vec<String>,
    /// Accepted, for clients that append it
    #[arg(long, overrides_with = "stdio", hide = true)]
    stdio: bool,
    #[command(flatten)]
    appended: Appended,
}

/// What editors append to the command that they are given. None of it changes anything.
#[derive(Debug, Args)]
struct Appended {
    #[arg(long = "clientProcessId", value_name = "N", hide = true)]
    client_process_id: Option<String>,
    #[arg(long = "node-ipc", hide = true)]
    node_ipc: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Play(Box<super::play::Play>),
    Inject(super::inject::Inject),
    Check(super::check::Check),
    Solve(super::solve::Solve),
    Train(super::train::Train),
    Grade(super::grade::Grade),
    Eval(super::eval::Evaluation),
    Report(super::report::Report),
    Parse(super::parse::Parse),
    Score(super::score::Score),
    WrongBook(super::wrong_book::WrongBook),
    Unnoticed(super::unnoticed::Unnoticed),
    Practice(super::practice::Practice),
    Status(super::status::Status),
    State(super::state::State),
    Probe(super::probe::Probe),
    Proxy(super::proxy::Proxy),
    Config(super::config::ConfigCommand),
    /// Say what this machine offers: sandbox, toolchains, state directory, languages
    Doctor,
    Setup(super::setup::Setup),
    /// Print what an agent is told of this server: when to reach for it
    Instructions,
}

/// How the repository's tests are run, where what was found is not what you want.
#[derive(Debug, Args)]
pub(super) struct Tests {
    /// Run the tests with this shell command instead of the one that was found
    #[arg(long, value_name = "COMMAND")]
    pub(super) test_command: Option<String>,
    #[arg(long, value_name = "FILE", help = REPORT)]
    pub(super) report: Option<String>,
    /// The test framework, by name (pytest, cargo-test, jest, go-test, ctest …)
    #[arg(long, value_name = "NAME")]
    pub(super) framework: Option<String>,
    /// Longest a run of the tests may take [default: measured from the baseline]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) timeout: Option<Duration>,
}

impl Tests {
    pub(super) fn repository(&self, dir: Option<&PathBuf>) -> Repository {
        Repository {
            dir: dir.cloned(),
            tests: Overrides {
                test_command: self.test_command.clone(),
                report: self.report.clone(),
                framework: self.framework.clone(),
                near: None,
            },
            time_limit: self.timeout,
            ..Repository::default()
        }
    }
}

/// What a bug must reach to be valid.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "a field's name is its flag's name")]
pub(super) struct Least {
    /// Fewest passing tests that the artifact's script must run
    #[arg(long, value_name = "N", default_value_t = Minima::default().passing_tests)]
    pub(super) min_passing_tests: usize,
    /// Fewest code files that the bug must change
    #[arg(long, value_name = "N", default_value_t = Minima::default().changed_files)]
    pub(super) min_changed_files: usize,
    /// Fewest passing tests that the bug must make fail
    #[arg(long, value_name = "N", default_value_t = Minima::default().failing_tests)]
    pub(super) min_failing_tests: usize,
}

impl Least {
    pub(super) fn minima(&self) -> Minima {
        Minima {
            passing_tests: self.min_passing_tests,
            changed_files: self.min_changed_files,
            failing_tests: self.min_failing_tests,
        }
    }
}

/// Where and how a bug is put in.
#[derive(Debug, Args)]
pub(super) struct Injection {
    /// direct: structural edits; removal: code deleted, callers fixed; history: what a commit changed
    /// is undone; mixed: removal or history by seed, direct or removal where there is no history
    #[arg(long, default_value = "mixed", value_parser = strategy())]
    pub(super) strategy: Strategy,
    /// Only in this file, or in this function of it; relative to the repository's root
    #[arg(long, value_name = "FILE[:SYMBOL]")]
    pub(super) target: Option<String>,
    /// The same seed on the same tree and history gives the same bug [default: from the clock, and shown]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
}

/// What the embedded players go by.
#[derive(Debug, Args)]
pub(super) struct Policy {
    /// The embedded players go by this checkpoint of `train`, or by fixed rules (start) [default: what was
    /// trained in the workspace, else start]
    #[arg(long, value_name = "CHECKPOINT|start")]
    pub(super) policy: Option<String>,
}

/// G.
#[derive(Debug, Args)]
pub(super) struct Attempts {
    /// Attempts per bug
    #[arg(long, value_name = "G", default_value_t = DEFAULT_ATTEMPTS)]
    pub(super) attempts: usize,
    /// Candidate repairs that one attempt may run [default: 160, or 40 where each must be built by
    /// itself]
    #[arg(long, value_name = "N")]
    pub(super) runs: Option<usize>,
}

fn tier() -> impl TypedValueParser<Value = Tier> {
    PossibleValuesParser::new(["A", "B", "C"]).map(|name| match name.as_str() {
        "A" => Tier::A,
        "B" => Tier::B,
        _ => Tier::C,
    })
}

fn strategy() -> impl TypedValueParser<Value = Strategy> {
    let names = ["direct", "removal", "history", "mixed", "higher_order", "feature"];
    PossibleValuesParser::new(names).map(|name| match name.as_str() {
        "direct" => Strategy::Direct,
        "removal" => Strategy::Removal,
        "history" => Strategy::History,
        "higher_order" => Strategy::HigherOrder,
        "feature" => Strategy::Feature,
        _ => Strategy::Mixed,
    })
}

fn host_name(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if text.is_empty() || !text.bytes().all(plain) {
        return Err("give a name without a scheme, port or path, as in dev.example".to_owned());
    }
    Ok(text.to_ascii_lowercase())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "give a number of seconds".to_owned())?;
    time_limit(seconds).map_err(|refusal| refusal.to_string())
}

/// Reads a length of time with a unit: `8h`, `30m`, `90s`.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    let refusal = || "give a whole number and a unit: 8h, 30m or 90s".to_owned();
    let at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(refusal)?;
    let (number, unit) = text.split_at(at);
    let number: u64 = number.parse().map_err(|_| refusal())?;
    let seconds = match unit {
        "s" => Some(number),
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        "d" => number.checked_mul(86_400),
        _ => None,
    };
    match seconds {
        Some(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err(refusal()),
    }
}
