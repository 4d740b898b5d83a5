//! Cargo's side of a repository: its integration test targets, and the toolchain the developer uses.

use super::{Error, Machine, Tools, detect::Reader, script};
use crate::sandbox::{Access, Mount};
use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Where cargo's home is inside: writable, below the sandbox's home, with the registry shown in it.
pub(super) const CARGO_HOME: &str = "/home/u/.cargo";

/// One integration test binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub file: RelPath,
    /// The package's directory; empty at the root.
    pub directory: String,
    pub name: String,
}

/// The packages of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Crates {
    /// Every integration test with libtest's harness that builds with the default features.
    targets: BTreeMap<RelPath, Target>,
    /// Directories of the packages in which a new file below `tests/` is a target.
    automatic: BTreeSet<String>,
    /// Build scripts by any name.
    scripts: BTreeSet<RelPath>,
    /// Directories that hold integration tests by name only, with what they share.
    beside_tests: BTreeSet<String>,
    /// Whether code of a package runs inside the compiler.
    pub(super) macros: bool,
    /// Package directory to the files that its crates may begin in.
    roots: BTreeMap<String, Vec<RelPath>>,
}

impl Crates {
    pub(super) fn of(reader: &Reader<'_>) -> Self {
        let mut crates = Self::default();
        for manifest in reader.named("Cargo.toml") {
            let text = String::from_utf8_lossy(&reader.bytes(manifest)).into_owned();
            let Ok(table) = text.parse::<Table>() else { continue };
            if table.contains_key("package") && !manifest.as_str().starts_with("target/") {
                for target in targets_of(&table, manifest.parent(), reader) {
                    crates.targets.insert(target.file.clone(), target);
                }
                crates.scripts.extend(build_script(&table, manifest.parent()));
                crates.beside_tests.extend(test_directories(&table, manifest.parent()));
                crates.macros |= is_macro_crate(&table);
                let roots = roots_of(&table, manifest.parent(), reader);
                crates.roots.insert(manifest.parent().to_owned(), roots);
                if finds_tests(&table) {
                    crates.automatic.insert(manifest.parent().to_owned());
                }
            }
        }
        crates
    }

    pub(super) fn test_files(&self) -> Vec<RelPath> {
        self.targets.keys().cloned().collect()
    }

    /// Whether a file runs when the package is built, or belongs to its tests.
    pub(super) fn sways(&self, path: &RelPath) -> bool {
        self.scripts.contains(path)
            || self.beside_tests.iter().any(|directory| {
                path.as_str().strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
            })
    }

    /// Where a new test file is a target of the same package as `neighbour`.
    pub(super) fn tests_directory(&self, neighbour: &RelPath) -> Option<String> {
        let directory = &self.targets.get(neighbour)?.directory;
        let place =
            if directory.is_empty() { "tests".to_owned() } else { format!("{directory}/tests") };
        self.automatic.contains(directory).then_some(place)
    }

    /// The target that a file is; a file that is not in the original tree may be a new one.
    fn target(&self, file: &RelPath) -> Option<Target> {
        let new = || {
            let directory = file.parent().strip_suffix("tests")?;
            let directory = directory.strip_suffix('/').unwrap_or(directory).to_owned();
            let name = file.file_name().strip_suffix(".rs")?.to_owned();
            let known = self.automatic.contains(&directory);
            known.then(|| Target { file: file.clone(), directory, name })
        };
        self.targets.get(file).cloned().or_else(new)
    }

    /// What calls say that they run: files, and the ids that they skip.
    pub(super) fn chosen_by(calls: &str) -> Option<script::Chosen> {
        let mut chosen = script::Chosen { files: Vec::new(), excluded: Vec::new() };
        for line in calls.lines().filter(|line| line.starts_with("run ")) {
            let words = script::words(line);
            let file = words.get(2)?;
            chosen.files.push(RelPath::parse(file.as_bytes()).ok()?);
            let names = words[3..].chunks(2).map(|pair| pair.get(1));
            for name in names {
                chosen.excluded.push(format!("{file}::{}", name?));
            }
        }
        Some(chosen)
    }

    /// The calls that the script template makes: one build a package, one run a test file.
    pub(super) fn calls(&self, files: &[RelPath], excluded: &[TestId]) -> String {
        let mut builds: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut runs = Vec::new();
        for target in files.iter().filter_map(|file| self.target(file)) {
            let directory = if target.directory.is_empty() { "." } else { &target.directory };
            let directory = script::quote(directory);
            let mut run = format!("run {directory} {}", script::quote(target.file.as_str()));
            let prefix = format!("{}::", target.file);
            for name in excluded.iter().filter_map(|id| id.strip_prefix(&prefix)) {
                run.push_str(" --skip ");
                run.push_str(&script::quote(name));
            }
            runs.push(run);
            builds.entry(directory).or_default().push(format!(
                "{} {}",
                script::quote(&target.name),
                script::quote(target.file.as_str())
            ));
        }
        let builds = builds
            .into_iter()
            .map(|(directory, tests)| format!("build {directory} {}", tests.join(" ")));
        builds.chain(runs).collect::<Vec<_>>().join("\n")
    }
}

/// What is to be built: package directory to cargo's target options.
pub(super) type Builds = BTreeMap<String, Vec<String>>;

/// Tests of one binary.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(super) struct Chosen {
    pub directory: String,
    pub names: Vec<String>,
}

impl Crates {
    /// The files that may be roots of the crates which a file belongs to: existing or not.
    pub(super) fn roots(&self, file: &RelPath) -> Vec<RelPath> {
        let holds = |directory: &&String| {
            directory.is_empty() || file.as_str().starts_with(&format!("{directory}/"))
        };
        let nearest = self.roots.keys().filter(holds).max_by_key(|directory| directory.len());
        nearest.map(|directory| self.roots[directory].clone()).unwrap_or_default()
    }

    /// What builds and runs these tests and no others; `None` where one is in no known target.
    pub(super) fn chosen(&self, tests: &[TestId]) -> Option<(Builds, BTreeMap<String, Chosen>)> {
        let mut builds = Builds::new();
        let mut chosen: BTreeMap<String, Chosen> = BTreeMap::new();
        for id in tests {
            let (file, name) = id.split_once("::")?;
            let target = self.target(&RelPath::parse(file.as_bytes()).ok()?)?;
            let directory =
                if target.directory.is_empty() { ".".to_owned() } else { target.directory };
            let options = builds.entry(directory.clone()).or_default();
            if !options.contains(&target.name) {
                options.extend(["--test".to_owned(), target.name]);
            }
            let of_file = chosen
                .entry(file.to_owned())
                .or_insert_with(|| Chosen { directory, names: Vec::new() });
            of_file.names.push(name.to_owned());
        }
        Some((builds, chosen))
    }
}

fn build_script(manifest: &Table, directory: &str) -> Option<RelPath> {
    let package = manifest.get("package").and_then(Value::as_table)?;
    below(directory, package.get("build").and_then(Value::as_str)?)
}

/// The directories of tests with a path of their own, but for those that hold code of the package.
fn test_directories(manifest: &Table, directory: &str) -> Vec<String> {
    let tests = manifest.get("test").and_then(Value::as_array);
    let paths = tests.into_iter().flatten().filter_map(|test| test.get("path")?.as_str());
    let holds_code = |path: &RelPath| {
        let own = path.as_str().strip_prefix(directory).unwrap_or(path.as_str());
        let own = own.trim_start_matches('/');
        !own.contains('/') || own.starts_with("src/")
    };
    paths
        .filter_map(|path| below(directory, path))
        .filter(|path| !holds_code(path))
        .map(|path| path.parent().to_owned())
        .collect()
}

/// A path that a manifest in `directory` names.
fn below(directory: &str, path: &str) -> Option<RelPath> {
    let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    RelPath::parse(format!("{prefix}{}", path.trim_start_matches("./")).as_bytes()).ok()
}

fn is_macro_crate(manifest: &Table) -> bool {
    let lib = manifest.get("lib").and_then(Value::as_table);
    let on = |key: &str| lib.and_then(|lib| lib.get(key)).and_then(Value::as_bool) == Some(true);
    on("proc-macro") || on("proc_macro")
}

/// Where the crates of a package may begin, but for its tests, examples and build script.
fn roots_of(manifest: &Table, directory: &str, reader: &Reader<'_>) -> Vec<RelPath> {
    let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let path = |table: &Value| table.get("path").and_then(Value::as_str).map(str::to_owned);
    let mut roots = vec!["src/lib.rs".to_owned(), "src/main.rs".to_owned()];
    roots.extend(manifest.get("lib").and_then(path));
    let programs = manifest.get("bin").and_then(Value::as_array);
    roots.extend(programs.into_iter().flatten().filter_map(path));
    let below = format!("{prefix}src/bin/");
    let automatic = reader.paths().iter().filter_map(|path| {
        let rest = path.as_str().strip_prefix(&below)?;
        let is_root = !rest.contains('/') || rest.ends_with("/main.rs");
        (is_root && path.extension() == "rs").then(|| path.clone())
    });
    let named = roots.iter().filter_map(|root| {
        RelPath::parse(format!("{prefix}{}", root.trim_start_matches("./")).as_bytes()).ok()
    });
    let mut roots: Vec<RelPath> = named.chain(automatic).collect();
    roots.sort();
    roots.dedup();
    roots
}

/// Whether cargo takes every file below `tests/` for a target.
fn finds_tests(manifest: &Table) -> bool {
    let package = manifest.get("package").and_then(Value::as_table);
    package.and_then(|package| package.get("autotests")).and_then(Value::as_bool) != Some(false)
}

fn targets_of(manifest: &Table, directory: &str, reader: &Reader<'_>) -> Vec<Target> {
    let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let field =
        |table: &Table, name: &str| table.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    let explicit = manifest.get("test").and_then(Value::as_array);
    for table in explicit.into_iter().flatten().filter_map(Value::as_table) {
        let Some(name) = field(table, "name") else { continue };
        let path = field(table, "path").unwrap_or_else(|| {
            let nested = format!("tests/{name}/main.rs");
            if reader.has(&format!("{prefix}{nested}")) {
                nested
            } else {
                format!("tests/{name}.rs")
            }
        });
        let file = format!("{prefix}{}", path.trim_start_matches("./"));
        named.insert(file.clone());
        let off = |key: &str| table.get(key).and_then(Value::as_bool) == Some(false);
        if !off("harness") && !off("test") && default_features_hold(manifest, table) {
            found.push((file, name));
        }
    }
    if finds_tests(manifest) {
        let below = format!("{prefix}tests/");
        for path in reader.paths() {
            let Some(rest) = path.as_str().strip_prefix(&below) else { continue };
            let stem = rest.strip_suffix("/main.rs").or_else(|| rest.strip_suffix(".rs"));
            if let Some(name) =
                stem.filter(|name| !name.contains('/') && !named.contains(path.as_str()))
            {
                found.push((path.to_string(), name.to_owned()));
            }
        }
    }
    found
        .into_iter()
        .filter(|(file, _)| reader.has(file))
        .filter_map(|(file, name)| {
            let file = RelPath::parse(file.as_bytes()).ok()?;
            Some(Target { file, directory: directory.to_owned(), name })
        })
        .collect()
}

/// Whether a target's `required-features` are on by default: cargo refuses to build it otherwise.
fn default_features_hold(manifest: &Table, target: &Table) -> bool {
    let strings = |value: Option<&Value>| -> Vec<String> {
        let array = value.and_then(Value::as_array).into_iter().flatten();
        array.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let features = manifest.get("features").and_then(Value::as_table);
    let mut on = BTreeSet::new();
    let mut open = vec!["default".to_owned()];
    while let Some(feature) = open.pop() {
        if on.insert(feature.clone()) {
            open.extend(strings(features.and_then(|features| features.get(&feature))));
        }
    }
    strings(target.get("required-features")).iter().all(|feature| on.contains(feature))
}

/// Cargo's home on this machine.
pub(super) fn home(machine: &Machine) -> PathBuf {
    machine.cargo_home.clone().unwrap_or_else(|| machine.home.join(".cargo"))
}

/// Mounts and environment for cargo: the toolchain's own programs rather than rustup's proxies, which
/// want to write, and the registry without the credentials beside it.
pub(super) fn tools(root: &Path, machine: &Machine) -> Result<Tools, Error> {
    let cargo =
        machine.path.iter().map(|directory| directory.join("cargo")).find(|path| path.is_file());
    let cargo = cargo.ok_or(Error::NoCargo)?;
    let real = fs::canonicalize(&cargo).unwrap_or_else(|_| cargo.clone());
    let proxied = real.file_name().is_some_and(|name| name == "rustup");
    let toolchain = if proxied {
        toolchain(root, machine)?
    } else {
        real.parent().and_then(Path::parent).unwrap_or(Path::new("/usr")).to_owned()
    };
    let mut mounts = Vec::new();
    let mut show = |source: PathBuf, target: PathBuf| {
        if source.is_dir() && !target.starts_with("/usr") {
            mounts.push(Mount { source, target, access: Access::ReadOnly });
        }
    };
    let real = fs::canonicalize(&toolchain).unwrap_or_else(|_| toolchain.clone());
    show(real.clone(), real.clone());
    let home = home(machine);
    for part in ["registry", "git"] {
        show(home.join(part), Path::new(CARGO_HOME).join(part));
    }
    let bin = real.join("bin");
    let env = BTreeMap::from([
        ("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()).into()),
        ("CARGO".into(), bin.join("cargo").into()),
    ]);
    Ok(Tools { mounts, env, ..Tools::default() })
}

/// The toolchain that rustup would choose, found in the files that rustup reads.
fn toolchain(root: &Path, machine: &Machine) -> Result<PathBuf, Error> {
    let rustup = machine.rustup_home.clone().unwrap_or_else(|| machine.home.join(".rustup"));
    let settings = fs::read_to_string(rustup.join("settings.toml")).unwrap_or_default();
    let settings: Table = settings.parse().unwrap_or_default();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let overrides = settings.get("overrides").and_then(Value::as_table);
    let chosen = root.ancestors().find_map(|directory| {
        let overridden = overrides.and_then(|table| table.get(directory.to_str()?));
        text(overridden).or_else(|| named_by_file(directory))
    });
    let Some(name) = chosen.or_else(|| text(settings.get("default_toolchain"))) else {
        return Err(Error::NoToolchain { name: "default".into() });
    };
    if Path::new(&name).is_absolute() {
        return Ok(name.into());
    }
    let toolchains = rustup.join("toolchains");
    let host = format!("{name}-{}-", std::env::consts::ARCH);
    let exact = toolchains.join(&name);
    let found = fs::read_dir(&toolchains).into_iter().flatten().flatten().map(|entry| entry.path());
    let long = || {
        let mut fits: Vec<_> = found
            .filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&host)))
            .collect();
        fits.sort();
        fits.into_iter().next()
    };
    let place = if exact.is_dir() { Some(exact) } else { long() };
    place.filter(|place| place.join("bin/cargo").exists()).ok_or(Error::NoToolchain { name })
}

/// What `rust-toolchain` or `rust-toolchain.toml` asks for: a channel, or an absolute path.
fn named_by_file(directory: &Path) -> Option<String> {
    let read = |name: &str| fs::read_to_string(directory.join(name)).ok();
    let text = read("rust-toolchain").or_else(|| read("rust-toolchain.toml"))?;
    let table: Option<Table> = text.parse().ok();
    let toolchain =
        table.as_ref().and_then(|table| table.get("toolchain")).and_then(Value::as_table);
    let value = |key: &str| toolchain?.get(key)?.as_str().map(str::to_owned);
    let bare = text.trim();
    value("path")
        .map(|path| directory.join(path).display().to_string())
        .or_else(|| value("channel"))
        .or_else(|| (!bare.is_empty() && !bare.contains(['\n', '='])).then(|| bare.to_owned()))
}
