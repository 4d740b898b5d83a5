//! How long a sandboxed `true` takes, beside a bare spawn and bubblewrap.
//!
//! `cargo bench --bench sandbox_start`. The three take turns, so that they see the same machine.

use ssr_mcp::sandbox::{Cancel, End, Limits, Sandbox, Step, View};
use ssr_mcp::tree::Changes;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 100;

/// A name and what is timed.
type Way<'a> = (&'a str, Box<dyn FnMut() + 'a>);

fn main() {
    let dir = tempfile::TempDir::new().expect("a temporary directory");
    let helper = PathBuf::from(env!("CARGO_BIN_EXE_ssr-mcp"));
    let sandbox = Sandbox::probe_with(&helper, dir.path()).expect("a sandbox on this machine");
    let base = dir.path().join("base");
    fs::create_dir(&base).expect("a base");
    if let Some((uid, gid)) = sandbox.owner() {
        std::os::unix::fs::chown(&base, Some(uid), Some(gid)).expect("the base's owner");
    }
    let (view, step) = (view(base), run_true());
    let mut session = sandbox.open(&view).expect("a session");
    let mut ways: Vec<Way<'_>> = vec![
        ("bare spawn", Box::new(|| spawn(bare("/bin/true")))),
        (
            "ssr-mcp sandbox",
            Box::new(|| {
                let finished = sandbox.run(&view, &step, &Cancel::new()).expect("a run");
                assert_eq!(finished.end, End::Exited(0));
            }),
        ),
        (
            "ssr-mcp next step of a session",
            Box::new(|| {
                let finished = session.run(&step, &Cancel::new()).expect("a run");
                assert_eq!(finished.end, End::Exited(0));
            }),
        ),
    ];
    if bare("/usr/bin/bwrap").arg("--version").stdout(Stdio::null()).status().is_ok() {
        ways.push((
            "bubblewrap, whole root read-only",
            Box::new(|| spawn(bwrap(&["--ro-bind", "/", "/"]))),
        ));
        let minimal = [
            "--ro-bind",
            "/usr",
            "/usr",
            "--symlink",
            "usr/bin",
            "/bin",
            "--symlink",
            "usr/lib",
            "/lib",
        ];
        let minimal =
            [&minimal[..], &["--symlink", "usr/lib64", "/lib64", "--tmpfs", "/tmp"]].concat();
        ways.push(("bubblewrap, minimal view", Box::new(move || spawn(bwrap(&minimal)))));
    } else {
        say("bubblewrap is not installed: not compared");
    }
    report(ways);
}

/// Times all ways in turns and prints their medians.
fn report(mut ways: Vec<Way<'_>>) {
    let mut times = vec![Vec::with_capacity(ROUNDS); ways.len()];
    for _ in 0..ROUNDS {
        for ((_, run), times) in ways.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            run();
            times.push(begun.elapsed());
        }
    }
    let medians: Vec<(Duration, Duration)> = times
        .iter_mut()
        .map(|times| {
            times.sort();
            (times[ROUNDS / 2], times[0])
        })
        .collect();
    say(&format!(
        "{:34} {:>9} {:>9} {:>7}",
        "true, N=100, interleaved", "median", "least", "ratio"
    ));
    for ((name, _), (median, least)) in ways.iter().zip(&medians) {
        let ratio = median.as_secs_f64() / medians[0].0.as_secs_f64();
        let ms = |time: &Duration| time.as_secs_f64() * 1e3;
        say(&format!("{name:34} {:6.2} ms {:6.2} ms {ratio:6.1}x", ms(median), ms(least)));
    }
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("standard output");
}

fn spawn(mut command: Command) {
    assert!(command.stdin(Stdio::null()).status().expect("a program").success());
}

fn bare(program: &str) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "what the sandbox is compared with is started here"
    )]
    Command::new(program)
}

fn bwrap(view: &[&str]) -> Command {
    let mut command = bare("/usr/bin/bwrap");
    command.env_clear().args(view).args(["--dev", "/dev", "--proc", "/proc"]);
    command.args(["--unshare-all", "--die-with-parent", "/bin/true"]);
    command
}

fn view(base: PathBuf) -> View {
    let limits = Limits {
        memory: 1 << 30,
        processes: 64,
        disk: 64 << 20,
        keep_head: 4096,
        keep_tail: 4096,
        output: 1 << 20,
    };
    View {
        layers: vec![base],
        root: "/srv/project".into(),
        changes: Changes::new(),
        mounts: Vec::new(),
        limits,
    }
}

fn run_true() -> Step {
    Step {
        argv: vec!["/bin/true".into()],
        env: BTreeMap::new(),
        cwd: PathBuf::new(),
        stdin: Vec::new(),
        merge_stderr: true,
        deadline: Duration::from_secs(10),
        files: Vec::new(),
        changes: Changes::new(),
        collect: Vec::new(),
        collect_limit: 0,
    }
}
