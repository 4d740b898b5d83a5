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

impl Ruleset {
    /// Everything may be read and run, since the view holds nothing secret; `writable` may be written.
    pub(super) fn new<'a>(writable: impl IntoIterator<Item = &'a Path>) -> Result<Self, String> {
        let all = AccessFs::from_all(NEWEST);
        let mut rules = landlock::Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)
            .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
            .and_then(landlock::Ruleset::create)
            .map_err(|error| format!("landlock: {error}"))?;
        rules = Self::allow(rules, Path::new("/"), AccessFs::from_read(NEWEST))?;
        let device = AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate;
        for (path, access) in [("/dev", device), ("/proc", BitFlags::from(AccessFs::WriteFile))] {
            rules = Self::allow(rules, Path::new(path), access)?;
        }
        for path in writable {
            rules = Self::allow(rules, path, all)?;
        }
        Ok(Self(rules))
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
