//! `ssr-mcp doctor`.

use super::{Context, Ended, Exit, table};
use crate::session::{ClientEntry, DoctorAnswer, ProtocolCheck};

pub(super) fn run(context: &mut Context<'_>) -> Ended {
    let answer = context.session.doctor((context.protocol)(context.session.config()));
    context.out.answer(&answer, show)?;
    Ok(Exit::done_if(answer.ready))
}

fn show(answer: &DoctorAnswer) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let state = &answer.state_directory;
    let tier = answer.sandbox.tier.map(|tier| format!("tier {}", crate::session::name(tier)));
    let mut rows = vec![
        row("sandbox", tier.unwrap_or_else(|| "none works here".to_owned())),
        row("state", state.path.clone().unwrap_or_else(|| "none".to_owned())),
        row("languages", answer.languages.join(", ")),
    ];
    for tool in &answer.toolchains {
        let found = tool.path.clone().unwrap_or_else(|| format!("not found; {}", tool.purpose));
        rows.push(row(&tool.name, found));
    }
    let mut lines = table::columns(&rows);
    let sandbox = &answer.sandbox;
    lines.extend(sandbox.better.iter().map(|why| format!("not used: {why}")));
    lines.extend(sandbox.lacks.iter().map(|lack| format!("weaker here: {lack}")));
    let surroundings = &answer.surroundings;
    lines.extend(surroundings.signs.iter().map(|sign| format!("within {sign}")));
    lines.extend(surroundings.meaning.iter().map(|meaning| format!("which means: {meaning}")));
    lines.extend(answer.protocol.iter().map(|check| {
        let ProtocolCheck { revision, passed, tools, .. } = check;
        let said = if *passed { "spoken" } else { "not spoken as it should be" };
        format!("{} MCP {revision} {said}, {tools} tools", table::mark(*passed))
    }));
    lines.extend(answer.clients.iter().map(client));
    lines.extend(answer.providers.iter().map(super::config::provider));
    lines.extend(answer.problems.iter().map(|problem| format!("{} {problem}", table::mark(false))));
    lines.push(if answer.ready { "ready to play" } else { "not ready to play" }.to_owned());
    lines.join("\n")
}

fn client(entry: &ClientEntry) -> String {
    let ClientEntry { client, scope, file, command, .. } = entry;
    let mark = table::mark(entry.problem.is_none());
    let command = command.as_ref().map(|command| format!(" starts {command}, by {file}"));
    let problem = entry.problem.as_ref().map(|problem| format!(": {problem}"));
    format!(
        "{mark} {client} ({scope}){}{}",
        command.unwrap_or_default(),
        problem.unwrap_or_default()
    )
}
