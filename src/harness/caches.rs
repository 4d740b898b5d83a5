//! Warm caches of a base: byte code and build output, filled once, shown to every run as the lower
//! layer of its own scratch.
//!
//! A cache built from the original code is an answer key. Runs that include a solver's code are
//! shown a copy without every entry that was made from a file which their tree changes (byte code)
//! or from the repository at all (build output: of cargo and go what was made of dependencies stays, of
//! `CMake` nothing).

use super::Error;
use crate::sandbox::{self, Access, Mount};
use crate::tree::{Changes, RelPath, hex};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Copies for solvers that are kept on disk.
const KEPT: usize = 128;

/// What is being made.
const FILLING: &str = "filling-";
const COPYING: &str = "copying-";

/// A disk with less free space than this is full, bytes.
const ROOM: u64 = 1 << 20;

pub(super) struct Caches {
    /// One directory a base and set of tools.
    dir: PathBuf,
    /// Where each cache appears inside; its directory here is its index.
    targets: Vec<PathBuf>,
    /// Where the tree appears inside.
    root: PathBuf,
    owner: Option<(u32, u32)>,
    /// Where they are while they are filled.
    filling: PathBuf,
    /// Serialises the making of copies.
    making: Mutex<()>,
}

impl Caches {
    pub(super) fn open(
        dir: PathBuf,
        targets: Vec<PathBuf>,
        root: PathBuf,
        owner: Option<(u32, u32)>,
    ) -> Result<Self, Error> {
        fs::create_dir_all(&dir).map_err(Error::io("make the cache directory", &dir))?;
        sandbox::sweep_begun(&dir, FILLING);
        sandbox::sweep_begun(&dir, COPYING);
        let filling = dir.join(sandbox::begun(FILLING));
        Ok(Self { dir, targets, root, owner, filling, making: Mutex::new(()) })
    }

    /// Whether the caches were filled.
    pub(super) fn are_warm(&self) -> bool {
        self.targets.is_empty() || self.dir.join("warm").is_dir()
    }

    /// Mounts for the run that fills the caches; [`Caches::filled`] makes them count.
    pub(super) fn filling(&self) -> Result<Vec<Mount>, Error> {
        remove(&self.filling)?;
        self.mounts(&self.filling, Access::Persistent)
    }

    /// Refuses caches that were filled where the disk is full by now: they may be cut short.
    pub(super) fn have_room(&self) -> Result<(), Error> {
        let found = rustix::fs::statvfs(&self.dir)
            .map_err(|error| Error::io("ask for the space at", &self.dir)(error.into()))?;
        // Network file systems that do not know say 0 blocks in all.
        if found.f_blocks > 0 && found.f_bavail.saturating_mul(found.f_frsize) < ROOM {
            remove(&self.filling)?;
            return Err(Error::DiskFull { path: self.dir.clone() });
        }
        Ok(())
    }

    pub(super) fn filled(&self) -> Result<(), Error> {
        let warm = self.dir.join("warm");
        match fs::rename(&self.filling, &warm) {
            Err(_) if warm.is_dir() => remove(&self.filling),
            other => other.map_err(Error::io("keep the warm caches at", &warm)),
        }
    }

    /// Mounts for runs of trusted states.
    pub(super) fn for_checks(&self) -> Result<Vec<Mount>, Error> {
        if !self.are_warm() {
            return Ok(Vec::new());
        }
        self.mounts(&self.dir.join("warm"), Access::Scratch)
    }

    /// Mounts for runs that include a solver's code on a tree with these changes.
    pub(super) fn for_solvers(&self, changes: &Changes) -> Result<Vec<Mount>, Error> {
        if !self.are_warm() || self.targets.is_empty() {
            return Ok(Vec::new());
        }
        let mut hash = Sha256::new();
        // What go made of the repository is left out whatever changed: one copy does for all.
        let warm = self.dir.join("warm");
        if !(0..self.targets.len()).all(|index| is_of_go(&warm.join(index.to_string()))) {
            for path in changes.paths() {
                hash.update(path.as_str());
                hash.update([0]);
            }
        }
        let name = &hex(&hash.finalize())[..24];
        let copy = self.dir.join("solver").join(name);
        if !copy.is_dir() {
            let _making = self.making.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if !copy.is_dir() {
                self.copy_without(&changes.paths().cloned().collect(), &copy)?;
            }
        }
        self.mounts(&copy, Access::Scratch)
    }

    fn mounts(&self, dir: &Path, access: Access) -> Result<Vec<Mount>, Error> {
        let mut mounts = Vec::new();
        for (index, target) in self.targets.iter().enumerate() {
            let source = dir.join(index.to_string());
            fs::create_dir_all(&source).map_err(Error::io("make", &source))?;
            own(&source, self.owner)?;
            mounts.push(Mount { source, target: target.clone(), access });
        }
        Ok(mounts)
    }

    fn copy_without(&self, changed: &BTreeSet<RelPath>, copy: &Path) -> Result<(), Error> {
        let parent = self.dir.join("solver");
        fs::create_dir_all(&parent).map_err(Error::io("make", &parent))?;
        prune(&parent)?;
        let fresh = self.dir.join(sandbox::begun(COPYING));
        remove(&fresh)?;
        for index in 0..self.targets.len() {
            let from = self.dir.join("warm").join(index.to_string());
            let to = fresh.join(index.to_string());
            fs::create_dir_all(&to).map_err(Error::io("make", &to))?;
            if is_opaque(&from) {
                continue;
            }
            let hidden = Hidden::of(&from, changed, &self.root);
            self.copy_directory(&from, &to, &hidden)?;
        }
        match fs::rename(&fresh, copy) {
            Err(_) if copy.is_dir() => remove(&fresh),
            other => other.map_err(Error::io("keep a cache copy at", copy)),
        }
    }

    fn copy_directory(&self, from: &Path, to: &Path, hidden: &Hidden) -> Result<(), Error> {
        fs::create_dir_all(to).map_err(Error::io("make", to))?;
        own(to, self.owner)?;
        let entries = match fs::read_dir(from) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("read", from)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(Error::io("read", from))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(Error::io("read", from))?);
            if hidden.hides(&path) {
                continue;
            }
            let target = to.join(entry.file_name());
            if kind.is_dir() {
                self.copy_directory(&path, &target, hidden)?;
            } else if kind.is_file() {
                // A hard link is safe: both sides are only ever lower layers, which nothing writes.
                fs::hard_link(&path, &target).map_err(Error::io("link", &path))?;
            }
        }
        Ok(())
    }
}

/// Whether a cache's entries do not tell what they were made from: one may hold a changed file's original.
/// Jest names what it transformed by a part of the file's name and a digest.
fn is_opaque(cache: &Path) -> bool {
    directories(cache).iter().any(|entry| {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("jest-transform-cache")
    })
}

/// What a copy for solvers leaves out.
struct Hidden {
    /// `dir/stem.` of each changed file: byte code is stored as `<dir>/<stem>.<tag>.pyc`.
    stems: Vec<String>,
    /// Names of crates that were built from the repository itself.
    crates: BTreeSet<String>,
    /// Where tests write files of their own, which may be copies of the repository's: byte code of what
    /// they import from there.
    scratch: Vec<PathBuf>,
    /// The repository's place in the cache, which may lie in one of those.
    tree: PathBuf,
    /// Directories with cargo's output of a profile, with their parents; empty where cargo has none here.
    profiles: BTreeSet<PathBuf>,
    cache: PathBuf,
    maker: Maker,
    root: PathBuf,
}

/// Whose build output a cache is, beside cargo's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Maker {
    Go,
    CMake,
    Other,
}

/// Go leaves a note in its cache.
fn is_of_go(cache: &Path) -> bool {
    let note = fs::read(cache.join("README")).unwrap_or_default();
    note.starts_with(b"This directory holds cached build artifacts from the Go build system")
}

/// Whether something that go built names a file below the tree's root: compiled code and what it exports
/// say where they come from.
fn names_tree(path: &Path, root: &Path) -> bool {
    let root = [root.as_os_str().as_encoded_bytes(), b"/"].concat();
    let first = root[0];
    let bytes = fs::read(path).unwrap_or_default();
    let mut rest = &bytes[..];
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        rest = &rest[at..];
        if rest.starts_with(&root) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

/// What cargo keeps beside the profiles.
const OF_CARGO: [&str; 2] = [".rustc_info.json", "CACHEDIR.TAG"];

/// What cargo keeps of a profile that a later build can use. Whatever else is there, tests wrote.
const OF_PROFILE: [&str; 4] = ["deps", "build", ".fingerprint", ".cargo-lock"];

impl Hidden {
    fn of(cache: &Path, changed: &BTreeSet<RelPath>, root: &Path) -> Self {
        let stems = changed
            .iter()
            .map(|path| {
                let stem = path.as_str().rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
                format!("/{stem}.")
            })
            .collect();
        let mut crates = BTreeSet::new();
        // `debug`, or below it `<target triple>/debug` where the project names a target.
        let mut profiles = BTreeSet::new();
        if cache.join(".rustc_info.json").is_file() || cache.join("debug/deps").is_dir() {
            for first in directories(cache) {
                for place in directories(&first).into_iter().chain([first.clone()]) {
                    if place.join(".fingerprint").is_dir() || place.join("deps").is_dir() {
                        own_crates(&place.join("deps"), root, &mut crates);
                        profiles.insert(place);
                    }
                }
            }
        }
        let at = |place: &Path| cache.join(place.strip_prefix("/").unwrap_or(place));
        let scratch = ["/tmp", "/home/u", "/dev/shm"].map(|place| at(Path::new(place)));
        let maker = match () {
            () if is_of_go(cache) => Maker::Go,
            () if cache.join("CMakeCache.txt").is_file() => Maker::CMake,
            () => Maker::Other,
        };
        let (tree, cache) = (at(root), cache.to_owned());
        let root = root.to_owned();
        Self { stems, crates, scratch: scratch.into(), tree, profiles, cache, maker, root }
    }

    fn hides(&self, path: &Path) -> bool {
        match self.maker {
            Maker::CMake => return true,
            Maker::Go => return path.is_file() && names_tree(path, &self.root),
            Maker::Other => {}
        }
        let text = path.to_string_lossy();
        if self.stems.iter().any(|stem| text.contains(stem.as_str())) {
            return true;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if self.profiles.is_empty() {
            let of_tree = path.starts_with(&self.tree) || self.tree.starts_with(path);
            return !of_tree && self.scratch.iter().any(|place| path.starts_with(place));
        }
        self.is_no_output(path, &name) || self.crates.contains(&crate_name(&name))
    }

    /// Whether something in cargo's directory is not what a build makes of dependencies.
    fn is_no_output(&self, path: &Path, name: &str) -> bool {
        let above = path.parent().unwrap_or(path);
        if self.profiles.contains(above) {
            return !OF_PROFILE.contains(&name);
        }
        let leads = self.profiles.iter().any(|profile| profile.starts_with(path));
        let between = self.profiles.iter().any(|profile| profile.starts_with(above));
        let of_cargo = above == self.cache && OF_CARGO.contains(&name);
        between && !leads && !of_cargo
    }
}

fn directories(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir)
        .map(|entries| {
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
        })
        .unwrap_or_default()
}

/// Crates whose dep-info names a source by a relative path or below the tree's root: cargo compiles the
/// packages of the workspace itself from relative paths, those of the tree outside the workspace and
/// dependencies from absolute ones.
fn own_crates(deps: &Path, root: &Path, crates: &mut BTreeSet<String>) {
    for entry in fs::read_dir(deps).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "d") {
            continue;
        }
        let info = fs::read_to_string(&path).unwrap_or_default();
        let own = info
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(_, sources)| sources.split(' '))
            .map(Path::new)
            .any(|source| source.is_relative() || source.starts_with(root));
        if own {
            crates.insert(crate_name(&path.file_name().unwrap_or_default().to_string_lossy()));
        }
    }
}

/// `libsemver-0123456789abcdef.rlib`, `semver-0123456789abcdef` and `semver.d` to `semver`.
fn crate_name(file: &str) -> String {
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    let stem = match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            name
        }
        _ => stem,
    };
    let library = file
        .split_once('.')
        .is_some_and(|(_, extension)| matches!(extension, "rlib" | "rmeta" | "so" | "a" | "dylib"));
    let name = if library { stem.strip_prefix("lib").unwrap_or(stem) } else { stem };
    name.replace('-', "_")
}

fn own(path: &Path, owner: Option<(u32, u32)>) -> Result<(), Error> {
    match owner {
        Some((uid, gid)) => std::os::unix::fs::chown(path, Some(uid), Some(gid))
            .map_err(Error::io("give to the sandbox", path)),
        None => Ok(()),
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Removes the oldest copies beyond what is kept.
fn prune(parent: &Path) -> Result<(), Error> {
    let mut copies: Vec<_> = directories(parent)
        .into_iter()
        .map(|path| (fs::metadata(&path).and_then(|meta| meta.modified()).ok(), path))
        .collect();
    copies.sort();
    let surplus = copies.len().saturating_sub(KEPT);
    for (_, path) in copies.into_iter().take(surplus) {
        remove(&path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expect: &str) {
        assert_eq!(crate_name(file), expect);
    }

    #[test]
    fn build_output_is_told_apart_by_crate_name() {
        check("libsemver-0123456789abcdef.rlib", "semver");
        check("test_version-0123456789abcdef", "test_version");
        check("my-crate-0123456789abcdef", "my_crate");
        check("semver.d", "semver");
        check("libloading-0123456789abcdef.d", "libloading");
        check("liblibloading-0123456789abcdef.rmeta", "libloading");
    }

    #[test]
    fn a_copy_for_solvers_has_no_entry_made_from_a_changed_file() {
        let dir = tempfile::tempdir().unwrap();
        let caches = Caches::open(
            dir.path().join("c"),
            vec!["/tmp/pycache".into(), "/tmp/target".into()],
            "/repo".into(),
            None,
        )
        .unwrap();
        let mounts = caches.filling().unwrap();
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(mounts[0].source.join("repo/pkg/a.cpython-311.pyc"), "answer");
        write(mounts[0].source.join("repo/pkg/ab.cpython-311.pyc"), "other");
        let cross = mounts[1].source.join("x86_64-unknown-linux-musl/debug/deps");
        write(cross.join("near-0123456789abcdef.d"), "/t/near.d: /repo/near/src/lib.rs\n");
        write(cross.join("libnear-0123456789abcdef.rlib"), "answer");
        let deps = mounts[1].source.join("debug/deps");
        write(deps.join("own-0123456789abcdef.d"), "/t/own.d: src/lib.rs src/x.rs\n");
        write(deps.join("libown-0123456789abcdef.rlib"), "answer");
        write(
            deps.join("dep-0123456789abcdef.d"),
            "/t/dep.d: /home/u/.cargo/registry/dep/lib.rs\n",
        );
        write(deps.join("libdep-0123456789abcdef.rlib"), "dependency");
        // What tests wrote, or imported from where they may write.
        for name in ["tmp/copy", "copy", "debug/copy", "tests/trybuild/deep/debug/deps/libown.rlib"]
        {
            write(mounts[1].source.join(name), "answer");
        }
        write(mounts[0].source.join("tmp/test0/copy.cpython-311.pyc"), "answer");
        write(mounts[1].source.join(".rustc_info.json"), "{}");
        caches.filled().unwrap();
        let mut changes = Changes::new();
        changes.delete(RelPath::parse(b"pkg/a.py").unwrap());
        let mounts = caches.for_solvers(&changes).unwrap();
        let has = |index: usize, path: &str| mounts[index].source.join(path).exists();
        assert!(!has(0, "repo/pkg/a.cpython-311.pyc"));
        assert!(has(0, "repo/pkg/ab.cpython-311.pyc"));
        assert!(!has(1, "debug/deps/libown-0123456789abcdef.rlib"));
        assert!(!has(1, "x86_64-unknown-linux-musl/debug/deps/libnear-0123456789abcdef.rlib"));
        assert!(has(1, "debug/deps/libdep-0123456789abcdef.rlib"));
        for name in ["tmp", "copy", "debug/copy", "tests"] {
            assert!(!has(1, name), "{name}");
        }
        assert!(!has(0, "tmp") && has(1, ".rustc_info.json"));
    }

    #[test]
    fn a_copy_for_solvers_has_nothing_that_go_or_cmake_made_of_the_tree() {
        let dir = tempfile::tempdir().unwrap();
        let targets = vec!["/tmp/gocache".into(), "/tmp/build".into()];
        let caches = Caches::open(dir.path().join("c"), targets, "/repo".into(), None).unwrap();
        let mounts = caches.filling().unwrap();
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let go = &mounts[0].source;
        write(
            go.join("README"),
            "This directory holds cached build artifacts from the Go build system.\n",
        );
        write(go.join("00/own-d"), "go object\0/repo/deep/a.go\0");
        write(go.join("00/std-d"), "go object\0/usr/lib/go/src/fmt/print.go\0/repository/x\0");
        write(mounts[1].source.join("CMakeCache.txt"), "CMAKE_HOME_DIRECTORY:INTERNAL=/repo\n");
        write(mounts[1].source.join("CMakeFiles/own.dir/own.c.o"), "answer");
        caches.filled().unwrap();
        let mounts = caches.for_solvers(&Changes::new()).unwrap();
        let has = |index: usize, path: &str| mounts[index].source.join(path).exists();
        assert!(has(0, "README") && has(0, "00/std-d") && !has(0, "00/own-d"));
        assert!(!has(1, "CMakeCache.txt") && !has(1, "CMakeFiles"));
    }
}
