//! Where coding agents and editors keep their configuration, as the environment says it.

use super::Environment;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// Directories below which clients' files are looked for; `None` where the environment names none.
#[derive(Clone, Debug, Default)]
pub struct ClientHomes {
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    pub config: Option<PathBuf>,
    /// `$CLAUDE_CONFIG_DIR`, else the home directory itself: the parent of `.claude.json`.
    pub claude: Option<PathBuf>,
    /// `$CODEX_HOME`, else `~/.codex`.
    pub codex: Option<PathBuf>,
    /// `$CLINE_MCP_SETTINGS_PATH`, else below `$CLINE_DATA_DIR`, else below `data` of `$CLINE_DIR`, else
    /// of `~/.cline`: the file itself.
    pub cline: Option<PathBuf>,
    /// `$CONTINUE_GLOBAL_DIR`, else `~/.continue`.
    pub continue_dev: Option<PathBuf>,
    /// `$GEMINI_CLI_HOME`, else the home directory: the parent of `.gemini`.
    pub gemini: Option<PathBuf>,
    /// Where project files are: the working directory.
    pub project: PathBuf,
}

/// Where and with what a client's own command is started.
#[derive(Clone, Debug, Default)]
pub struct ClientCommands {
    /// Directories where programs are looked for.
    pub path: Vec<PathBuf>,
    /// All that it gets of the environment.
    pub variables: BTreeMap<OsString, OsString>,
    /// Where it is started: project files are written there.
    pub project: PathBuf,
}

/// What tells a client where its files are, what it may start, and how the user reads: no key.
const PASSED: [&str; 22] = [
    "CLAUDE_CONFIG_DIR",
    "CLINE_DATA_DIR",
    "CLINE_DIR",
    "CLINE_MCP_SETTINGS_PATH",
    "CODEX_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "GEMINI_CLI_HOME",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "PATH",
    "SHELL",
    "TMPDIR",
    "USER",
    "WAYLAND_DISPLAY",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

impl ClientCommands {
    pub(super) fn of(environment: &Environment, project: PathBuf) -> Self {
        Self { path: environment.path_list("PATH"), variables: environment.some(&PASSED), project }
    }
}

impl ClientHomes {
    pub(super) fn of(environment: &Environment, project: PathBuf) -> Self {
        let home = environment.absolute("HOME");
        let below = |name: &str| home.as_ref().map(|home| home.join(name));
        Self {
            config: environment.absolute("XDG_CONFIG_HOME").or_else(|| below(".config")),
            claude: environment.absolute("CLAUDE_CONFIG_DIR").or_else(|| home.clone()),
            cline: environment.absolute("CLINE_MCP_SETTINGS_PATH").or_else(|| {
                let data = environment
                    .absolute("CLINE_DATA_DIR")
                    .or_else(|| environment.absolute("CLINE_DIR").map(|dir| dir.join("data")))
                    .or_else(|| below(".cline/data"));
                data.map(|data| data.join("settings/cline_mcp_settings.json"))
            }),
            codex: environment.absolute("CODEX_HOME").or_else(|| below(".codex")),
            continue_dev: environment
                .absolute("CONTINUE_GLOBAL_DIR")
                .or_else(|| below(".continue")),
            gemini: environment.absolute("GEMINI_CLI_HOME").or_else(|| home.clone()),
            home,
            project,
        }
    }
}
