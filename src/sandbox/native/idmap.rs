//! Shows directories of another owner as owned by whom the commands run as: only root can.

use super::helper::{self, OUTER};
use super::mounts::{self, MountTree};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitOptions};
use rustix::thread::UnshareFlags;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// User namespaces that turn an owner into the outer user, made when first needed.
#[derive(Debug, Default)]
pub(super) struct OwnerMaps(BTreeMap<(u32, u32), OwnedFd>);

impl OwnerMaps {
    /// Maps the owner of `source`, and its group, on the detached copy of its mount.
    ///
    /// A file system that knows no such maps is shown as it is: what anybody may read, a command may.
    pub(super) fn apply(&mut self, source: &Path, tree: &MountTree) -> Result<(), String> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", source.display());
        let metadata = std::fs::metadata(source).map_err(|error| named(&error))?;
        let owner = (metadata.uid(), metadata.gid());
        if owner == (OUTER, OUTER) {
            return Ok(());
        }
        let namespace = match self.0.entry(owner) {
            std::collections::btree_map::Entry::Occupied(made) => made.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(namespace(owner).map_err(|error| named(&error))?)
            }
        };
        match mounts::map_owners(tree, namespace) {
            Ok(()) | Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => Err(named(&errno)),
        }
    }
}

/// A user namespace with the one map from `owner` to the outer user.
fn namespace(owner: (u32, u32)) -> std::io::Result<OwnedFd> {
    let (ready, tell) = rustix::pipe::pipe()?;
    let Some(child) = helper::fork()? else {
        helper::die_with_parent().ok();
        #[expect(unsafe_code, reason = "unshare can split a descriptor table between threads")]
        // SAFETY: `FILES` is not among the flags, and there is one thread.
        let entered = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER) };
        rustix::io::write(&tell, &[u8::from(entered.is_ok())]).ok();
        // Lives until it is killed: a namespace needs a process or an open file.
        drop((ready, tell));
        loop {
            rustix::event::pause();
        }
    };
    let made = map(child, owner, &ready);
    rustix::process::kill_process(child, Signal::KILL).ok();
    retry_on_intr(|| rustix::process::waitpid(Some(child), WaitOptions::empty())).ok();
    made
}

fn map(child: Pid, (uid, gid): (u32, u32), ready: &OwnedFd) -> std::io::Result<OwnedFd> {
    let mut entered = [0];
    if retry_on_intr(|| rustix::io::read(ready, &mut entered))? == 0 || entered != [1] {
        return Err(std::io::Error::other("no user namespace could be made"));
    }
    let proc = format!("/proc/{}", child.as_raw_nonzero());
    std::fs::write(format!("{proc}/uid_map"), format!("{uid} {OUTER} 1"))?;
    std::fs::write(format!("{proc}/gid_map"), format!("{gid} {OUTER} 1"))?;
    Ok(File::open(format!("{proc}/ns/user"))?.into())
}
