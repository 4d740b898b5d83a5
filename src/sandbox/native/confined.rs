//! Tier C: no namespaces. Landlock, the system call filter and resource limits alone, for an ordinary
//! user on machines that forbid namespaces.
//!
//! The tree is a copy in a directory of the run's own, at another path than the original; nothing of
//! the machine's is hidden but by Landlock's list of what may be read.

use super::helper::{self, finish, fork};
use super::init::{self, Init};
use super::landlock::Ruleset;
use super::message::Policy;
use super::others::{Others, adopt_orphans, kill_descendants};
use super::translate::{Places, Slots};
use super::wire::Channel;
use super::{Access, Unavailable, copied, landlock, write};
use rustix::process::PidfdFlags;
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The least Landlock that keeps signals within: there is no list of processes of their own to do so.
pub(super) const FLOOR: i64 = 6;

/// Files of `/proc` that name no process.
const PROC: &[&str] = &[
    "cpuinfo",
    "meminfo",
    "stat",
    "loadavg",
    "uptime",
    "version",
    "filesystems",
    "vmstat",
    "sys/vm/overcommit_memory",
    "sys/vm/max_map_count",
    "sys/kernel/osrelease",
    "sys/kernel/pid_max",
    "sys/kernel/cap_last_cap",
    "sys/kernel/random/boot_id",
];
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Directories of runs of this process, below `scratch`; those of processes that are gone are removed.
pub(super) fn slots(scratch: &Path) -> Result<Arc<Slots>, Unavailable> {
    const PREFIX: &str = "confined-";
    if rustix::process::geteuid().is_root() {
        return Err(Unavailable {
            reason: "Without namespaces nothing keeps root's commands from the machine".into(),
            fix: "start ssr-mcp as an ordinary user (in a container: `--user 1000:1000`)".into(),
        });
    }
    if landlock::version().is_none_or(|version| version < FLOOR) {
        return Err(Unavailable {
            reason: "Landlock is off, or too old to keep signals within: version 6 is needed where there are no \
                     namespaces"
                .into(),
            fix: "use Linux 6.12 or newer with `landlock` in the kernel's `lsm=` list".into(),
        });
    }
    let unusable = |error: std::io::Error| Unavailable {
        reason: format!("The directory {} cannot be used: {error}", scratch.display()),
        fix: "choose a state directory that can be written".into(),
    };
    let scratch = fs::canonicalize(scratch).map_err(unusable)?;
    crate::sandbox::sweep_begun(&scratch, PREFIX);
    let dir = scratch.join(crate::sandbox::begun(PREFIX));
    fs::create_dir_all(&dir).map_err(unusable)?;
    Ok(Slots::new(dir))
}

/// Runs the sandbox in `dir`, which it makes and removes.
pub(super) fn main(channel: Channel, policy: Policy, dir: &Path) -> ! {
    let places = Places::of(dir);
    let made = adopt_orphans().and_then(|()| make(&places)).and_then(|()| this_process());
    let this = match made {
        Ok(this) => this,
        Err(reason) => {
            remove(dir);
            helper::refuse(&channel, reason)
        }
    };
    match fork() {
        Ok(None) => init::main(&channel, build(policy, &places, this)),
        Ok(Some(first)) => {
            drop(channel);
            let code = helper::outlive(first);
            // Should it have been killed, its descendants are this process's now.
            kill_descendants();
            remove(dir);
            finish(code)
        }
        Err(errno) => {
            remove(dir);
            helper::refuse(&channel, format!("fork: {errno}"))
        }
    }
}

fn this_process() -> Result<OwnedFd, String> {
    rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())
        .map_err(|errno| format!("pidfd_open: {errno}"))
}

fn make(places: &Places) -> Result<(), String> {
    remove(&places.dir);
    let all = [&places.dir, &places.tree, &places.tmp, &places.home, &places.mounts];
    for (dir, mode) in all.into_iter().zip([0o700, 0o755, 0o700, 0o755, 0o755]) {
        fs::DirBuilder::new()
            .mode(mode)
            .create(dir)
            .map_err(|error| format!("make {}: {error}", dir.display()))?;
    }
    Ok(())
}

/// What cannot be removed is left for the sweep of a later start.
pub(super) fn remove(dir: &Path) {
    if fs::remove_dir_all(dir).is_ok() || !dir.exists() {
        return;
    }
    super::unlock::give_rights(dir);
    fs::remove_dir_all(dir).ok();
}

/// Fills the run's directory and lists what may be reached from it.
fn build(policy: Policy, places: &Places, alive: OwnedFd) -> Result<Init, String> {
    init::begin();
    let others = Others::adopt(alive)?;
    let view = &policy.view;
    let open = |path: &Path| super::view::open_dir(path);
    let (tree, below) = (open(&places.tree)?, init::below_root(view));
    let layers = view.layers.iter().map(|layer| open(layer)).collect::<Result<_, _>>()?;
    let copied = copied::copy(layers, &tree, &below)?;
    let mut rules = Ruleset::empty()?;
    let mut own: Vec<PathBuf> =
        [&places.tree, &places.tmp, &places.home, &places.mounts].map(Clone::clone).into();
    let mut readable: BTreeSet<PathBuf> =
        policy.system.iter().filter(|item| item.link.is_none()).map(|i| i.path.clone()).collect();
    readable.extend(PROC.iter().map(|name| Path::new("/proc").join(name)));
    readable.insert(PROCESSORS.into());
    for mount in &view.mounts {
        match mount.access {
            Access::Scratch => {
                let target = make_dir(places, &mount.target)?;
                copied::copy(vec![open(&mount.source)?], target, &BTreeSet::new())?;
            }
            Access::ReadOnly => {
                link(places, &mount.source, &mount.target)?;
                readable.insert(mount.source.clone());
            }
            Access::Persistent => {
                link(places, &mount.source, &mount.target)?;
                own.push(fs::canonicalize(&mount.source).map_err(|error| error.to_string())?);
            }
        }
    }
    for path in readable.iter().filter(|path| path.exists()) {
        rules = rules.may_read(path)?;
    }
    for name in DEVICES {
        rules = rules.may_use(&Path::new("/dev").join(name))?;
    }
    for place in &own {
        rules = rules.may_write(place)?;
    }
    Init::confined(policy, copied, tree, rules, others, places, own)
}

/// Shows a source at a target of the run's directory; elsewhere it is at its own path already.
fn link(places: &Places, source: &Path, target: &Path) -> Result<(), String> {
    let Some((parent, name)) = target.parent().zip(target.file_name()).filter(|_| source != target)
    else {
        return Ok(());
    };
    let parent = make_dir(places, parent)?;
    rustix::fs::symlinkat(source, parent, name)
        .map_err(|errno| format!("link {}: {errno}", target.display()))
}

/// A directory of the run's, made where it is missing. Never through a link: what the tree holds, and
/// what is shown already, may lead out of it.
fn make_dir(places: &Places, dir: &Path) -> Result<OwnedFd, String> {
    let named = |reason: &dyn std::fmt::Display| format!("make {}: {reason}", dir.display());
    let below = dir.strip_prefix(&places.dir).map_err(|error| named(&error))?;
    let root = super::view::open_dir(&places.dir)?;
    write::make_dirs(root.as_fd(), below).map_err(|errno| named(&errno))
}
