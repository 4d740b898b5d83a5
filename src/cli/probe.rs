//! `ssr-mcp probe`.

use super::{Context, Ended, Exit, table};
use crate::config::Player;
use crate::session::{ProbeAnswer, ProbeRequest};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

/// Ask a role's model for a word, and say what its server can do
///
/// Prints the model, the URL that is asked in the end, tokens and time, and whether reasoning, tools,
/// log-probabilities, token ids, seeds and JSON schemas work: some seven small requests, or one with --brief. Exit
/// code 1 says that a model did not answer, or that its tokens are not counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    ssr-mcp probe                            all roles that have a model\n  \
    ssr-mcp probe --role solver --brief      one request\n  \
    ssr-mcp probe --model qwen2.5-coder:7b@ollama")]
pub struct Probe {
    /// The repository whose settings are used
    #[arg(default_value = ".")]
    repo: PathBuf,
    /// This role's model [default: of all roles that have one]
    #[arg(long, value_parser = player())]
    role: Option<Player>,
    /// This model: MODEL or MODEL@PROVIDER
    #[arg(long)]
    model: Option<String>,
    /// One request, and nothing of what else the server can do
    #[arg(long)]
    brief: bool,
}

pub(super) fn player() -> impl TypedValueParser<Value = Player> {
    PossibleValuesParser::new(Player::ALL.map(Player::name))
        .map(|name| Player::of(&name).unwrap_or(Player::Solver))
}

pub(super) fn run(command: &Probe, context: &mut Context<'_>) -> Ended {
    let request = ProbeRequest {
        dir: Some(command.repo.clone()),
        players: command.role.into_iter().collect(),
        model: command.model.clone(),
        brief: command.brief,
    };
    let answers = context.session.probe(&request, &context.job)?;
    let usable = answers.iter().all(|answer| answer.usable);
    let whole = serde_json::json!({ "usable": usable, "roles": answers });
    context.out.answer(&whole, |_| answers.iter().map(show).collect::<Vec<_>>().join("\n\n"))?;
    Ok(Exit::done_if(usable))
}

fn show(answer: &ProbeAnswer) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let answered = answer.answered_by.as_ref().filter(|name| **name != answer.model);
    let model = match answered {
        Some(name) => format!("{} (the server says {name})", answer.model),
        None => answer.model.clone(),
    };
    let mut rows = vec![
        row("role", answer.role.clone()),
        row("model", model),
        row("provider", answer.provider.clone()),
        row("url", answer.url.clone()),
    ];
    if let (Some(prompt), Some(completion)) = (answer.prompt_tokens, answer.completion_tokens) {
        rows.push(row("usage", format!("{prompt} tokens sent, {completion} came")));
    }
    if let Some(millis) = answer.millis {
        rows.push(row("time", format!("{millis} ms")));
    }
    if let Some(context) = answer.context {
        rows.push(row("context", format!("{context} tokens")));
    }
    if let Some(said) = &answer.said {
        rows.push(row("said", format!("{said:?}")));
    }
    for line in &answer.findings {
        rows.push(row(&line.name, format!("{} {}", table::mark(line.works), line.detail)));
    }
    if let Some(problem) = &answer.problem {
        rows.push(row("problem", problem.clone()));
    }
    table::columns(&rows).join("\n")
}
