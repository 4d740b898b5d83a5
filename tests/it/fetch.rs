//! What the tests take from package indexes with the ordinary clients: pytest, boltons and semver. Kept
//! below cargo's directory for tests.

use crate::bench::{copy, machine};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

/// One download at a time.
static FETCHING: Mutex<()> = Mutex::new(());

/// A virtual environment with pytest, made once and kept below cargo's directory for tests.
pub(crate) fn pytest_venv() -> PathBuf {
    static VENV: OnceLock<PathBuf> = OnceLock::new();
    VENV.get_or_init(|| {
        let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pytest-venv");
        if !venv.join("ready").exists() {
            std::fs::remove_dir_all(&venv).ok();
            succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv));
            succeed(Command::new(venv.join("bin/python")).args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "pytest==9.*",
            ]));
            std::fs::write(venv.join("ready"), "").unwrap();
        }
        venv
    })
    .clone()
}

#[track_caller]
pub(crate) fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?} failed, and this test needs it:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The unpacked source distribution.
pub(crate) fn boltons() -> Option<PathBuf> {
    boltons_of("26.2.0")
}

/// The same of a version.
pub(crate) fn boltons_of(version: &str) -> Option<PathBuf> {
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("boltons-{version}");
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    if !kept.join("PKG-INFO").exists() {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("downloads");
        std::fs::create_dir_all(&dir).unwrap();
        let fetched = Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"])
            .arg(format!("boltons=={version}"))
            .arg("-d")
            .arg(&dir)
            .status()
            .is_ok_and(|status| status.success());
        if !fetched {
            return None;
        }
        succeed(
            Command::new("tar")
                .arg("-xzf")
                .arg(dir.join(format!("{name}.tar.gz")))
                .arg("-C")
                .arg(env!("CARGO_TARGET_TMPDIR")),
        );
    }
    Some(kept)
}

/// The unpacked crate, with its development dependencies in cargo's registry cache.
pub(crate) fn semver() -> Option<PathBuf> {
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fetch-semver");
    std::fs::create_dir_all(scratch.join("src")).unwrap();
    std::fs::write(
        scratch.join("Cargo.toml"),
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\nsemver = \"=1.0.28\"\n\n[workspace]\n",
    )
    .unwrap();
    std::fs::write(scratch.join("src/lib.rs"), "").unwrap();
    let fetched = |dir: &Path| {
        Command::new("cargo")
            .args(["fetch", "--quiet"])
            .current_dir(dir)
            .env("CARGO_TARGET_DIR", scratch.join("target"))
            .status()
            .is_ok_and(|status| status.success())
    };
    if !fetched(&scratch) {
        return None;
    }
    let home = machine().cargo_home.unwrap_or_else(|| machine().home.join(".cargo"));
    let unpacked = std::fs::read_dir(home.join("registry/src"))
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("semver-1.0.28"))
        .find(|path| path.is_dir())?;
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("semver-1.0.28");
    if !kept.join("Cargo.lock").exists() {
        copy(&unpacked, &kept);
        if !fetched(&kept) {
            return None;
        }
    }
    Some(kept)
}

/// A directory whose `node_modules` has these packages, installed once without their scripts.
pub(crate) fn npm(name: &str, packages: &[&str]) -> Option<PathBuf> {
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("npm-{name}"));
    if !dir.join("whole").exists() {
        std::fs::create_dir_all(&dir).unwrap();
        let installed = Command::new("npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", "."])
            .args(packages)
            .current_dir(&dir)
            .output();
        if !installed.is_ok_and(|output| output.status.success()) {
            return None;
        }
        std::fs::write(dir.join("whole"), "").unwrap();
    }
    Some(dir)
}

/// What npm serves of a package, unpacked.
pub(crate) fn npm_package(name: &str, version: &str) -> Option<PathBuf> {
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("npm-{name}-{version}"));
    if !kept.join("package/package.json").exists() {
        std::fs::create_dir_all(&kept).unwrap();
        let packed = Command::new("npm")
            .args(["pack", "--silent", &format!("{name}@{version}")])
            .current_dir(&kept)
            .output();
        if !packed.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let archive = kept.join(format!("{name}-{version}.tgz"));
        succeed(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&kept));
    }
    Some(kept.join("package"))
}

#[track_caller]
pub(crate) fn did_not_run(what: &str) {
    eprintln!("DID NOT RUN: {what} could not be downloaded; this test proves nothing now");
}
