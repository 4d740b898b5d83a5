//! Why a directory cannot be opened or frozen, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no directory {}; check the spelling of the path", dir.display())]
    Missing { dir: PathBuf },
    #[error("{} is not a directory; give the directory of the repository", dir.display())]
    NotADirectory { dir: PathBuf },
    #[error(
        "{} is a symbolic link that leads back to itself; give the real directory of the \
        repository",
        dir.display()
    )]
    LinkLoop { dir: PathBuf },
    #[error(
        "{} may not be read by this user ({source}); run as its owner or change its permissions",
        dir.display()
    )]
    Denied { dir: PathBuf, source: io::Error },
    #[error("{} cannot be opened ({source})", dir.display())]
    Unreachable { dir: PathBuf, source: io::Error },
    #[error(
        "{} is a bare git repository (or lies inside a .git directory), so it has no files to \
        play on; give a clone or a worktree of it",
        dir.display()
    )]
    Bare { dir: PathBuf },
    #[error(
        "the git repository of {} cannot be read ({reason}); check it with `git fsck`",
        dir.display()
    )]
    Git { dir: PathBuf, reason: String },
    #[error(
        "the state directory {} lies inside {}, which must never be written to; choose another \
         state directory",
        state_root.display(),
        root.display()
    )]
    StateInside { state_root: PathBuf, root: PathBuf },
    #[error(
        "the state directory {} was made by a newer version of ssr-mcp (its schema is {found}, \
        this one knows {known}); update ssr-mcp or choose another state directory",
        state.display()
    )]
    NewerState { state: PathBuf, found: u64, known: u64 },
    #[error(
        "{} in the state directory cannot be written or read ({source}); check its permissions or \
        choose another state directory",
        path.display()
    )]
    State { path: PathBuf, source: io::Error },
    #[error(
        "the disk is full at {}; free some space or choose a state directory on another disk, \
        then try again",
        path.display()
    )]
    DiskFull { path: PathBuf },
    #[error(
        "{} cannot be read ({source}); make it readable, or name it in .gitignore if it is no \
        part of the project",
        path.display()
    )]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(
        "{} changed again and again while it was copied; wait for the build or the editor that \
        writes it, then try again",
        path.display()
    )]
    Changing { path: PathBuf },
}

impl Error {
    /// A failure to read or write below the state directory.
    pub(super) fn state(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::State { path, source },
        }
    }

    /// A failure to read a file of the developer's tree. What has vanished has changed.
    pub(super) fn source_file(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Changing { path },
            _ => Self::Unreadable { path, source },
        }
    }
}
