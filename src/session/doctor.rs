//! `doctor`: what this machine offers, and what to do where it does not.

use super::{ClientEntry, ProviderState, Session};
use crate::sandbox::{Tier, Unavailable, surroundings};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Programs that a round may need, and what for.
const TOOLS: [(&str, &str); 9] = [
    ("python3", "runs Python repositories and every artifact's parser"),
    (
        "pytest",
        "runs the tests of most Python repositories (one in a virtual environment counts too)",
    ),
    ("node", "runs the tests of JavaScript and TypeScript repositories"),
    ("cargo", "runs the tests of Rust repositories"),
    ("rustc", "compiles Rust repositories"),
    ("go", "runs the tests of Go modules"),
    ("cmake", "builds C and C++ projects, whose tests CTest runs"),
    ("bash", "runs every artifact's test script"),
    ("git", "not needed to play; named for completeness"),
];

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct DoctorAnswer {
    /// Whether a round can be played here, as far as this can be told without a repository.
    pub ready: bool,
    pub sandbox: SandboxState,
    pub surroundings: Surroundings,
    pub toolchains: Vec<Toolchain>,
    pub state_directory: StateDirectory,
    /// Languages that are loaded, sorted.
    pub languages: Vec<String>,
    /// What the server said when it was spoken to, a line a revision.
    pub protocol: Vec<ProtocolCheck>,
    /// Clients that start this server, and clients' files that are not understood.
    pub clients: Vec<ClientEntry>,
    /// Providers of models that are set up; `probe` asks them.
    pub providers: Vec<ProviderState>,
    /// What to do, one sentence a problem; empty where nothing is wrong.
    pub problems: Vec<String>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct SandboxState {
    /// The tier that is used here: the best that works, or the one that was asked for; null if none does.
    #[schemars(with = "Option<String>")]
    pub tier: Option<Tier>,
    /// Why no better tier is used, one sentence a tier with its fix.
    pub better: Vec<String>,
    /// What the tier cannot do that the best one does.
    pub lacks: Vec<String>,
    /// Why none does, and the fix.
    pub refusal: Option<String>,
}

/// A conversation with the server in this process, through its real transport.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ProtocolCheck {
    /// The revision that was spoken, by its date.
    pub revision: String,
    pub passed: bool,
    /// Tools that were listed.
    pub tools: usize,
    /// What differed from what a client expects; null where nothing did.
    pub problem: Option<String>,
}

/// What encloses this process already.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Surroundings {
    /// A container, a client's sandbox, and how it was seen; empty where nothing was.
    pub signs: Vec<String>,
    /// What that means for the tiers; null where nothing was seen.
    pub meaning: Option<String>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Toolchain {
    pub name: String,
    /// What it is needed for.
    pub purpose: String,
    /// Where it was found; null if it was not.
    pub path: Option<String>,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct StateDirectory {
    pub path: Option<String>,
    /// Whether it is there, or can be made, and can be written to.
    pub writable: bool,
}

impl Session {
    /// Never fails: what cannot be found out is a problem that is told. `protocol` is what came of speaking
    /// to the server, which stands above this floor.
    pub fn doctor(&self, protocol: Vec<ProtocolCheck>) -> DoctorAnswer {
        let mut problems = Vec::new();
        let state_directory = self.state_directory(&mut problems);
        let sandbox = self.sandbox_state(&mut problems);
        let path = self.config().machine().map(|machine| machine.path.clone()).unwrap_or_default();
        let toolchains: Vec<Toolchain> = TOOLS.iter().map(|tool| toolchain(*tool, &path)).collect();
        for needed in ["python3", "bash"] {
            if toolchains.iter().any(|tool| tool.name == needed && tool.path.is_none()) {
                problems.push(format!("{needed} is not on the PATH; install it"));
            }
        }
        let languages = match self.languages() {
            Ok(languages) => languages.iter().map(|language| language.name().to_owned()).collect(),
            Err(error) => {
                problems.push(error.to_string());
                Vec::new()
            }
        };
        problems.extend(protocol.iter().filter_map(|check| {
            let problem = check.problem.as_ref()?;
            Some(format!(
                "the MCP server does not speak {} as it should: {problem}",
                check.revision
            ))
        }));
        // Nobody needs a model to play: what is wrong with one does not stop a round.
        let ready = problems.is_empty();
        let (providers, warnings) = self.provider_states();
        problems.extend(warnings);
        DoctorAnswer {
            ready,
            providers,
            surroundings: self.surroundings(sandbox.tier),
            clients: self.client_entries(),
            sandbox,
            toolchains,
            state_directory,
            languages,
            protocol,
            problems,
        }
    }

    fn state_directory(&self, problems: &mut Vec<String>) -> StateDirectory {
        let path = match self.config().state_root() {
            Ok(path) => path.display().to_string(),
            Err(error) => {
                problems.push(error.to_string());
                return StateDirectory { path: None, writable: false };
            }
        };
        let written = self.scratch().and_then(|scratch| probe_write(&scratch));
        let writable = written.is_ok();
        if let Err(error) = written {
            problems.push(error.to_string());
        }
        StateDirectory { path: Some(path), writable }
    }

    fn surroundings(&self, tier: Option<Tier>) -> Surroundings {
        let signs = surroundings::signs(Path::new("/"), &self.config().surroundings);
        let meaning = match tier {
            _ if signs.is_empty() => None,
            Some(Tier::A) => Some("the best tier works in it all the same".to_owned()),
            Some(tier) => Some(format!(
                "tier {tier:?} is what works in it; outside of it a better one may"
            )),
            None => Some(
                "it may be why no tier works: give the container user namespaces, or switch the client's own \
                 sandbox off for this server (VS Code: \"sandboxEnabled\": false)"
                    .to_owned(),
            ),
        };
        Surroundings { signs, meaning }
    }

    fn sandbox_state(&self, problems: &mut Vec<String>) -> SandboxState {
        match self.sandbox() {
            Ok(sandbox) => {
                let why = |(tier, why): &(Tier, Unavailable)| format!("tier {tier:?}: {why}");
                SandboxState {
                    tier: Some(sandbox.tier()),
                    better: sandbox.better().iter().map(why).collect(),
                    lacks: sandbox.tier().lacks().iter().map(|&lack| lack.to_owned()).collect(),
                    refusal: None,
                }
            }
            Err(error) => {
                let refusal = error.to_string();
                if !problems.contains(&refusal) {
                    problems.push(refusal.clone());
                }
                let (better, lacks) = (Vec::new(), Vec::new());
                SandboxState { tier: None, better, lacks, refusal: Some(refusal) }
            }
        }
    }
}

fn probe_write(dir: &Path) -> Result<(), super::Error> {
    let file = dir.join(format!("doctor.{}", std::process::id()));
    std::fs::write(&file, b"x").and_then(|()| std::fs::remove_file(&file)).map_err(|error| {
        super::Error::harness(anyhow::anyhow!(
            "the state directory {} cannot be written ({error}); make room or name another with \
             --state-dir",
            dir.display()
        ))
    })
}

fn toolchain((name, purpose): (&str, &str), path: &[PathBuf]) -> Toolchain {
    let found = path.iter().map(|dir| dir.join(name)).find(|file| {
        file.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    });
    Toolchain {
        name: name.to_owned(),
        purpose: purpose.to_owned(),
        path: found.map(|file| file.display().to_string()),
    }
}
