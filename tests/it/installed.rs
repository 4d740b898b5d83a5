//! Programs of others that tests install for themselves, once for all runs and whoever runs at once.
#![allow(clippy::disallowed_methods, reason = "installers are processes")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory `name` of the build's temporary files, where `install` has been successful in it.
/// `None` where it cannot be; said loudly, because a test that asks then proves nothing.
pub(crate) fn installed(name: &str, install: impl FnOnce(&Path) -> bool) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let whole = dir.join("whole");
    fs::create_dir_all(&dir).unwrap();
    let lock = File::create(dir.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if !whole.exists() {
        if !install(&dir) {
            eprintln!(
                "NOT RUN: {name} cannot be installed here; what it would prove is not proven"
            );
            return None;
        }
        fs::write(&whole, "").unwrap();
    }
    Some(dir)
}

/// Packages from npm; their programs are in `node_modules/.bin`.
pub(crate) fn npm(name: &str, packages: &[&str]) -> Option<PathBuf> {
    installed(name, |dir| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix", "."]).args(packages);
        succeeds(npm.current_dir(dir))
    })
}

/// Packages from `PyPI` in a virtual environment of their own; programs are in `bin`.
pub(crate) fn pip(name: &str, packages: &[&str]) -> Option<PathBuf> {
    installed(name, |dir| {
        succeeds(Command::new("python3").args(["-m", "venv"]).arg(dir))
            && succeeds(
                Command::new(dir.join("bin/pip"))
                    .args(["install", "--quiet", "--disable-pip-version-check"])
                    .args(packages),
            )
    })
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
