//! Which names are never copied, and which directories are caches.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The first bytes of a `CACHEDIR.TAG` (<https://bford.info/cachedir/>).
const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Directories that tools fill and a person does not read.
pub(super) const CACHES: [&str; 13] = [
    ".hypothesis",
    ".mypy_cache",
    ".nox",
    ".nyc_output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    "lcov-report",
    "node_modules",
];

/// Whether a component is never copied at any depth, tracked or not: version control, byte code and
/// editors' copies hold the original of what a bug changes.
pub(super) fn never(name: &[u8]) -> bool {
    let ends = |suffix: &str| name.ends_with(suffix.as_bytes());
    let dot = name.first() == Some(&b'.');
    let vim_swap =
        || matches!(name, [b'.', .., b'.', b's', b'w', last] if (b'a'..=b'p').contains(last));
    name.eq_ignore_ascii_case(b".git")
        || (dot && matches!(name, b".hg" | b".svn" | b".jj"))
        || name == b"__pycache__"
        || [".pyc", ".pyo", ".orig", ".rej", "~"].into_iter().any(ends)
        || name.starts_with(b".#")
        || (name.len() > 1 && name.starts_with(b"#") && name.ends_with(b"#"))
        || vim_swap()
}

/// Whether an untracked directory is a cache or an environment: known by its name, by the tag that
/// cargo and others put in theirs, or by `pyvenv.cfg`.
pub(super) fn is_cache(directory: &Path, name: &[u8]) -> bool {
    CACHES.iter().any(|known| known.as_bytes() == name)
        || directory.join("pyvenv.cfg").is_file()
        || is_tagged(&directory.join("CACHEDIR.TAG"))
}

fn is_tagged(tag: &Path) -> bool {
    if !tag.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut start = [0; CACHE_TAG.len()];
    File::open(tag).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == CACHE_TAG
}
