//! Installed copies of the repository's own packages: each is an answer key to a solver, and to tests
//! a second code base in which edits take no effect. They are hidden from every run.

use super::detect::Reader;
use crate::tree::RelPath;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A copy that shares no file of this size with the tree, bytes, is of something else.
const TELLING: usize = 64;

/// Packages and modules in `sites` with the name of a top-level package or module of the tree; a package
/// that lies deeper in the tree than its root or `src/` must share a file with its copy. `kept` are the
/// framework's own: without them nothing runs.
pub(super) fn of_python(reader: &Reader<'_>, sites: &[PathBuf], kept: &[String]) -> Vec<PathBuf> {
    let other = |name: &&str| !kept.iter().any(|kept| kept == name);
    let names: BTreeSet<&str> = reader.paths().iter().filter_map(top_level).filter(other).collect();
    let deep: BTreeSet<&str> = packages_of(reader)
        .filter(|package| package.rsplit('/').next().is_some_and(|name| other(&name)))
        .collect();
    let mut hidden = Vec::new();
    for site in sites {
        // A finder of an editable install names the package itself.
        if site.file_name().and_then(|name| name.to_str()).is_some_and(|name| names.contains(name))
        {
            hidden.push(site.clone());
        }
        for name in &names {
            let candidates = [site.join(name), site.join(format!("{name}.py"))];
            hidden.extend(candidates.into_iter().filter(|path| path.exists()));
        }
        for package in &deep {
            let copy = site.join(package.rsplit('/').next().unwrap_or(package));
            if !hidden.contains(&copy) && copy.is_dir() && shares_a_file(reader, package, &copy) {
                hidden.push(copy);
            }
        }
    }
    hidden
}

/// What version control keeps in directories that are shown: it may be of the same project.
pub(super) fn histories(shown: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let names = [".git", ".hg", ".svn", ".jj"];
    shown
        .iter()
        .flat_map(move |directory| names.map(|name| directory.join(name)))
        .filter(|path| path.exists())
}

/// Directories of packages that are in no other package.
fn packages_of<'r>(reader: &'r Reader<'_>) -> impl Iterator<Item = &'r str> {
    let packages: BTreeSet<&str> = reader.named("__init__.py").map(RelPath::parent).collect();
    let outer = move |package: &&str| {
        !package.rsplit_once('/').is_some_and(|(above, _)| packages.contains(above))
    };
    reader
        .named("__init__.py")
        .map(RelPath::parent)
        .filter(|package| !package.is_empty())
        .filter(outer)
}

fn shares_a_file(reader: &Reader<'_>, package: &str, copy: &Path) -> bool {
    reader.paths().iter().any(|path| {
        let below = path.as_str().strip_prefix(package).and_then(|rest| rest.strip_prefix('/'));
        below.filter(|_| path.extension() == "py").is_some_and(|below| {
            let there = copy.join(below);
            there.is_file() && {
                let bytes = reader.bytes(path);
                bytes.len() >= TELLING && fs::read(there).is_ok_and(|there| there == *bytes)
            }
        })
    })
}

/// The importable name that a file at the root or in `src/` gives.
fn top_level(path: &RelPath) -> Option<&str> {
    let path = path.as_str().strip_suffix(".py")?;
    let path = path.strip_prefix("src/").unwrap_or(path);
    let name = path.strip_suffix("/__init__").unwrap_or(path);
    (!name.contains('/') && !name.is_empty()).then_some(name)
}

/// Sources and archives in cargo's registry of packages that the tree itself holds. `home` is cargo's
/// home on this machine; the answer is below the registry, so that it can be placed elsewhere.
pub(super) fn of_cargo(reader: &Reader<'_>, home: &Path) -> Vec<PathBuf> {
    let packages = packages(reader);
    let locked = locked(reader);
    let mut hidden = Vec::new();
    for part in ["src", "cache"] {
        for index in entries(&home.join("registry").join(part)) {
            for copy in entries(&index) {
                let file = copy.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let Some((name, version)) = split(file.trim_end_matches(".crate")) else {
                    continue;
                };
                let own = packages.iter().find(|(own, _)| own == name);
                let Some((_, own_version)) = own else { continue };
                // A dependency may need the registry's copy itself: then it stays. Without a lock
                // file that cannot be known, and only the very version at hand is hidden.
                let needed = match &locked {
                    Some(locked) => locked.contains(&(name.to_owned(), version.to_owned())),
                    None => own_version != version,
                };
                if !needed && let Ok(below) = copy.strip_prefix(home) {
                    hidden.push(below.to_owned());
                }
            }
        }
    }
    hidden
}

/// `semver-1.0.28` to its name and version.
fn split(file: &str) -> Option<(&str, &str)> {
    let at = file.match_indices('-').map(|(at, _)| at).find(|at| {
        file[at + 1..].starts_with(|c: char| c.is_ascii_digit()) && file[at + 1..].contains('.')
    })?;
    Some((&file[..at], &file[at + 1..]))
}

fn packages(reader: &Reader<'_>) -> Vec<(String, String)> {
    let text = |table: &Table, key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
    reader
        .named("Cargo.toml")
        .filter_map(|path| String::from_utf8_lossy(&reader.bytes(path)).parse::<Table>().ok())
        .filter_map(|table| {
            let package = table.get("package")?.as_table()?;
            Some((text(package, "name")?, text(package, "version").unwrap_or_default()))
        })
        .collect()
}

/// Names and versions that the root's lock file takes from a registry.
fn locked(reader: &Reader<'_>) -> Option<BTreeSet<(String, String)>> {
    let path = RelPath::parse(b"Cargo.lock").ok().filter(|path| reader.has(path.as_str()))?;
    let table: Table = String::from_utf8_lossy(&reader.bytes(&path)).parse().ok()?;
    let packages = table.get("package")?.as_array()?;
    let text = |table: &Table, key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(
        packages
            .iter()
            .filter_map(Value::as_table)
            .filter(|package| package.contains_key("source"))
            .filter_map(|package| Some((text(package, "name")?, text(package, "version")?)))
            .collect(),
    )
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Changes, File};

    fn tree(files: &[(&str, &str)]) -> Changes {
        files
            .iter()
            .map(|(path, text)| {
                (RelPath::parse(path.as_bytes()).unwrap(), Some(File::plain(text.as_bytes())))
            })
            .collect()
    }

    #[test]
    fn a_registry_copy_of_the_package_itself_is_hidden_unless_a_dependency_needs_it() {
        let home = tempfile::tempdir().unwrap();
        for copy in
            ["src/index/semver-1.0.28", "src/index/semver-0.9.0", "src/index/semver-parser-0.10.2"]
        {
            fs::create_dir_all(home.path().join("registry").join(copy)).unwrap();
        }
        fs::create_dir_all(home.path().join("registry/cache/index")).unwrap();
        fs::write(home.path().join("registry/cache/index/semver-1.0.28.crate"), "").unwrap();
        let manifest = ("Cargo.toml", "[package]\nname = \"semver\"\nversion = \"1.0.28\"\n");
        let hidden = |files: &[(&str, &str)]| {
            let tree = tree(files);
            let names = of_cargo(&Reader::new(&tree), home.path());
            names.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let same = ["registry/src/index/semver-1.0.28", "registry/cache/index/semver-1.0.28.crate"];
        assert_eq!(hidden(&[manifest]), same);
        let lock = "[[package]]\nname = \"semver\"\nversion = \"1.0.28\"\n\n[[package]]\nname = \"semver\"\n\
                    version = \"0.9.0\"\nsource = \"registry\"\n";
        assert_eq!(hidden(&[manifest, ("Cargo.lock", lock)]), same);
    }

    #[test]
    fn an_installed_copy_of_the_package_itself_is_hidden() {
        let site = tempfile::tempdir().unwrap();
        for name in ["pkg", "other", "pytest"] {
            fs::create_dir_all(site.path().join(name)).unwrap();
        }
        fs::write(site.path().join("single.py"), "").unwrap();
        let tree = tree(&[
            ("src/pkg/__init__.py", ""),
            ("src/pkg/other.py", ""),
            ("single.py", ""),
            ("pytest/__init__.py", ""),
        ]);
        let hidden =
            of_python(&Reader::new(&tree), &[site.path().to_owned()], &["pytest".to_owned()]);
        assert_eq!(hidden, [site.path().join("pkg"), site.path().join("single.py")]);
    }

    #[test]
    fn a_copy_of_a_package_that_lies_deep_is_hidden_where_a_file_of_it_is_the_same() {
        let site = tempfile::tempdir().unwrap();
        let code = "def answer():\n    return 42\n".repeat(4);
        for (name, text) in [("deep", &*code), ("vendored", "something else\n")] {
            fs::create_dir_all(site.path().join(name)).unwrap();
            fs::write(site.path().join(name).join("code.py"), text).unwrap();
        }
        let tree = tree(&[
            ("packages/one/src/deep/__init__.py", ""),
            ("packages/one/src/deep/code.py", &code),
            ("third/vendored/__init__.py", ""),
            ("third/vendored/code.py", &code),
        ]);
        let hidden = of_python(&Reader::new(&tree), &[site.path().to_owned()], &[]);
        assert_eq!(hidden, [site.path().join("deep")]);
    }
}
