//! `CMake`'s side of a repository: the tools that build and run its tests.

use super::{Error, Machine, Tools, detect::Reader, found, script};
use crate::sandbox::{Access, Mount};
use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The oldest that writes a test run as `JUnit` XML.
const OLDEST: (u32, u32) = (3, 21);

/// What is asked of `CMake`, beside the chosen files.
#[derive(Clone, Debug, Default)]
pub(super) struct Project {
    /// Options of the project's own that add its tests.
    options: Vec<String>,
    /// The test files of the original, one a line: a program's test is written in one of them.
    pub(super) known: String,
}

impl Project {
    pub(super) fn of(reader: &Reader<'_>, files: &[RelPath]) -> Self {
        let top = reader.named("CMakeLists.txt").find(|file| file.parent().is_empty());
        let text = top.map(|file| String::from_utf8_lossy(&reader.bytes(file)).into_owned());
        let options = text.iter().flat_map(|text| text.lines()).filter_map(option).collect();
        let known: Vec<&str> = files.iter().map(RelPath::as_str).collect();
        Self { options, known: known.join("\n") }
    }

    /// The calls that the script template makes.
    pub(super) fn calls(&self, files: &[RelPath], excluded: &[TestId]) -> String {
        let line = |first: &str, words: &mut dyn Iterator<Item = &str>| {
            let quoted = words.map(script::quote);
            std::iter::once(first.to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
        };
        let options: Vec<String> = self.options.iter().map(|name| format!("-D{name}=ON")).collect();
        let [configure, files, excluded] = [
            line("configure", &mut options.iter().map(String::as_str)),
            line("run", &mut files.iter().map(RelPath::as_str)),
            line("--", &mut excluded.iter().map(String::as_str)),
        ];
        format!("{configure}\n{files} {excluded}")
    }
}

/// What calls say that they run.
pub(super) fn chosen_by(calls: &str) -> Option<script::Chosen> {
    let words = script::words(calls.lines().find(|line| line.starts_with("run"))?);
    let end = words.iter().position(|word| word == "--")?;
    let files = words.get(1..end)?.iter().map(|file| RelPath::parse(file.as_bytes()).ok());
    Some(script::Chosen {
        files: files.collect::<Option<_>>()?,
        excluded: words[end + 1..].to_vec(),
    })
}

/// The name of an option that adds tests and is off, in the line that declares it.
fn option(line: &str) -> Option<String> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("option").or_else(|| rest.strip_prefix("OPTION"))?;
    let rest = rest.trim_start().strip_prefix('(')?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let name = &rest[..end];
    let says = |part: &str| matches!(part, "TEST" | "TESTS" | "TESTING" | "UNITTEST" | "UNITTESTS");
    let off =
        !rest.trim_end().trim_end_matches(')').trim_end().to_ascii_uppercase().ends_with("ON");
    (off && name.to_ascii_uppercase().split('_').any(says)).then(|| name.to_owned())
}

/// Mounts and environment for `CMake`, `CTest`, make and the compiler.
pub(super) fn tools(machine: &Machine) -> Result<Tools, Error> {
    let cmake = found::program(machine, "cmake", "cmake/data/bin/cmake");
    let cmake = cmake.map_err(|seen| Error::NoCMake { seen })?;
    let root = cmake.parent().and_then(Path::parent).unwrap_or(Path::new("/usr")).to_owned();
    if let Some(version) = version(&root).filter(|version| *version < OLDEST) {
        return Err(Error::OldCMake { version: format!("{}.{}", version.0, version.1), root });
    }
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let has = |name: &str| system.iter().any(|directory| directory.join(name).is_file());
    if !has("make") {
        return Err(Error::NoBuildTool { tool: "make" });
    }
    if !["cc", "gcc", "clang"].into_iter().any(has) {
        return Err(Error::NoBuildTool { tool: "C compiler (cc, gcc or clang)" });
    }
    let mut tools = Tools::default();
    if !root.starts_with("/usr") {
        let (source, target) = (root.clone(), root.clone());
        tools.mounts.push(Mount { source, target, access: Access::ReadOnly });
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", root.join("bin").display());
    tools.env = BTreeMap::from([("PATH".into(), path.into())]);
    Ok(tools)
}

/// Of the directory `share/cmake-3.25` beside the programs.
fn version(root: &Path) -> Option<(u32, u32)> {
    let entries: Vec<PathBuf> =
        fs::read_dir(root.join("share")).ok()?.flatten().map(|e| e.path()).collect();
    entries.iter().find_map(|path| {
        let (major, minor) = path.file_name()?.to_str()?.strip_prefix("cmake-")?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    })
}
