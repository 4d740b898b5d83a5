//! Go's side of a repository: its modules and packages, and the toolchain the developer uses.

use super::{Error, Machine, Tools, detect::Reader, found, script};
use crate::sandbox::{Access, Mount};
use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the module cache is inside.
const MODULES: &str = "/home/u/go/pkg/mod";

/// The oldest that frames what tests print, so that a printed line is no verdict.
const OLDEST: (u32, u32) = (1, 20);

/// The modules of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Modules {
    /// Directory (empty at the root) to the path that others import it by.
    modules: BTreeMap<String, String>,
    /// Test file to the package that it says it is of.
    packages: BTreeMap<RelPath, String>,
}

impl Modules {
    /// `files`: what may hold tests, by name and content.
    pub(super) fn of(reader: &Reader<'_>, files: &[RelPath]) -> Self {
        let mut found = Self::default();
        for file in reader.named("go.mod") {
            let text = String::from_utf8_lossy(&reader.bytes(file)).into_owned();
            let path = text.lines().find_map(|line| after_word(line, "module"));
            let ignored = |part: &str| part == "vendor" || part == "testdata";
            if !file.parent().split('/').any(ignored) {
                found.modules.insert(file.parent().to_owned(), path.unwrap_or_default());
            }
        }
        let packaged = files.iter().filter(|file| found.directory(file).is_some()).map(|file| {
            let text = String::from_utf8_lossy(&reader.bytes(file)).into_owned();
            let package = text.lines().find_map(|line| after_word(line, "package"));
            (file.clone(), package.unwrap_or_default())
        });
        found.packages = packaged.collect();
        found
    }

    pub(super) fn test_files(&self) -> Vec<RelPath> {
        self.packages.keys().cloned().collect()
    }

    /// What a new test file beside this one begins with.
    pub(super) fn package(&self, file: &RelPath) -> Option<&str> {
        self.packages.get(file).map(String::as_str)
    }

    /// The directory of the module that a file belongs to.
    fn directory(&self, file: &RelPath) -> Option<&str> {
        let holds = |directory: &&String| {
            directory.is_empty()
                || file
                    .as_str()
                    .strip_prefix(directory.as_str())
                    .is_some_and(|r| r.starts_with('/'))
        };
        self.modules
            .keys()
            .filter(holds)
            .max_by_key(|directory| directory.len())
            .map(String::as_str)
    }

    /// The calls that the script template makes: one a package.
    pub(super) fn calls(&self, files: &[RelPath], excluded: &[TestId]) -> String {
        let mut packages: BTreeMap<(&str, &str), Vec<&RelPath>> = BTreeMap::new();
        for file in files {
            if let Some(module) = self.directory(file) {
                packages.entry((module, file.parent())).or_default().push(file);
            }
        }
        let call = |((module, package), files): (&(&str, &str), &Vec<&RelPath>)| {
            let below = package.strip_prefix(module).unwrap_or(package);
            let module = if module.is_empty() { "." } else { module };
            let mut words = vec!["run".to_owned(), script::quote(module)];
            words.push(script::quote(&format!("./{}", below.trim_start_matches('/'))));
            words.extend(files.iter().map(|file| script::quote(file.as_str())));
            words.push("--".to_owned());
            let names = excluded.iter().filter_map(|id| {
                let (file, name) = id.split_once("::")?;
                files.iter().any(|known| known.as_str() == file).then_some(name)
            });
            words.extend(names.map(script::quote));
            words.join(" ")
        };
        packages.iter().map(call).collect::<Vec<_>>().join("\n")
    }

    /// What calls say that they run. A name is excluded for every file of its call that may hold it, so
    /// that only the names are told.
    pub(super) fn chosen_by(calls: &str) -> Option<script::Chosen> {
        let mut chosen = script::Chosen { files: Vec::new(), excluded: Vec::new() };
        for line in calls.lines() {
            let words = script::words(line);
            let end = words.iter().position(|word| word == "--")?;
            let files = words.get(3..end)?;
            for file in files {
                chosen.files.push(RelPath::parse(file.as_bytes()).ok()?);
            }
            let first = files.first()?;
            chosen.excluded.extend(words[end + 1..].iter().map(|name| format!("{first}::{name}")));
        }
        Some(chosen)
    }
}

/// The rest of a line that begins with a word, without quotes and comments.
fn after_word(line: &str, word: &str) -> Option<String> {
    let rest = line.trim().strip_prefix(word)?;
    if !rest.starts_with([' ', '\t', '"']) {
        return None;
    }
    let rest = rest.split("//").next().unwrap_or_default();
    let name = rest.trim().trim_end_matches(';').trim_matches(['"', '`']);
    (!name.is_empty() && name != "(").then(|| name.to_owned())
}

/// Mounts and environment for go: its own directory, and the module cache, which go only reads: what is
/// missing there cannot be had.
pub(super) fn tools(reader: &Reader<'_>, machine: &Machine) -> Result<Tools, Error> {
    let root = toolchain(machine)?;
    let version = version(&root);
    if version.is_some_and(|version| version < OLDEST) {
        let (major, minor) = version.unwrap_or_default();
        return Err(Error::OldGo { version: format!("{major}.{minor}"), root });
    }
    let mut tools = Tools::default();
    let mut show = |source: &Path, target: &Path| {
        if source.is_dir() && !target.starts_with("/usr") {
            let (source, target) = (source.to_owned(), target.to_owned());
            tools.mounts.push(Mount { source, target, access: Access::ReadOnly });
        }
    };
    show(&root, &root);
    let cache = module_cache(machine);
    show(&cache, Path::new(MODULES));
    let modules = reader.named("go.mod").filter_map(|file| {
        let text = String::from_utf8_lossy(&reader.bytes(file)).into_owned();
        text.lines().find_map(|line| after_word(line, "module"))
    });
    for module in modules {
        tools.hidden.extend(published(&cache, &module));
    }
    let bin = root.join("bin");
    tools
        .env
        .insert("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()).into());
    tools.env.insert("GOROOT".into(), root.clone().into());
    // Which go it is: a baseline of another is no baseline.
    let text = fs::read_to_string(root.join("VERSION")).unwrap_or_default();
    tools.env.insert("GOVERSION".into(), text.lines().next().unwrap_or_default().into());
    Ok(tools)
}

/// The directory that go on `PATH` belongs to.
fn toolchain(machine: &Machine) -> Result<PathBuf, Error> {
    let usual = ["/usr/local/go/bin", "/snap/go/current/bin"].map(PathBuf::from);
    let machine = Machine { path: [&machine.path[..], &usual].concat(), ..machine.clone() };
    let program =
        found::program(&machine, "go", "go/bin/go").map_err(|seen| Error::NoGo { seen })?;
    let root = program.parent().and_then(Path::parent).unwrap_or(Path::new("/usr")).to_owned();
    if root.join("VERSION").is_file() && root.join("src").is_dir() {
        Ok(root)
    } else {
        Err(Error::NoGo { seen: vec![program] })
    }
}

/// `go1.27.3` in the file `VERSION` to 1 and 27.
fn version(root: &Path) -> Option<(u32, u32)> {
    let text = fs::read_to_string(root.join("VERSION")).ok()?;
    let mut numbers = text.strip_prefix("go")?.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Where the developer's go keeps modules: its variables, what `go env -w` wrote, or the usual place.
fn module_cache(machine: &Machine) -> PathBuf {
    let kept = fs::read_to_string(machine.home.join(".config/go/env")).unwrap_or_default();
    let written = |name: &str| {
        let value = kept.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    let path = || machine.go_path.clone().or_else(|| written("GOPATH"));
    machine
        .go_mod_cache
        .clone()
        .or_else(|| written("GOMODCACHE"))
        .unwrap_or_else(|| path().unwrap_or_else(|| machine.home.join("go")).join("pkg/mod"))
}

/// Copies of a module that were downloaded, by any version: inside, and whether each is a directory.
fn published(cache: &Path, module: &str) -> Vec<(PathBuf, bool)> {
    let major = |last: &str| last.strip_prefix('v').is_some_and(|n| n.parse::<u32>().is_ok());
    let base = match module.rsplit_once('/') {
        Some((base, last)) if major(last) => base,
        _ => module,
    };
    // Capital letters are kept as an exclamation mark and a small one.
    let escape = |path: &str| -> String {
        let one = |c: char| {
            if c.is_ascii_uppercase() { format!("!{}", c.to_ascii_lowercase()) } else { c.into() }
        };
        path.chars().map(one).collect()
    };
    let mut found = Vec::new();
    for path in [escape(module), escape(base)] {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let entries = fs::read_dir(cache.join(parent)).into_iter().flatten().flatten();
        let copies = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|entry| entry.strip_prefix(name).is_some_and(|rest| rest.starts_with('@')))
            .map(|entry| Path::new(parent).join(entry));
        let downloads = [Path::new("cache/download").join(&path)];
        let all = copies.chain(downloads).filter(|below| cache.join(below).is_dir());
        found.extend(all.map(|below| (Path::new(MODULES).join(below), true)));
    }
    found.sort();
    found.dedup();
    found
}
