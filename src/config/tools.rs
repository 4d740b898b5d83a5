//! Which tools a coding agent is offered.

use super::Error;
use std::collections::BTreeSet;
use std::str::FromStr;

pub(super) const VARIABLE: &str = "SSR_MCP_TOOLS";

/// Tools that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolGroup {
    /// Bugs, their checks, repairs and rewards; always with the tool `job`.
    Core,
    /// The calling agent as a player.
    Play,
    /// What helps a developer: failed attempts, missing tests, writing a patch.
    Practice,
}

impl ToolGroup {
    pub const ALL: [Self; 3] = [Self::Core, Self::Play, Self::Practice];
}

impl FromStr for ToolGroup {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name.trim() {
            "core" => Ok(Self::Core),
            "play" => Ok(Self::Play),
            "practice" => Ok(Self::Practice),
            other => {
                Err(format!("{other:?} is no group of tools; there are core, play and practice"))
            }
        }
    }
}

/// What the command line says, else the environment, else all.
pub(super) fn chosen(
    flag: &[ToolGroup],
    variable: Option<&str>,
) -> Result<BTreeSet<ToolGroup>, Error> {
    if !flag.is_empty() {
        return Ok(flag.iter().copied().collect());
    }
    match variable {
        None => Ok(ToolGroup::ALL.into()),
        Some(names) => {
            names.split(',').map(str::parse).collect::<Result<_, _>>().map_err(Error::Tools)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ToolGroup::{Core, Play, Practice};

    #[track_caller]
    fn check(flag: &[ToolGroup], variable: Option<&str>, expect: &[ToolGroup]) {
        assert_eq!(chosen(flag, variable).unwrap(), expect.iter().copied().collect());
    }

    #[test]
    fn the_flag_comes_before_the_variable_and_all_before_none() {
        check(&[], None, &[Core, Play, Practice]);
        check(&[], Some("play, core"), &[Core, Play]);
        check(&[Practice], Some("core"), &[Practice]);
        assert!(
            chosen(&[], Some("core,everything")).unwrap_err().to_string().contains("everything")
        );
    }
}
