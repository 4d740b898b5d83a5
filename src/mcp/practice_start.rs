//! The tool `practice_start`.

use super::repository_argument::RepositoryArguments;
use super::strategy_argument::Strategy;
use super::tool::{Effect, Entry, Notice};
use crate::session::{
    ArtifactRef, Error, Job, PracticeAnswer, PracticePick, PracticeStartRequest, Session,
};

#[derive(Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Pick {
    New,
    Next,
    WrongBook,
    Artifact,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    repository: RepositoryArguments,
    /// new: a bug made for the occasion. next: of a kind that was missed and is due, else nearest to the
    /// person's rating, else a new one. `wrong_book`: one that attempts failed at. artifact: the one of
    /// `artifact_id`. Default: artifact where that is given, else new.
    #[serde(default)]
    #[schemars(with = "Pick")]
    pick: Option<Pick>,
    /// The id of an artifact of this repository, or the first 8 or more characters of it.
    #[serde(default)]
    #[schemars(with = "String")]
    artifact_id: Option<String>,
    /// New only: the bug goes into this file, or this function of it: `FILE` or `FILE:SYMBOL`, relative to
    /// the repository.
    #[serde(default)]
    #[schemars(with = "String")]
    target: Option<String>,
    /// New only. Default: mixed.
    #[serde(default)]
    #[schemars(with = "Strategy")]
    strategy: Option<Strategy>,
    /// New only: the same seed on the same tree gives the same bug. Default: from the clock.
    #[serde(default)]
    #[schemars(with = "u64")]
    seed: Option<u64>,
    /// Also while another round is open. Default: false.
    #[serde(default)]
    #[schemars(with = "bool")]
    another: Option<bool>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "practice_start",
        title: "Practice: begin a round",
        description: "Begins a round of debugging practice for the person: a bug that is proven real, in a \
                      practice tree beside the repository, which the person edits with their own editor. \
                      Tell them where the tree is and what is broken. Do not read or edit the tree \
                      yourself, unless they ask you to look for the bug together. Seconds to minutes.",
        effect: Effect::Adds,
    };
    Entry::job_waiting(&notice, 20.0, run)
}

fn run(session: &Session, arguments: Arguments, job: &Job) -> Result<PracticeAnswer, Error> {
    let Arguments { repository, pick, artifact_id, target, strategy, seed, another } = arguments;
    let usual = if artifact_id.is_some() { Pick::Artifact } else { Pick::New };
    let pick = pick.unwrap_or(usual);
    if pick != Pick::New && (target.is_some() || strategy.is_some()) {
        return Err(Error::Usage("target and strategy are those of a new bug".to_owned()));
    }
    let pick = match (pick, artifact_id) {
        (Pick::Artifact, Some(id)) => {
            PracticePick::Artifact(ArtifactRef::Id(id.to_ascii_lowercase()))
        }
        (Pick::Artifact, None) => {
            return Err(Error::Usage("give the artifact_id of the bug".to_owned()));
        }
        (_, Some(_)) => {
            return Err(Error::Usage("an artifact_id is for pick = artifact".to_owned()));
        }
        (Pick::New, None) => {
            let strategy = strategy.unwrap_or(Strategy::Mixed).into();
            PracticePick::New { strategy, target, seed }
        }
        (Pick::Next, None) => PracticePick::Next,
        (Pick::WrongBook, None) => PracticePick::WrongBook(None),
    };
    let (repository, another) = (repository.repository()?, another.unwrap_or(false));
    session.practice_start(&PracticeStartRequest { repository, pick, another }, job)
}
