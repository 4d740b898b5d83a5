//! What a base of many files costs: frozen once, looked at again with nothing changed, and started on.
//!
//! `cargo bench --bench large_base -- [FILES]`, 50,000 where nobody says otherwise. A start is a sandbox on the
//! frozen base that runs `true`: view, first process, command and end. It is to be had only for a base whose
//! tree was looked at: that look asks for the times of every file.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures, and has git make the repository that it measures"
)]

use ssr_mcp::sandbox::Sandbox;
use ssr_mcp::workspace::Workspace;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

#[path = "common/start.rs"]
mod start;

/// Files of one directory.
const DIRECTORY: usize = 100;

fn main() -> anyhow::Result<()> {
    let files = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(50_000);
    let dir = tempfile::tempdir()?;
    for (name, files) in [("small", 10), ("large", files)] {
        let repo = dir.path().join(name);
        make(&repo, files)?;
        measure(&repo, &dir.path().join("state"), files)?;
    }
    Ok(())
}

fn make(repo: &Path, files: usize) -> anyhow::Result<()> {
    for number in 0..files {
        let folder = repo.join(format!("pkg{}", number / DIRECTORY));
        if number % DIRECTORY == 0 {
            std::fs::create_dir_all(&folder)?;
        }
        let text = format!("def number():\n    return {number}\n");
        std::fs::write(folder.join(format!("file{number}.py")), text)?;
    }
    for arguments in [&["init", "-q"][..], &["add", "."]] {
        let status = Command::new("git").current_dir(repo).args(arguments).status()?;
        anyhow::ensure!(status.success(), "git {arguments:?}: {status}");
    }
    // Files that were written in the last two seconds are read again by the next look.
    std::thread::sleep(std::time::Duration::from_secs(3));
    Ok(())
}

fn measure(repo: &Path, state: &Path, files: usize) -> anyhow::Result<()> {
    let workspace = Workspace::open(repo, state)?;
    let sandbox = Sandbox::probe_with(Path::new(env!("CARGO_BIN_EXE_ssr-mcp")), &workspace.state)?;
    let timed = || {
        let begun = Instant::now();
        workspace.freeze(sandbox.owner()).map(|base| (base, begun.elapsed().as_secs_f64()))
    };
    let (base, first) = timed()?;
    println!("{files} files: frozen in {first:.2} s ({} read)", base.report.hashed);
    drop(base);
    let mut looks = Vec::new();
    for _ in 0..5 {
        let (base, again) = timed()?;
        anyhow::ensure!(base.report.hashed == 0, "files were read again");
        looks.push(again);
    }
    looks.sort_by(f64::total_cmp);
    let (base, _) = timed()?;
    let (median, least) = start::sandbox_seconds(&sandbox, &base)?;
    println!(
        "{files} files: looked at again with nothing changed, median {:.0} ms, least {:.0}; a start on \
         them, median {:.1} ms, least {:.1}",
        looks[looks.len() / 2] * 1e3,
        looks[0] * 1e3,
        median * 1e3,
        least * 1e3
    );
    Ok(())
}
