//! Flags and environment to plain options: the only reader of the environment, the working
//! directory and the default seed.

mod clients;
mod environment;
mod grammars;
mod models;
mod token;
mod tools;
#[cfg(test)]
mod tests;

pub use clients::{ClientCommands, ClientHomes};
pub use environment::Environment;
pub use models::{
    FILE as MODEL_FILE, ModelFlags, ModelSettings, Models, Origin, Player, Price,
    Problem as ModelProblem, Rewards, Setting, schema as model_schema,
};
pub use token::Token;
pub use tools::ToolGroup;

use crate::runner::Machine;
use crate::sandbox::{Choice, Tier, surroundings};
use crate::syntax::GrammarSource;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the command line says about the host, whatever the command.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--state-dir`: the parent of all workspaces' state directories.
    pub state_dir: Option<PathBuf>,
    /// `--sandbox`: this tier or none.
    pub sandbox: Option<Tier>,
    /// `-v` given so many times.
    pub verbose: u8,
    /// `mcp --tools`; empty where it is not given.
    pub tools: Vec<ToolGroup>,
    /// `--config`: a file of settings that the user named.
    pub config: Option<PathBuf>,
}

/// Everything that was read once, at the start of the process.
#[derive(Clone, Debug)]
pub struct Config {
    /// The working directory of the process; relative paths of arguments start here.
    pub cwd: PathBuf,
    /// Processor cores that this process may use, at least 1.
    pub cores: usize,
    /// Bytes of memory that the machine has.
    pub memory: u64,
    /// The seed where none is given: from the clock. Faces show it, so that a run can be repeated.
    pub seed: u64,
    /// A `tracing` filter, e.g. `warn` or `ssr_mcp=debug`.
    pub log: String,
    /// The user's grammar folders, read.
    pub grammars: Vec<GrammarSource>,
    /// The program that runs: the sandbox starts it anew as its helper.
    pub program: PathBuf,
    /// What the sandbox is chosen from.
    pub sandbox: Choice,
    /// Where clients of ours keep their configuration.
    pub clients: ClientHomes,
    /// With what a client's own command is started.
    pub client_commands: ClientCommands,
    /// Variables by which containers and clients' sandboxes are known.
    pub surroundings: BTreeMap<String, String>,
    /// What a coding agent is offered.
    pub tools: BTreeSet<ToolGroup>,
    state_root: Option<PathBuf>,
    machine: Option<Machine>,
    http_token: Option<Token>,
    models: models::Sources,
}

/// Why no options came out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "HOME is not set (or is not an absolute path), and toolchains and the state directory are \
         looked up below it; set HOME"
    )]
    NoHome,
    #[error("the working directory cannot be read ({0}); start ssr-mcp in a directory that exists")]
    NoWorkingDirectory(String),
    #[error("the grammar file {path} cannot be read ({reason}); correct or remove it")]
    Grammar { path: String, reason: String },
    #[error(
        "the token of {0} cannot be used: it has to be one line of at least 16 characters from \
         A-Z, a-z, 0-9 and -._~+/=; make one with: openssl rand -hex 32"
    )]
    Token(String),
    #[error("SSR_MCP_TOOLS: {0}")]
    Tools(String),
    #[error("the token file {path} cannot be read ({reason}); give a file that can")]
    TokenFile { path: String, reason: String },
}

impl Config {
    /// `seed` is what [`seed_from_clock`] gave, `cores` and `memory` what the system offers.
    pub fn new(
        flags: &Flags,
        environment: &Environment,
        seed: u64,
        cores: usize,
        memory: u64,
    ) -> Result<Self, Error> {
        let cwd = environment.cwd.clone().map_err(Error::NoWorkingDirectory)?;
        let home = environment.absolute("HOME");
        let state_root = flags
            .state_dir
            .as_ref()
            .map(|dir| cwd.join(dir))
            .or_else(|| environment.path("SSR_MCP_STATE_DIR").map(|dir| cwd.join(dir)))
            .or_else(|| environment.absolute("XDG_STATE_HOME").map(|dir| dir.join("ssr-mcp")))
            .or_else(|| home.as_ref().map(|home| home.join(".local/state/ssr-mcp")));
        let config_home = environment
            .absolute("XDG_CONFIG_HOME")
            .or_else(|| home.as_ref().map(|home| home.join(".config")));
        let user = config_home.map(|dir| dir.join("ssr-mcp"));
        let grammars = match &user {
            Some(dir) => grammars::read(&dir.join("grammars"))?,
            None => Vec::new(),
        };
        let models = models::Sources {
            environment: environment.clone(),
            user,
            given: flags.config.as_ref().map(|file| cwd.join(file)),
        };
        let machine = home.map(|home| Machine {
            path: environment.path_list("PATH"),
            home,
            virtual_env: environment.absolute("VIRTUAL_ENV"),
            cargo_home: environment.absolute("CARGO_HOME"),
            rustup_home: environment.absolute("RUSTUP_HOME"),
            go_path: environment.absolute("GOPATH"),
            go_mod_cache: environment.absolute("GOMODCACHE"),
        });
        let log = match (flags.verbose, environment.text("SSR_MCP_LOG")) {
            (0, Some(filter)) => filter,
            (0, None) => "warn,rmcp=error".to_owned(),
            (1, _) => "warn,rmcp=error,ssr_mcp=info".to_owned(),
            (_, _) => "info,ssr_mcp=debug".to_owned(),
        };
        let clients = ClientHomes::of(environment, cwd.clone());
        let client_commands = ClientCommands::of(environment, cwd.clone());
        let surroundings = surroundings::names()
            .filter_map(|name| Some((name.to_owned(), environment.text(name)?)))
            .collect();
        let tools = tools::chosen(&flags.tools, environment.text(tools::VARIABLE).as_deref())?;
        let program = environment.program.clone();
        let sandbox = Choice { only: flags.sandbox, path: environment.path_list("PATH") };
        Ok(Self {
            cwd,
            cores: cores.max(1),
            memory,
            seed,
            log,
            grammars,
            program,
            sandbox,
            clients,
            client_commands,
            surroundings,
            tools,
            state_root,
            machine,
            http_token: environment.text(token::VARIABLE).map(|text| Token::unchecked(&text)),
            models,
        })
    }

    /// What clients of the HTTP server must show: the file's, else the variable's. `None` where neither
    /// is given.
    pub fn http_token(&self, file: Option<&Path>) -> Result<Option<Token>, Error> {
        match (file, &self.http_token) {
            (Some(file), _) => Token::of_file(&self.cwd.join(file)).map(Some),
            (None, Some(token)) => token.clone().checked(token::VARIABLE).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Which models play, and how they are reached. `workspace`: the root of the repository, whose own files are
    /// read, too.
    pub fn models(
        &self,
        workspace: Option<&Path>,
        flags: &ModelFlags,
    ) -> Result<Models, ModelProblem> {
        Models::read(&self.models, workspace, flags)
    }

    /// Whether a variable of this process holds a key.
    pub fn has_keys(&self) -> bool {
        self.models.environment.names().any(|name| name.ends_with("_API_KEY"))
    }

    /// The parent of all workspaces' state directories. Absolute; it need not exist yet.
    pub fn state_root(&self) -> Result<&Path, Error> {
        self.state_root.as_deref().ok_or(Error::NoHome)
    }

    /// Runs at once that may each take so much memory: one a core, and together no more than the machine
    /// has; at least one.
    pub fn parallel(&self, memory: u64) -> usize {
        let fit = usize::try_from(self.memory / memory.max(1)).unwrap_or(usize::MAX);
        self.cores.min(fit).max(1)
    }

    /// Where toolchains are looked for.
    pub fn machine(&self) -> Result<&Machine, Error> {
        self.machine.as_ref().ok_or(Error::NoHome)
    }
}

/// Nanoseconds of the clock, mixed: the seed of a run that names none. Below 2^32, so that it
/// survives readers of JSON that keep numbers as doubles.
pub fn seed_from_clock() -> u64 {
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let low = u64::try_from(nanos & u128::from(u64::MAX)).unwrap_or(0);
    crate::dice::Dice::new(low).roll() >> 32
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Bytes of memory that the machine has.
pub fn memory() -> u64 {
    let system = rustix::system::sysinfo();
    let unit = u64::from(system.mem_unit).max(1);
    #[allow(clippy::useless_conversion, reason = "a word of the machine, whatever its width")]
    u64::try_from(system.totalram).unwrap_or(u64::MAX).saturating_mul(unit)
}
