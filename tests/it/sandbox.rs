//! The real sandbox on this machine. Every test also runs as a plain user: see `without_root`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]
#![expect(clippy::disallowed_methods, reason = "tests start servers, and have no configuration")]

mod alone;
mod basics;
mod bounds;
mod ending;
mod machine;
mod secrets;
mod talking;
mod tiers;
mod trees;
mod walls;

use ssr_mcp::sandbox::{
    Cancel, Captured, Choice, End, Finished, Limits, Sandbox, Session, Step, TIERS, Tier, View,
};
use ssr_mcp::tree::{Changes, RelPath};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// Names another helper than the one cargo built: set when the tests run as a plain user, who may
/// not be able to reach that one.
const HELPER: &str = "SSR_TEST_HELPER";

fn helper() -> PathBuf {
    let other = std::env::var_os(HELPER);
    other.map_or_else(|| env!("CARGO_BIN_EXE_ssr-mcp").into(), Into::into)
}

/// Names the tier that these tests are about, where it is not the first.
const TIER: &str = "SSR_TEST_TIER";

fn tier() -> Tier {
    let name = std::env::var(TIER).unwrap_or_default();
    TIERS.into_iter().find(|tier| format!("{tier:?}") == name).unwrap_or(Tier::A)
}

/// Where bubblewrap may be.
fn path_list() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
}

/// What the tests say of paths in tier C, which has the view's at others: as if they were the view's.
fn as_in_the_view(told: &str, root: &str) -> String {
    let mut out = String::new();
    let mut rest = told;
    while let Some(at) = rest.find("/confined-") {
        let start = rest[..at].rfind(|c: char| c.is_whitespace() || "=:'\"".contains(c));
        let start = start.map_or(0, |start| start + 1);
        out.push_str(&rest[..start]);
        // The process and the number of the run.
        let inside = rest[at + 1..].splitn(3, '/').nth(2).unwrap();
        let end = inside.find(|c: char| !c.is_alphanumeric()).unwrap_or(inside.len());
        out.push_str(match &inside[..end] {
            "tree" => root,
            "tmp" => "/tmp",
            "home" => "/home/u",
            other => panic!("{other} is no place of a run: {told}"),
        });
        rest = &inside[end..];
    }
    out + rest
}

/// Says loudly what tier C cannot prove; true there.
fn excepted(what: &str) -> bool {
    if tier() == Tier::C {
        use std::io::Write as _;
        writeln!(std::io::stderr(), "EXCEPTION in tier C: {what}").ok();
    }
    tier() == Tier::C
}

/// The processes of a session between its steps, but for the shell that counts.
fn count_inside(session: &mut Session) -> u32 {
    if tier() == Tier::C {
        let place = session.path_of(&path("x")).parent().unwrap().parent().unwrap().to_owned();
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let inside = processes.filter(|process| {
            fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&place))
        });
        return u32::try_from(inside.count()).unwrap();
    }
    let count = shell("ls /proc | grep -c '^[0-9]'");
    succeeded(&session.run(&count, &Cancel::new()).unwrap()).trim().parse().unwrap()
}

fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        let scratch = TempDir::new().unwrap();
        let choice = Choice { only: Some(tier()), path: path_list() };
        let sandbox = Sandbox::choose(&helper(), scratch.path(), &choice)
            .unwrap_or_else(|error| panic!("no sandbox here: {error}"));
        if tier() == Tier::C {
            // Its runs lie there. The whole temporary directory goes with the test that made it.
            drop(scratch.keep());
        }
        sandbox
    })
}

/// A base on disk and a view of it at another path than its own.
struct World {
    dir: TempDir,
    view: View,
}

/// Where the tree of a `World` is inside.
const ROOT: &str = "/srv/project";

impl World {
    /// A base with these files; a name that ends in a slash is an empty directory.
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        let base = dir.path().join("base");
        fs::create_dir(&base).unwrap();
        for (name, content) in files {
            let path = base.join(name);
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
        }
        own(&base);
        let limits = Limits {
            memory: 2 << 30,
            processes: 256,
            disk: 256 << 20,
            keep_head: 64 << 10,
            keep_tail: 64 << 10,
            output: 64 << 20,
        };
        let view = View {
            layers: vec![base],
            root: ROOT.into(),
            changes: Changes::new(),
            mounts: Vec::new(),
            limits,
        };
        Self { dir, view }
    }

    fn base(&self) -> &Path {
        &self.view.layers[0]
    }

    /// A path beside the base, which no view shows.
    fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn open(&self) -> Session {
        sandbox().open(&self.view).unwrap()
    }

    #[track_caller]
    fn run(&self, step: &Step) -> Finished {
        sandbox().run(&self.view, step, &Cancel::new()).unwrap()
    }

    /// Runs a shell script and returns what it printed; fails unless it exits 0.
    #[track_caller]
    fn sh(&self, script: &str) -> String {
        succeeded(&self.run(&shell(script)))
    }
}

/// Gives a directory and all below it to whom the commands run as.
fn own(path: &Path) {
    if let Some((uid, gid)) = sandbox().owner() {
        chown(path, Some(uid), Some(gid)).unwrap();
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                own(&entry.unwrap().path());
            }
        }
    }
}

fn step(argv: &[&str]) -> Step {
    Step {
        argv: argv.iter().map(Into::into).collect(),
        env: BTreeMap::new(),
        cwd: PathBuf::new(),
        stdin: Vec::new(),
        merge_stderr: true,
        deadline: Duration::from_mins(1),
        files: Vec::new(),
        changes: Changes::new(),
        collect: Vec::new(),
        collect_limit: 1 << 20,
    }
}

fn shell(script: &str) -> Step {
    step(&["bash", "-c", script])
}

fn python(script: &str) -> Step {
    step(&["/usr/bin/python3", "-c", script])
}

fn text(captured: &Captured) -> String {
    let all = [captured.head.as_slice(), &captured.tail].concat();
    String::from_utf8_lossy(&all).into_owned()
}

#[track_caller]
fn succeeded(finished: &Finished) -> String {
    let out = text(&finished.stdout);
    assert_eq!(finished.end, End::Exited(0), "it printed: {out}{}", text(&finished.stderr));
    out
}

fn path(path: &str) -> RelPath {
    RelPath::parse(path.as_bytes()).unwrap()
}

/// Marks the process that a test started to be a server of its own.
const SERVER: &str = "SSR_TEST_SERVER";

/// This test program again, running one test as a server in a process of its own.
fn serve(test: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(SERVER, "1")
        .env(HELPER, helper());
    command
}

fn serving() -> bool {
    std::env::var_os(SERVER).is_some()
}

/// Says loudly that a test could not be what it says it is.
fn not_run(why: &str) {
    use std::io::Write as _;
    writeln!(std::io::stderr(), "NOT RUN: {why}").ok();
}

/// The children of a process.
fn children(pid: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let children =
        tasks.map(|task| fs::read_to_string(task.unwrap().path().join("children")).unwrap());
    children.collect::<String>().split_whitespace().map(str::to_owned).collect()
}
