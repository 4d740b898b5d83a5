//! Isolation on Linux.

mod asked;
mod bubblewrap;
mod capture;
mod check;
mod command;
mod confined;
mod copied;
mod find;
mod fork_server;
mod groups;
mod helper;
mod idmap;
mod init;
mod landlock;
mod limits;
mod memory;
mod message;
mod mounts;
mod network;
mod others;
mod probe;
mod readback;
mod seccomp;
mod space;
mod supervisor;
mod system;
mod talk;
mod translate;
mod unlock;
mod upper;
mod view;
mod watch;
mod wire;
mod write;

use super::{
    Access, Cancel, Captured, ChangeSet, Collected, End, Error, Finished, Limits, Mount, Reply,
    Step, Tier, Unavailable, View,
};
use message::Way;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use translate::{Slots, Translation};

pub(super) use supervisor::Live;
pub(super) use talk::Talk;

/// What was found out about this machine once.
#[derive(Debug)]
pub(super) struct Machine {
    server: fork_server::ForkServer,
    system: Vec<system::Item>,
    filter: Vec<u8>,
    pub(super) tier: Tier,
    kind: Kind,
    groups: groups::Groups,
    /// The uid and gid, outside, of every command.
    runs_as: (u32, u32),
    pub(super) owner: Option<(u32, u32)>,
}

/// What a tier needs to build worlds.
#[derive(Clone, Debug)]
enum Kind {
    Namespaces,
    Bubblewrap(PathBuf),
    Confined(Arc<Slots>),
}

impl Machine {
    /// How a view is had: as it is, or at other paths.
    fn arrange(&self, view: &View) -> Result<(View, Way, Option<Translation>), Error> {
        Ok(match &self.kind {
            Kind::Namespaces => (view.clone(), Way::Namespaces, None),
            Kind::Bubblewrap(program) => (view.clone(), Way::Bubblewrap(program.clone()), None),
            Kind::Confined(slots) => {
                let (view, translation) = Translation::of(view, slots.take())?;
                let way = Way::Confined(translation.slot.dir());
                (view, way, Some(translation))
            }
        })
    }

    /// A tier, if it is found to work. `path`: where bubblewrap is looked for.
    pub(super) fn probe(
        tier: Tier,
        helper: &Path,
        scratch: &Path,
        path: &[PathBuf],
    ) -> Result<Arc<Self>, Unavailable> {
        let kind = match tier {
            Tier::A => Kind::Namespaces,
            Tier::B => Kind::Bubblewrap(find::bubblewrap(path)?),
            Tier::C => Kind::Confined(confined::slots(scratch)?),
        };
        let filter = seccomp::compile(tier == Tier::C).map_err(|reason| Unavailable {
            reason: format!("No system call filter can be made for this processor: {reason}"),
            fix: "Use x86-64 or 64-bit ARM".into(),
        })?;
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        let owner = uid.is_root().then_some((helper::OUTER, helper::OUTER));
        let machine = |groups| {
            Arc::new(Self {
                server: fork_server::ForkServer::new(helper.into()),
                system: system::items(),
                filter: filter.clone(),
                tier,
                kind: kind.clone(),
                groups,
                runs_as: owner.unwrap_or((uid.as_raw(), gid.as_raw())),
                owner,
            })
        };
        let bounded = machine(groups::Groups::find());
        match probe::run(&bounded, scratch) {
            // Groups may look as if they could be joined: no tier hangs on that.
            Err(_) if bounded.groups.are_there() => {
                let plain = machine(groups::Groups::default());
                probe::run(&plain, scratch).map(|()| plain)
            }
            probed => probed.map(|()| bounded),
        }
    }
}

/// Becomes the helper if this process was started as one.
pub(super) fn helper_main() {
    let arguments: Vec<_> = std::env::args_os().skip(1).take(3).collect();
    match arguments.as_slice() {
        [only] if only == fork_server::ARGUMENT => helper::serve(),
        [first, numbers] if first == bubblewrap::ARGUMENT => {
            bubblewrap::second_stage(&numbers.to_string_lossy())
        }
        [first, tier] if first == probe::ARGUMENT => probe::inside(tier),
        _ => {}
    }
}
