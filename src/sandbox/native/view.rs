//! The file system that a command sees, built from nothing by the namespace's first process.

use super::idmap::OwnerMaps;
use super::message::Policy;
use super::mounts::{self, MountTree, NO_DEVICES, NO_EXEC, NO_SETUID, READ_ONLY};
use super::system::Item;
use super::{Access, View, space, system};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use std::ffi::CString;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The home directory of a command.
pub(super) const HOME: &str = "/home/u";

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// The scratch file system, which the limit on disk bounds: it holds everything that is written, and
/// the places where layers and the new root are attached meanwhile. Every source is open when it
/// covers this directory, and the one unmounting of the old root takes it out of sight.
const STAGE: &str = "/tmp";

/// Where the new root is put together.
const NEW_ROOT: &str = "/tmp/root";

/// Copies of all mounts that the view is made of, taken before rights are given up.
#[derive(Debug)]
pub(super) struct Sources {
    system: Vec<(PathBuf, MountTree)>,
    devices: Vec<(PathBuf, MountTree)>,
    layers: Vec<MountTree>,
    /// In the order of the view's mounts.
    mounts: Vec<MountTree>,
}

impl Sources {
    /// `as_root`: the rights of root are there, and will be gone.
    pub(super) fn open(policy: &Policy, as_root: bool) -> Result<Self, String> {
        let mut owners = OwnerMaps::default();
        let guarded = READ_ONLY | NO_SETUID | NO_DEVICES;
        let required = |path: &Path, attributes| {
            MountTree::clone_at(path, attributes)
                .map_err(|errno| format!("{}: {errno}", path.display()))
        };
        let mut sources = Self {
            system: Vec::new(),
            devices: Vec::new(),
            layers: Vec::new(),
            mounts: Vec::new(),
        };
        for item in policy.system.iter().filter(|item| item.is_mounted()) {
            match MountTree::clone_at(&item.path, guarded) {
                Ok(tree) => sources.system.push((item.path.clone(), tree)),
                // Gone, or not readable by this user: not needed then.
                Err(Errno::NOENT | Errno::ACCESS) => {}
                Err(errno) => return Err(format!("open_tree {}: {errno}", item.path.display())),
            }
        }
        for name in DEVICES {
            let path = Path::new("/dev").join(name);
            if path.exists() {
                let tree = required(&path, NO_SETUID | NO_EXEC)?;
                sources.devices.push((path, tree));
            }
        }
        for layer in &policy.view.layers {
            sources.layers.push(required(layer, guarded)?);
        }
        for mount in &policy.view.mounts {
            let attributes = match mount.access {
                Access::ReadOnly | Access::Scratch => guarded,
                Access::Persistent => NO_SETUID | NO_DEVICES,
            };
            let tree = required(&mount.source, attributes)?;
            let needs_owner = mount.access == Access::Scratch || is_private(&mount.source);
            if as_root && mount.access != Access::Persistent && needs_owner {
                owners.apply(&mount.source, &tree)?;
            }
            sources.mounts.push(tree);
        }
        Ok(sources)
    }
}

impl Sources {
    /// In the order of the view's mounts.
    pub(super) fn mounts(&self) -> &[MountTree] {
        &self.mounts
    }

    /// The layers, then the sources of mounts that are written over.
    pub(super) fn copied(&self, view: &View) -> impl Iterator<Item = &MountTree> {
        let mounts = view.mounts.iter().zip(&self.mounts);
        let written = mounts.filter(|(mount, _)| mount.access == Access::Scratch);
        self.layers.iter().chain(written.map(|(_, tree)| tree))
    }
}

/// Whether only its owner may look into a directory.
fn is_private(source: &Path) -> bool {
    std::fs::metadata(source).is_ok_and(|metadata| metadata.mode() & 0o005 != 0o005)
}

/// What the first process keeps of the view in order to read the change set.
#[derive(Debug)]
pub(super) struct Upper {
    /// The overlay's upper directory.
    pub(super) written: OwnedFd,
    /// The layers, merged, without the upper directory.
    pub(super) below: OwnedFd,
}

/// Builds the view and makes it the root of this process's namespace.
pub(super) fn build(policy: &Policy, sources: &Sources) -> Result<Upper, String> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private)
        .map_err(|errno| format!("mount / private: {errno}"))?;
    let root = Root::new(policy.view.limits.disk)?;
    root.add_system(policy, sources)?;
    root.add_devices(sources)?;
    root.add_proc()?;
    root.bind_scratch("home", HOME, 0o755)?;
    root.bind_scratch("tmp", "/tmp", 0o1777)?;
    root.bind_scratch("shm", "/dev/shm", 0o1777)?;
    let upper = root.add_tree_and_mounts(policy, sources)?;
    root.enter()?;
    Ok(upper)
}

/// The new root while it is being built at `STAGE`.
struct Root {
    fd: OwnedFd,
}

impl Root {
    fn new(disk: u64) -> Result<Self, String> {
        let quiet = MountFlags::NOSUID | MountFlags::NODEV;
        let inodes = space::inodes(disk);
        mount("tmpfs", STAGE, quiet, &format!("mode=0755,size={disk},nr_inodes={inodes}"))?;
        make_dir(NEW_ROOT, 0o755)?;
        mount("tmpfs", NEW_ROOT, quiet, "mode=0755,size=16m,nr_inodes=16k")?;
        Ok(Self { fd: open_dir(Path::new(NEW_ROOT))? })
    }

    /// A directory at an absolute path inside, made where it is missing.
    fn dir(&self, path: impl AsRef<Path>) -> Result<OwnedFd, String> {
        self.place(path.as_ref(), true)
    }

    fn place(&self, path: &Path, is_dir: bool) -> Result<OwnedFd, String> {
        mounts::mount_point(self.fd.as_fd(), path, is_dir)
            .map_err(|errno| format!("make {}: {errno}", path.display()))
    }

    fn attach(&self, tree: &MountTree, target: &Path) -> Result<(), String> {
        let place = self.place(target, tree.is_dir)?;
        tree.attach(place).map_err(|errno| format!("mount {}: {errno}", target.display()))
    }

    fn link(&self, to: &Path, at: &Path) -> Result<(), String> {
        let parent = self.dir(at.parent().unwrap_or(Path::new("/")))?;
        let name = at.file_name().unwrap_or_default();
        rustix::fs::symlinkat(to, parent, name)
            .map_err(|errno| format!("link {}: {errno}", at.display()))
    }

    fn file(&self, path: &Path, content: &[u8]) -> Result<(), String> {
        let parent = self.dir(path.parent().unwrap_or(Path::new("/")))?;
        let name = path.file_name().unwrap_or_default();
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(parent, name, flags, Mode::from_raw_mode(0o644))
            .map_err(|errno| format!("make {}: {errno}", path.display()))?;
        std::io::Write::write_all(&mut std::fs::File::from(file), content)
            .map_err(|error| format!("write {}: {error}", path.display()))
    }

    fn add_system(&self, policy: &Policy, sources: &Sources) -> Result<(), String> {
        for (path, tree) in &sources.system {
            self.attach(tree, path)?;
        }
        for Item { path, link, content } in &policy.system {
            if let Some(link) = link {
                self.link(link, path)?;
            } else if let Some(content) = content {
                self.file(path, content)?;
            }
        }
        for (name, content) in system::GENERATED {
            self.file(&Path::new("/etc").join(name), content.as_bytes())?;
        }
        for (to, at) in system::LINKS {
            self.link(Path::new(to), Path::new(at))?;
        }
        Ok(())
    }

    fn add_devices(&self, sources: &Sources) -> Result<(), String> {
        for (path, tree) in &sources.devices {
            self.attach(tree, path)?;
        }
        let links = [
            ("/proc/self/fd", "/dev/fd"),
            ("/proc/self/fd/0", "/dev/stdin"),
            ("/proc/self/fd/1", "/dev/stdout"),
            ("/proc/self/fd/2", "/dev/stderr"),
            ("pts/ptmx", "/dev/ptmx"),
        ];
        for (to, at) in links {
            self.link(Path::new(to), Path::new(at))?;
        }
        drop(self.dir("/dev/pts")?);
        let quiet = MountFlags::NOSUID | MountFlags::NOEXEC;
        mount("devpts", &staged("/dev/pts"), quiet, "newinstance,ptmxmode=0666,mode=0620")
    }

    /// A process list of this namespace only. Its switches are read-only, and no user namespace can be
    /// made below this one.
    fn add_proc(&self) -> Result<(), String> {
        drop(self.dir("/proc")?);
        mount(
            "proc",
            &staged("/proc"),
            MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
            "",
        )?;
        let namespaces = staged("/proc/sys/user/max_user_namespaces");
        // Older kernels do not let a namespace lower its own; the system call filter refuses anyway.
        std::fs::write(namespaces, "0").ok();
        for name in ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"] {
            let path = Path::new("/proc").join(name);
            match MountTree::clone_at(Path::new(&staged(&path)), READ_ONLY) {
                Ok(tree) => self.attach(&tree, &path)?,
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(format!("{} read-only: {errno}", path.display())),
            }
        }
        Ok(())
    }

    /// A directory of the scratch file system, at `target`.
    fn bind_scratch(&self, name: &str, target: &str, mode: u32) -> Result<(), String> {
        let source = make_dir(&format!("{STAGE}/{name}"), mode)?;
        let tree = MountTree::clone_at(Path::new(&source), 0)
            .map_err(|errno| format!("open_tree {target}: {errno}"))?;
        self.attach(&tree, Path::new(target))
    }

    /// The tree and the caller's mounts, parents before children.
    fn add_tree_and_mounts(&self, policy: &Policy, sources: &Sources) -> Result<Upper, String> {
        let mut order: Vec<(&Path, Option<usize>)> = policy
            .view
            .mounts
            .iter()
            .enumerate()
            .map(|(index, mount)| (mount.target.as_path(), Some(index)))
            .collect();
        order.push((&policy.view.root, None));
        order.sort();
        let mut upper = None;
        for (target, index) in order {
            match index {
                None => upper = Some(self.add_tree(target, sources)?),
                Some(index) if policy.view.mounts[index].access == Access::Scratch => {
                    let below = stage(&sources.mounts[index], &format!("below{index}"))?;
                    self.overlay(&below, &format!("mount{index}"), target)?;
                }
                Some(index) => self.attach(&sources.mounts[index], target)?,
            }
        }
        upper.ok_or_else(|| "the view has no root".into())
    }

    fn add_tree(&self, target: &Path, sources: &Sources) -> Result<Upper, String> {
        let layers = sources.layers.iter().enumerate();
        let lower = layers
            .map(|(index, layer)| stage(layer, &format!("layer{index}")))
            .collect::<Result<Vec<_>, _>>()?;
        let below = if let [only] = lower.as_slice() {
            open_dir(Path::new(only))?
        } else {
            let merged = make_dir(&format!("{STAGE}/merged"), 0o755)?;
            let options = format!("lowerdir={},userxattr", lower.join(":"));
            mount("overlay", &merged, MountFlags::RDONLY, &options)?;
            open_dir(Path::new(&merged))?
        };
        let written = self.overlay(&lower.join(":"), "tree", target)?;
        Ok(Upper { written, below })
    }

    /// Mounts `lower` at `target` with a fresh upper directory, which it returns.
    fn overlay(&self, lower: &str, name: &str, target: &Path) -> Result<OwnedFd, String> {
        let dir = make_dir(&format!("{STAGE}/{name}"), 0o755)?;
        // The merged root takes its mode from the upper directory.
        let (upper, work) =
            (make_dir(&format!("{dir}/upper"), 0o755)?, make_dir(&format!("{dir}/work"), 0o755)?);
        let place = self.dir(target)?;
        let quiet = MountFlags::NOSUID | MountFlags::NODEV;
        let options =
            format!("lowerdir={lower},upperdir={upper},workdir={work},userxattr,volatile");
        mount("overlay", &format!("/proc/self/fd/{}", place.as_raw_fd()), quiet, &options)
            .map_err(|reason| format!("{}: {reason}", target.display()))?;
        open_dir(Path::new(&upper))
    }

    /// Leaves the old root for good, and the stage with it.
    fn enter(self) -> Result<(), String> {
        let swap = || -> Result<(), Errno> {
            rustix::process::fchdir(&self.fd)?;
            // The old root lands on top of the new one, and is then taken off.
            rustix::process::pivot_root(c".", c".")?;
            rustix::mount::unmount(c".", UnmountFlags::DETACH)?;
            rustix::process::chdir(c"/")?;
            mounts::set_attributes(&self.fd, READ_ONLY, false)
        };
        swap().map_err(|errno| format!("pivot_root: {errno}"))
    }
}

/// Attaches a source where an overlay can name it.
fn stage(tree: &MountTree, name: &str) -> Result<String, String> {
    let path = make_dir(&format!("{STAGE}/{name}"), 0o755)?;
    tree.attach(open_dir(Path::new(&path))?).map_err(|errno| format!("mount {path}: {errno}"))?;
    Ok(path)
}

/// Makes a directory on the stage, where nobody else writes.
fn make_dir(path: &str, mode: u32) -> Result<String, String> {
    rustix::fs::mkdir(path, Mode::from_raw_mode(mode))
        .map_err(|errno| format!("mkdir {path}: {errno}"))?;
    Ok(path.into())
}

pub(super) fn open_dir(path: &Path) -> Result<OwnedFd, String> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| format!("open {}: {errno}", path.display()))
}

/// An inside path as it is reached before the new root is entered.
fn staged(path: impl AsRef<Path>) -> String {
    // Only plain paths of ours come here; a caller's target is reached by its descriptor.
    format!("{NEW_ROOT}{}", path.as_ref().display())
}

fn mount(kind: &str, target: &str, flags: MountFlags, options: &str) -> Result<(), String> {
    let data = CString::new(options).map_err(|_| "a mount option holds a NUL".to_owned())?;
    rustix::mount::mount(kind, target, kind, flags, data.as_c_str()).map_err(|errno| {
        format!("mount {kind} at {}: {errno}", target.trim_start_matches(NEW_ROOT))
    })
}
