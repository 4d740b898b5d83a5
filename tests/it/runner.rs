//! Real test frameworks, run outside any sandbox: scripts, parsers and readers agree.
#![allow(
    clippy::disallowed_methods,
    reason = "the subject is what a script does without our sandbox"
)]

use ssr_mcp::runner::{Error, Machine, Overrides, Runner};
use ssr_mcp::tree::{File, RelPath, Tree};
use ssr_mcp::verdict::{Outcome, TestId, Verdicts};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory on disk as a tree. Links and directories of tools are not followed.
struct Disk(PathBuf);

impl Tree for Disk {
    fn read(&self, path: &RelPath) -> Option<File> {
        let path = self.0.join(path.as_str());
        path.is_file().then(|| File::plain(std::fs::read(path).unwrap()))
    }

    fn paths(&self) -> Vec<RelPath> {
        let mut found = Vec::new();
        let mut open = vec![self.0.clone()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).unwrap().flatten() {
                let kind = entry.file_type().unwrap();
                let tools =
                    ["target", "venv", ".venv", "__pycache__"].map(std::ffi::OsString::from);
                if kind.is_dir() && !tools.contains(&entry.file_name()) {
                    open.push(entry.path());
                } else if kind.is_file() {
                    let path = entry.path();
                    let path = path.strip_prefix(&self.0).unwrap();
                    found.extend(RelPath::parse(path.to_str().unwrap().as_bytes()));
                }
            }
        }
        found.sort();
        found
    }
}

/// A temporary repository with these files.
struct Repository(tempfile::TempDir);

impl Repository {
    fn with(files: &[(&str, &str)]) -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        for (path, content) in files {
            let path = repository.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        repository
    }

    fn root(&self) -> &Path {
        self.0.path()
    }
}

/// A copy of a directory, less what tools built in it.
fn copy_of(place: &Path) -> Repository {
    let repository = Repository::with(&[]);
    for path in Disk(place.to_owned()).paths() {
        let target = repository.root().join(path.as_str());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(place.join(path.as_str()), target).unwrap();
    }
    repository
}

fn cargo_home() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    std::env::var_os("CARGO_HOME").map_or(home.join(".cargo"), PathBuf::from)
}

/// The machine these tests run on.
fn machine() -> Machine {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    Machine {
        path: std::env::split_paths(&path).collect(),
        home: variable("HOME").unwrap_or_default(),
        virtual_env: Some(crate::fetch::pytest_venv()),
        cargo_home: variable("CARGO_HOME"),
        rustup_home: variable("RUSTUP_HOME"),
        ..Machine::default()
    }
}

struct Ran {
    log: Vec<u8>,
    ours: Result<Verdicts, Error>,
    parsed: Result<BTreeMap<TestId, String>, String>,
}

impl Ran {
    /// What a report says, after seeing that the parser program says the same.
    #[track_caller]
    fn verdicts(&self) -> BTreeMap<TestId, Outcome> {
        let log = String::from_utf8_lossy(&self.log);
        let ours = self.ours.as_ref().unwrap_or_else(|error| panic!("{error}\n{log}"));
        let words = ours.iter().filter_map(|(id, outcome)| match outcome {
            Outcome::Passed => Some((id.clone(), "passed".to_owned())),
            Outcome::Failed | Outcome::Error => Some((id.clone(), "failed".to_owned())),
            Outcome::Skipped | Outcome::Missing => None,
        });
        assert_eq!(Ok(words.collect()), self.parsed, "{log}");
        ours.iter().map(|(id, outcome)| (id.clone(), outcome)).collect()
    }

    /// The reason why there is no report, after seeing that the parser program finds none either.
    #[track_caller]
    fn refusal(&self) -> String {
        let log = String::from_utf8_lossy(&self.log);
        assert!(self.parsed.is_err(), "the parser reads what we refuse: {:?}\n{log}", self.parsed);
        self.ours.as_ref().expect_err("no report").to_string()
    }
}

fn detect(root: &Path) -> Result<Runner, Error> {
    Runner::detect(&Disk(root.to_owned()), root, &machine(), &Overrides::default())
}

/// Runs the whole suite less `excluded` with the script alone, and reads its log twice.
#[track_caller]
fn run_less(root: &Path, excluded: &[&str]) -> Ran {
    run_with(&machine(), root, excluded)
}

/// The same with the tools of a machine.
#[track_caller]
fn run_with(machine: &Machine, root: &Path, excluded: &[&str]) -> Ran {
    let tree = Disk(root.to_owned());
    let runner = Runner::detect(&tree, root, machine, &Overrides::default());
    let runner = runner.unwrap_or_else(|error| panic!("{error}"));
    let files = runner.test_files(&Disk(root.to_owned()));
    let excluded: Vec<_> = excluded.iter().map(|id| (*id).to_owned()).collect();
    run_script(&runner, root, &runner.script(&files, &excluded))
}

#[track_caller]
fn run_script(runner: &Runner, root: &Path, script: &[u8]) -> Ran {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("test_script.sh");
    std::fs::write(&file, script).unwrap();
    let output = Command::new("bash")
        .arg(&file)
        .current_dir(root)
        .env_clear()
        .envs(&runner.tools().env)
        .envs([("HOME", place.path()), ("TMPDIR", place.path())])
        .env_remove("PYTHONPYCACHEPREFIX")
        .env("CARGO_HOME", cargo_home())
        .env("CARGO_TARGET_DIR", root.join("target"))
        .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("gocache"))
        .env("GOPATH", place.path().join("go"))
        .env("SSR_BUILD", root.join("target"))
        .output()
        .unwrap();
    let log = output.stdout;
    let ours = runner.read_log(&log);
    let parsed = parse(runner, &log);
    let mut left = std::fs::read_dir(place.path()).unwrap().flatten();
    let made_by_mktemp =
        |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("tmp.");
    assert!(!left.any(|entry| made_by_mktemp(&entry)), "the script leaves its directory behind");
    Ran { log, ours, parsed }
}

fn run(root: &Path) -> Ran {
    run_less(root, &[])
}

fn parse(runner: &Runner, log: &[u8]) -> Result<BTreeMap<TestId, String>, String> {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("test_parser.py");
    std::fs::write(&file, runner.parser()).unwrap();
    let mut child = Command::new("python3")
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let log = log.to_owned();
    let feeder = std::thread::spawn(move || input.write_all(&log).ok());
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[track_caller]
fn check(ran: &Ran, expected: &[(&str, Outcome)]) {
    let expected = expected.iter().map(|(id, outcome)| ((*id).to_owned(), *outcome)).collect();
    similar(&ran.verdicts(), &expected);
}

#[track_caller]
fn similar(found: &BTreeMap<TestId, Outcome>, expected: &BTreeMap<TestId, Outcome>) {
    assert_eq!(found, expected);
}

mod pytest;
mod unittest;
mod instrument;
mod node;
mod cargo;
mod ctest;
mod go;
mod java;
mod command;
mod controls;
