//! A second wall around the view: Landlock lets a command write only where the view means it to.

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use std::path::Path;

/// The newest version whose rights are asked for; older kernels enforce what they know.
const NEWEST: ABI = ABI::V6;

/// The least version that does not break common programs: version 1 forbids every rename between
/// directories.
pub(super) const FLOOR: i64 = 2;

/// Rules made once in the first process; each command takes a copy.
#[derive(Debug)]
pub(super) struct Ruleset(RulesetCreated);

/// The version this kernel enforces, `None` where Landlock is off.
pub(super) fn version() -> Option<i64> {
    const VERSION: u32 = 1;
    #[expect(unsafe_code, reason = "the library does not tell the version")]
    // SAFETY: with this flag the call takes no attributes and only returns a number.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION)
    };
    (version > 0).then_some(version)
}

fn device() -> BitFlags<AccessFs> {
    AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate
}

impl Ruleset {
    /// Everything may be read and run, since the view holds nothing secret; `writable` may be written.
    pub(super) fn new<'a>(writable: impl IntoIterator<Item = &'a Path>) -> Result<Self, String> {
        let Self(mut rules) = Self::empty()?;
        rules = Self::allow(rules, Path::new("/"), AccessFs::from_read(NEWEST))?;
        for (path, access) in [("/dev", device()), ("/proc", BitFlags::from(AccessFs::WriteFile))] {
            rules = Self::allow(rules, Path::new(path), access)?;
        }
        for path in writable {
            rules = Self::allow(rules, path, AccessFs::from_all(NEWEST))?;
        }
        Ok(Self(rules))
    }

    /// Nothing may be read or written, and nothing outside be signalled.
    pub(super) fn empty() -> Result<Self, String> {
        landlock::Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))
            .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
            .and_then(landlock::Ruleset::create)
            .map(Self)
            .map_err(|error| format!("landlock: {error}"))
    }

    /// A file, or a directory and all below it, may be read and run.
    pub(super) fn may_read(self, path: &Path) -> Result<Self, String> {
        let of_file = AccessFs::from_file(NEWEST);
        let read = AccessFs::from_read(NEWEST);
        let access = if path.is_dir() { read } else { read & of_file };
        Self::allow(self.0, path, access).map(Self)
    }

    /// A directory and all below it may be written.
    pub(super) fn may_write(self, path: &Path) -> Result<Self, String> {
        Self::allow(self.0, path, AccessFs::from_all(NEWEST)).map(Self)
    }

    /// A device may be read and written.
    pub(super) fn may_use(self, path: &Path) -> Result<Self, String> {
        Self::allow(self.0, path, device() | AccessFs::ReadFile).map(Self)
    }

    fn allow(
        rules: RulesetCreated,
        path: &Path,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, String> {
        let named = |error: &dyn std::fmt::Display| format!("landlock {}: {error}", path.display());
        let beneath = PathFd::new(path).map_err(|error| named(&error))?;
        rules.add_rule(PathBeneath::new(beneath, access)).map_err(|error| named(&error))
    }

    pub(super) fn try_clone(&self) -> Result<Self, String> {
        self.0.try_clone().map(Self).map_err(|error| format!("landlock: {error}"))
    }

    pub(super) fn restrict(self) -> Result<(), String> {
        let status = self.0.restrict_self().map_err(|error| format!("landlock: {error}"))?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err("landlock: this kernel does not enforce it".into()),
            RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => Ok(()),
        }
    }
}
