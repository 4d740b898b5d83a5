//! How long a sandbox takes to start and end.

use ssr_mcp::sandbox::{Cancel, Limits, Sandbox, Step, View};
use ssr_mcp::tree::Changes;
use ssr_mcp::workspace::Base;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Median and least wall seconds of a sandbox that runs `true`.
pub(crate) fn sandbox_seconds(sandbox: &Sandbox, base: &Base) -> anyhow::Result<(f64, f64)> {
    let view = View {
        layers: vec![base.dir.clone()],
        root: base.root.clone(),
        changes: Changes::new(),
        mounts: Vec::new(),
        limits: Limits {
            memory: 1 << 30,
            processes: 64,
            disk: 64 << 20,
            keep_head: 4096,
            keep_tail: 4096,
            output: 1 << 20,
        },
    };
    let step = Step {
        argv: vec!["true".into()],
        env: [("PATH".into(), "/usr/bin:/bin".into())].into(),
        cwd: PathBuf::new(),
        stdin: Vec::new(),
        merge_stderr: false,
        deadline: Duration::from_secs(10),
        files: Vec::new(),
        changes: Changes::new(),
        collect: Vec::new(),
        collect_limit: 0,
    };
    let mut times = Vec::new();
    for _ in 0..41 {
        let start = Instant::now();
        sandbox.run(&view, &step, &Cancel::new())?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times[0]))
}
