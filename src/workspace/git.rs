//! The git repository around a directory: what it tracks and where it stands. Read with libgit2,
//! never with git, and never written.

use super::error::Error;
use super::listing::{RawPath, as_path, joined};
use git2::{ErrorCode, StatusOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The index's mode of a submodule.
const GITLINK: u32 = 0o160_000;

/// What a status line tells of the version control around a workspace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Vcs {
    pub head: Head,
    /// Files below the root that differ from HEAD, staged or not, and untracked ones.
    pub dirty: usize,
    /// History ends early; nothing here depends on it.
    pub shallow: bool,
    /// A linked worktree of another repository.
    pub worktree: bool,
    /// Submodules below the root, nested ones included.
    pub submodules: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Head {
    Branch {
        name: String,
        commit: String,
    },
    Detached {
        commit: String,
    },
    /// The branch that the first commit will make.
    Unborn {
        name: String,
    },
}

/// An open repository, and the directory in it that is looked at.
pub(super) struct Repository {
    git: git2::Repository,
    dir: PathBuf,
    /// From the working directory's top to `dir`; empty at the top.
    prefix: Vec<u8>,
}

/// The canonical directory to play on, or why there is none.
pub(super) fn playable_root(dir: &Path) -> Result<PathBuf, Error> {
    let failed = |source: io::Error| {
        let dir = dir.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => Error::Missing { dir },
            io::ErrorKind::NotADirectory => Error::NotADirectory { dir },
            io::ErrorKind::PermissionDenied => Error::Denied { dir, source },
            _ if source.raw_os_error() == Some(libc::ELOOP) => Error::LinkLoop { dir },
            _ => Error::Unreachable { dir, source },
        }
    };
    let root = dir.canonicalize().map_err(failed)?;
    drop(std::fs::read_dir(&root).map_err(failed)?);
    for above in root.ancestors() {
        if above.join(".git").symlink_metadata().is_ok() {
            break;
        }
        let in_git = above.file_name().is_some_and(|name| name == ".git");
        if in_git || is_git_directory(above) {
            return Err(Error::Bare { dir: root });
        }
    }
    Ok(root)
}

fn is_git_directory(dir: &Path) -> bool {
    dir.join("HEAD").is_file() && dir.join("objects").is_dir() && dir.join("refs").is_dir()
}

/// The repository whose working directory holds `dir`.
pub(super) fn around(dir: &Path) -> Result<Option<Repository>, Error> {
    match dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()) {
        None => Ok(None),
        Some(top) => open(top, dir),
    }
}

/// The repository whose working directory begins at `top`.
pub(super) fn at(top: &Path) -> Result<Option<Repository>, Error> {
    open(top, top)
}

/// `None` where there is no `.git`, or one that leads nowhere: an empty directory, or a file that
/// names a repository that is gone.
///
/// `open_bare` because the other ways of opening refuse repositories of another user. That protects
/// programs that obey a repository's configuration; nothing of it is obeyed here, the index and
/// HEAD are read. It also passes over `core.worktree`, which a copied submodule can hold of its
/// original.
fn open(top: &Path, dir: &Path) -> Result<Option<Repository>, Error> {
    let ceiling = top.parent().into_iter();
    let Ok(git_dir) = git2::Repository::discover_path(top, ceiling) else { return Ok(None) };
    let opened = git2::Repository::open_bare(git_dir)
        .and_then(|git| git.set_workdir(top, false).map(|()| git))
        .map_err(|error| unreadable(top, &error))?;
    let prefix = dir.strip_prefix(top).unwrap_or(Path::new("")).as_os_str().as_bytes().to_vec();
    Ok(Some(Repository { git: opened, dir: dir.to_path_buf(), prefix }))
}

fn unreadable(dir: &Path, error: &git2::Error) -> Error {
    Error::Git { dir: dir.to_path_buf(), reason: error.message().to_owned() }
}

impl Repository {
    pub(super) fn git(&self) -> &git2::Repository {
        &self.git
    }

    /// From the working directory's top to the directory that is looked at; empty at the top.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The name in the repository of a path relative to the directory.
    pub(super) fn full_name(&self, path: &[u8]) -> RawPath {
        joined(&self.prefix, path)
    }

    /// A name in the repository, relative to the directory; `None` where it is not below.
    pub(super) fn relative<'p>(&self, name: &'p [u8]) -> Option<&'p [u8]> {
        match &*self.prefix {
            [] => Some(name),
            prefix => name.strip_prefix(prefix)?.strip_prefix(b"/"),
        }
    }

    /// History ends early. In a linked worktree the sign of it lies in the repository that it belongs
    /// to.
    pub(super) fn is_shallow(&self) -> bool {
        let sign = self.git.commondir().join("shallow").metadata();
        sign.is_ok_and(|file| file.len() > 0)
    }

    /// The paths in the index below the directory, relative to it; true for submodules.
    pub(super) fn tracked(&self) -> Result<Vec<(RawPath, bool)>, String> {
        let index = self.git.index().map_err(|error| error.message().to_owned())?;
        let below = |path: &[u8]| self.relative(path).map(<[u8]>::to_vec);
        // A path in conflict stands there once for each side.
        let mut paths: Vec<_> = index
            .iter()
            .filter_map(|entry| Some((below(&entry.path)?, entry.mode == GITLINK)))
            .collect();
        paths.dedup_by(|next, kept| next.0 == kept.0);
        Ok(paths)
    }

    /// Whether the directory is ignored by the repository around it and nothing in it is tracked.
    pub(super) fn ignores_root(&self) -> bool {
        !self.prefix.is_empty()
            && self.git.is_path_ignored(as_path(&self.prefix)).unwrap_or(false)
            && self.tracked().is_ok_and(|paths| paths.is_empty())
    }

    fn head(&self) -> Result<Head, git2::Error> {
        match self.git.head() {
            Ok(head) => {
                let commit = head.target().map(|id| id.to_string()).unwrap_or_default();
                Ok(if self.git.head_detached()? {
                    Head::Detached { commit }
                } else {
                    Head::Branch {
                        name: String::from_utf8_lossy(head.shorthand_bytes()).into_owned(),
                        commit,
                    }
                })
            }
            Err(error) if error.code() == ErrorCode::UnbornBranch => {
                let head = self.git.find_reference("HEAD")?;
                let target = head.symbolic_target_bytes().unwrap_or_default();
                let name = target.strip_prefix(b"refs/heads/").unwrap_or(target);
                Ok(Head::Unborn { name: String::from_utf8_lossy(name).into_owned() })
            }
            Err(error) => Err(error),
        }
    }

    fn dirty(&self) -> Result<usize, git2::Error> {
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).exclude_submodules(true);
        if !self.prefix.is_empty() {
            options.disable_pathspec_match(true).pathspec(&*self.prefix);
        }
        Ok(self.git.statuses(Some(&mut options))?.len())
    }
}

pub(super) fn describe(root: &Path) -> Result<Option<Vcs>, Error> {
    match around(root)? {
        Some(repository) if !repository.ignores_root() => of(&repository).map(Some),
        _ => Ok(None),
    }
}

fn of(repository: &Repository) -> Result<Vcs, Error> {
    let failed = |error: git2::Error| unreadable(&repository.dir, &error);
    let mut vcs = Vcs {
        head: repository.head().map_err(failed)?,
        dirty: repository.dirty().map_err(failed)?,
        shallow: repository.is_shallow(),
        worktree: repository.git.path().join("commondir").is_file(),
        submodules: 0,
    };
    for (path, _) in
        repository.tracked().unwrap_or_default().iter().filter(|(_, is_submodule)| *is_submodule)
    {
        vcs.submodules += 1;
        if let Some(inner) = at(&repository.dir.join(as_path(path)))? {
            let inner = of(&inner)?;
            vcs.dirty += inner.dirty;
            vcs.submodules += inner.submodules;
        }
    }
    Ok(vcs)
}
