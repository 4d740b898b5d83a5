//! Practice: a person looks for a bug in a tree of their own.

use super::commands::{Call, refused, unsaved_digest};
use super::types::{LspAny, ProgressToken};
use super::work::{self, Wanted};
use crate::session::{
    ArtifactRef, DEFAULT_ATTEMPTS, Job, PracticePick, PracticeRaceRequest, PracticeRef,
    PracticeRunRequest, PracticeStartRequest, Session,
};
use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;

pub(super) async fn execute(
    call: &Call,
    name: &str,
    token: Option<ProgressToken>,
) -> Result<Option<LspAny>> {
    let round =
        PracticeRef { repository: call.repository.clone(), id: call.argument.practice.clone() };
    let given = json!({ "repo": call.folder, "practice": round.id });
    let job = |title: &str, tool: &'static str| Wanted {
        title: format!("Self-play: {title}"),
        tool,
        token,
    };
    match name {
        "practise" => start(call, job("making a bug to practise on", "practice_start")).await,
        "practiceRun" => {
            let weakened = call.argument.weakened;
            let request = PracticeRunRequest { practice: round, weakened };
            let given = with(given, "weakened", json!(weakened));
            let work = move |session: &Session, job: &Job| session.practice_run(&request, job);
            let wanted = job("running the tests of what is broken", "practice_run");
            work::begin(&call.shared, wanted, &call.folder, given, work).await
        }
        "practiceCheck" => {
            let work = move |session: &Session, job: &Job| session.practice_check(&round, job);
            let wanted = job("checking your fix", "practice_check");
            work::begin(&call.shared, wanted, &call.folder, given, work).await
        }
        "practiceRace" => {
            let attempts = call.argument.attempts.unwrap_or(DEFAULT_ATTEMPTS);
            let seed = call.argument.seed;
            let request = PracticeRaceRequest { practice: round, attempts, runs: None, seed };
            let given = with(with(given, "attempts", json!(attempts)), "seed", json!(seed));
            let work = move |session: &Session, job: &Job| session.practice_race(&request, job);
            let wanted = job("setting the embedded solver on the same bug", "practice_race");
            work::begin(&call.shared, wanted, &call.folder, given, work).await
        }
        "practiceHint" => {
            let answer = call.answer(move |session, _| session.practice_hint(&round)).await;
            told(call, answer, "/hint/text")
        }
        "practiceGiveUp" => {
            let answer = call.answer(move |session, _| session.practice_give_up(&round)).await;
            told(call, answer, "/explanation")
        }
        "practiceReveal" => {
            let answer = call.answer(move |session, _| session.practice_reveal(&round)).await;
            told(call, answer, "/explanation")
        }
        "practiceShow" => call.answer(move |session, _| session.practice_show(&round)).await,
        "practices" => call.answer(|session, repository| session.practice_list(repository)).await,
        "ratings" => call.answer(|session, repository| session.practice_stats(repository)).await,
        other => Err(refused(format!("there is no command {other:?}"))),
    }
}

async fn start(call: &Call, wanted: Wanted) -> Result<Option<LspAny>> {
    let argument = &call.argument;
    let (target, seed) = (call.target(), argument.seed);
    let pick = match (&argument.artifact, argument.pick.as_deref()) {
        (Some(id), None) => PracticePick::Artifact(ArtifactRef::Id(id.clone())),
        (None, Some("next")) => PracticePick::Next,
        (None, Some("wrongBook")) => PracticePick::WrongBook(None),
        (None, None | Some("new")) => {
            PracticePick::New { strategy: call.strategy()?, target: target.clone(), seed }
        }
        _ => {
            let text = "give artifact, or pick as one of new, next and wrongBook";
            return Err(refused(text.to_owned()));
        }
    };
    let repository = call.on_screen(argument.artifact.as_deref());
    let given = json!({
        "repo": call.folder, "artifact": argument.artifact, "pick": argument.pick, "target": target,
        "strategy": argument.strategy, "seed": seed, "another": argument.another,
        "unsaved": unsaved_digest(&repository),
    });
    let request = PracticeStartRequest { repository, pick, another: argument.another };
    let work = move |session: &Session, job: &Job| session.practice_start(&request, job);
    work::begin(&call.shared, wanted, &call.folder, given, work).await
}

/// Says what an answer holds at a place, for clients that do not show answers.
fn told(call: &Call, answer: Result<Option<LspAny>>, place: &str) -> Result<Option<LspAny>> {
    let answer = answer?;
    let text = answer.as_ref().and_then(|answer| answer.pointer(place)?.as_str());
    if let Some(text) = text {
        work::tell_answer(&call.shared, text);
    }
    Ok(answer)
}

fn with(mut given: Value, name: &str, value: Value) -> Value {
    given[name] = value;
    given
}
