//! Where coding agents and editors keep their configuration, as the environment says it.

use super::Environment;
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
