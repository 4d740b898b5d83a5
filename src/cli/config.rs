//! `ssr-mcp config`.

use super::{Context, Ended, Exit, out, table};
use crate::config::model_schema;
use crate::session::{ConfigAnswer, ProviderState};
use std::path::PathBuf;

const LAYERS: &str = "Read, the later over the earlier:
  ssr-mcp.toml in $XDG_CONFIG_HOME/ssr-mcp      the user's
  ssr_config.json, ssr-mcp.toml                 the repository's
  TAOTOKEN_BASE_URL, INJECT_MODEL, SOLVE_MODEL, ORNITH_MODEL
  the file of --config
  other flags

A repository's file may name models, and not where keys and code are sent, unless the user's file has its root in
`trust`. Keys are in variables (TAOTOKEN_API_KEY) or in files of their own, and are never shown.";

/// Settings of models: show them with their sources, or print their schema
#[derive(Debug, clap::Args)]
#[command(after_help = LAYERS)]
pub struct ConfigCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Every setting with its value and where that came from
    Show {
        /// The repository
        #[arg(default_value = ".")]
        repo: PathBuf,
    },
    /// The JSON schema of ssr-mcp.toml
    Schema,
}

pub(super) fn run(command: &ConfigCommand, context: &mut Context<'_>) -> Ended {
    match &command.action {
        Action::Show { repo } => {
            let answer = context.session.configured(Some(repo))?;
            context.out.answer(&answer, show)?;
        }
        Action::Schema if context.out.wants_json() => out::json(&model_schema())?,
        Action::Schema => {
            let text =
                serde_json::to_string_pretty(&model_schema()).map_err(std::io::Error::from)?;
            out::line(&text)?;
        }
    }
    Ok(Exit::Done)
}

fn show(answer: &ConfigAnswer) -> String {
    let mut rows = vec![vec!["setting".to_owned(), "value".to_owned(), "from".to_owned()]];
    rows.extend(
        answer
            .settings
            .iter()
            .map(|line| vec![line.name.clone(), short(&line.value), line.source.clone()]),
    );
    let mut lines = table::columns(&rows);
    lines.extend(answer.providers.iter().map(provider));
    lines.extend(answer.warnings.iter().map(|warning| format!("not used: {warning}")));
    lines.join("\n")
}

pub(super) fn provider(state: &ProviderState) -> String {
    let ProviderState { name, url, key, problem } = state;
    match (url, problem) {
        (_, Some(problem)) => format!("{} {name}: {problem}", table::mark(false)),
        (url, None) => {
            let url = url.as_deref().unwrap_or("nowhere");
            let key = key.as_deref().unwrap_or("no key");
            format!("{} {name}: {url}, {key}", table::mark(true))
        }
    }
}

/// The beginning of a long text, on one line.
fn short(value: &str) -> String {
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > 60 { line.chars().take(59).chain(['…']).collect() } else { line }
}
