//! Keys: from a variable, a file that only its owner reads, or the kernel's keyring.

use super::{Environment, Problem};
use crate::model::{Key, Provider};
use linux_keyutils::{KeyRing, KeyRingIdentifier};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Names of keys in the keyring are this, a colon, and the provider's name.
pub(super) const SERVICE: &str = "ssr-mcp";
/// Longest file that is read for a key or certificates.
const LONGEST: u64 = 1 << 20;

/// The variable's, else the file's, else the keyring's; `None` where none of them is set.
pub(super) fn find(
    environment: &Environment,
    provider: &Provider,
    file: Option<&Path>,
    keyring: bool,
) -> Result<Option<Key>, Problem> {
    let key = |text: &str, source: String| Key::new(text, source).map(Some).map_err(Problem::Key);
    let variable = &provider.key_variable;
    if let Some(text) = environment.text(variable) {
        return key(&text, variable.clone());
    }
    if let Some(file) = file {
        let path = home(environment, file);
        return key(&private(&path)?, path.display().to_string());
    }
    if keyring {
        let text = of_keyring(&provider.name)
            .map_err(|reason| Problem::Keyring { provider: provider.name.clone(), reason })?;
        return key(&text, "the keyring".to_owned());
    }
    Ok(None)
}

/// Certificates of authorities.
pub(super) fn certificates(path: &Path) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)).map_err(
        |error| Problem::KeyFile { path: path.to_path_buf(), reason: error.to_string() },
    )?;
    Ok(bytes)
}

/// The text of a file that nobody but its owner may read.
fn private(path: &Path) -> Result<String, Problem> {
    let unreadable = |error: std::io::Error| Problem::KeyFile {
        path: path.to_path_buf(),
        reason: error.to_string(),
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Problem::OpenKeyFile { path: path.to_path_buf(), mode });
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// `~/x` is below the home directory, as people write it.
fn home(environment: &Environment, path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), environment.absolute("HOME")) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

/// The kernel's keyrings: what the session holds, then what the user holds. What runs in the sandbox cannot ask them.
fn of_keyring(provider: &str) -> Result<String, String> {
    let name = format!("{SERVICE}:{provider}");
    let search = |ring| KeyRing::from_special_id(ring, false)?.search(&name)?.read_to_vec();
    let found = search(KeyRingIdentifier::Session).or_else(|_| search(KeyRingIdentifier::User));
    let bytes = found.map_err(|error| format!("asked for {name}: {error}"))?;
    String::from_utf8(bytes).map_err(|_| format!("{name} is no text"))
}
