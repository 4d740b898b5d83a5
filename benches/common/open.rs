//! Opens a repository for a benchmark.

use ssr_mcp::harness::{Harness, Setup};
use ssr_mcp::runner::{Machine, Overrides, Runner};
use ssr_mcp::sandbox::{Cancel, Sandbox};
use ssr_mcp::store::Store;
use ssr_mcp::workspace::Workspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A harness on a repository as the environment has its tools, with its state below `scratch`.
pub(crate) fn open(repo: &Path, scratch: &Path) -> anyhow::Result<(Harness, Sandbox)> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let machine = Machine {
        path: std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
        home: variable("HOME").unwrap_or_default(),
        virtual_env: variable("VIRTUAL_ENV"),
        cargo_home: variable("CARGO_HOME"),
        rustup_home: variable("RUSTUP_HOME"),
        ..Machine::default()
    };
    let workspace = Workspace::open(repo, scratch)?;
    let sandbox = Sandbox::probe_with(Path::new(env!("CARGO_BIN_EXE_ssr-mcp")), &workspace.state)?;
    let base = Arc::new(workspace.freeze(sandbox.owner())?);
    let runner =
        Arc::new(Runner::detect(&*base, &workspace.root, &machine, &Overrides::default())?);
    let harness = Harness::open(Setup {
        sandbox: sandbox.clone(),
        base,
        runner,
        store: Arc::new(Store::open(&workspace.state)?),
        state: workspace.state.clone(),
        cancel: Cancel::new(),
        time_limit: None,
        memory: 2 << 30,
        parallel: 2,
    })?;
    Ok((harness, sandbox))
}
