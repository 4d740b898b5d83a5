//! Why the settings of models cannot be used, and what to do.

use super::Player;
use crate::model::{self, BadUrl};
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{} cannot be read ({}); correct it, or remove it", .0.display(), .1)]
    Unreadable(PathBuf, String),
    #[error("there is no {}; give a file that is there", .0.display())]
    Missing(PathBuf),
    #[error(
        "{}: {} would put a key into a file that is soon copied or committed; put the key into an environment \
         variable and name that in api_key_env, or into a file of its own and name that in api_key_file",
        .0.display(),
        .1
    )]
    LiteralKey(PathBuf, String),
    #[error(
        "{}: {setting} is not taken from a repository's own file, since whoever wrote the repository could so send \
         your key, code or money elsewhere; put it into {user}, or trust this repository there: trust = [{:?}]",
        path.display(),
        root.display().to_string()
    )]
    Untrusted { path: PathBuf, setting: String, root: PathBuf, user: String },
    #[error(
        "no model is named for the {}; set {}, or model below [roles.{}] in ssr-mcp.toml, or give its flag",
        .0.name(),
        .0.variable(),
        .0.name()
    )]
    NoModel(Player),
    #[error(
        "the provider {0:?} has no base_url; set it below its [providers] entry in the user's ssr-mcp.toml"
    )]
    NoUrl(String),
    #[error("provider {0}: {1}")]
    Url(String, BadUrl),
    #[error(
        "the key file {} can be read by others (its mode is {mode:o}); keep it to yourself: chmod 600",
        path.display()
    )]
    OpenKeyFile { path: PathBuf, mode: u32 },
    #[error("the file {} cannot be read ({reason}); give one that can", path.display())]
    KeyFile { path: PathBuf, reason: String },
    #[error(
        "the kernel's keyring gives no key for {provider} ({reason}); put one there with `keyctl padd user \
         ssr-mcp:{provider} @u`, or name a variable or a file"
    )]
    Keyring { provider: String, reason: String },
    #[error(transparent)]
    Key(model::Error),
}
