//! Writing to the developer's own tree: only what was asked for and shown, into files that are as they
//! were then, all of it or nothing.
//!
//! Each file is replaced in one step by a new one beside it; where one of them cannot be, those before it
//! are put back.

use super::Workspace;
use crate::diff::{ApplyFailure, Patch};
use crate::tree::{Changes, File, RelPath, Tree, hex};
use sha2::{Digest, Sha256};
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum NotApplied {
    #[error("the patch does not apply to the files as they are: {0}")]
    DoesNotApply(ApplyFailure),
    #[error("{path} is or lies behind a symbolic link, or is no regular file; nothing was written")]
    NotAFile { path: String },
    #[error("{path} is not as it was when the change was shown; look at the change again")]
    Changed { path: String },
    #[error("{path} cannot be written ({reason}); every file is as it was")]
    Unwritable { path: String, reason: io::Error },
    #[error(
        "{path} cannot be written ({reason}), and {kept} could not be put back: its old content is in {old}"
    )]
    HalfDone { path: String, reason: io::Error, kept: String, old: String },
}

/// What a patch would do to the tree as it is.
#[derive(Debug)]
pub struct Planned {
    root: PathBuf,
    files: Vec<PlannedFile>,
}

#[derive(Debug)]
struct PlannedFile {
    path: RelPath,
    before: Option<File>,
    after: Option<File>,
}

/// The developer's tree as it is at this moment. Whoever asks for a list of its files gets none: it is for
/// patches, which name theirs.
struct Live<'a>(&'a Path);

impl Tree for Live<'_> {
    fn read(&self, path: &RelPath) -> Option<File> {
        let file = self.0.join(path.as_str());
        let metadata = fs::symlink_metadata(&file).ok().filter(fs::Metadata::is_file)?;
        let bytes = fs::read(&file).ok()?;
        Some(File { bytes: bytes.into(), executable: metadata.permissions().mode() & 0o100 != 0 })
    }

    fn paths(&self) -> Vec<RelPath> {
        Vec::new()
    }
}

impl Workspace {
    /// What a patch against the files as they are would write. Nothing is written.
    pub fn plan(&self, patch: &Patch) -> Result<Planned, NotApplied> {
        for path in patch.paths() {
            reachable(&self.root, &path)?;
        }
        let live = Live(&self.root);
        let changes = patch.apply(&live).map_err(NotApplied::DoesNotApply)?.against(&live);
        let planned = |(path, after): (&RelPath, Option<&File>)| PlannedFile {
            path: path.clone(),
            before: live.read(path),
            after: after.cloned(),
        };
        Ok(Planned { root: self.root.clone(), files: changes.iter().map(planned).collect() })
    }
}

/// No part of a path may be a link, which could lead out of the tree, and its end is a regular file or none.
fn reachable(root: &Path, path: &RelPath) -> Result<(), NotApplied> {
    let mut at = root.to_owned();
    let mut parts = path.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        let fits = match fs::symlink_metadata(&at) {
            Ok(found) if parts.peek().is_some() => found.is_dir(),
            Ok(found) => found.is_file(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !fits {
            return Err(NotApplied::NotAFile { path: path.to_string() });
        }
    }
    Ok(())
}

impl Planned {
    /// The files that would change, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.files.iter().map(|file| &file.path)
    }

    /// The same for the same change of the same files.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for file in &self.files {
            hash.update(file.path.as_str());
            for side in [&file.before, &file.after] {
                let one: Changes = [(file.path.clone(), side.clone())].into_iter().collect();
                hash.update(one.digest());
            }
        }
        hex(&hash.finalize())
    }

    /// The change as a diff.
    pub fn diff(&self) -> Vec<u8> {
        struct Before<'a>(&'a [PlannedFile]);
        impl Tree for Before<'_> {
            fn read(&self, path: &RelPath) -> Option<File> {
                self.0.iter().find(|file| file.path == *path)?.before.clone()
            }
            fn paths(&self) -> Vec<RelPath> {
                self.0.iter().filter(|f| f.before.is_some()).map(|f| f.path.clone()).collect()
            }
        }
        let changes: Changes =
            self.files.iter().map(|file| (file.path.clone(), file.after.clone())).collect();
        Patch::between(&Before(&self.files), &changes).to_bytes()
    }

    /// Writes it, if every file still is as it was planned for.
    pub fn write(&self) -> Result<(), NotApplied> {
        for file in &self.files {
            reachable(&self.root, &file.path)?;
            if Live(&self.root).read(&file.path) != file.before {
                return Err(NotApplied::Changed { path: file.path.to_string() });
            }
        }
        let mut done = Vec::new();
        for file in &self.files {
            match Replaced::by(&self.root, file) {
                Ok(replaced) => done.push(replaced),
                Err(reason) => return Err(take_back(done, &file.path, reason)),
            }
        }
        for replaced in done {
            replaced.forget_old();
        }
        Ok(())
    }
}

fn take_back(done: Vec<Replaced>, path: &RelPath, reason: io::Error) -> NotApplied {
    let path = path.to_string();
    for replaced in done.into_iter().rev() {
        let (kept, old) = (replaced.path.display().to_string(), replaced.old.clone());
        if replaced.take_back().is_err() {
            let old = old.map(|old| old.display().to_string()).unwrap_or_default();
            return NotApplied::HalfDone { path, reason, kept, old };
        }
    }
    NotApplied::Unwritable { path, reason }
}

/// A file that was replaced, made or deleted, and where its old content is.
struct Replaced {
    path: PathBuf,
    old: Option<PathBuf>,
    made: Vec<PathBuf>,
}

impl Replaced {
    fn by(root: &Path, file: &PlannedFile) -> io::Result<Self> {
        let path = root.join(file.path.as_str());
        let made = missing_above(root, &path);
        let mut replaced = Self { path: path.clone(), old: None, made };
        let result = replaced.replace(file);
        if let Err(error) = result {
            replaced.forget_old();
            // Those that were not made, or hold something by now, stay as they are.
            replaced
                .made
                .iter()
                .for_each(|directory| fs::remove_dir(directory).unwrap_or_default());
            return Err(error);
        }
        Ok(replaced)
    }

    fn replace(&mut self, file: &PlannedFile) -> io::Result<()> {
        if file.before.is_some() {
            let old = beside(&self.path, "old");
            fs::hard_link(&self.path, &old)?;
            self.old = Some(old);
        }
        let Some(after) = &file.after else { return fs::remove_file(&self.path) };
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent)?;
        }
        let new = beside(&self.path, "new");
        let written =
            write_new(&new, after, self.old.as_deref()).and_then(|()| fs::rename(&new, &self.path));
        if written.is_err() {
            fs::remove_file(&new).unwrap_or_default();
        }
        written
    }

    fn take_back(&self) -> io::Result<()> {
        if let Some(old) = &self.old {
            return fs::rename(old, &self.path);
        }
        fs::remove_file(&self.path)?;
        self.made.iter().try_for_each(fs::remove_dir)
    }

    /// What cannot be removed is a spare copy and no more.
    fn forget_old(&self) {
        if let Some(old) = &self.old {
            fs::remove_file(old).unwrap_or_default();
        }
    }
}

/// Directories above a path that are not there yet, the innermost first.
fn missing_above(root: &Path, path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|dir| *dir != root && !dir.exists());
    above.map(Path::to_owned).collect()
}

/// With the mode of the file that it replaces, but for the executable bit, which is the patch's to say.
fn write_new(path: &Path, file: &File, old: Option<&Path>) -> io::Result<()> {
    let mode = match old {
        Some(old) => fs::metadata(old)?.permissions().mode() & 0o777,
        None => 0o644,
    };
    let mode = if file.executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
    let mut target = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    target.write_all(&file.bytes)?;
    if old.is_some() {
        target.set_permissions(Permissions::from_mode(mode))?;
    }
    target.sync_all()
}

/// A name of ours in the same directory, which no other file has.
fn beside(path: &Path, kind: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ours = crate::sandbox::begun(&format!(".{name}.ssr-mcp-{kind}-"));
    path.with_file_name(ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    struct Repo {
        dir: TempDir,
        workspace: Workspace,
    }

    fn repo(files: &[(&str, &str)]) -> Repo {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (name, content) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let state = root.join("state");
        Repo { dir, workspace: Workspace { root, state } }
    }

    impl Repo {
        fn patch(&self, edits: &[(&str, Option<&str>)]) -> Patch {
            let file = |text: &str| File::plain(text.as_bytes());
            let changes: Changes = edits
                .iter()
                .map(|(path, text)| (RelPath::parse(path.as_bytes()).unwrap(), text.map(file)))
                .collect();
            Patch::between(&Live(&self.workspace.root), &changes)
        }

        fn read(&self, name: &str) -> Option<String> {
            fs::read_to_string(self.dir.path().join(name)).ok()
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.dir.path()).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn all_files_of_a_patch_are_written_and_nothing_else_is_left() {
        let repo = repo(&[("a", "1\n"), ("b", "2\n"), ("c", "3\n")]);
        let mode =
            |name: &str| fs::metadata(repo.dir.path().join(name)).unwrap().permissions().mode();
        fs::set_permissions(repo.dir.path().join("a"), Permissions::from_mode(0o640)).unwrap();
        let patch = repo.patch(&[("a", Some("11\n")), ("b", None), ("new/d", Some("4\n"))]);
        let planned = repo.workspace.plan(&patch).unwrap();
        assert_eq!(repo.read("a").as_deref(), Some("1\n"), "planning wrote");
        assert_eq!(planned.diff(), patch.to_bytes());
        planned.write().unwrap();
        let now = ["a", "b", "c", "new/d"].map(|name| repo.read(name));
        let expect = [Some("11\n"), None, Some("3\n"), Some("4\n")];
        assert_eq!(now.each_ref().map(|text| text.as_deref()), expect);
        assert_eq!(mode("a") & 0o777, 0o640);
        assert_eq!(repo.names(), ["a", "c", "new"]);
    }

    #[test]
    fn a_file_that_changed_since_is_not_written_and_no_other_is() {
        let repo = repo(&[("a", "1\n"), ("b", "2\n")]);
        let planned = repo.workspace.plan(&repo.patch(&[("a", Some("x\n")), ("b", Some("y\n"))]));
        let planned = planned.unwrap();
        let digest = planned.digest();
        fs::write(repo.dir.path().join("b"), "mine\n").unwrap();
        let refused = planned.write().unwrap_err();
        assert!(matches!(&refused, NotApplied::Changed { path } if path == "b"), "{refused}");
        assert_eq!(repo.read("a").as_deref(), Some("1\n"));
        let again = repo.workspace.plan(&repo.patch(&[("a", Some("x\n")), ("b", Some("y\n"))]));
        assert_ne!(again.unwrap().digest(), digest);
    }

    #[test]
    fn where_one_file_cannot_be_written_all_are_put_back() {
        let repo = repo(&[("a", "1\n"), ("b/c", "2\n")]);
        let patch = repo.patch(&[("a", Some("x\n")), ("b/c", Some("y\n")), ("0/n", Some("z\n"))]);
        let planned = repo.workspace.plan(&patch).unwrap();
        // As if the directory could not be written to: our names in it are those of a file that is too long.
        let long = "n".repeat(250);
        let patch = repo.patch(&[("a", Some("x\n")), ("0/n", Some("z\n")), (&long, Some("w\n"))]);
        let refused = repo.workspace.plan(&patch).unwrap().write().unwrap_err();
        assert!(matches!(&refused, NotApplied::Unwritable { .. }), "{refused}");
        assert_eq!(repo.read("a").as_deref(), Some("1\n"));
        assert_eq!(repo.names(), ["a", "b"]);
        planned.write().unwrap();
        assert_eq!(repo.read("b/c").as_deref(), Some("y\n"));
    }

    #[test]
    fn links_are_not_followed() {
        let repo = repo(&[("a", "1\n"), ("dir/x", "2\n")]);
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("x"), "2\n").unwrap();
        let in_link = repo.patch(&[("dir/x", Some("3\n"))]);
        let at_link = repo.patch(&[("a", Some("3\n"))]);
        fs::remove_dir_all(repo.dir.path().join("dir")).unwrap();
        symlink(outside.path(), repo.dir.path().join("dir")).unwrap();
        fs::remove_file(repo.dir.path().join("a")).unwrap();
        symlink(outside.path().join("x"), repo.dir.path().join("a")).unwrap();
        for patch in [in_link, at_link] {
            let refused = repo.workspace.plan(&patch).unwrap_err();
            assert!(matches!(refused, NotApplied::NotAFile { .. }), "{refused}");
        }
        assert_eq!(fs::read_to_string(outside.path().join("x")).unwrap(), "2\n");
    }

    #[test]
    fn a_patch_that_does_not_fit_is_refused() {
        let repo = repo(&[("a", "1\n")]);
        let patch = repo.patch(&[("a", Some("2\n"))]);
        fs::write(repo.dir.path().join("a"), "9\n").unwrap();
        let refused = repo.workspace.plan(&patch).unwrap_err();
        assert!(matches!(refused, NotApplied::DoesNotApply(_)), "{refused}");
    }
}
