//! Tier B: bubblewrap makes the namespaces and the view, for machines that let it and not us.
//!
//! The helper turns into bubblewrap, which runs this program again as the first process inside: the
//! second stage. It has no capabilities there. What is written over lies in memory, as copies of the
//! layers, made by the second stage from descriptors that it inherits: no layer is seen by a command.

use super::helper::finish;
use super::message::Policy;
use super::mounts::last_errno;
use super::view::{HOME, Sources};
use super::wire::{Channel, Wire};
use super::{Access, copied, init, system};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// The argument that makes this program the second stage; descriptors follow.
pub(super) const ARGUMENT: &str = "__sandbox-second-stage";

/// Descriptors for the second stage have numbers from here, so that no standard one is met.
const FIRST: i32 = 64;

/// Where root shows bubblewrap the sources that only root reaches.
const STAGE: &str = "/tmp";

/// Files besides what the base holds for which a copied file system has room.
const SLACK: u64 = 1 << 20;

/// Becomes bubblewrap. Only returns if that failed, with the reason.
pub(super) fn become_it(channel: &Channel, policy: &Policy, program: &Path) -> String {
    match prepare(channel, policy, program) {
        Ok((bwrap, arguments)) => exec(&bwrap, arguments),
        Err(reason) => reason,
    }
}

fn prepare(
    channel: &Channel,
    policy: &Policy,
    program: &Path,
) -> Result<(OwnedFd, Vec<OsString>), String> {
    let path_only = |path: &Path, flags: OFlags| {
        rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | flags, Mode::empty())
            .map_err(|errno| format!("{}: {errno}", path.display()))
    };
    let bwrap = path_only(program, OFlags::empty())?;
    let this = inherited(path_only(Path::new("/proc/self/exe"), OFlags::empty())?)?;
    let view = &policy.view;
    let root = rustix::process::geteuid().is_root();
    let mut handed = vec![inherited(channel)?, inherited(in_memory(&encoded(policy))?)?];
    let mut sources: Vec<PathBuf> = view.mounts.iter().map(|mount| mount.source.clone()).collect();
    let copied = view.mounts.iter().filter(|mount| mount.access == Access::Scratch);
    let mut sizes = Vec::new();
    if root {
        let trees = Sources::open(policy, true)?;
        for source in trees.copied(view) {
            sizes.push(copied::size(source));
            handed.push(inherited(source)?);
        }
        sources = stage(&trees)?;
        super::helper::become_outer()?;
    } else {
        for source in view.layers.iter().chain(copied.map(|mount| &mount.source)) {
            let source = path_only(source, OFlags::DIRECTORY)?;
            sizes.push(copied::size(&source));
            handed.push(inherited(source)?);
        }
    }
    let numbers: Vec<String> = handed.iter().map(ToString::to_string).collect();
    let mut arguments = Arguments::new();
    arguments.namespaces();
    arguments.system(policy)?;
    arguments.scratch(view.limits.disk);
    arguments.tree_and_mounts(policy, &sources, &sizes);
    arguments.add(["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"]);
    arguments.add([format!("/proc/self/fd/{this}").as_str(), ARGUMENT, &numbers.join(",")]);
    Ok((bwrap, arguments.0))
}

/// Attaches the sources of the view's mounts where bubblewrap, which is not root, can name them.
fn stage(trees: &Sources) -> Result<Vec<PathBuf>, String> {
    let told = |errno| format!("a place for mounts of root's: {errno}");
    #[expect(unsafe_code, reason = "unshare can split a descriptor table between threads")]
    // SAFETY: `FILES` is not among the flags, and there is one thread.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }
        .map_err(|errno| format!("unshare(NEWNS): {errno}"))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private).map_err(told)?;
    let quiet = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", STAGE, "tmpfs", quiet, c"mode=0755,size=1m").map_err(told)?;
    let mut staged = Vec::new();
    for (index, tree) in trees.mounts().iter().enumerate() {
        let path = Path::new(STAGE).join(index.to_string());
        let mode = Mode::from_raw_mode(0o755);
        let place = if tree.is_dir {
            rustix::fs::mkdir(&path, mode).map_err(told)?;
            rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        } else {
            rustix::fs::open(&path, OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC, mode)
        };
        tree.attach(place.map_err(told)?).map_err(told)?;
        staged.push(path);
    }
    Ok(staged)
}

/// Bubblewrap's command line.
struct Arguments(Vec<OsString>);

impl Arguments {
    fn new() -> Self {
        Self(vec!["bwrap".into()])
    }

    fn add<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.0.extend(words.into_iter().map(OsString::from));
    }

    fn show(&mut self, how: &str, source: &Path, target: &Path) {
        self.0.extend([how.into(), source.into(), target.into()]);
    }

    fn namespaces(&mut self) {
        self.add(["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"]);
        self.add(["--unshare-uts", "--unshare-cgroup-try", "--as-pid-1", "--hostname", "sandbox"]);
        let inner = super::helper::INNER.to_string();
        self.add(["--uid", &inner, "--gid", &inner]);
    }

    fn system(&mut self, policy: &Policy) -> Result<(), String> {
        for item in &policy.system {
            if let Some(link) = &item.link {
                self.show("--symlink", link, &item.path);
            } else if let Some(content) = &item.content {
                self.file(&item.path, content)?;
            } else {
                self.show("--ro-bind-try", &item.path, &item.path);
            }
        }
        for (name, content) in system::GENERATED {
            self.file(&Path::new("/etc").join(name), content.as_bytes())?;
        }
        for (to, at) in system::LINKS {
            self.add(["--symlink", to, at]);
        }
        self.add(["--dev", "/dev", "--proc", "/proc"]);
        Ok(())
    }

    fn file(&mut self, path: &Path, content: &[u8]) -> Result<(), String> {
        let number = inherited(in_memory(content)?)?.to_string();
        self.add(["--perms", "0644", "--file", &number]);
        self.0.push(path.into());
        Ok(())
    }

    fn tmpfs(&mut self, mode: &str, size: u64, target: &Path) {
        self.add(["--perms", mode, "--size", &size.to_string(), "--tmpfs"]);
        self.0.push(target.into());
    }

    fn scratch(&mut self, disk: u64) {
        for (mode, place) in [("0755", HOME), ("1777", "/tmp"), ("1777", "/dev/shm")] {
            self.tmpfs(mode, disk, Path::new(place));
        }
    }

    /// Parents before children.
    fn tree_and_mounts(&mut self, policy: &Policy, sources: &[PathBuf], sizes: &[u64]) {
        let view = &policy.view;
        let room = |size: u64| view.limits.disk + size + SLACK;
        let (layers, mut copies) = sizes.split_at(view.layers.len());
        let mut places = vec![(view.root.as_path(), None)];
        for (mount, source) in view.mounts.iter().zip(sources) {
            let size = match (mount.access, copies) {
                (Access::Scratch, [first, rest @ ..]) => {
                    copies = rest;
                    room(*first)
                }
                _ => 0,
            };
            places.push((mount.target.as_path(), Some((mount.access, source, size))));
        }
        places.sort_by_key(|(target, _)| *target);
        for (target, what) in places {
            match what {
                None => self.tmpfs("0755", room(layers.iter().sum()), target),
                Some((Access::ReadOnly, source, _)) => self.show("--ro-bind", source, target),
                Some((Access::Persistent, source, _)) => self.show("--bind", source, target),
                Some((Access::Scratch, _, size)) => self.tmpfs("0755", size, target),
            }
        }
    }
}

fn exec(program: &OwnedFd, arguments: Vec<OsString>) -> String {
    let path = CString::new(format!("/proc/self/fd/{}", program.as_raw_fd())).unwrap_or_default();
    let strings: Result<Vec<CString>, _> =
        arguments.into_iter().map(|argument| CString::new(argument.into_vec())).collect();
    let Ok(strings) = strings else {
        return "a path of the view holds a NUL".into();
    };
    let pointers: Vec<*const libc::c_char> =
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect();
    let environment = [std::ptr::null::<libc::c_char>()];
    #[expect(unsafe_code, reason = "the standard library would fork")]
    // SAFETY: all are NUL-terminated and live across the call.
    unsafe {
        libc::execve(path.as_ptr(), pointers.as_ptr(), environment.as_ptr());
    }
    format!("bubblewrap could not be run: {}", last_errno())
}

/// The number of a copy that survives becoming another program.
fn inherited(fd: impl AsFd) -> Result<i32, String> {
    let copy = rustix::io::fcntl_dupfd_cloexec(fd, FIRST).map_err(|errno| errno.to_string())?;
    rustix::io::fcntl_setfd(&copy, rustix::io::FdFlags::empty())
        .map_err(|errno| errno.to_string())?;
    Ok(copy.into_raw_fd())
}

fn in_memory(content: &[u8]) -> Result<OwnedFd, String> {
    let fd = rustix::fs::memfd_create("sandbox", MemfdFlags::CLOEXEC)
        .map_err(|errno| format!("memfd: {errno}"))?;
    let mut file = File::from(fd);
    file.write_all(content).and_then(|()| file.rewind()).map_err(|error| error.to_string())?;
    Ok(file.into())
}

fn encoded(policy: &Policy) -> Vec<u8> {
    let mut bytes = Vec::new();
    policy.put(&mut bytes);
    bytes
}

/// The first process inside. Never returns to the program's own `main`.
pub(super) fn second_stage(numbers: &str) -> ! {
    let Some((channel, policy, sources)) = take_over(numbers) else {
        finish(2);
    };
    init::main(&channel, init::Init::copied(policy, sources))
}

fn take_over(numbers: &str) -> Option<(Channel, Policy, Vec<OwnedFd>)> {
    let numbers: Vec<i32> = numbers.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let mut fds = Vec::new();
    for number in numbers {
        if number < FIRST {
            return None;
        }
        #[expect(unsafe_code, reason = "descriptors are handed over as numbers")]
        // SAFETY: the fcntl fails for a number that is not open; nothing else owns these.
        let fd = unsafe {
            if libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) != 0 {
                return None;
            }
            OwnedFd::from_raw_fd(number)
        };
        fds.push(fd);
    }
    let mut fds = fds.into_iter();
    let (channel, policy) = (Channel::new(fds.next()?), fds.next()?);
    let mut bytes = Vec::new();
    File::from(policy).read_to_end(&mut bytes).ok()?;
    let mut rest = bytes.as_slice();
    let policy = Policy::take(&mut rest).filter(|_| rest.is_empty())?;
    Some((channel, policy, fds.collect()))
}
