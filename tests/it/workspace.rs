//! Opening and freezing real directories.

use crate::support::{Ground, git, git_commit, git_init, in_a_process, role, write};
use ssr_mcp::tree::{RelPath, Tree};
use ssr_mcp::workspace::{Base, Drift, Error, Freezing, Head, Workspace};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Freezes as if a minute had passed since the files were written.
fn settled() -> Freezing {
    Freezing::at(SystemTime::now() + Duration::from_secs(60))
}

#[track_caller]
fn open(ground: &Ground) -> Workspace {
    Workspace::open(&ground.repo(), &ground.state()).unwrap()
}

#[track_caller]
fn freeze(ground: &Ground) -> Base {
    let base = open(ground).freeze_with(&settled()).unwrap();
    base.verify().unwrap();
    base
}

fn names(base: &Base) -> Vec<String> {
    base.paths().iter().map(ToString::to_string).collect()
}

fn content(base: &Base, path: &str) -> Vec<u8> {
    base.read(&RelPath::parse(path.as_bytes()).unwrap()).unwrap().bytes.to_vec()
}

/// Everything below a directory: kind, mode, times of change, content.
fn everything(dir: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(path) = todo.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let mut bytes = Vec::new();
        if metadata.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if metadata.is_symlink() {
            bytes = fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec();
        } else if metadata.is_file() {
            bytes = fs::read(&path).unwrap();
        }
        all.insert(path, (metadata.mode(), metadata.mtime_nsec(), metadata.ctime_nsec(), bytes));
    }
    all
}

#[test]
fn a_git_repository_is_frozen_as_the_developer_sees_it() {
    let ground = Ground::with_git();
    ground.write(".gitignore", "*.log\nbuild/\n");
    ground.write("a.py", "old\n");
    ground.write("gone.py", "x\n");
    ground.write("forced.log", "tracked\n");
    ground.git(&["add", "--force", "forced.log"]);
    ground.commit();
    ground.write("a.py", "edited\n");
    ground.write("staged.py", "staged\n");
    ground.git(&["add", "staged.py"]);
    ground.write("untracked.py", "new\n");
    ground.write("noise.log", "ignored\n");
    ground.write("build/out.o", "ignored\n");
    fs::remove_file(ground.repo().join("gone.py")).unwrap();
    let before = everything(&ground.repo());
    let base = freeze(&ground);
    assert_eq!(names(&base), [".gitignore", "a.py", "forced.log", "staged.py", "untracked.py"]);
    assert_eq!(content(&base, "a.py"), b"edited\n");
    assert_eq!(base.root, ground.repo());
    assert!(!base.dir.join(".git").exists());
    assert_eq!(everything(&ground.repo()), before, "the tree was touched");
}

#[test]
fn a_plain_folder_is_frozen_without_caches_and_environments() {
    let ground = Ground::new();
    ground.write("src/a.py", "a\n");
    ground.write(".hidden", "h\n");
    ground.write(".gitignore", "*.log\n");
    ground.write("x.log", "ignored\n");
    ground.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# cargo\n");
    ground.write("target/debug/old.rs", "the original\n");
    ground.write("sub/env/pyvenv.cfg", "home = /usr\n");
    ground.write("sub/env/lib/copy.py", "x\n");
    for cache in ["node_modules", ".tox", ".pytest_cache", "__pycache__", ".hg", ".jj", ".svn"] {
        ground.write(format!("sub/{cache}/file.py"), "x\n");
    }
    for file in ["a.pyc", "a.py.orig", "a.py.rej", "a.py~", ".#a.py", "#a.py#", ".a.py.swp"] {
        ground.write(format!("src/{file}"), "the original\n");
    }
    let base = freeze(&ground);
    assert_eq!(names(&base), [".gitignore", ".hidden", "src/a.py"]);
    assert!(open(&ground).vcs().unwrap().is_none());
}
