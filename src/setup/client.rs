//! The clients, and the file in which each registers MCP servers.

use super::Error;
use crate::config::ClientHomes;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    ClaudeCode,
    Codex,
    Cline,
    VsCode,
    Cursor,
    Gemini,
    Zed,
    Continue,
    Goose,
    Neovim,
    Helix,
    Emacs,
}

/// Whose sessions a registration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every project of the user.
    User,
    /// The project in the working directory, for everybody who has its files.
    Project,
}

/// How a client's file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON with comments and trailing commas, which every reader of JSON here is given.
    Jsonc,
    Toml,
    Yaml,
    /// A YAML file of ours alone.
    OwnYaml,
}

/// A file of a client.
#[derive(Clone, Debug)]
pub struct Place {
    pub client: Client,
    pub scope: Scope,
    pub path: PathBuf,
}

impl Client {
    pub const ALL: [Self; 12] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Cline,
        Self::VsCode,
        Self::Cursor,
        Self::Gemini,
        Self::Zed,
        Self::Continue,
        Self::Goose,
        Self::Neovim,
        Self::Helix,
        Self::Emacs,
    ];

    /// The word by which it goes on the command line and in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cline => "cline",
            Self::VsCode => "vscode",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Zed => "zed",
            Self::Continue => "continue",
            Self::Goose => "goose",
            Self::Neovim => "neovim",
            Self::Helix => "helix",
            Self::Emacs => "emacs",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Whether MCP servers are registered in a file of its own, and not with some plugin of the user's.
    pub fn has_file(self) -> bool {
        !matches!(self, Self::Neovim | Self::Helix | Self::Emacs)
    }

    pub(super) fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml,
            Self::Goose => Format::Yaml,
            Self::Continue => Format::OwnYaml,
            _ => Format::Jsonc,
        }
    }

    /// The key under which the file lists servers.
    pub(super) fn servers_key(self) -> &'static str {
        match self {
            Self::Codex => "mcp_servers",
            Self::VsCode => "servers",
            Self::Zed => "context_servers",
            Self::Goose => "extensions",
            _ => "mcpServers",
        }
    }

    fn user_file(self, homes: &ClientHomes) -> Option<PathBuf> {
        let (base, file) = match self {
            Self::ClaudeCode => (&homes.claude, ".claude.json"),
            Self::Codex => (&homes.codex, "config.toml"),
            Self::Cline => return homes.cline.clone(),
            Self::VsCode => (&homes.config, "Code/User/mcp.json"),
            Self::Cursor => (&homes.home, ".cursor/mcp.json"),
            Self::Gemini => (&homes.gemini, ".gemini/settings.json"),
            Self::Zed => (&homes.config, "zed/settings.json"),
            Self::Continue => (&homes.continue_dev, "mcpServers/ssr-mcp.yaml"),
            Self::Goose => (&homes.config, "goose/config.yaml"),
            Self::Neovim | Self::Helix | Self::Emacs => return None,
        };
        base.as_ref().map(|base| base.join(file))
    }

    fn project_file(self, homes: &ClientHomes) -> Option<PathBuf> {
        let file = match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::VsCode => ".vscode/mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Zed => ".zed/settings.json",
            Self::Continue => ".continue/mcpServers/ssr-mcp.yaml",
            Self::Cline | Self::Goose | Self::Neovim | Self::Helix | Self::Emacs => return None,
        };
        Some(homes.project.join(file))
    }
}

impl Scope {
    pub const ALL: [Self; 2] = [Self::User, Self::Project];

    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl Place {
    pub fn of(client: Client, scope: Scope, homes: &ClientHomes) -> Result<Self, Error> {
        if !client.has_file() {
            return Err(Error::ByPlugin { client });
        }
        let path = match scope {
            Scope::User => client.user_file(homes).ok_or(Error::NoHome { client })?,
            Scope::Project => client.project_file(homes).ok_or(Error::NoSuchScope {
                client,
                scope,
                other: Scope::User,
            })?,
        };
        Ok(Self { client, scope, path })
    }

    /// Every file there could be.
    pub fn all(homes: &ClientHomes) -> Vec<Self> {
        let of = |client| {
            Scope::ALL.into_iter().filter_map(move |scope| Self::of(client, scope, homes).ok())
        };
        Client::ALL.into_iter().flat_map(of).collect()
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
