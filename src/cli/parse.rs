//! `ssr-mcp parse`.

use super::{Context, Ended, Exit, grade::bounded, table};
use crate::session::{ArtifactRef, Error, ParseAnswer, ParseRequest, Repository};
use std::path::PathBuf;

/// Run an artifact's parser, in a sandbox, on a log from standard input
#[derive(Debug, clap::Args)]
#[command(after_help = "Prints the parser's answer: test id to passed or failed.\n\nExample:\n  \
bash /tmp/bug/test_script.sh | ssr-mcp parse /tmp/bug")]
pub struct Parse {
    /// The artifact: a folder with its five parts, or an id
    artifact: String,
    /// The repository whose id it is
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
}

pub(super) fn run(command: &Parse, context: &mut Context<'_>) -> Ended {
    let artifact = ArtifactRef::typed(&command.artifact);
    let repository = Repository { dir: Some(command.repo.clone()), ..Repository::default() };
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        let text = "the log is read from standard input; pipe the output of test_script.sh into it";
        return Err(Error::Usage(text.to_owned()).into());
    }
    let log = bounded(std::io::stdin().lock(), "the log on standard input")?;
    let answer =
        context.session.parse(&ParseRequest { artifact, repository, log }, &context.job)?;
    context.progress.clear();
    context.out.answer(&answer, show)?;
    Ok(Exit::Done)
}

fn show(answer: &ParseAnswer) -> String {
    let rows: Vec<_> =
        answer.0.iter().map(|(id, outcome)| vec![outcome.clone(), id.clone()]).collect();
    table::columns(&rows).join("\n")
}
