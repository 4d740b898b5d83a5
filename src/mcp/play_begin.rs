//! The tool `play_begin`.

use super::artifact_argument::ArtifactArguments;
use super::repository_argument::RepositoryArguments;
use super::strategy_argument::Strategy;
use super::tool::{Effect, Entry, Notice};
use crate::session::{Error, Job, PlayBeginAnswer, PlayBeginRequest, PlayRole, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Role {
    Solver,
    Injector,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// solver: repair a bug artifact. injector: put a bug in and hide it from the tests.
    role: Role,
    #[serde(flatten)]
    repository: RepositoryArguments,
    #[serde(flatten)]
    artifact: ArtifactArguments,
    /// Injector only. direct: change what code does. removal: delete code. history: undo what a commit
    /// once improved. mixed: removal or history by seed, direct or removal where there is no history.
    /// Default: mixed.
    #[serde(default)]
    #[schemars(with = "Strategy")]
    strategy: Option<Strategy>,
    /// Injector only: the bug goes into this file, or this function of it: `FILE` or `FILE:SYMBOL`,
    /// relative to the repository.
    #[serde(default)]
    #[schemars(with = "String")]
    target: Option<String>,
    /// Injector only: chooses the strategy where it is mixed. Default: from the clock.
    #[serde(default)]
    #[schemars(with = "u64")]
    seed: Option<u64>,
    /// Calls before `play_submit`, from 1 to 1000. Default: 128.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = 1000))]
    turns: Option<u32>,
    /// Name of the model that plays, for the record. Default: the client's name.
    #[serde(default)]
    #[schemars(with = "String")]
    player: Option<String>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "play_begin",
        title: "Self-play: play it yourself",
        description: "Opens a play in which you are the solver or the injector yourself, on a copy of \
                      the repository in a sandbox, and answers with its id, the task and the limits. A \
                      solver gives exactly one of artifact_id, artifact_folder and artifact_files. Then \
                      use play_bash, play_read, play_edit and play_create, and play_submit once. A play \
                      expires after a day. The first one on a repository runs its tests.",
        effect: Effect::Adds,
    };
    Entry::job_waiting(&notice, 20.0, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PlayBeginAnswer, Error> {
    let Arguments { role, repository, artifact, strategy, target, seed, turns, player } = arguments;
    let role = match role {
        Role::Solver if strategy.is_some() || target.is_some() => {
            return Err(Error::Usage("strategy and target are an injector's".to_owned()));
        }
        Role::Solver => PlayRole::Solver(artifact.reference()?),
        Role::Injector if artifact.is_given() => {
            return Err(Error::Usage(
                "an artifact is a solver's; an injector makes one".to_owned(),
            ));
        }
        Role::Injector => {
            let strategy = strategy.unwrap_or(Strategy::Mixed).into();
            PlayRole::Injector { strategy, target, seed }
        }
    };
    let repository = repository.repository()?;
    let request = PlayBeginRequest { repository, role, player, turns, life: None };
    session.play_begin(&request, job)
}
