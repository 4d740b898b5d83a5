//! What a person is told to add, and what to know of each client.

use super::client::{Client, Format, Place, Scope};
use super::entry::Entry;
use super::own_command::OwnCommand;
use super::{SERVER, document, tables, yaml};
use serde_json::{Value, json};

/// What to add by hand, and what is worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// In the form of the client's file; for an editor without one, of its plugins.
    pub text: String,
    /// The client's own command that does the same.
    pub command: Option<String>,
    /// Settings that are the user's to decide.
    pub optional: Option<String>,
    /// For the editor's own configuration: what has it start the language server.
    pub language_server: Option<String>,
    pub notes: Vec<String>,
}

impl Snippet {
    pub(super) fn of(client: Client, place: Option<&Place>, program: &str) -> Self {
        let scope = place.map_or(Scope::User, |place| place.scope);
        Self {
            text: text(client, program),
            command: OwnCommand::of(client, scope, program).map(|command| command.shown()),
            optional: (client == Client::Codex).then(|| CODEX_OPTIONAL.to_owned()),
            language_server: language_server(client, program),
            notes: notes(client, scope).into_iter().map(str::to_owned).collect(),
        }
    }
}

fn text(client: Client, program: &str) -> String {
    let entry = Entry::of(client, program);
    let whole = entry.whole();
    match (client, client.format()) {
        (Client::Emacs, _) => format!(
            "(setq mcp-hub-servers\n      '((\"{SERVER}\" . (:command {} :args (\"mcp\")))))",
            Value::from(program)
        ),
        (_, Format::Toml) => tables::set("", client.servers_key(), SERVER, &whole)
            .unwrap_or_default()
            .trim_end()
            .to_owned(),
        (_, Format::Yaml) => {
            format!("{}:\n{}", client.servers_key(), yaml::block(SERVER, &whole, 2))
                .trim_end()
                .to_owned()
        }
        (_, Format::OwnYaml) => document::own_file(&entry).trim_end().to_owned(),
        (_, Format::Jsonc) => {
            let file = json!({ client.servers_key(): { SERVER: whole } });
            format!("{file:#}")
        }
    }
}

fn language_server(client: Client, program: &str) -> Option<String> {
    // A quoted string of JSON is one of Lua, TOML and Lisp, too.
    let program = Value::from(program);
    match client {
        Client::Neovim => Some(format!(
            "-- With editors/neovim on the 'runtimepath' (its README.md):\n\
             vim.lsp.config('ssr_mcp', {{ cmd = {{ {program}, 'lsp' }} }})\n\
             vim.lsp.enable('ssr_mcp')"
        )),
        Client::Helix => Some(format!(
            "# ~/.config/helix/languages.toml\n\
             [language-server.{SERVER}-mcp]\n\
             command = {program}\n\
             args = [\"lsp\"]\n\
             \n\
             # For each language that you want it for; name those servers, too, that you have for it.\n\
             [[language]]\n\
             name = \"python\"\n\
             language-servers = [\"pylsp\", \"{SERVER}-mcp\"]"
        )),
        Client::Emacs => Some(format!(
            ";; For Eglot, which has one server a buffer: this takes the place of another one.\n\
             (with-eval-after-load 'eglot\n  \
               (add-to-list 'eglot-server-programs '(python-mode . ({program} \"lsp\"))))"
        )),
        _ => None,
    }
}

const CODEX_OPTIONAL: &str = "\
# Whether Codex asks before a call: auto (the default), prompt or approve. `codex exec` cannot ask, and
# refuses what it would have to ask for; so approve what it may call there, for all tools or for one:
# default_tools_approval_mode = \"approve\"
# [mcp_servers.ssr.tools.inject_bug]
# approval_mode = \"approve\"

# Codex gives a server next to nothing of your environment. `env_vars` names what is passed on (above:
# what says where toolchains and state are); a value of its own is set in
# [mcp_servers.ssr.env]
# SSR_MCP_LOG = \"info\"

# A model behind another endpoint must speak the Responses API; \"chat\" is an error by now.
# model_provider = \"taotoken\"     # in the first lines of the file, before any table
# model = \"NAME\"                  # there, too
# [model_providers.taotoken]
# name = \"taotoken\"
# base_url = \"https://HOST/v1\"
# env_key = \"TAOTOKEN_API_KEY\"
# wire_api = \"responses\"";

fn notes(client: Client, scope: Scope) -> Vec<&'static str> {
    let mut notes = match client {
        Client::ClaudeCode if scope == Scope::Project => vec![
            "Claude Code asks once in the project before it starts the server; `claude mcp list` shows it as \
             pending until then.",
        ],
        Client::ClaudeCode => {
            vec![
                "`claude mcp list` starts the server and says whether it answers. Sessions that run take it up \
             when they are started anew.",
            ]
        }
        Client::Codex if scope == Scope::Project => {
            vec!["Codex reads a project's file only where the project is trusted."]
        }
        Client::Codex => vec![
            "Codex ends a call at tool_timeout_sec whatever progress it tells; raise it for large repositories.",
        ],
        Client::Cline => vec![
            "Cline ends a call after 60 seconds whatever progress it tells; \"timeout\": SECONDS beside \
             \"transport\" raises that.",
            "Cline's extension in VS Code gives a server little of your environment; name what is needed under \
             \"env\" in \"transport\".",
        ],
        Client::VsCode => vec![
            "VS Code asks once whether the server is trusted. Leave its \"sandboxEnabled\" off: our own sandbox \
             may not work inside of it (`ssr-mcp doctor` tells).",
        ],
        Client::Cursor => {
            vec!["Cursor shows the server in its settings under MCP, where it is switched on."]
        }
        Client::Gemini => vec![
            "Gemini CLI starts servers in trusted folders only, and keeps variables with names like TOKEN, \
             SECRET or KEY to itself; name those that are needed under \"env\".",
        ],
        Client::Zed => vec![
            "Zed takes tools and prompts of a server, nothing else. A language server it starts only where an \
             extension names it, and there is none for this one.",
        ],
        Client::Continue => vec!["Continue uses servers in its agent mode only."],
        Client::Goose => {
            vec!["Sessions that run take the extension up when they are started anew."]
        }
        Client::Neovim => vec![
            "Neovim has no MCP of its own. This is for ~/.config/mcphub/servers.json of the plugin \
             mcphub.nvim; other plugins take the same shape.",
        ],
        Client::Helix => vec![
            "Helix has no MCP and no plugins that bring it. This is for the agent that you run beside it.",
        ],
        Client::Emacs => vec![
            "Emacs has no MCP of its own. This is for the package mcp.el, whose servers gptel can use; then \
             M-x mcp-hub.",
        ],
    };
    if scope == Scope::Project {
        notes.push(
            "The path of this machine's binary goes into a file of the project: others who share it have \
             theirs elsewhere.",
        );
    }
    notes
}
