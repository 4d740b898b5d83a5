//! Finds out by doing whether this machine can isolate: both the asking and what is run inside.

use super::supervisor::Live;
use super::{
    Access, Cancel, End, Error, Limits, Machine, Mount, Step, Tier, Unavailable, View, helper,
    landlock,
};
use crate::tree::Changes;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The argument that makes the helper the probe's command.
pub(super) const ARGUMENT: &str = "__sandbox-probe";

/// Where the probe's tree and program are inside.
const ROOT: &str = "/srv/probe";
const PROGRAM: &str = "/opt/ssr-mcp-probe";

/// Runs the probe in `scratch`, which is left as it was.
pub(super) fn run(machine: &Arc<Machine>, scratch: &Path) -> Result<(), Unavailable> {
    if landlock::version().is_none_or(|version| version < landlock::FLOOR) {
        return Err(Unavailable {
            reason: "Landlock is off or too old in this kernel".into(),
            fix: "Use Linux 5.19 or newer with `landlock` in the kernel's `lsm=` list (`cat /sys/kernel/security/lsm`)"
                .into(),
        });
    }
    crate::sandbox::sweep_begun(scratch, "probe-");
    let dir = scratch.join(crate::sandbox::begun("probe-"));
    let made = prepare(machine, &dir);
    let result = match made {
        Ok(secret) => attempt(machine, &dir, &secret),
        Err(error) => Err(Unavailable {
            reason: format!("The probe's directory {} cannot be prepared: {error}", dir.display()),
            fix: "Choose a state directory that can be written".into(),
        }),
    };
    fs::remove_dir_all(&dir).ok();
    result
}

/// A tree with a file and a directory, owned by whom the commands run as, and a file that must stay hidden.
fn prepare(machine: &Arc<Machine>, dir: &Path) -> std::io::Result<PathBuf> {
    let base = dir.join("base");
    fs::create_dir_all(base.join("old"))?;
    fs::write(base.join("old/file"), "before")?;
    if let Some((uid, gid)) = machine.owner {
        for path in [&base, &base.join("old"), &base.join("old/file")] {
            chown(path, Some(uid), Some(gid))?;
        }
    }
    let secret = dir.join("secret");
    fs::write(&secret, "hidden")?;
    Ok(secret)
}

fn attempt(machine: &Arc<Machine>, dir: &Path, secret: &Path) -> Result<(), Unavailable> {
    let view = View {
        layers: vec![dir.join("base")],
        root: ROOT.into(),
        changes: Changes::new(),
        mounts: vec![Mount {
            source: machine.server.program().into(),
            target: PROGRAM.into(),
            access: Access::ReadOnly,
        }],
        limits: Limits {
            memory: 1 << 30,
            processes: 64,
            disk: 16 << 20,
            keep_head: 4096,
            keep_tail: 0,
            output: 1 << 20,
        },
    };
    let step = Step {
        argv: [PROGRAM, ARGUMENT, &format!("{:?}", machine.tier)].map(Into::into).into(),
        env: BTreeMap::new(),
        cwd: PathBuf::new(),
        stdin: secret.as_os_str().as_bytes().to_vec(),
        merge_stderr: true,
        deadline: Duration::from_secs(30),
        files: Vec::new(),
        changes: Changes::new(),
        collect: Vec::new(),
        collect_limit: 0,
    };
    let finished = Live::start(machine, &view)
        .and_then(|mut live| live.run(&step, &Cancel::new()))
        .map_err(|error| match error {
            Error::Setup(reason) => explain(machine.tier, &reason),
            other => explain(machine.tier, &other.to_string()),
        })?;
    match finished.end {
        End::Exited(0) => Ok(()),
        end => {
            let said = String::from_utf8_lossy(&finished.stdout.head).into_owned();
            let said = format!("the probe inside the sandbox ended with {end:?}: {}", said.trim());
            Err(explain(machine.tier, &said))
        }
    }
}

/// What containers forbid; the reason names the call.
const CONTAINED: &[&str] = &[
    "unshare",
    "mount",
    "open_tree",
    "pivot_root",
    "setgroups",
    "setresgid",
    "setresuid",
    "_map:",
];

/// The fix that fits a reason, from what this machine's settings say.
fn explain(tier: Tier, reason: &str) -> Unavailable {
    let name = match tier {
        Tier::A => "The native sandbox",
        Tier::B => "The sandbox in bubblewrap",
        Tier::C => "The sandbox without namespaces",
    };
    let setting = |name: &str| {
        fs::read_to_string(format!("/proc/sys/{name}")).ok().map(|text| text.trim().to_owned())
    };
    let fix = if setting("kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        "AppArmor keeps programs without a profile from using user namespaces: give ssr-mcp a profile with `userns,` \
         in /etc/apparmor.d, or run `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
    } else if setting("user/max_user_namespaces").as_deref() == Some("0") {
        "User namespaces are switched off: run `sudo sysctl user.max_user_namespaces=15000`"
    } else if setting("kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        "User namespaces are root's alone here: run `sudo sysctl kernel.unprivileged_userns_clone=1`"
    } else if kernel().is_some_and(|version| version < (5, 19)) {
        "Use Linux 5.19 or newer (6.6 where the state is all in memory)"
    } else if CONTAINED.iter().any(|call| reason.contains(call)) {
        "Something around ssr-mcp forbids namespaces, as containers do by default: run it on the machine itself, in a \
         virtual machine, or in a container started with `--security-opt seccomp=unconfined --security-opt \
         apparmor=unconfined --security-opt systempaths=unconfined`"
    } else {
        "This machine cannot isolate untrusted code natively, and running it without isolation is refused"
    };
    Unavailable { reason: format!("{name} does not work here: {reason}"), fix: fix.into() }
}

fn kernel() -> Option<(u32, u32)> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// The probe's command: exits 0 when everything is as it must be, else says what is not.
pub(super) fn inside(tier: &OsStr) -> ! {
    let mut secret = Vec::new();
    let read = std::io::stdin().read_to_end(&mut secret);
    let has_namespaces = tier != "C";
    let code = match read
        .map_err(|error| error.to_string())
        .and_then(|_| examine(Path::new(OsStr::from_bytes(&secret)), has_namespaces))
    {
        Ok(()) => 0,
        Err(reason) => {
            writeln!(std::io::stdout(), "{reason}").ok();
            1
        }
    };
    helper::finish(code)
}

fn examine(secret: &Path, has_namespaces: bool) -> Result<(), String> {
    let tried = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    fs::write("new", "new").map_err(tried("write a new file"))?;
    fs::write("old/file", "after").map_err(tried("write over a file of the base"))?;
    fs::remove_dir_all("old").map_err(tried("remove a directory of the base"))?;
    fs::create_dir("old").map_err(tried("make the directory again"))?;
    if fs::read_dir("old").map_err(tried("list the new directory"))?.next().is_some() {
        return Err("a removed directory came back with its old content".into());
    }
    if has_namespaces {
        loopback().map_err(tried("talk over the loopback interface"))?;
    } else {
        examine_alone(secret)?;
    }
    if fs::read(secret).is_ok() {
        return Err("a file outside the view could be read".into());
    }
    if fs::write("/usr/.ssr-mcp-probe", "").is_ok() || fs::write("/etc/passwd", "").is_ok() {
        return Err("a file outside the tree could be written".into());
    }
    if has_namespaces && !is_in_namespaces() {
        return Err("the user or process namespace is not in force".into());
    }
    #[expect(unsafe_code, reason = "the call must be refused")]
    // SAFETY: should it succeed, this process, which has one thread, is in another namespace and ends.
    if unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWUSER) }.is_ok() {
        return Err("a nested user namespace could be made".into());
    }
    Ok(())
}

fn is_in_namespaces() -> bool {
    rustix::process::getuid().as_raw() == helper::INNER
        && rustix::process::getpid().as_raw_nonzero().get() <= 64
}

/// What only Landlock and the filter keep a command from.
fn examine_alone(secret: &Path) -> Result<(), String> {
    if loopback().is_ok() {
        return Err("a network could be used".into());
    }
    if rustix::fs::chmod(secret, rustix::fs::Mode::RWXU).is_ok() {
        return Err("a file outside could be given another mode".into());
    }
    if rustix::process::getppid()
        .is_none_or(|parent| rustix::process::test_kill_process(parent).is_ok())
    {
        return Err("a process outside could be signalled".into());
    }
    Ok(())
}

fn loopback() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut served, _) = listener.accept()?;
    client.write_all(b"x")?;
    served.read_exact(&mut [0])
}
