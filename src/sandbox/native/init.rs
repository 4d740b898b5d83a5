//! The first process of a sandbox: builds the view, runs one command after the other, and is the
//! only process left between them.

use super::asked::Asked;
use super::command::{Command, Started};
use super::copied::Copied;
use super::fork_server::socket_pair;
use super::helper::{die_with_parent, finish};
use super::landlock::Ruleset;
use super::message::{Ended, Order, Policy, Report};
use super::others::Others;
use super::space::Space;
use super::translate::Places;
use super::unlock::Unlocked;
use super::view::{Sources, Upper};
use super::wire::Channel;
use super::{
    Access, Collected, End, Mount, Step, View, asked, copied, limits, network, readback, upper,
    view, write,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::DumpableBehavior;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Serves the supervisor in a world that was built, or says why it was not.
pub(super) fn main(channel: &Channel, built: Result<Init, String>) -> ! {
    match built {
        Err(reason) => {
            channel.send(&Report::Broken(reason), &[]).ok();
            finish(1)
        }
        Ok(init) => {
            let served = channel.send(&Report::Ready, &[]).and_then(|()| init.serve(channel));
            finish(i32::from(served.is_err()))
        }
    }
}

/// A world, and what is needed to run commands in it.
pub(super) struct Init {
    pub(super) policy: Policy,
    written: Written,
    /// `None` where one file system bounds all that is written.
    pub(super) space: RefCell<Option<Space>>,
    pub(super) others: Others,
    /// Where files of steps may lie.
    tmp: PathBuf,
    /// Where modes and times of files may be set, if this process is asked to.
    own: Vec<PathBuf>,
    root: OwnedFd,
    tree: OwnedFd,
    ruleset: Ruleset,
    /// Paths below the tree's root where something else is mounted.
    mounts: BTreeSet<Vec<u8>>,
}

/// How the tree came about, which tells what was written to it.
enum Written {
    Overlay(Upper),
    Copy(Copied),
}

/// Where every command may write, besides what its view says.
const OWN: [&str; 3] = ["/tmp", view::HOME, "/dev/shm"];

impl Init {
    /// Tier A: builds the view in the namespaces that this process is the first of.
    pub(super) fn overlaid(policy: Policy, sources: Sources) -> Result<Self, String> {
        die_with_parent()?;
        begin();
        let upper = view::build(&policy, &sources)?;
        drop(sources);
        network::loopback_up()?;
        rustix::system::sethostname(b"sandbox").map_err(|errno| format!("sethostname: {errno}"))?;
        let tree = open(&policy.view.root)?;
        let rules = Self::rules(&policy.view)?;
        let init = Self::of(policy, Written::Overlay(upper), tree, rules, Others::Namespace)?;
        limits::shed_capabilities()?;
        init.lay_changes()
    }

    /// Tier B: fills the view that bubblewrap built. `sources`: the layers, then what is written over.
    pub(super) fn copied(policy: Policy, mut sources: Vec<OwnedFd>) -> Result<Self, String> {
        die_with_parent()?;
        begin();
        let view = &policy.view;
        if sources.len() < view.layers.len() {
            return Err("a layer did not come".into());
        }
        let written = sources.split_off(view.layers.len());
        let (tree, mounts) = (open(&view.root)?, below_root(view));
        let copied = copied::copy(sources, &tree, &mounts)?;
        let scratch = view.mounts.iter().filter(|mount| mount.access == Access::Scratch);
        let scratch: Vec<&Path> = scratch.map(|mount| &*mount.target).collect();
        for (source, target) in written.into_iter().zip(&scratch) {
            copied::copy(vec![source], open(target)?, &BTreeSet::new())?;
        }
        let places = OWN.map(Path::new).into_iter().chain([&*view.root]).chain(scratch);
        let space = Space::own(places, view.limits.disk)?;
        let rules = Self::rules(view)?;
        let mut init = Self::of(policy, Written::Copy(copied), tree, rules, Others::Namespace)?;
        init.space = Some(space).into();
        init.lay_changes()
    }

    /// Tier C: in a directory that is filled.
    pub(super) fn confined(
        policy: Policy,
        copied: Copied,
        tree: OwnedFd,
        rules: Ruleset,
        others: Others,
        places: &Places,
        own: Vec<PathBuf>,
    ) -> Result<Self, String> {
        let space = Space::shared(&places.dir, policy.view.limits.disk)?;
        let mut init = Self::of(policy, Written::Copy(copied), tree, rules, others)?;
        init.space = Some(space).into();
        init.tmp.clone_from(&places.tmp);
        init.own = own;
        init.lay_changes()
    }

    /// A view of which everything may be read.
    fn rules(view: &View) -> Result<Ruleset, String> {
        let writable = view.mounts.iter().filter(|mount| mount.access != Access::ReadOnly);
        let own = OWN.into_iter().chain(["/dev/pts"]).map(Path::new).chain([&*view.root]);
        Ruleset::new(own.chain(writable.map(|mount| &*mount.target)))
    }

    fn of(
        policy: Policy,
        written: Written,
        tree: OwnedFd,
        ruleset: Ruleset,
        others: Others,
    ) -> Result<Self, String> {
        let mounts = below_root(&policy.view);
        // Nothing a command does may look into this process: it knows the files of earlier steps.
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|errno| format!("prctl(DUMPABLE): {errno}"))?;
        let root = open(Path::new("/"))?;
        let (space, tmp) = (None.into(), Path::new("/tmp").into());
        Ok(Self {
            policy,
            written,
            space,
            others,
            tmp,
            own: Vec::new(),
            root,
            tree,
            ruleset,
            mounts,
        })
    }

    fn lay_changes(self) -> Result<Self, String> {
        write::lay(&self.tree, &self.policy.view.changes)
            .map_err(|(path, reason)| format!("write {path}: {reason}"))?;
        Ok(self)
    }

    /// Until the supervisor is gone.
    fn serve(&self, channel: &Channel) -> std::io::Result<()> {
        while let Some((order, fds)) = self.wait_for_order(channel)? {
            let report = match order {
                Order::Run(step) => self.run(channel, &step, fds),
                Order::Stop(_) => continue,
                Order::ListChanges => Report::Changed(match &self.written {
                    Written::Overlay(upper) => upper::changes(upper, &self.mounts),
                    Written::Copy(copied) => copied.changes(&self.tree, &self.mounts),
                }),
            };
            channel.send(&report, &[])?;
        }
        Ok(())
    }

    fn wait_for_order(
        &self,
        channel: &Channel,
    ) -> std::io::Result<Option<(Order<'static>, Vec<OwnedFd>)>> {
        if let Some(alive) = self.others.alive() {
            let mut fds = [PollFd::new(channel, PollFlags::IN), PollFd::new(alive, PollFlags::IN)];
            while matches!(poll(&mut fds, None), Err(Errno::INTR)) {}
            if !fds[1].revents().is_empty() {
                return Ok(None);
            }
        }
        channel.receive()
    }

    fn run(&self, channel: &Channel, step: &Step, fds: Vec<OwnedFd>) -> Report {
        if let Err(reason) = self.tree_is_in_place() {
            return Report::NotWritten(self.policy.view.root.display().to_string(), reason);
        }
        let written = write::files(&self.tmp, &step.files)
            .and_then(|()| write::lay(&self.tree, &step.changes));
        if let Err((path, reason)) = written {
            return Report::NotWritten(path, reason);
        }
        if self.is_full(false) {
            let place = self.tmp.display().to_string();
            return Report::NotWritten(place, "the limit on what is written is reached".into());
        }
        let begun = Instant::now();
        let cpu_before = children_cpu();
        let not_started = |reason| {
            let program = step.argv.first().map(|name| name.to_string_lossy().into_owned());
            Report::NotStarted(program.unwrap_or_default(), reason)
        };
        let (started, mut asked) = match self.start(step, fds) {
            Ok(started) => started,
            Err(reason) => return not_started(reason),
        };
        let mut end = self.watch(channel, started.child, &mut asked, begun + step.deadline);
        let wanted_network = asked.is_some_and(|asked| asked.wanted_network);
        let wall = begun.elapsed();
        // Whether it was seen in time must not matter.
        if matches!(end, End::Exited(_) | End::Signalled(_)) && self.is_full(true) {
            end = End::OutOfDisk;
        }
        self.others.kill_all();
        if let Some(reason) = started.failure() {
            return not_started(reason);
        }
        let cpu = children_cpu().saturating_sub(cpu_before);
        let read = |path: &Path| -> Collected {
            let _unlocked = Unlocked::on_the_way(&self.root, path.as_os_str().as_bytes());
            readback::collect(&self.root, path, step.collect_limit)
        };
        let collected = step.collect.iter().map(|path| (path.clone(), read(path))).collect();
        Report::Ended(Ended { end, wall, cpu, collected, wanted_network })
    }

    /// A command may rename a directory above the tree where that is writable, and put another tree
    /// in its place.
    fn tree_is_in_place(&self) -> Result<(), String> {
        let identity = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
        let tree = rustix::fs::fstat(&self.tree).map(identity);
        let path = rustix::fs::stat(&self.policy.view.root).map(identity);
        match (tree, path) {
            (Ok(tree), Ok(path)) if tree == path => Ok(()),
            _ => Err("an earlier command moved the tree away".into()),
        }
    }

    fn start(&self, step: &Step, fds: Vec<OwnedFd>) -> Result<(Started, Option<Asked>), String> {
        let (questions, asking) = match self.others {
            Others::Namespace => (None, None),
            Others::Descendants(_) => {
                let (ours, theirs) = socket_pair().map_err(|error| error.to_string())?;
                (Some(ours), Some(theirs))
            }
        };
        let mut fds = fds.into_iter();
        let command = Command {
            step,
            root: &self.policy.view.root,
            limits: &self.policy.view.limits,
            ruleset: self.ruleset.try_clone()?,
            filter: &self.policy.filter,
            asking,
            others: self.others.counted(),
            stdout: fds.next().ok_or("no standard output came with the step")?,
            stderr: if step.merge_stderr { None } else { fds.next() },
            stdin: fds.next(),
        };
        let started = command.start()?;
        let asked = questions.and_then(|questions| {
            let listener = asked::receive(&questions)?;
            Some(Asked::new(listener, self.own.clone()))
        });
        Ok((started, asked))
    }
}

/// What the first process does before anything else.
pub(super) fn begin() {
    // The kernel ends a sandbox before anything else when memory runs out.
    std::fs::write("/proc/self/oom_score_adj", "1000").ok();
}

/// Opens a directory inside.
fn open(path: &Path) -> Result<OwnedFd, String> {
    rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| format!("open {}: {errno}", path.display()))
}

/// Paths below the tree's root where something else is mounted.
pub(super) fn below_root(view: &View) -> BTreeSet<Vec<u8>> {
    let below = |mount: &Mount| {
        let path = mount.target.strip_prefix(&view.root).ok()?;
        Some(path.as_os_str().as_bytes().to_vec())
    };
    view.mounts.iter().filter_map(below).collect()
}

/// User and system time of all buried children and theirs.
fn children_cpu() -> Duration {
    #[expect(unsafe_code, reason = "rustix has no getrusage")]
    // SAFETY: an all-zero rusage is a value, and the call fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.cast_unsigned())
            + Duration::from_micros(time.tv_usec.cast_unsigned())
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}
