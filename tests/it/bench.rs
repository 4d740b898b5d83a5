//! A harness on a copy of one of `tests/trees`, and artifacts made from edits of its files.

use crate::fetch::pytest_venv;
use ssr_mcp::artifact::Artifact;
use ssr_mcp::diff::Patch;
use ssr_mcp::harness::{Harness, Setup};
use ssr_mcp::runner::{Machine, Overrides, Runner};
use ssr_mcp::sandbox::{Cancel, Sandbox};
use ssr_mcp::store::Store;
use ssr_mcp::tree::{Changes, File, Overlaid, RelPath, Tree};
use ssr_mcp::workspace::Workspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct Bench {
    pub(crate) harness: Harness,
    pub(crate) workspace: Workspace,
    _dir: tempfile::TempDir,
}

/// A harness on a copy of `tests/trees/<name>`.
pub(crate) fn bench(name: &str) -> Bench {
    bench_with(name, &machine(), None)
}

/// The same with pytest at hand.
pub(crate) fn pytest_bench(name: &str) -> Bench {
    bench_with(name, &pytest_machine(), None)
}

pub(crate) fn bench_with(name: &str, machine: &Machine, time_limit: Option<Duration>) -> Bench {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees").join(name);
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    copy(&from, &root);
    bench_at(dir, &root, machine, time_limit)
}

/// A harness on a directory below `dir`, which also holds the state.
pub(crate) fn bench_at(
    dir: tempfile::TempDir,
    root: &Path,
    machine: &Machine,
    time_limit: Option<Duration>,
) -> Bench {
    let workspace = Workspace::open(root, &dir.path().join("state")).unwrap();
    let sandbox = sandbox(&workspace.state);
    let base = Arc::new(workspace.freeze(sandbox.owner()).unwrap());
    let runner = Runner::detect(&*base, &workspace.root, machine, &Overrides::default()).unwrap();
    let harness = Harness::open(Setup {
        sandbox,
        base,
        runner: Arc::new(runner),
        store: Arc::new(Store::open(&workspace.state).unwrap()),
        state: workspace.state.clone(),
        cancel: Cancel::new(),
        time_limit,
        memory: 2 << 30,
        parallel: 2,
    })
    .unwrap();
    Bench { harness, workspace, _dir: dir }
}

pub(crate) fn sandbox(scratch: &Path) -> Sandbox {
    Sandbox::probe_with(Path::new(env!("CARGO_BIN_EXE_ssr-mcp")), scratch).unwrap()
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "__pycache__" {
                copy(&entry.path(), &target);
            }
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The machine that the tests run on.
pub(crate) fn machine() -> Machine {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    Machine {
        path: std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect(),
        home: variable("HOME").unwrap(),
        cargo_home: variable("CARGO_HOME"),
        rustup_home: variable("RUSTUP_HOME"),
        ..Machine::default()
    }
}

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::parse(text.as_bytes()).unwrap()
}

impl Bench {
    /// `changes` with the only occurrence of `old` in `file` replaced.
    #[track_caller]
    pub(crate) fn edit(&self, changes: &Changes, file: &str, old: &str, new: &str) -> Changes {
        let tree = Overlaid { base: self.harness.base(), changes };
        let before = tree.read(&path(file)).unwrap();
        let text = String::from_utf8(before.bytes.to_vec()).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old:?} in {file}");
        let mut after = changes.clone();
        after.write(
            path(file),
            File { bytes: text.replace(old, new).into_bytes().into(), ..before },
        );
        after
    }

    /// The patch from base + `below` to base + `changes`.
    pub(crate) fn patch(&self, below: &Changes, changes: &Changes) -> Vec<u8> {
        let tree = Overlaid { base: self.harness.base(), changes: below };
        Patch::between(&tree, changes).to_bytes()
    }

    /// An artifact over the given test files, with the runner's own script and parser.
    pub(crate) fn artifact(
        &self,
        bug: &Changes,
        weakened: &Changes,
        test_files: &[&str],
    ) -> Artifact {
        let files: Vec<RelPath> = test_files.iter().map(|file| path(file)).collect();
        let runner = self.harness.runner();
        let script = runner.script(&files, &[]);
        let parts = [
            ("bug_inject.diff", self.patch(&Changes::new(), bug)),
            ("test_weaken.diff", self.patch(&Changes::new(), weakened)),
            ("test_script.sh", script),
            ("test_parser.py", runner.parser()),
            ("test_files.txt", test_files.join("\n").into_bytes()),
        ];
        Artifact::from_files(&parts.map(|(name, bytes)| (name.to_owned(), bytes)).into()).unwrap()
    }
}

/// A harness on a tree of these files.
pub(crate) fn bench_of(
    files: &[(&str, &[u8])],
    machine: &Machine,
    time_limit: Option<Duration>,
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    write_tree(&root, files);
    bench_at(dir, &root, machine, time_limit)
}

pub(crate) fn write_tree(root: &Path, files: &[(&str, &[u8])]) {
    for (name, content) in files {
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
}

/// The machine with pytest at hand.
pub(crate) fn pytest_machine() -> Machine {
    Machine { virtual_env: Some(pytest_venv()), ..machine() }
}
