//! Node's side of a repository: the program, and the packages that are installed beside the code.

use super::detect::Reader;
use super::{Error, Machine, Tools};
use crate::sandbox::{Access, Mount};
use crate::tree::RelPath;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const PACKAGES: &str = "node_modules";

/// What tools keep among the packages of what they made from the repository's code.
const KEPT: [&str; 5] = [".cache", ".vite", ".vite-temp", ".vitest", ".tmp"];

/// What was found on the machine for one repository.
#[derive(Clone, Debug)]
pub(super) struct Node {
    program: PathBuf,
    /// Directories of installed packages, the repository's own and those above it, outermost last.
    installed: Vec<PathBuf>,
    /// Target to source.
    mounts: BTreeMap<PathBuf, PathBuf>,
}

/// The first real Node.js on `PATH`, and every `node_modules` that a package of the tree looks into.
pub(super) fn find(root: &Path, reader: &Reader<'_>, machine: &Machine) -> Result<Node, Error> {
    let mut seen = Vec::new();
    let program = machine.path.iter().map(|directory| directory.join("node")).find_map(|found| {
        let real = fs::canonicalize(&found).ok()?;
        let is_real = real.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name == "node" || name == "nodejs"
        }) && is_binary(&real);
        if !is_real {
            seen.push(found);
        }
        is_real.then_some(real)
    });
    let Some(program) = program else { return Err(Error::NoNode { seen }) };
    let mut node = Node { mounts: shown_for(&program), program, installed: Vec::new() };
    let own = looked_in(reader).into_iter().map(|directory| root.join(directory));
    let above = root.ancestors().skip(1).take_while(|directory| *directory != machine.home);
    for directory in own.chain(above.map(Path::to_owned)) {
        node.add_installed(&directory.join(PACKAGES), root, &machine.home);
    }
    Ok(node)
}

impl Node {
    /// Whether a package is installed where some package of the tree finds it.
    pub(super) fn has(&self, package: &str) -> bool {
        self.installed.iter().any(|packages| packages.join(package).join("package.json").is_file())
    }

    /// Writes into installed packages go to the run's own scratch: tools keep caches there.
    pub(super) fn tools(&self) -> Tools {
        let mount = |(target, source): (&PathBuf, &PathBuf)| Mount {
            source: source.clone(),
            target: target.clone(),
            access: if source.file_name().is_some_and(|name| name == PACKAGES) {
                Access::Scratch
            } else {
                Access::ReadOnly
            },
        };
        let mut env = BTreeMap::new();
        let bin = self.program.parent().unwrap_or(Path::new("/usr/bin"));
        env.insert("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()).into());
        env.insert("NODE".into(), self.program.clone().into());
        Tools { mounts: self.mounts.iter().map(mount).collect(), env, ..Tools::default() }
    }

    /// Installed copies of the tree's own packages, but for those that the frameworks `kept` need to run;
    /// and what tools made from the tree's code.
    pub(super) fn own_copies(&self, reader: &Reader<'_>, kept: &[String]) -> Vec<PathBuf> {
        let own = names(reader);
        let mut places = self.installed.clone();
        let mut copies = BTreeSet::new();
        let mut seen = BTreeSet::new();
        while let Some(packages) = places.pop() {
            for (name, package) in packages_in(&packages) {
                // A link leads back into the tree, or to what is looked at in its own place.
                if package.is_symlink() && !package.starts_with(packages.join(".pnpm")) {
                    continue;
                }
                if own.contains(&name) {
                    copies.insert(package.clone());
                }
                let nested = package.join(PACKAGES);
                if nested.is_dir() && seen.insert(nested.clone()) {
                    places.push(nested);
                }
            }
            for store in entries(&packages.join(".pnpm")) {
                let nested = store.join(PACKAGES);
                if nested.is_dir() && seen.insert(nested.clone()) {
                    places.push(nested);
                }
            }
        }
        if !copies.is_empty() {
            let needed = self.needed_by(kept);
            copies.retain(|copy| !needed.contains(copy));
        }
        let made = seen.iter().chain(&self.installed);
        let made = made.flat_map(|packages| KEPT.map(|name| packages.join(name)));
        copies.extend(made.filter(|place| place.is_dir()));
        // What is behind a link is shown at its own place, too; nothing can be put in place of a link.
        let real: Vec<_> = copies.iter().filter_map(|copy| fs::canonicalize(copy).ok()).collect();
        copies.retain(|copy| !copy.is_symlink());
        copies.extend(real);
        copies.into_iter().collect()
    }

    /// The installed directories of packages and all that they depend on.
    fn needed_by(&self, packages: &[String]) -> BTreeSet<PathBuf> {
        let found = |name: &String| {
            self.installed.iter().map(|place| place.join(name)).find(|package| package.is_dir())
        };
        let mut open: Vec<PathBuf> = packages.iter().filter_map(found).collect();
        let mut needed = BTreeSet::new();
        while let Some(package) = open.pop() {
            let package = fs::canonicalize(&package).unwrap_or(package);
            let manifest = manifest(&package.join("package.json"));
            for kind in ["dependencies", "optionalDependencies", "peerDependencies"] {
                let names = manifest.get(kind).and_then(serde_json::Value::as_object);
                for name in names.into_iter().flat_map(serde_json::Map::keys) {
                    let places = package.ancestors().map(|above| above.join(PACKAGES).join(name));
                    open.extend(
                        places.into_iter().find(|place| place.is_dir() && !needed.contains(place)),
                    );
                }
            }
            needed.insert(package);
        }
        needed
    }

    fn add_installed(&mut self, packages: &Path, root: &Path, home: &Path) {
        let Ok(source) = fs::canonicalize(packages) else { return };
        if !source.is_dir() || self.installed.iter().any(|known| known == packages) {
            return;
        }
        self.installed.push(packages.to_owned());
        for (_, package) in packages_in(packages) {
            let Ok(real) = fs::canonicalize(&package) else { continue };
            let elsewhere = package.is_symlink()
                && !real.starts_with(&source)
                && !real.starts_with(root)
                && !root.starts_with(&real)
                && !home.starts_with(&real);
            if elsewhere {
                self.mounts.insert(real.clone(), real);
            }
        }
        if source != packages {
            self.mounts.insert(source.clone(), source.clone());
        }
        self.mounts.insert(packages.to_owned(), source);
    }
}

/// Directories of the tree whose `node_modules` its packages look into: their own and all above.
fn looked_in<'r>(reader: &'r Reader<'_>) -> BTreeSet<&'r str> {
    let mut directories = BTreeSet::from([""]);
    for mut directory in reader.named("package.json").map(RelPath::parent) {
        while directories.insert(directory) {
            directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
    directories
}

/// Names of the tree's own packages.
fn names(reader: &Reader<'_>) -> BTreeSet<String> {
    let name = |path: &RelPath| {
        let manifest: serde_json::Value = serde_json::from_slice(&reader.bytes(path)).ok()?;
        manifest.get("name")?.as_str().map(str::to_owned)
    };
    reader.named("package.json").filter_map(name).collect()
}

fn manifest(path: &Path) -> serde_json::Value {
    let text = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Name and directory of each package in a `node_modules`.
fn packages_in(directory: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for entry in entries(directory) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('@') {
            for inner in entries(&entry) {
                let scoped = inner.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push((format!("{name}/{scoped}"), inner));
            }
        } else if !name.starts_with('.') {
            found.push((name, entry));
        }
    }
    found
}

/// A directory's entries, sorted; empty where it cannot be read.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The installation of a program that lies in no directory of the system.
fn shown_for(program: &Path) -> BTreeMap<PathBuf, PathBuf> {
    let system = ["/usr", "/bin", "/lib", "/lib64"];
    let prefix = program.parent().and_then(Path::parent);
    let own = prefix.filter(|_| !system.iter().any(|place| program.starts_with(place)));
    own.map(|prefix| (prefix.to_owned(), prefix.to_owned())).into_iter().collect()
}

/// Scripts under the name of a program choose one of several; which, only running them would tell.
fn is_binary(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; 4];
    fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == *b"\x7fELF"
}
