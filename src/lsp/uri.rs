//! File URIs and paths.

use super::types::Uri;
use std::path::{Path, PathBuf};

/// The path of a file URI, whatever its spelling (`%20`, `%c3%a4`, a `localhost` authority).
pub(super) fn path(uri: &Uri) -> Option<PathBuf> {
    let parsed = url::Url::parse(uri.as_ref()).ok()?;
    (parsed.scheme() == "file").then(|| parsed.to_file_path().ok())?
}

/// The URI of an absolute path.
pub(super) fn of_path(path: &Path) -> Option<Uri> {
    url::Url::from_file_path(path).ok().map(|url| Uri::from(String::from(url)))
}
