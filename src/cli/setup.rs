//! `ssr-mcp setup`.

use super::{Context, Ended, Exit};
use crate::session::{SetupAction, SetupAnswer, SetupOutcome, SetupRequest};
use crate::setup::{Client, Scope, Via};
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Register this server with a coding agent or editor
///
/// Without --write or --remove nothing is changed: what to add is printed, where, and the client's own
/// command for it where there is one. --write has that command add the entry where it is on your PATH
/// (claude, codex, gemini, cline), and looks in the client's file whether it did; else, or where it failed,
/// it edits the file itself: only the entry changes, comments and layout stay, and a file that is not
/// understood is left alone. Either way the file as it was is kept beside it (NAME.before-ssr-mcp), and a
/// second --write changes nothing. An entry that is there already is changed and removed in the file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    ssr-mcp setup codex                      what to add to ~/.codex/config.toml\n  \
    ssr-mcp setup claude-code --write        add it to ~/.claude.json\n  \
    ssr-mcp setup vscode --scope project --write   add it to .vscode/mcp.json here\n  \
    ssr-mcp setup cursor --check             exit code 0: registered, and the program is there")]
pub struct Setup {
    #[arg(value_parser = client())]
    client: Client,
    /// Add the entry to the client's file
    #[arg(long, group = "action")]
    write: bool,
    /// Take the entry out of the client's file
    #[arg(long, group = "action")]
    remove: bool,
    /// Say whether the client starts this server, by a program that is there
    #[arg(long, group = "action")]
    check: bool,
    /// For all your projects, or for the one in the working directory, where the client has both
    #[arg(long, default_value = "user", value_parser = scope())]
    scope: Scope,
    /// Who adds the entry: the client's own command and nobody else, or ssr-mcp in the file (for vscode,
    /// whose command opens its window, the default) [default: the command where there is one, else the file]
    #[arg(long, value_parser = via(), requires = "write")]
    via: Option<Via>,
}

fn client() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::name))
        .map(|name| Client::of_name(&name).unwrap_or(Client::ClaudeCode))
}

fn scope() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(Scope::ALL.map(Scope::name))
        .map(|name| if name == Scope::Project.name() { Scope::Project } else { Scope::User })
}

fn via() -> impl TypedValueParser<Value = Via> {
    PossibleValuesParser::new(["command", "file"])
        .map(|name| if name == "command" { Via::Command } else { Via::File })
}

pub(super) fn run(command: &Setup, context: &mut Context<'_>) -> Ended {
    let action = match (command.write, command.remove, command.check) {
        (true, _, _) => SetupAction::Write,
        (_, true, _) => SetupAction::Remove,
        (_, _, true) => SetupAction::Check,
        _ => SetupAction::Print,
    };
    let request =
        SetupRequest { client: command.client, scope: command.scope, action, via: command.via };
    let answer = context.session.setup(&request)?;
    context.out.answer(&answer, show)?;
    Ok(Exit::done_if(answer.good()))
}

fn show(answer: &SetupAnswer) -> String {
    let file = answer.file.as_deref().unwrap_or_default();
    let command = answer.command.as_deref().unwrap_or_default();
    let client = answer.client;
    let again = match answer.scope {
        "user" => format!("ssr-mcp setup {client}"),
        scope => format!("ssr-mcp setup {client} --scope {scope}"),
    };
    let mut lines = vec![match answer.outcome {
        SetupOutcome::Printed => return printed(answer, &again),
        SetupOutcome::Written if answer.via == Some("command") => {
            format!("written by {client}'s own command: it starts {command}, by {file}")
        }
        SetupOutcome::Written => format!("written: {client} starts {command}, by {file}"),
        SetupOutcome::Unchanged => format!("nothing to change: {file} names {command} already"),
        SetupOutcome::Removed => format!("removed from {file}"),
        SetupOutcome::Absent => format!("nothing to remove: {file} does not name this server"),
        SetupOutcome::Configured => format!("configured: {client} starts {command}, by {file}"),
        SetupOutcome::NotConfigured => {
            format!("not configured: {file} does not name this server; {again} --write adds it")
        }
        SetupOutcome::ProgramGone => {
            format!("{file} names {command}, which is not there; {again} --write names this one")
        }
    }];
    lines.extend(answer.backup.as_ref().map(|backup| format!("as it was: {backup}")));
    lines.extend(answer.notes.iter().cloned());
    if answer.outcome == SetupOutcome::Written && client == Client::Codex.name() {
        lines
            .push(format!("`{again}` shows what else can be set: approvals, environment, models."));
    }
    lines.join("\n")
}

fn printed(answer: &SetupAnswer, again: &str) -> String {
    let snippet = answer.snippet.as_deref().unwrap_or_default();
    let mut parts = Vec::new();
    if let Some(text) = &answer.language_server {
        parts.push(format!(
            "In this editor's own configuration, to start the language server:\n\n{text}"
        ));
    }
    match &answer.file {
        Some(file) => parts.push(format!("Add to {file}:")),
        None => parts.push("For a client of MCP beside this editor:".to_owned()),
    }
    parts.push(snippet.to_owned());
    parts.extend(answer.optional.clone());
    if answer.file.is_some() {
        parts.push(format!("`{again} --write` does this, and keeps the file as it was beside it."));
    }
    parts.extend(
        answer.own_command.as_ref().map(|own| format!("So does the client itself:\n\n{own}")),
    );
    if !answer.notes.is_empty() {
        parts.push(answer.notes.join("\n"));
    }
    parts.join("\n\n")
}
