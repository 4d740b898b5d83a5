//! What a repository's own file may say. Whoever wrote the repository wrote it, so that it must not be able to send
//! the user's key, code or money anywhere that the user did not name.

use super::Problem;
use super::file::Read;
use super::layers::{Layers, entries};
use crate::model::{BaseUrl, Kind};
use std::path::Path;

/// Whether the user's own file trusts this repository.
pub(super) fn is_trusted(root: &Path, user: &Layers) -> bool {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    user.trusted().any(|trusted| trusted.canonicalize().is_ok_and(|trusted| trusted == root))
}

/// Refuses what a stranger's file may not set. `below` is what the user's file and the environment say.
pub(super) fn admit(
    read: &Read,
    root: &Path,
    user: Option<&Path>,
    below: &Layers,
) -> Result<(), Problem> {
    let refused = entries(&read.file).into_iter().find(|(name, value)| !may(name, value, below));
    match refused {
        None => Ok(()),
        Some((setting, _)) => Err(Problem::Untrusted {
            path: read.path.clone(),
            setting,
            root: root.to_path_buf(),
            user: user.map_or_else(
                || "the user's ssr-mcp.toml".to_owned(),
                |dir| dir.join(super::FILE).display().to_string(),
            ),
        }),
    }
}

fn may(name: &str, value: &str, below: &Layers) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        ["provider"] | ["roles", _, "provider"] => is_known(value, below),
        ["roles", _, "model"] => value
            .rsplit_once('@')
            .is_none_or(|(_, provider)| Kind::of(provider).is_none() || is_known(provider, below)),
        // The same URL is no other place.
        ["providers", provider, "base_url"] => is_same(provider, value, below),
        // With prices of its own a file could get around a budget.
        ["trust" | "providers", ..]
        | ["roles", _, "price_input" | "price_cached" | "price_output"] => false,
        _ => true,
    }
}

/// A provider that the user names, or the default one, or a server of this machine.
fn is_known(provider: &str, below: &Layers) -> bool {
    let local = Kind::of(provider).is_some_and(|kind| kind.key_variable().is_none())
        && !below.provider_names().contains(provider);
    provider == super::PROVIDER || below.provider_names().contains(provider) || local
}

fn is_same(provider: &str, url: &str, below: &Layers) -> bool {
    let known = below
        .provider(provider, |table| table.base_url.clone())
        .map(|found| found.value)
        .or_else(|| Kind::of(provider)?.base_url().map(str::to_owned));
    let canonical = |url: &str| BaseUrl::of(url, false).map(|base| base.to_string()).ok();
    known.is_some_and(|known| canonical(&known).is_some() && canonical(&known) == canonical(url))
}
