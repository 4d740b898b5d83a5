//! Finds the tools that a framework needs on this machine, with a Python for the parsers.

use super::detect::Reader;
use super::spec::{Plugins, Spec, ToolKind};
use super::{Error, Machine, Tools, cargo, cmake, detect, go, node, own_copies, python};
use crate::tree::{RelPath, Tree};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the framework's tests run with, and the names of all modules that they may import from elsewhere.
/// `commanded`: a command of the user's runs the tests, so that the framework itself is not needed.
pub(super) fn of(
    spec: &Spec,
    reader: &Reader<'_>,
    tree: &dyn Tree,
    root: &Path,
    machine: &Machine,
    commanded: bool,
) -> Result<(Tools, BTreeSet<String>), Error> {
    let (tools, installed) = match spec.tools {
        ToolKind::Python => python_tools(spec, reader, tree, root, machine, commanded)?,
        ToolKind::Cargo => (cargo_tools(reader, root, machine)?, BTreeSet::new()),
        ToolKind::Node => {
            let tools = node_tools(spec, reader, root, machine, commanded)?;
            (tools, BTreeSet::new())
        }
        ToolKind::Go => (with_python(go::tools(reader, machine)?, root, machine)?, BTreeSet::new()),
        ToolKind::CMake => (with_python(cmake::tools(machine)?, root, machine)?, BTreeSet::new()),
        ToolKind::Command => (with_python(Tools::default(), root, machine)?, BTreeSet::new()),
    };
    Ok((with_constants(tools, spec), installed))
}

/// The Python that an artifact's parser runs under where no repository is open: the developer's own for
/// `root`.
pub fn parsing_tools(root: &Path, machine: &Machine) -> Result<Tools, Error> {
    Ok(python::find(root, machine)?.tools())
}

/// The interpreter, the modules it must have unless a command of the user's runs the tests, and the
/// plugins it may load; beside them the names of all installed modules.
fn python_tools(
    spec: &Spec,
    reader: &Reader<'_>,
    tree: &dyn Tree,
    root: &Path,
    machine: &Machine,
    commanded: bool,
) -> Result<(Tools, BTreeSet<String>), Error> {
    let python = python::find(root, machine)?;
    if !commanded && let Some(module) = spec.needs.modules.iter().find(|module| !python.has(module))
    {
        let interpreter = python.program.clone();
        let install = spec.needs.install.replace("{python}", &interpreter.display().to_string());
        return Err(Error::NoModule { module: module.clone(), interpreter, install });
    }
    let mut tools = python.tools();
    if python.uses_user_packages() {
        tools.env.insert("PYTHONNOUSERSITE".into(), OsString::new());
    }
    if let Some(plugins) = &spec.plugins {
        let modules = plugins_to_load(plugins, &python, tree);
        if !modules.is_empty() {
            tools.env.insert((&plugins.variable).into(), modules.join(",").into());
        }
    }
    let places = [&python.site[..], &python.linked].concat();
    let mut copies = own_copies::of_python(reader, &places, &spec.needs.modules);
    copies.extend(own_copies::histories(&python.linked));
    tools.hidden = copies.into_iter().map(|path| (path.clone(), path.is_dir())).collect();
    Ok((tools, python.modules()))
}

/// Cargo without the crates of the repository itself, and a Python for the parser.
fn cargo_tools(reader: &Reader<'_>, root: &Path, machine: &Machine) -> Result<Tools, Error> {
    let mut tools = cargo::tools(root, machine)?;
    let home = cargo::home(machine);
    let copies = own_copies::of_cargo(reader, &home);
    tools.hidden = copies
        .into_iter()
        .map(|below| (Path::new(cargo::CARGO_HOME).join(&below), home.join(&below).is_dir()))
        .collect();
    with_python(tools, root, machine)
}

/// Beside tools of another language a Python for the parser.
fn with_python(mut tools: Tools, root: &Path, machine: &Machine) -> Result<Tools, Error> {
    let python = python::find(root, machine)?;
    tools.mounts.extend(python.tools().mounts);
    tools.env.insert("PYTHON".into(), python.program.clone().into());
    Ok(tools)
}

/// Node.js and the installed packages, one of which must be the framework unless a command of the user's
/// runs the tests; and a Python for the parser.
fn node_tools(
    spec: &Spec,
    reader: &Reader<'_>,
    root: &Path,
    machine: &Machine,
    commanded: bool,
) -> Result<Tools, Error> {
    let node = node::find(root, reader, machine)?;
    let needs = &spec.needs.modules;
    if !commanded && !needs.is_empty() && !needs.iter().any(|module| node.has(module)) {
        let (module, install) = (needs.join(" or "), spec.needs.install.clone());
        return Err(Error::NoPackage { module, install });
    }
    let mut tools = node.tools();
    let copies = node.own_copies(reader, needs);
    tools.hidden = copies.into_iter().map(|path| (path, true)).collect();
    with_python(tools, root, machine)
}

/// What the specification says beside what was found on the machine, which wins.
fn with_constants(mut tools: Tools, spec: &Spec) -> Tools {
    for (name, value) in &spec.env {
        tools.env.entry(name.into()).or_insert_with(|| value.into());
    }
    tools.caches = spec.cache.directories.iter().map(PathBuf::from).collect();
    tools
}

fn plugins_to_load(plugins: &Plugins, python: &python::Python, tree: &dyn Tree) -> Vec<String> {
    let settings: Vec<_> = plugins
        .settings
        .iter()
        .filter_map(|name| tree.read(&RelPath::parse(name.as_bytes()).ok()?))
        .collect();
    let asked = |options: &Vec<String>| {
        let holds = |file: &crate::tree::File, option: &String| {
            detect::contains(&file.bytes, option.as_bytes())
        };
        options.iter().any(|option| settings.iter().any(|file| holds(file, option)))
    };
    let mut modules: Vec<String> = python
        .entry_points(&plugins.entry_points)
        .into_iter()
        .filter(|(name, _)| plugins.refused.get(name).is_none_or(asked))
        .map(|(_, module)| module)
        .collect();
    modules.sort();
    modules.dedup();
    modules
}
