//! Patches against the real git and GNU patch, both ways.
#![allow(clippy::disallowed_methods, reason = "the tools that we compare with are run as they are")]

use ssr_mcp::dice::Dice;
use ssr_mcp::diff::{FilePatch, Kind, Patch};
use ssr_mcp::tree::{Changes, File, Overlaid, RelPath, Tree};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

const NAMES: [&str; 9] = [
    "a.py",
    "src/b c.py",
    "caf\u{e9}/x.rs",
    "quo\"te/y",
    "a/x",
    "b/x",
    "-dash",
    "dir/UPPER.py",
    " lead and trail ",
];

const LINES: [&[u8]; 11] = [
    b"\n",
    b"a\n",
    b"b\r\n",
    b"\r\n",
    b"lone\rreturn\n",
    b"-- sql\n",
    b"++ plus\n",
    b"@@ -1 +1 @@\n",
    b"caf\xe9 latin\n",
    b"\xef\xbb\xbfbom\n",
    b"    trailing \t \n",
];

/// A tree and its changes: every kind of change, unequal lengths, some files without final newline.
fn case(dice: &mut Dice) -> (Changes, Changes) {
    let (mut base, mut changes) = (Changes::new(), Changes::new());
    for name in NAMES {
        let path = RelPath::parse(name.as_bytes()).unwrap();
        let old = (0..dice.below(40)).map(|_| *dice.pick(&LINES).unwrap()).collect::<Vec<_>>();
        let old_executable = dice.below(4) == 0;
        let in_base = dice.below(4) > 0;
        if in_base {
            base.write(path.clone(), file(&old, dice.below(4) == 0, old_executable));
        }
        match dice.below(6) {
            0 => {}
            1 if in_base => changes.delete(path),
            _ => {
                let new = edited(old, dice);
                let executable = if dice.below(3) == 0 { !old_executable } else { old_executable };
                changes.write(path, file(&new, dice.below(4) == 0, executable));
            }
        }
    }
    let changes = moved(&base, changes.against(&base), dice);
    (base, changes)
}

/// Moves some files that did not change, a few of them edited on the way.
fn moved(base: &Changes, mut changes: Changes, dice: &mut Dice) -> Changes {
    for (path, file) in base.iter() {
        if changes.get(path).is_some() || dice.below(2) == 0 {
            continue;
        }
        let mut file = file.unwrap().clone();
        if dice.below(2) == 0 {
            file.bytes = [b"first line\n", &*file.bytes].concat().into();
        }
        changes.delete(path.clone());
        let to = format!("moved/{} to/{}", changes.len(), path.file_name());
        changes.write(RelPath::parse(to.as_bytes()).unwrap(), file);
    }
    changes
}

fn edited<'l>(mut lines: Vec<&'l [u8]>, dice: &mut Dice) -> Vec<&'l [u8]> {
    for _ in 0..dice.below(4) {
        let from = dice.below(lines.len() + 1);
        let to = (from + dice.below(4)).min(lines.len());
        let new: Vec<_> = (0..dice.below(4)).map(|_| *dice.pick(&LINES).unwrap()).collect();
        lines.splice(from..to, new);
    }
    lines
}

fn file(lines: &[&[u8]], cut: bool, executable: bool) -> File {
    let mut bytes = lines.concat();
    if cut {
        bytes.extend_from_slice(b"no newline");
    }
    File { bytes: bytes.into(), executable }
}

fn after(base: &Changes, changes: &Changes) -> Changes {
    let all = Overlaid { base, changes };
    all.paths().into_iter().map(|path| (path.clone(), all.read(&path))).collect()
}

fn without_modes(tree: &Changes) -> Changes {
    let plain = |file: &File| File::plain(file.bytes.clone());
    tree.iter().map(|(path, file)| (path.clone(), file.map(plain))).collect()
}

/// Fails with just the files that differ, and the patch.
#[track_caller]
fn same(found: &Changes, expect: &Changes, patch: &[u8]) {
    let all: std::collections::BTreeSet<_> = found.paths().chain(expect.paths()).collect();
    for path in all {
        let (found, expect) = (found.get(path), expect.get(path));
        assert_eq!(found, expect, "{path} after\n{}", String::from_utf8_lossy(patch));
    }
}

/// A repository in a temporary folder, without any of the machine's settings.
struct Repository(tempfile::TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        repository.git(&["init", "-q"], b"");
        repository
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    #[track_caller]
    fn git(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let settings = ["-c", "core.autocrlf=false", "-c", "core.fileMode=true"];
        self.run("git", &[&settings, arguments].concat(), input)
    }

    #[track_caller]
    fn run(&self, program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.root())
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CEILING_DIRECTORIES", "/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} does not start: {error}; install it"));
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let show = String::from_utf8_lossy;
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}{}\non\n{}",
            show(&output.stdout),
            show(&output.stderr),
            show(input)
        );
        output.stdout
    }

    /// Makes the working tree hold just these files.
    fn write(&self, tree: &Changes) {
        for entry in fs::read_dir(self.root()).unwrap() {
            let entry = entry.unwrap();
            match entry.file_name() == ".git" {
                true => {}
                false if entry.file_type().unwrap().is_dir() => {
                    fs::remove_dir_all(entry.path()).unwrap();
                }
                false => fs::remove_file(entry.path()).unwrap(),
            }
        }
        for (path, file) in tree.iter() {
            let (file, path) = (file.unwrap(), self.root().join(path.as_str()));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &file.bytes).unwrap();
            let mode = if file.executable { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    fn read(&self) -> Changes {
        let mut tree = Changes::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_name() == ".git" {
                    continue;
                }
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                    continue;
                }
                let name =
                    entry.path().strip_prefix(self.root()).unwrap().to_str().unwrap().to_owned();
                let executable = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
                let file = File { bytes: fs::read(entry.path()).unwrap().into(), executable };
                tree.write(RelPath::parse(name.as_bytes()).unwrap(), file);
            }
        }
        tree
    }
}

#[test]
fn git_applies_our_patches_and_undoes_them() {
    let repository = Repository::new();
    let mut dice = Dice::new(1);
    for _ in 0..80 {
        let (base, changes) = case(&mut dice);
        let patch = Patch::between(&base, &changes).to_bytes();
        if patch.is_empty() {
            continue;
        }
        repository.write(&base);
        repository.git(&["apply", "--whitespace=nowarn"], &patch);
        same(&repository.read(), &after(&base, &changes), &patch);
        repository.git(&["apply", "--whitespace=nowarn", "-R"], &patch);
        // `git apply -R` gives a deleted file mode 100644 back whatever it was.
        same(&without_modes(&repository.read()), &without_modes(&base), &patch);
    }
}

#[test]
fn git_applies_our_reversed_patches() {
    let repository = Repository::new();
    let mut dice = Dice::new(2);
    for _ in 0..30 {
        let (base, changes) = case(&mut dice);
        let patch = Patch::between(&base, &changes).reversed().to_bytes();
        if patch.is_empty() {
            continue;
        }
        repository.write(&after(&base, &changes));
        repository.git(&["apply", "--whitespace=nowarn"], &patch);
        same(&repository.read(), &base, &patch);
    }
}

#[test]
fn we_apply_what_git_diff_writes() {
    // One list of settings a style of patch.
    let styles: [&[&str]; 7] = [
        &[],
        &["--find-renames=30%"],
        &["--no-prefix"],
        &["--unified=0", "--no-renames"],
        &["--function-context", "--full-index"],
        &["--patience", "--inter-hunk-context=2"],
        &["--patch-with-stat", "--break-rewrites=20%", "--find-renames=20%"],
    ];
    let repository = Repository::new();
    let mut dice = Dice::new(3);
    let mut renamed = 0;
    for round in 0..84 {
        let (base, changes) = case(&mut dice);
        repository.write(&base);
        repository.git(&["add", "-A", "--force"], b"");
        let tree = repository.git(&["write-tree"], b"");
        let tree = std::str::from_utf8(&tree).unwrap().trim();
        repository.write(&after(&base, &changes));
        repository.git(&["add", "-A", "--force"], b"");
        let style = styles[round % styles.len()];
        let quoting = if round % 2 == 0 { "core.quotePath=true" } else { "core.quotePath=false" };
        let diff = ["-c", quoting, "diff", "--cached", "--no-ext-diff", "--text"];
        let text = repository.git(&[&diff, style, &[tree]].concat(), b"");
        let show = || format!("{style:?}\n{}", String::from_utf8_lossy(&text));
        let patch = Patch::parse(&text).unwrap_or_else(|refusal| panic!("{refusal}: {}", show()));
        let is_renamed = |file: &&FilePatch| matches!(file.kind(), Kind::Renamed { .. });
        renamed += patch.files().iter().filter(is_renamed).count();
        let applied = patch.apply(&base).unwrap_or_else(|failure| panic!("{failure}: {}", show()));
        assert_eq!(applied.against(&base), changes, "{}", show());
        let undone = patch.reversed().apply(&after(&base, &changes));
        let undone = undone.unwrap_or_else(|failure| panic!("undoing: {failure}: {}", show()));
        assert_eq!(after(&after(&base, &changes), &undone), base, "undone: {}", show());
    }
    assert!(renamed > 10, "only {renamed} renames: the test tests too little");
}

#[test]
fn gnu_patch_applies_our_patches() {
    let repository = Repository::new();
    let mut dice = Dice::new(4);
    for _ in 0..40 {
        let (base, changes) = case(&mut dice);
        let patch = Patch::between(&base, &changes).to_bytes();
        if patch.is_empty() {
            continue;
        }
        repository.write(&base);
        repository.run(
            "patch",
            &["-p1", "--binary", "--force", "--fuzz=0", "--no-backup-if-mismatch"],
            &patch,
        );
        same(&repository.read(), &after(&base, &changes), &patch);
    }
}

#[test]
fn git_reads_a_rename_that_we_write() {
    let repository = Repository::new();
    let text = b"diff --git a/old name b/d/\"new\" name\nold mode 100644\nnew mode 100755\n\
        rename from old name\nrename to \"d/\\\"new\\\" name\"\n\
        --- a/old name\t\n+++ \"b/d/\\\"new\\\" name\"\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    let patch = Patch::parse(text).unwrap();
    let old = RelPath::parse(b"old name").unwrap();
    let base: Changes = [(old, Some(File::plain(b"a\nb\n".as_slice())))].into_iter().collect();
    repository.write(&base);
    repository.git(&["apply"], &patch.to_bytes());
    assert_eq!(repository.read(), after(&base, &patch.apply(&base).unwrap()));
    repository.git(&["apply"], &patch.reversed().to_bytes());
    assert_eq!(repository.read(), base);
}
