//! What the repository's commits changed: the history that old behaviour is taken from.
//!
//! Read with libgit2, never with git, and nothing is written. Today's files are those of the base,
//! so that a dirty tree is played on as it is; a commit's files are those that still exist, under
//! today's name through every rename since.

mod blame;

use super::base::Base;
use super::git::{self, Repository};
use super::listing::{RawPath, as_path};
use crate::tree::{RelPath, Tree};
use git2::{Delta, DiffFindOptions, DiffOptions, FileMode, Oid, Sort};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Commits that are looked at, newest first.
const LOOKED_AT: usize = 2000;
/// Commits that are kept.
const KEPT: usize = 200;
/// A commit that changes more files tells nothing of behaviour: its renames are followed, no more.
const BROAD: usize = 100;
/// Largest file, bytes.
const LARGEST: usize = 512 << 10;
/// Bytes of all files together, each content counted once.
const MEMORY: usize = 64 << 20;
/// Commits that are kept for files that are gone alone.
const KEPT_FOR_GONE: usize = 60;
/// Commits of blamed lines that are read beyond those that the walk came by.
const BLAMED: usize = 50;
/// A message's length, bytes.
const MESSAGE: usize = 4 << 10;

/// Commits that can be undone on today's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// Newest first.
    pub commits: Vec<Commit>,
    /// How many there were to choose from.
    pub looked_at: usize,
    /// The clone ends early: what is older is not known.
    pub shallow: bool,
}

/// A commit with one parent that changed code which is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// In hexadecimal.
    pub id: String,
    /// The message's first line.
    pub summary: String,
    /// At most 4 KiB of the message, with its first line.
    pub message: String,
    /// How many files it changed, of whatever kind.
    pub touched: usize,
    /// It added a test file that is still there; such a file has no older side.
    pub added_tests: bool,
    /// It wrote lines of [`Wanted::lines`] that still stand.
    pub wrote: bool,
    /// Sorted by path.
    pub files: Vec<Revision>,
    /// Code files that it changed or deleted and that are not there any more, under no name.
    pub gone: Vec<Gone>,
}

/// What a commit made of a file that is not there today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// That it had after the commit, or before it was deleted.
    pub path: RelPath,
    pub old: Arc<[u8]>,
    /// `None`: the commit deleted it.
    pub new: Option<Arc<[u8]>>,
}

/// What a commit made of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Today's.
    pub path: RelPath,
    /// Before the commit.
    pub old: Arc<[u8]>,
    /// After it.
    pub new: Arc<[u8]>,
}

/// Which of today's files are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// A commit is kept if it changed at least one of these.
    pub code: BTreeSet<RelPath>,
    /// Kept beside code.
    pub tests: BTreeSet<RelPath>,
    /// Lines of one of the code files, from 1, whose commits are wanted however old they are.
    pub lines: Option<(RelPath, RangeInclusive<u32>)>,
}

/// Why there is no history to play with. A value: everything else works without.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHistory {
    #[error("{} is not in a git repository, so there is no history", dir.display())]
    NoRepository { dir: PathBuf },
    #[error("{} is ignored by the git repository around it, so that holds no history of it", dir.display())]
    Ignored { dir: PathBuf },
    #[error("the git repository of {} has no commit yet, so there is no history", dir.display())]
    NoCommits { dir: PathBuf },
    #[error(
        "the git repository {} belongs to another user, and git's own rule is not to trust such a \
        one; if you do, run `git config --global --add safe.directory {}`",
        dir.display(),
        dir.display()
    )]
    Refused { dir: PathBuf },
    #[error(
        "the clone is shallow, and its {looked_at} commits change no code that tests reach; run \
        `git fetch --unshallow` for the rest"
    )]
    Shallow { looked_at: usize },
    #[error(
        "none of the {looked_at} commits that were looked at changes code which is still there and \
        which passing tests reach"
    )]
    NothingUsable { looked_at: usize },
    #[error("the history of {} cannot be read ({reason}); check it with `git fsck`", dir.display())]
    Unreadable { dir: PathBuf, reason: String },
    #[error("cancelled")]
    Cancelled,
}

/// Whether there is a history that may be read, told without reading it.
pub(super) fn readable(root: &Path) -> Result<(), NoHistory> {
    head(root).map(drop)
}

/// Reads it. `cancelled` is asked once a commit.
pub(super) fn read(
    root: &Path,
    base: &Base,
    wanted: &Wanted,
    cancelled: &dyn Fn() -> bool,
) -> Result<History, NoHistory> {
    let (repository, head) = head(root)?;
    let shallow = repository.is_shallow();
    let names = today(&repository, base, wanted);
    // What blame cannot tell costs nothing but what it would have told.
    let blamed = wanted.lines.as_ref().and_then(|(path, lines)| {
        let name = names.iter().find(|(_, known)| *known == path)?.0;
        blame::of(repository.git(), head, name, &base.read(path)?.bytes, lines).ok()
    });
    let code: BTreeSet<String> =
        wanted.code.iter().map(|path| path.extension().to_owned()).collect();
    let mut names = names;
    // What is there and not wanted is followed, too: else it would seem to be gone.
    for path in base.paths().into_iter().filter(|path| code.contains(path.extension())) {
        names.entry(repository.full_name(path.as_str().as_bytes())).or_insert(path);
    }
    let reader = Reader {
        names,
        repository: &repository,
        wanted,
        code,
        blamed: blamed.unwrap_or_default(),
        blobs: BTreeMap::new(),
        bytes: 0,
    };
    let (commits, looked_at) = match reader.walk(head, cancelled) {
        Err(error) => {
            let reason = error.message().to_owned();
            return Err(NoHistory::Unreadable { dir: root.to_path_buf(), reason });
        }
        Ok(None) => return Err(NoHistory::Cancelled),
        Ok(Some(found)) => found,
    };
    match (commits.is_empty(), shallow) {
        (true, true) => Err(NoHistory::Shallow { looked_at }),
        (true, false) => Err(NoHistory::NothingUsable { looked_at }),
        (false, _) => Ok(History { commits, looked_at, shallow }),
    }
}

/// The repository and the commit that HEAD names.
fn head(root: &Path) -> Result<(Repository, Oid), NoHistory> {
    let dir = || root.to_path_buf();
    let unreadable = |reason: String| NoHistory::Unreadable { dir: dir(), reason };
    if let Some(top) = root.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
        && let Err(error) = git2::Repository::open(top)
        && error.code() == git2::ErrorCode::Owner
    {
        return Err(NoHistory::Refused { dir: top.to_path_buf() });
    }
    let repository = match git::around(root) {
        Ok(Some(repository)) if repository.ignores_root() => {
            return Err(NoHistory::Ignored { dir: dir() });
        }
        Ok(Some(repository)) => repository,
        Ok(None) => return Err(NoHistory::NoRepository { dir: dir() }),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let head = match repository.git().head() {
        Ok(head) => head.peel_to_commit().map(|commit| commit.id()),
        Err(error) if error.code() == git2::ErrorCode::UnbornBranch => {
            return Err(NoHistory::NoCommits { dir: dir() });
        }
        Err(error) => Err(error),
    };
    match head {
        Ok(head) => Ok((repository, head)),
        Err(error) => Err(unreadable(error.message().to_owned())),
    }
}

/// From a name in the repository, at the commit that the walk has come to, to today's.
type Names = BTreeMap<RawPath, RelPath>;

/// From the older name to the newer.
type Rename = (RawPath, RawPath);

/// The names at HEAD of what is wanted: its own, but for what was renamed since and not committed.
fn today(repository: &Repository, base: &Base, wanted: &Wanted) -> Names {
    let there = |path: &&RelPath| base.has(path);
    let paths = wanted.code.iter().chain(&wanted.tests).filter(there);
    let mut names: Names =
        paths.map(|path| (repository.full_name(path.as_str().as_bytes()), path.clone())).collect();
    // A status that cannot be had costs the uncommitted renames and nothing else.
    if let Ok(renames) = uncommitted_renames(repository, &names) {
        for (old, new) in renames {
            if let Some(path) = names.remove(&new) {
                names.insert(old, path);
            }
        }
    }
    names
}

fn uncommitted_renames(repository: &Repository, names: &Names) -> Result<Vec<Rename>, git2::Error> {
    let head = repository.git().head()?.peel_to_tree()?;
    let is_new = |name: &RawPath| head.get_path(as_path(name)).is_err();
    if !names.keys().any(is_new) {
        return Ok(Vec::new());
    }
    let mut options = options(repository);
    options.include_untracked(true).recurse_untracked_dirs(true);
    let mut diff = repository.git().diff_tree_to_workdir(Some(&head), Some(&mut options))?;
    diff.find_similar(Some(DiffFindOptions::new().renames(true).for_untracked(true)))?;
    Ok(renames(&diff))
}

fn options(repository: &Repository) -> DiffOptions {
    let mut options = DiffOptions::new();
    options.ignore_submodules(true).context_lines(0);
    if !repository.prefix().is_empty() {
        options.disable_pathspec_match(true).pathspec(repository.prefix());
    }
    options
}

fn renames(diff: &git2::Diff<'_>) -> Vec<Rename> {
    let renamed = diff.deltas().filter(|delta| delta.status() == Delta::Renamed);
    renamed
        .filter_map(|delta| {
            let name = |file: git2::DiffFile<'_>| file.path_bytes().map(<[u8]>::to_vec);
            Some((name(delta.old_file())?, name(delta.new_file())?))
        })
        .collect()
}

struct Reader<'a> {
    repository: &'a Repository,
    wanted: &'a Wanted,
    names: Names,
    /// Extensions of code.
    code: BTreeSet<String>,
    /// Commits that wrote the wanted lines, and the name that the file had then.
    blamed: BTreeMap<Oid, RawPath>,
    /// Contents by id; `None` for what is too large or no text.
    blobs: BTreeMap<Oid, Option<Arc<[u8]>>>,
    bytes: usize,
}

impl Reader<'_> {
    /// The commits that are kept, and how many were looked at; `None` where it was cancelled.
    fn walk(
        mut self,
        head: Oid,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<(Vec<Commit>, usize)>, git2::Error> {
        let git = self.repository.git();
        let mut walk = git.revwalk()?;
        // Unsorted is newest first, and a commit before its parents; any order that is asked for would
        // read the whole history first.
        walk.set_sorting(Sort::NONE)?;
        walk.push(head)?;
        let (mut kept, mut for_gone, mut looked_at) = (Vec::new(), 0, 0);
        let mut blamed = self.blamed.clone();
        for id in walk.take(LOOKED_AT) {
            if cancelled() {
                return Ok(None);
            }
            let Ok(commit) = id.and_then(|id| git.find_commit(id)) else {
                // What a partial clone or a damaged store lacks ends the history; what was read
                // stands. The last commit of a shallow clone is there, but its parents are not.
                looked_at += usize::from(self.repository.is_shallow());
                break;
            };
            looked_at += 1;
            blamed.remove(&commit.id());
            if let Ok(Some(commit)) = self.commit(&commit) {
                if !commit.files.is_empty() {
                    kept.push(commit);
                } else if for_gone < KEPT_FOR_GONE {
                    for_gone += 1;
                    kept.push(commit);
                }
            }
            if kept.len() >= KEPT + for_gone || self.bytes > MEMORY {
                break;
            }
        }
        kept.extend(self.beyond(blamed, cancelled));
        Ok(Some((kept, looked_at)))
    }

    /// What the walk did not come by of the commits that wrote the wanted lines, newest first.
    fn beyond(
        &mut self,
        blamed: BTreeMap<Oid, RawPath>,
        cancelled: &dyn Fn() -> bool,
    ) -> Vec<Commit> {
        let git = self.repository.git();
        let Some((path, _)) = &self.wanted.lines else { return Vec::new() };
        let found =
            blamed.into_iter().filter_map(|(id, name)| Some((git.find_commit(id).ok()?, name)));
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(commit, _)| (std::cmp::Reverse(commit.time().seconds()), commit.id()));
        let mut kept = Vec::new();
        for (commit, name) in found.into_iter().take(BLAMED) {
            if cancelled() {
                break;
            }
            // The names that the walk ended with are those of its last commit: only this one is known.
            self.names.retain(|_, known| known != path);
            self.names.insert(name, path.clone());
            kept.extend(
                self.commit(&commit).ok().flatten().filter(|commit| !commit.files.is_empty()),
            );
        }
        kept
    }

    /// A commit whose undoing makes sense. Merges are passed over: what they bring stands in commits
    /// of its own; and the first commit, before which nothing was.
    fn commit(&mut self, commit: &git2::Commit<'_>) -> Result<Option<Commit>, git2::Error> {
        if commit.parent_count() != 1 {
            return Ok(None);
        }
        let (old, new) = (commit.parent(0)?.tree()?, commit.tree()?);
        let mut options = options(self.repository);
        let git = self.repository.git();
        let mut diff = git.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options))?;
        let has = |status: Delta| diff.deltas().any(|delta| delta.status() == status);
        if has(Delta::Added) && has(Delta::Deleted) {
            diff.find_similar(Some(DiffFindOptions::new().renames(true)))?;
        }
        let touched = diff.deltas().len();
        let (mut files, gone) = match touched {
            ..=BROAD => (self.revisions(&diff), self.gone(&diff)),
            _ => (Vec::new(), Vec::new()),
        };
        let added_tests = diff.deltas().any(|delta| {
            delta.status() == Delta::Added
                && delta.new_file().path_bytes().is_some_and(|name| self.is_test(name))
        });
        for (old, new) in renames(&diff) {
            if let Some(path) = self.names.remove(&new) {
                self.names.insert(old, path);
            }
        }
        if !files.iter().any(|file| self.wanted.code.contains(&file.path)) {
            files.clear();
        }
        if files.is_empty() && gone.is_empty() {
            return Ok(None);
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let mut message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
        message.truncate(message.floor_char_boundary(MESSAGE));
        let summary = message.trim_start().lines().next().unwrap_or_default().trim().to_owned();
        Ok(Some(Commit {
            id: commit.id().to_string(),
            summary,
            message,
            touched,
            added_tests,
            wrote: self.blamed.contains_key(&commit.id()),
            files,
            gone,
        }))
    }

    fn is_test(&self, name: &[u8]) -> bool {
        self.names.get(name).is_some_and(|path| self.wanted.tests.contains(path))
    }

    fn revisions(&mut self, diff: &git2::Diff<'_>) -> Vec<Revision> {
        let mut files = Vec::new();
        for delta in diff.deltas() {
            if !matches!(delta.status(), Delta::Modified | Delta::Renamed) {
                continue;
            }
            let (old, new) = (delta.old_file(), delta.new_file());
            let regular = |file: &git2::DiffFile<'_>| {
                matches!(file.mode(), FileMode::Blob | FileMode::BlobExecutable)
            };
            if old.id() == new.id() || !regular(&old) || !regular(&new) {
                continue;
            }
            let path = new.path_bytes().and_then(|name| self.names.get(name)).cloned();
            let wanted = |path: &RelPath| {
                self.wanted.code.contains(path) || self.wanted.tests.contains(path)
            };
            let Some(path) = path.filter(wanted) else { continue };
            if let (Some(old), Some(new)) = (self.blob(old.id()), self.blob(new.id())) {
                files.push(Revision { path, old, new });
            }
        }
        files
    }

    /// Code files that are not there any more, as far as they were changed or deleted.
    fn gone(&mut self, diff: &git2::Diff<'_>) -> Vec<Gone> {
        let mut gone = Vec::new();
        for delta in diff.deltas() {
            let (old, new) = (delta.old_file(), delta.new_file());
            let changed = match delta.status() {
                Delta::Modified | Delta::Renamed => old.id() != new.id(),
                Delta::Deleted => true,
                _ => false,
            };
            let deleted = delta.status() == Delta::Deleted;
            let file = if deleted { &old } else { &new };
            let Some(name) = file.path_bytes().filter(|_| changed && file.mode() != FileMode::Link)
            else {
                continue;
            };
            let path = self.repository.relative(name).and_then(|path| RelPath::parse(path).ok());
            let Some(path) = path.filter(|path| self.code.contains(path.extension())) else {
                continue;
            };
            if self.names.contains_key(name) {
                continue;
            }
            let Some(old) = self.blob(old.id()) else { continue };
            let new = if deleted { None } else { self.blob(new.id()) };
            if deleted || new.is_some() {
                gone.push(Gone { path, old, new });
            }
        }
        gone.sort_by(|one, other| one.path.cmp(&other.path));
        gone
    }

    /// A file's content; `None` where it is missing, too large or no text.
    fn blob(&mut self, id: Oid) -> Option<Arc<[u8]>> {
        if let Some(known) = self.blobs.get(&id) {
            return known.clone();
        }
        let git = self.repository.git();
        let size = git.odb().and_then(|store| store.read_header(id)).map(|(size, _)| size);
        let fits = size.is_ok_and(|size| size <= LARGEST);
        let read = fits.then(|| git.find_blob(id).ok()).flatten();
        let text = read.map(|blob| Arc::<[u8]>::from(blob.content()));
        let text = text.filter(|text| !text.contains(&0));
        self.bytes += text.as_ref().map_or(0, |text| text.len());
        self.blobs.insert(id, text.clone());
        text
    }
}
