//! What bounds a command beside its view: resource limits, capabilities, one-way switches.

use super::{Limits, asked, landlock, seccomp};
use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Processes of the namespace that are ours: the helper and the first process.
pub(super) const OURS: u64 = 2;

/// Open files for each process. Enough for test suites, small enough for loops over all of them.
const OPEN_FILES: u64 = 8192;

/// Limits the calling process, which is about to become the command. `ours`: processes that count and are
/// not the command's.
pub(super) fn apply(limits: &Limits, ours: u64, deadline: Duration) -> Result<(), String> {
    // The wall clock ends a run; this ends what a lost supervisor could not.
    let cores = rustix::thread::sched_getaffinity(None).map_or(1, |cores| cores.count().into());
    let seconds = (deadline.as_secs() + 15) * cores;
    let bounds = [
        (Resource::Nproc, limits.processes + ours),
        (Resource::Data, limits.memory),
        (Resource::Fsize, limits.disk),
        (Resource::Core, 0),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Cpu, seconds),
    ];
    for (resource, bound) in bounds {
        let hard = rustix::process::getrlimit(resource).maximum;
        let bound = Some(hard.map_or(bound, |hard| hard.min(bound)));
        rustix::process::setrlimit(resource, Rlimit { current: bound, maximum: bound })
            .map_err(|errno| format!("setrlimit {resource:?}: {errno}"))?;
    }
    Ok(())
}

/// What the first process keeps: reading and writing whatever modes a command set on its files, and
/// asking the kernel how much memory a command uses.
const KEPT: CapabilitySet =
    CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::FOWNER).union(CapabilitySet::SYS_PTRACE);

/// Empties the bounding set and all but the kept capabilities of the first process.
pub(super) fn shed_capabilities() -> Result<(), String> {
    for capability in 0..64 {
        #[expect(
            unsafe_code,
            reason = "rustix names only the capabilities it knows; newer ones go too"
        )]
        // SAFETY: this prctl takes numbers only. It fails beyond the last capability.
        let dropped = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        if dropped != 0 {
            break;
        }
    }
    set_capabilities(KEPT)
}

fn set_capabilities(kept: CapabilitySet) -> Result<(), String> {
    let sets =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets).map_err(|errno| format!("capset: {errno}"))
}

/// Takes all rights for good. No file can be opened for writing outside the view after this.
/// `asking`: where the listener of a filter that asks is sent.
pub(super) fn confine(
    ruleset: landlock::Ruleset,
    filter: &[u8],
    asking: Option<&OwnedFd>,
) -> Result<(), String> {
    rustix::thread::clear_ambient_capability_set()
        .map_err(|errno| format!("ambient capabilities: {errno}"))?;
    set_capabilities(CapabilitySet::empty())?;
    rustix::thread::set_no_new_privs(true).map_err(|errno| format!("no_new_privs: {errno}"))?;
    ruleset.restrict()?;
    let applied = match asking {
        None => seccomp::apply(filter),
        Some(to) => asked::listen(filter, to),
    };
    applied.map_err(|reason| format!("seccomp: {reason}"))
}
