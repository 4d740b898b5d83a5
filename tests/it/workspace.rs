//! Opening and freezing real directories.

use crate::support::{
    Ground, git, git_commit, git_init, in_a_process, role, without_privileges, write,
};
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
    Freezing::at(SystemTime::now() + Duration::from_mins(1))
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

#[test]
fn bytes_modes_and_odd_names_are_exact() {
    let ground = Ground::with_git();
    let files: [(&str, &[u8]); 9] = [
        ("crlf.py", b"a\r\nb\nc\r"),
        ("latin1.py", b"# -*- coding: latin-1 -*-\nN = \"caf\xe9\""),
        ("bom.py", b"\xef\xbb\xbfx = 1\n"),
        ("empty.py", b""),
        ("with space.py", b"1"),
        ("-leading.py", b"2"),
        ("cafe\u{301}.py", b"nfd"),
        ("caf\u{e9}.py", b"nfc"),
        ("quote\"'.py", b"3"),
    ];
    for (path, bytes) in files {
        ground.write(path, bytes);
    }
    ground.git(&["config", "core.autocrlf", "true"]);
    ground.write(".gitattributes", "*.py text eol=crlf\n");
    ground.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(ground.repo().join("run.sh"), Permissions::from_mode(0o700)).unwrap();
    let unnameable: [&[u8]; 2] = [b"new\nline.py", b"not\xffutf8.py"];
    for name in unnameable {
        ground.write(Path::new(std::ffi::OsStr::from_bytes(name)), "copied\n");
    }
    let base = freeze(&ground);
    for (path, bytes) in files {
        assert_eq!(content(&base, path), bytes, "{path}");
    }
    assert!(base.read(&RelPath::parse(b"run.sh").unwrap()).unwrap().executable);
    assert_eq!(base.dir.join("run.sh").metadata().unwrap().mode() & 0o7777, 0o755);
    assert_eq!(base.paths().len(), files.len() + 1, "{:?}", base.paths());
    for name in unnameable {
        assert_eq!(
            fs::read(base.dir.join(std::ffi::OsStr::from_bytes(name))).unwrap(),
            b"copied\n"
        );
    }
    assert!(base.dir.join(".gitattributes").exists(), "copied, though no patch may name it");
}

#[test]
fn links_that_stay_inside_are_kept_and_others_are_named() {
    let ground = Ground::with_git();
    ground.write("dir/a.py", "a\n");
    ground.write("../outside.py", "secret\n");
    let link = |target: &str, name: &str| symlink(target, ground.repo().join(name)).unwrap();
    link("dir/a.py", "inside.py");
    link("nowhere", "dangling.py");
    link("circle", "circle");
    link("..", "dir/parent");
    link("../outside.py", "outside.py");
    link("/etc/passwd", "absolute");
    link("../gone", "dangling_outside");
    symlink(ground.repo().join("dir"), ground.repo().join("absolute_inside")).unwrap();
    let base = freeze(&ground);
    assert_eq!(names(&base), ["dir/a.py"]);
    assert_eq!(base.report.links, 5);
    for kept in ["inside.py", "dangling.py", "circle", "dir/parent", "absolute_inside"] {
        assert!(base.dir.join(kept).is_symlink(), "{kept}");
    }
    let left_out: Vec<_> = base.report.left_out.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(left_out, ["absolute", "dangling_outside", "outside.py"]);
}

#[test]
fn a_directory_that_became_a_link_is_not_followed() {
    let ground = Ground::with_git();
    ground.write(".gitignore", "*.log\n");
    ground.write("dir/a.log", "tracked\n");
    ground.git(&["add", "--force", "."]);
    ground.write("../elsewhere/a.log", "secret\n");
    fs::remove_dir_all(ground.repo().join("dir")).unwrap();
    symlink("../elsewhere", ground.repo().join("dir")).unwrap();
    assert_eq!(names(&freeze(&ground)), [".gitignore"]);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "tests may start processes")]
fn sockets_fifos_and_large_files_are_left_out_and_named() {
    let ground = Ground::new();
    ground.write("a.py", "a\n");
    let _socket = std::os::unix::net::UnixListener::bind(ground.repo().join("socket")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(ground.repo().join("fifo")).status();
    assert!(made.unwrap().success());
    let huge = fs::File::create(ground.repo().join("huge.bin")).unwrap();
    huge.set_len(2 << 30).unwrap();
    let base = freeze(&ground);
    assert_eq!(names(&base), ["a.py"]);
    let [fifo, huge, socket] = &*base.report.left_out else { panic!("{:?}", base.report) };
    assert_eq!((&*fifo.0, &*socket.0), ("fifo", "socket"));
    assert_eq!(huge.0, "huge.bin");
    assert!(huge.1.starts_with("2048 MiB, above the limit of 256 MiB"), "{}", huge.1);
}

#[test]
fn tracked_files_that_can_hold_the_original_are_left_out_and_named() {
    let ground = Ground::with_git();
    ground.write("a.py", "a\n");
    ground.write("a.py.orig", "the original\n");
    ground.commit();
    let base = freeze(&ground);
    assert_eq!(names(&base), ["a.py"]);
    assert_eq!(base.report.left_out[0].0, "a.py.orig");
}

#[test]
fn a_tracked_cache_directory_is_part_of_the_repository() {
    let ground = Ground::with_git();
    ground.write("node_modules/dep/index.js", "tracked\n");
    ground.commit();
    ground.write("node_modules/dep/untracked.js", "no\n");
    assert_eq!(names(&freeze(&ground)), ["node_modules/dep/index.js"]);
}

#[test]
fn the_files_of_submodules_are_part_of_what_is_seen() {
    let ground = Ground::with_git();
    let inner = ground.path().join("inner");
    git_init(&inner);
    write(&inner.join("lib.py"), "lib\n");
    git_commit(&inner);
    ground.write("a.py", "a\n");
    ground.git(&["submodule", "--quiet", "add", inner.to_str().unwrap(), "vendor/inner"]);
    ground.git(&["submodule", "--quiet", "add", inner.to_str().unwrap(), "other"]);
    ground.commit();
    ground.git(&["submodule", "--quiet", "deinit", "other"]);
    ground.write("vendor/inner/lib.py", "edited\n");
    ground.write("vendor/inner/new.py", "new\n");
    let base = freeze(&ground);
    assert_eq!(names(&base), ["a.py", "vendor/inner/lib.py", "vendor/inner/new.py"]);
    assert_eq!(content(&base, "vendor/inner/lib.py"), b"edited\n");
    assert_eq!(base.report.left_out.len(), 1, "{:?}", base.report.left_out);
    assert!(base.report.left_out[0].1.contains("git submodule update --init"));
    let vcs = open(&ground).vcs().unwrap().unwrap();
    assert_eq!((vcs.submodules, vcs.dirty), (2, 2));
}

#[test]
fn a_repository_inside_that_is_not_tracked_is_left_out_and_named() {
    let ground = Ground::with_git();
    ground.write("a.py", "the bug\n");
    ground.commit();
    ground.git(&["worktree", "add", "--quiet", "--detach", "trees/other"]);
    let base = freeze(&ground);
    assert_eq!(names(&base), ["a.py"]);
    assert_eq!(base.report.left_out[0].0, "trees/other");
}

#[test]
fn a_worktree_a_detached_head_and_a_shallow_clone_open_like_any_other() {
    let ground = Ground::with_git();
    ground.write(".gitignore", "*.log\n");
    ground.write("a.py", "a\n");
    ground.commit();
    let commit = ground.git(&["rev-parse", "HEAD"]);
    write(&ground.repo().join(".git/info/exclude"), "secret.txt\n");

    let tree = ground.path().join("tree");
    ground.git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
    write(&tree.join("b.py"), "b\n");
    write(&tree.join("b.log"), "ignored\n");
    write(&tree.join("secret.txt"), "excluded for all worktrees\n");
    let worktree = Workspace::open(&tree, &ground.state()).unwrap();
    assert_eq!(names(&worktree.freeze_with(&settled()).unwrap()), [".gitignore", "a.py", "b.py"]);
    let vcs = worktree.vcs().unwrap().unwrap();
    assert_eq!((vcs.worktree, vcs.dirty, vcs.shallow), (true, 1, false));
    assert_eq!(vcs.head, Head::Detached { commit: commit.clone() });

    ground.commit();
    let url = format!("file://{}", ground.repo().display());
    git(&ground.path(), &["clone", "--quiet", "--depth=1", &url, "shallow"]);
    let shallow = Workspace::open(&ground.path().join("shallow"), &ground.state()).unwrap();
    assert_eq!(names(&shallow.freeze_with(&settled()).unwrap()), [".gitignore", "a.py"]);
    let vcs = shallow.vcs().unwrap().unwrap();
    assert_eq!((vcs.worktree, vcs.dirty, vcs.shallow), (false, 0, true));
    let Head::Branch { name, .. } = vcs.head else { panic!("{vcs:?}") };
    assert_eq!(name, "main");
}

#[test]
fn a_repository_without_a_commit_opens() {
    let ground = Ground::with_git();
    ground.write("a.py", "a\n");
    assert_eq!(names(&freeze(&ground)), ["a.py"]);
    let vcs = open(&ground).vcs().unwrap().unwrap();
    assert_eq!(vcs.head, Head::Unborn { name: "main".to_owned() });
    assert_eq!(vcs.dirty, 1);
}

#[test]
fn a_conflicted_path_is_frozen_as_it_lies_on_disk() {
    let ground = Ground::with_git();
    ground.write("a.py", "base\n");
    ground.commit();
    ground.git(&["checkout", "--quiet", "-b", "side"]);
    ground.write("a.py", "side\n");
    ground.commit();
    ground.git(&["checkout", "--quiet", "main"]);
    ground.write("a.py", "main\n");
    ground.commit();
    // Leaves the three sides in the index and the file alone.
    ground.git(&["read-tree", "-i", "-m", "main~1", "main", "side"]);
    assert_eq!(ground.git(&["ls-files", "--unmerged"]).lines().count(), 3);
    assert_eq!(content(&freeze(&ground), "a.py"), b"main\n");
}

#[test]
fn a_folder_of_a_repository_is_a_workspace_of_its_own() {
    let ground = Ground::with_git();
    ground.write(".gitignore", "*.log\nscratch/\n");
    ground.write("top.py", "top\n");
    ground.write("examples/small/a.py", "a\n");
    ground.write("examples/smaller/b.py", "b\n");
    ground.write("examples/small/kept.log", "tracked\n");
    ground.git(&["add", "--force", "examples/small/kept.log"]);
    ground.commit();
    ground.write("examples/small/new.py", "new\n");
    ground.write("examples/small/x.log", "ignored\n");
    ground.write("scratch/play/c.py", "c\n");
    let small = ground.repo().join("examples/small");
    let workspace = Workspace::open(&small, &ground.state()).unwrap();
    assert_eq!(workspace.root, small);
    let base = workspace.freeze_with(&settled()).unwrap();
    assert_eq!(names(&base), ["a.py", "kept.log", "new.py"]);
    assert_eq!(workspace.vcs().unwrap().unwrap().dirty, 1);
    // A folder that git ignores is a plain folder.
    let scratch = Workspace::open(&ground.repo().join("scratch/play"), &ground.state()).unwrap();
    assert_eq!(names(&scratch.freeze_with(&settled()).unwrap()), ["c.py"]);
    assert!(scratch.vcs().unwrap().is_none());
}

#[track_caller]
fn refused(dir: &Path, ground: &Ground, sentence: &str) -> Error {
    let error = Workspace::open(dir, &ground.state()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(sentence), "{text}");
    error
}

#[test]
fn what_cannot_be_played_on_is_refused_in_one_sentence() {
    let ground = Ground::new();
    ground.write("file.py", "x\n");
    let path = ground.path();
    symlink("loop", path.join("loop")).unwrap();
    git(&path, &["init", "--quiet", "--bare", "bare.git"]);
    git_init(&path.join("normal"));
    refused(&path.join("absent"), &ground, "there is no directory");
    refused(&path.join("repo/file.py"), &ground, "is not a directory");
    refused(&path.join("loop"), &ground, "leads back to itself");
    refused(&path.join("bare.git"), &ground, "bare git repository");
    refused(&path.join("bare.git/hooks"), &ground, "bare git repository");
    refused(&path.join("normal/.git"), &ground, "bare git repository");
    assert!(!ground.state().exists());
}

#[test]
fn a_git_link_that_leads_nowhere_makes_a_plain_folder() {
    let ground = Ground::new();
    ground.write(".git", "gitdir: ../gone/.git/modules/x\n");
    ground.write("a.py", "a\n");
    assert_eq!(names(&freeze(&ground)), ["a.py"]);
}

#[test]
fn a_damaged_index_costs_only_the_tracked_files_that_are_ignored() {
    let ground = Ground::with_git();
    ground.write("a.py", "a\n");
    ground.commit();
    ground.write(".git/index", "DIRC\0\0\0\u{9}garbage");
    let base = freeze(&ground);
    assert_eq!(names(&base), ["a.py"]);
    assert!(base.report.left_out[0].1.contains("index cannot be read"), "{:?}", base.report);
}

#[test]
fn a_state_directory_inside_the_workspace_is_refused_and_not_made() {
    let ground = Ground::with_git();
    let inside = ground.repo().join("sub/state");
    let error = Workspace::open(&ground.repo(), &inside).unwrap_err();
    assert!(matches!(error, Error::StateInside { .. }), "{error}");
    assert!(!ground.repo().join("sub").exists());
}

#[test]
fn a_state_directory_is_private_and_one_of_a_newer_version_is_refused() {
    let ground = Ground::with_git();
    let state = open(&ground).state;
    assert_eq!(state.metadata().unwrap().mode() & 0o7777, 0o700);
    assert_eq!(state.file_name().unwrap().len(), 16);
    fs::write(state.join("workspace.json"), r#"{"schema": 99, "unknown": []}"#).unwrap();
    let error = Workspace::open(&ground.repo(), &ground.state()).unwrap_err();
    assert!(matches!(error, Error::NewerState { found: 99, known: 1, .. }), "{error}");
}

#[test]
fn half_written_state_is_made_anew() {
    let ground = Ground::with_git();
    ground.write("a.py", "a\n");
    let first = freeze(&ground);
    let state = open(&ground).state;
    fs::write(state.join("workspace.json"), "{\"sch").unwrap();
    fs::write(state.join("listing.json"), "{\"a.py\": [").unwrap();
    fs::create_dir_all(state.join("bases/.new/tree/half")).unwrap();
    fs::write(state.join("blobs/.new"), "half").unwrap();
    let second = freeze(&ground);
    assert_eq!((&second.id, second.report.hashed, second.report.copied), (&first.id, 1, 0));
    assert!(fs::read_to_string(state.join("workspace.json")).unwrap().contains("\"schema\": 1"));
}

#[test]
fn an_unchanged_tree_is_neither_read_nor_copied_again() {
    let ground = Ground::with_git();
    for n in 0..50 {
        ground.write(format!("pkg{}/f{n}.py", n % 5), format!("{n}\n"));
    }
    let first = freeze(&ground);
    assert_eq!((first.report.hashed, first.report.copied, first.report.reused), (50, 50, false));
    let second = freeze(&ground);
    assert_eq!((second.report.hashed, second.report.copied, second.report.reused), (0, 0, true));
    assert_eq!((&second.id, &second.dir), (&first.id, &first.dir));
    ground.write("pkg0/f0.py", "changed\n");
    let third = freeze(&ground);
    assert_eq!((third.report.hashed, third.report.copied, third.report.reused), (1, 1, false));
    assert_ne!(third.id, first.id);
    assert_eq!(content(&first, "pkg0/f0.py"), b"0\n", "a base never changes");
    let inode = |base: &Base| base.dir.join("pkg1/f1.py").metadata().unwrap().ino();
    assert_eq!(inode(&first), inode(&third), "what is unchanged is shared");
    assert_eq!(third.dir.join("pkg0/f0.py").metadata().unwrap().mtime(), 1_000_000_000);
    ground.write("pkg0/f0.py", "0\n");
    let fourth = freeze(&ground);
    assert_eq!((&fourth.id, fourth.report.copied, fourth.report.reused), (&first.id, 0, true));
}

#[test]
fn a_file_rewritten_with_its_old_size_and_time_is_seen() {
    let ground = Ground::with_git();
    let path = ground.repo().join("a.py");
    ground.write("a.py", "return 1 < 2\n");
    let modified = path.metadata().unwrap().modified().unwrap();
    let workspace = open(&ground);
    let first = workspace.freeze(None).unwrap();
    ground.write("a.py", "return 1 > 2\n");
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let second = workspace.freeze(None).unwrap();
    assert_eq!(content(&second, "a.py"), b"return 1 > 2\n");
    assert_ne!(first.id, second.id);
}

#[test]
fn a_changed_mode_makes_another_base() {
    let ground = Ground::with_git();
    ground.write("run", "#!/bin/sh\n");
    let first = freeze(&ground);
    fs::set_permissions(ground.repo().join("run"), Permissions::from_mode(0o755)).unwrap();
    let second = freeze(&ground);
    assert_ne!(first.id, second.id);
    first.verify().unwrap();
}

#[test]
fn what_was_changed_in_a_base_is_found() {
    let ground = Ground::with_git();
    ground.write("a.py", "a = 1\n");
    ground.write("b.py", "b = 1\n");
    let base = freeze(&ground);
    fs::write(base.dir.join("a.py"), "a = 2\n").unwrap();
    assert_eq!(base.verify(), Err(Drift::Changed("a.py".to_owned())));
    fs::remove_file(base.dir.join("a.py")).unwrap();
    assert_eq!(base.verify(), Err(Drift::Missing("a.py".to_owned())));
    let base = {
        ground.write("c.py", "c\n");
        freeze(&ground)
    };
    fs::write(base.dir.join("d.py"), "").unwrap();
    assert_eq!(base.verify(), Err(Drift::Added("d.py".to_owned())));
}

#[test]
fn after_a_restart_of_the_machine_a_damaged_base_is_made_anew() {
    let ground = Ground::with_git();
    ground.write("a.py", "a = 1\n");
    ground.write("b.py", "b = 1\n");
    let base = freeze(&ground);
    fs::File::create(base.dir.join("a.py")).unwrap();
    fs::write(open(&ground).state.join("boot"), "an earlier boot").unwrap();
    let again = freeze(&ground);
    assert_eq!((&again.id, again.report.reused, again.report.hashed), (&base.id, false, 0));
    assert_eq!(content(&again, "a.py"), b"a = 1\n");
}

#[test]
fn old_bases_are_pruned_but_never_one_in_use() {
    let ground = Ground::with_git();
    let mut held = None;
    let mut dirs = Vec::new();
    for n in 0..6u64 {
        ground.write("a.py", format!("{n}\n"));
        let mut options = settled();
        options.now += Duration::from_secs(n);
        let base = open(&ground).freeze_with(&options).unwrap();
        dirs.push(base.dir.clone());
        if n == 0 {
            held = Some(base);
        }
    }
    let there: Vec<_> = dirs.iter().map(|dir| dir.exists()).collect();
    assert_eq!(there, [true, false, true, true, true, true]);
    held.unwrap().verify().unwrap();
    let blobs = fs::read_dir(open(&ground).state.join("blobs")).unwrap().count();
    assert_eq!(blobs, 5, "a blob of a pruned base is gone");
}

#[test]
fn a_base_belongs_to_the_owner_that_is_asked_for() {
    let ground = Ground::with_git();
    if ground.path().metadata().unwrap().uid() != 0 {
        eprintln!(
            "NOT RUN: a_base_belongs_to_the_owner_that_is_asked_for (only root can give files away)"
        );
        return;
    }
    ground.write("dir/a.py", "a\n");
    symlink("a.py", ground.repo().join("dir/link")).unwrap();
    let plain = freeze(&ground);
    let given =
        open(&ground).freeze_with(&Freezing { owner: Some((1234, 5678)), ..settled() }).unwrap();
    given.verify().unwrap();
    assert_eq!(given.id, plain.id);
    for path in ["", "dir", "dir/a.py", "dir/link"] {
        let metadata = given.dir.join(path).symlink_metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (1234, 5678), "{path:?}");
        assert_eq!(plain.dir.join(path).symlink_metadata().unwrap().uid(), 0, "{path:?}");
    }
}

#[test]
fn several_processes_may_freeze_one_workspace_at_once() {
    if let Some(place) = role() {
        let place = Path::new(&place);
        let base = Workspace::open(&place.join("repo"), &place.join("state"))
            .unwrap()
            .freeze(None)
            .unwrap();
        base.verify().unwrap();
        println!("id={}", base.id);
        return;
    }
    let ground = Ground::with_git();
    for n in 0..200 {
        ground.write(format!("f{n}.py"), format!("{n}\n"));
    }
    let name = "workspace::several_processes_may_freeze_one_workspace_at_once";
    let started: Vec<_> = (0..4)
        .map(|_| in_a_process(name, ground.path().to_str().unwrap()).spawn().unwrap())
        .collect();
    let id = freeze(&ground).id;
    for process in started {
        let output = process.wait_with_output().unwrap();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains(&format!("id={id}")),
            "{output:?}"
        );
    }
    assert_eq!(fs::read_dir(open(&ground).state.join("bases")).unwrap().count(), 1);
}

#[test]
fn kill_9_while_freezing_leaves_the_tree_as_it_was_and_the_next_freeze_works() {
    if let Some(place) = role() {
        let place = Path::new(&place);
        Workspace::open(&place.join("repo"), &place.join("state")).unwrap().freeze(None).unwrap();
        return;
    }
    let ground = Ground::with_git();
    for n in 0..1500 {
        ground.write(format!("d{}/f{n}.py", n % 7), format!("{n}\n"));
    }
    let before = everything(&ground.repo());
    let name =
        "workspace::kill_9_while_freezing_leaves_the_tree_as_it_was_and_the_next_freeze_works";
    let blobs = open(&ground).state.join("blobs");
    for wanted in [1, 400, 1499] {
        let mut process = in_a_process(name, ground.path().to_str().unwrap()).spawn().unwrap();
        let count = || fs::read_dir(&blobs).map_or(0, Iterator::count);
        while count() < wanted && process.try_wait().unwrap().is_none() {}
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert_eq!(everything(&ground.repo()), before);
    let base = freeze(&ground);
    assert_eq!(base.report.files, 1500);
    let left = fs::read_dir(base.dir.parent().unwrap().parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "leftovers are swept");
}

#[test]
fn a_lack_of_permission_is_told_in_one_sentence() {
    if !without_privileges("workspace::a_lack_of_permission_is_told_in_one_sentence") {
        return;
    }
    let ground = Ground::new();
    ground.write("secret.py", "x\n");
    let forbid = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    let allow = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    let secret = ground.repo().join("secret.py");
    forbid(&secret);
    let workspace = open(&ground);
    let error = workspace.freeze(None).unwrap_err();
    assert!(matches!(&error, Error::Unreadable { path, .. } if *path == secret), "{error}");
    assert!(!workspace.state.join("bases").read_dir().unwrap().any(|_| true));

    ground.write("closed/a.py", "x\n");
    let closed = ground.repo().join("closed");
    forbid(&closed);
    let error = workspace.freeze(None).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    refused(&closed, &ground, "may not be read by this user");
    allow(&closed);
    allow(&secret);

    forbid(&workspace.state);
    let error = workspace.freeze(None).unwrap_err();
    assert!(matches!(error, Error::State { .. }), "{error}");
    allow(&workspace.state);
    workspace.freeze(None).unwrap().verify().unwrap();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "tests may start processes")]
fn a_full_disk_is_told_and_leaves_nothing_half_made() {
    let name = "workspace::a_full_disk_is_told_and_leaves_nothing_half_made";
    if let Some(place) = role() {
        let place = Path::new(&place);
        let workspace = Workspace::open(&place.join("repo"), &place.join("small")).unwrap();
        let error = workspace.freeze(None).unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error}");
        assert!(!workspace.state.join("bases").read_dir().unwrap().any(|_| true));
        fs::remove_file(place.join("repo/big.bin")).unwrap();
        workspace.freeze(None).unwrap().verify().unwrap();
        println!("done");
        return;
    }
    let ground = Ground::new();
    ground.write("a.py", "a\n");
    ground.write("big.bin", vec![7; 3 << 20]);
    let small = ground.path().join("small");
    fs::create_dir(&small).unwrap();
    let inner = in_a_process(name, ground.path().to_str().unwrap());
    let mut command = std::process::Command::new("unshare");
    command.args([
        "-Urm",
        "sh",
        "-c",
        "mount -t tmpfs -o size=1m none \"$0\" || exit 77; exec \"$@\"",
    ]);
    command.arg(&small).arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    match command.output() {
        Ok(output) if output.status.success() => {
            assert!(String::from_utf8_lossy(&output.stdout).contains("done"));
        }
        Ok(output) if output.status.code() == Some(101) => panic!("{output:?}"),
        other => eprintln!("NOT RUN: {name} (a small file system cannot be mounted: {other:?})"),
    }
}

#[test]
fn what_is_ignored_is_what_git_ignores() {
    let ground = Ground::with_git();
    ground.write(
        ".gitignore",
        "*.log\n!keep.log\n/anchored\nonly_dir/\n**/deep/*.tmp\na/**/z\nsp\\ ace \n\\#hash\n[ab]?.c\n\
         doc/*.txt\n!doc/notes.txt\n",
    );
    ground.write("sub/.gitignore", "!*.log\nlocal\n");
    ground.write(".git/info/exclude", "excluded\n");
    ground.write(".ignore", "not_gits\n");
    let paths = [
        "x.log",
        "keep.log",
        "anchored",
        "sub/anchored",
        "only_dir/f",
        "sub/only_dir",
        "q/deep/f.tmp",
        "deep/f.tmp",
        "deep/g/f.tmp",
        "a/z",
        "a/b/c/z",
        "b/a/z",
        "sp ace",
        "#hash",
        "ax.c",
        "cx.c",
        "doc/a.txt",
        "doc/notes.txt",
        "doc/b/a.txt",
        "sub/x.log",
        "sub/local",
        "local",
        "excluded",
        "sub/excluded",
        "not_gits",
    ];
    for path in paths {
        ground.write(path, "x\n");
    }
    let listed = ground.git(&["ls-files", "--cached", "--others", "--exclude-standard"]);
    let mut listed: Vec<_> = listed.lines().collect();
    listed.sort_unstable();
    assert_eq!(names(&freeze(&ground)), listed);
    assert!(listed.len() > 10 && listed.len() < paths.len(), "{listed:?}");
}

#[test]
fn a_repository_of_another_user_opens_because_nothing_in_it_is_obeyed() {
    let ground = Ground::with_git();
    ground.write(".gitignore", "*.log\n");
    ground.write("tracked.log", "x\n");
    ground.git(&["add", "--force", "--all"]);
    ground.git(&["config", "core.worktree", "/nonexistent"]);
    ground.git(&["config", "core.fsmonitor", "touch planted"]);
    let given = std::os::unix::fs::chown(ground.repo(), Some(1234), Some(1234))
        .and_then(|()| std::os::unix::fs::chown(ground.repo().join(".git"), Some(1234), None));
    if let Err(error) = given {
        eprintln!("NOT RUN as another user's repository: only root can give files away ({error})");
    }
    assert_eq!(names(&freeze(&ground)), [".gitignore", "tracked.log"]);
    assert_eq!(open(&ground).vcs().unwrap().unwrap().dirty, 2);
    assert!(!ground.repo().join("planted").exists());
}
