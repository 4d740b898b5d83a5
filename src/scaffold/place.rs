//! Which file a player means: one of the tree, or one of the sandbox's own directory for temporary files.

use super::Trouble;
use crate::tree::RelPath;
use std::fmt;
use std::path::{Component, Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Tree(RelPath),
    /// Below `/tmp`, without `..`.
    Temporary(PathBuf),
}

impl Place {
    /// Reads a path: relative to the tree's root, or absolute. `root`: where the tree is.
    pub fn parse(root: &Path, text: &str) -> Result<Self, Trouble> {
        let refuse = |reason: &dyn fmt::Display| Trouble::Path {
            path: text.to_owned(),
            reason: reason.to_string(),
        };
        let path = Path::new(text);
        let below = if path.is_absolute() {
            match path.strip_prefix(root) {
                Ok(below) => below.to_str().unwrap_or_default(),
                Err(_) => {
                    return temporary(path).ok_or_else(|| refuse(&"it is outside of the tree"));
                }
            }
        } else {
            text.strip_prefix("./").unwrap_or(text)
        };
        RelPath::parse(below.as_bytes()).map(Self::Tree).map_err(|refusal| refuse(&refusal))
    }

    /// Where it is, for the sandbox.
    pub(super) fn inside(&self, root: &Path) -> PathBuf {
        match self {
            Self::Tree(path) => root.join(path.as_str()),
            Self::Temporary(path) => path.clone(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tree(path) => write!(f, "{path}"),
            Self::Temporary(path) => write!(f, "{}", path.display()),
        }
    }
}

fn temporary(path: &Path) -> Option<Place> {
    let plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    let below = path.strip_prefix("/tmp").ok()?;
    let named = below.file_name().is_some() && !path.as_os_str().as_encoded_bytes().contains(&0);
    (named && path.components().all(plain)).then(|| Place::Temporary(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let place = Place::parse(Path::new("/tmp/code/repo"), text);
        assert_eq!(place.ok().map(|place| place.to_string()).as_deref(), expect, "{text}");
    }

    #[test]
    fn a_place_is_in_the_tree_or_below_tmp() {
        check("src/a.py", Some("src/a.py"));
        check("./src/a.py", Some("src/a.py"));
        check("/tmp/code/repo/src/a.py", Some("src/a.py"));
        check("/tmp/notes.txt", Some("/tmp/notes.txt"));
        check("/tmp/code/other", Some("/tmp/code/other"));
    }

    #[test]
    fn whatever_leads_elsewhere_is_refused() {
        for text in [
            "",
            ".",
            "..",
            "../x",
            "src/../../x",
            "/etc/passwd",
            "/tmp",
            "/tmp/../etc/passwd",
            "/tmp/code/repo",
            "/tmp/code/repo/../x",
            "/tmp/code/repository/../../../etc/x",
            ".git/config",
            "a/.GIT/hooks/x",
            "a\0b",
            "/tmp/a\0b",
            "src/",
        ] {
            check(text, None);
        }
    }
}
