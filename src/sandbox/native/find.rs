//! Finds a bubblewrap that can be used.

use super::Unavailable;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The oldest that is known to work.
const OLDEST: (u32, u32) = (0, 8);

/// The first `bwrap` in these directories, if it is one to use.
pub(super) fn bubblewrap(path: &[PathBuf]) -> Result<PathBuf, Unavailable> {
    let found = path.iter().map(|dir| dir.join("bwrap")).find_map(|program| {
        let metadata = std::fs::metadata(&program).ok()?;
        (metadata.is_file() && metadata.mode() & 0o111 != 0).then_some((program, metadata))
    });
    let Some((program, metadata)) = found else {
        return Err(Unavailable {
            reason: "bubblewrap is not on the PATH".into(),
            fix: "install bubblewrap 0.8 or newer (`sudo apt install bubblewrap`)".into(),
        });
    };
    let shown = program.display();
    if metadata.mode() & 0o6000 != 0 {
        return Err(Unavailable {
            reason: format!("{shown} has set-user-id rights, which a sandbox must not start from"),
            fix: format!("`sudo chmod u-s,g-s {shown}`, where user namespaces are allowed"),
        });
    }
    let said = version(&program);
    if said.as_deref().and_then(number).is_some_and(|version| version >= OLDEST) {
        return Ok(program);
    }
    let said = said.unwrap_or_else(|| "nothing".into());
    Err(Unavailable {
        reason: format!("{shown} is no bubblewrap 0.8 or newer: as its version it said {said:?}"),
        fix: "install bubblewrap 0.8 or newer".into(),
    })
}

#[expect(clippy::disallowed_methods, reason = "this is the module that starts processes")]
fn version(program: &Path) -> Option<String> {
    let said = std::process::Command::new(program)
        .arg("--version")
        .env_clear()
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&said.stdout).trim().chars().take(80).collect())
}

/// Major and minor of `bubblewrap 0.8.0`.
fn number(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.strip_prefix("bubblewrap ")?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &str, expect: Option<(u32, u32)>) {
        assert_eq!(number(said), expect, "{said}");
    }

    #[test]
    fn a_version_is_two_numbers_after_the_name() {
        check("bubblewrap 0.8.0", Some((0, 8)));
        check("bubblewrap 0.11.1", Some((0, 11)));
        check("bubblewrap 1.0", Some((1, 0)));
        check("bubblewrap", None);
        check("0.8.0", None);
        check("bubblewrap x.y", None);
    }
}
