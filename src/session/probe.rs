//! `probe`: whether a role's model answers, and what its server can do.

use super::{Error, Job, RolePlayer, Session};
use crate::config::{ModelFlags, Player};
use crate::model::{self, Chat, Finding, Usage};
use std::path::PathBuf;

#[derive(Clone, Debug, Default)]
pub struct ProbeRequest {
    /// Whose settings are used; `None` is the working directory.
    pub dir: Option<PathBuf>,
    /// Empty: all roles that have a model.
    pub players: Vec<Player>,
    /// `MODEL` or `MODEL@PROVIDER` instead of what is set up.
    pub model: Option<String>,
    /// One request, and nothing of what else the server can do.
    pub brief: bool,
}

/// One role's endpoint.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ProbeAnswer {
    pub role: String,
    pub provider: String,
    /// The model that was asked for.
    pub model: String,
    /// The model that the server says answered; null where nothing did.
    pub answered_by: Option<String>,
    /// Where replies are asked for, and what was made of the URL that was given.
    pub url: String,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub millis: Option<u64>,
    /// The beginning of what it said.
    pub said: Option<String>,
    /// Most tokens of a conversation.
    pub context: Option<u64>,
    /// reasoning, tools, logprobs, `token_ids`, seeds, `json_schema`.
    pub findings: Vec<ProbeLine>,
    /// Whether a role can be played: there was a reply, and it was counted.
    pub usable: bool,
    /// Why not.
    pub problem: Option<String>,
}

/// What became of one question.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ProbeLine {
    pub name: String,
    pub works: bool,
    pub detail: String,
}

impl Session {
    /// One answer a role. What a server refuses is an answer; an error is of our own settings, or a cancellation.
    pub fn probe(&self, request: &ProbeRequest, job: &Job) -> Result<Vec<ProbeAnswer>, Error> {
        let flags = match (&request.model, &request.players[..]) {
            (None, _) => ModelFlags::default(),
            (Some(model), []) => ModelFlags { models: vec![(Player::Solver, model.clone())] },
            (Some(model), players) => ModelFlags {
                models: players.iter().map(|player| (*player, model.clone())).collect(),
            },
        };
        let models = self.models(request.dir.as_ref(), &flags)?;
        let players = match (&request.players[..], &request.model) {
            ([], Some(_)) => vec![Player::Solver],
            ([], None) => models.players(),
            (players, _) => players.to_vec(),
        };
        if players.is_empty() {
            return Err(Error::usage(
                "no model is named for any role; set INJECT_MODEL or SOLVE_MODEL, or model below [roles.solver] in \
                 ssr-mcp.toml, or give --model",
            ));
        }
        let mut answers = Vec::new();
        for player in players {
            let role = self.role_player(&models, player)?;
            job.step(&format!("asking {:?}", role.client));
            answers.push(answer(&role, request.brief, job)?);
        }
        Ok(answers)
    }
}

fn answer(role: &RolePlayer, brief: bool, job: &Job) -> Result<ProbeAnswer, Error> {
    let RolePlayer { client, settings } = role;
    let mut answer = ProbeAnswer {
        role: settings.player.name().to_owned(),
        provider: settings.provider.name.clone(),
        model: settings.model.clone(),
        answered_by: None,
        url: model::explained(&settings.provider.base),
        prompt_tokens: None,
        completion_tokens: None,
        millis: None,
        said: None,
        context: None,
        findings: Vec::new(),
        usable: false,
        problem: None,
    };
    let probed = match model::probe(client, brief, &job.cancel) {
        Ok(probed) => probed,
        Err(model::Error::Cancelled) => return Err(Error::Cancelled),
        Err(error) => {
            answer.problem = Some(error.to_string());
            return Ok(answer);
        }
    };
    answer.answered_by = Some(probed.model);
    answer.millis = Some(u64::try_from(probed.wall.as_millis()).unwrap_or(u64::MAX));
    answer.said = Some(probed.said);
    answer.context = (!brief).then(|| client.context());
    answer.findings = probed.findings.into_iter().map(line).collect();
    match probed.usage {
        Some(Usage { prompt_tokens, completion_tokens, .. }) if completion_tokens > 0 => {
            answer.prompt_tokens = Some(prompt_tokens);
            answer.completion_tokens = Some(completion_tokens);
            answer.usable = true;
        }
        _ => {
            answer.problem = Some(
                "the reply has no usage, so that neither budgets nor limits of the context can be kept; take a \
                 server that counts tokens"
                    .to_owned(),
            );
        }
    }
    Ok(answer)
}

fn line((name, finding): (&'static str, Finding)) -> ProbeLine {
    let (works, detail) = match finding {
        Finding::Works(detail) => (true, detail),
        Finding::Not(detail) => (false, detail),
    };
    ProbeLine { name: name.to_owned(), works, detail }
}
