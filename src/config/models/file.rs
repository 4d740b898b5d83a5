//! `ssr-mcp.toml`: what may stand in it.

use super::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Longest file that is read.
const LONGEST: u64 = 256 << 10;

/// Settings of ssr-mcp: which model plays a role, and how it is reached.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(title = "ssr-mcp.toml")]
#[serde(default)]
pub(super) struct File {
    /// The provider of roles that name none [default: taotoken].
    pub(super) provider: Option<String>,
    /// Servers by name. taotoken, openai, ollama, `llama_cpp`, vllm, sglang and `lm_studio` are known without.
    pub(super) providers: BTreeMap<String, ProviderTable>,
    pub(super) roles: Roles,
    pub(super) reward: RewardTable,
    /// Repositories whose own files may say where your keys and code are sent. Of the user's file only.
    pub(super) trust: Vec<PathBuf>,
}

/// Who plays by a model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Roles {
    /// Makes bugs.
    pub(super) injector: RoleTable,
    /// Repairs them.
    pub(super) solver: RoleTable,
    /// Plays in three stages.
    pub(super) ornith: RoleTable,
}

/// A server that speaks `OpenAI`'s protocol. A repository's own file may not say where keys and code go, unless the
/// user trusts it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct ProviderTable {
    /// What it is, where its name does not tell: taotoken, openai, ollama, `llama_cpp`, vllm, sglang, `lm_studio`.
    pub(super) kind: Option<String>,
    /// With or without /v1.
    pub(super) base_url: Option<String>,
    /// Take the URL as it is: add no /v1 where it has none.
    pub(super) exact_url: Option<bool>,
    /// The environment variable that holds its key.
    pub(super) api_key_env: Option<String>,
    /// A file that holds its key and that nobody else may read (chmod 600).
    pub(super) api_key_file: Option<String>,
    /// Its key is in the kernel's keyring: keyctl padd user ssr-mcp:NAME @u.
    pub(super) keyring: Option<bool>,
    /// Reach it directly, whatever `HTTP_PROXY` and `HTTPS_PROXY` say.
    pub(super) no_proxy: Option<bool>,
    /// Certificates (PEM) that are trusted beside the system's.
    pub(super) ca_file: Option<String>,
    /// Longest that one request may take [default: 600].
    pub(super) timeout_seconds: Option<u64>,
    /// How often a request is made that was surely not answered [default: 5].
    pub(super) tries: Option<u32>,
}

/// A model in its role.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct RoleTable {
    pub(super) provider: Option<String>,
    /// As its server calls it; MODEL@PROVIDER names both.
    pub(super) model: Option<String>,
    /// [default: injector 0.7, solver 0.2, ornith 1.0]
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    /// Most tokens of one reply [default: 8192].
    pub(super) max_tokens: Option<u32>,
    /// Most tokens of a conversation [default: what the server says, else 131072].
    pub(super) context: Option<u64>,
    /// How tools are called [default: auto, found out by a small request].
    pub(super) tools: Option<Tools>,
    /// Said to the model beside the prompt of ssr-mcp.
    pub(super) system_prompt: Option<String>,
    /// Money a million tokens that are sent. Of the user's file only.
    pub(super) price_input: Option<f64>,
    /// Money a million tokens that the server had already [default: as `price_input`]. Of the user's file only.
    pub(super) price_cached: Option<f64>,
    /// Money a million tokens that come. Of the user's file only.
    pub(super) price_output: Option<f64>,
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tools {
    Auto,
    /// By the protocol.
    Native,
    /// In its text.
    Text,
}

impl Tools {
    pub(super) fn is_native(self) -> Option<bool> {
        match self {
            Self::Auto => None,
            Self::Native => Some(true),
            Self::Text => Some(false),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Text => "text",
        }
    }
}

/// What scores are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct RewardTable {
    /// What a valid bug that every attempt or none solved costs its injector [default: 0.8].
    pub(super) alpha: Option<f64>,
    /// The reward of an invalid bug [default: -1].
    pub(super) invalid: Option<f64>,
}

/// A file as it was read.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) warnings: Vec<String>,
}

/// Keys of other tools that people write into such files; a key in a file is soon in a commit.
const LITERAL_KEYS: [&str; 3] = ["api_key", "key", "token"];

/// `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Read>, Problem> {
    text(path)?.map(|text| parsed(path, &text)).transpose()
}

/// A key of somebody's file, in one line: it may hold line ends, and what a terminal obeys.
pub(super) fn foreign(key: &impl std::fmt::Display) -> String {
    key.to_string().escape_debug().to_string()
}

/// What the text of a file at `path` says.
pub(super) fn parsed(path: &Path, text: &str) -> Result<Read, Problem> {
    let unreadable = |error: &toml::de::Error| {
        // The text around is not repeated: the file may be a link to anything.
        let line =
            error.span().map_or(0, |span| text[..span.start.min(text.len())].lines().count());
        let message = error.message();
        // What stands where something else is expected is in front of that.
        let reason = match message.split_once(", expected ") {
            Some((_, expected)) => format!("expected {expected}"),
            None => message.to_owned(),
        };
        Problem::Unreadable(path.to_path_buf(), format!("line {}: {reason}", line.max(1)))
    };
    let table: toml::Table = toml::from_str(text).map_err(|error| unreadable(&error))?;
    refuse_literal_keys(path, &table)?;
    let deserializer = toml::Deserializer::parse(text).map_err(|error| unreadable(&error))?;
    let mut warnings = Vec::new();
    let file = serde_ignored::deserialize(deserializer, |key| {
        let (path, key) = (path.display(), foreign(&key));
        warnings.push(format!("{path}: {key} is no setting; see `ssr-mcp config schema`"));
    })
    .map_err(|error| unreadable(&error))?;
    Ok(Read { path: path.to_path_buf(), file, warnings })
}

fn refuse_literal_keys(path: &Path, table: &toml::Table) -> Result<(), Problem> {
    let providers = table.get("providers").and_then(toml::Value::as_table);
    for (name, provider) in providers.into_iter().flatten() {
        let Some(provider) = provider.as_table() else { continue };
        if let Some(key) = LITERAL_KEYS.iter().find(|key| provider.contains_key(**key)) {
            return Err(Problem::LiteralKey(path.to_path_buf(), format!("providers.{name}.{key}")));
        }
    }
    Ok(())
}

/// The text of a regular file of a sensible size.
pub(super) fn text(path: &Path) -> Result<Option<String>, Problem> {
    let bad = |reason: String| Problem::Unreadable(path.to_path_buf(), reason);
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        Err(error) => return Err(bad(error.to_string())),
    };
    // A device or a pipe would be waited for.
    let target = path.metadata().map_err(|error| bad(error.to_string()))?;
    if !target.is_file() {
        return Err(bad("it is no file".to_owned()));
    }
    if metadata.len().max(target.len()) > LONGEST {
        return Err(bad(format!("it is longer than {} KiB", LONGEST >> 10)));
    }
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LONGEST).read_to_string(&mut text))
        .map_err(|error| bad(error.to_string()))?;
    Ok(Some(text))
}

/// The JSON schema of `ssr-mcp.toml`.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(File).to_value()
}
