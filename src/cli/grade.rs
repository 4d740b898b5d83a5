//! `ssr-mcp grade`.

use super::arguments::Tests;
use super::{Context, Ended, Exit};
use crate::session::{ArtifactRef, Error, GradeAnswer, GradeRequest};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest patch that is read, bytes.
const LARGEST: u64 = 16 << 20;

/// Judge a patch: does it repair an artifact's bug?
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The patch is a git or unified diff against the tree with bug and weakening \
applied. Everything that sways tests is restored from the original before the tests run.\n\n\
Example:\n  ssr-mcp grade /tmp/bug repair.diff --repo .\n\nExit code 1 says that it is no repair."
)]
pub struct Grade {
    /// The artifact: a folder with its five parts, or an id
    artifact: String,
    /// The patch; `-` reads standard input
    patch: PathBuf,
    /// The repository it was made for
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    #[command(flatten)]
    tests: Tests,
}

pub(super) fn run(command: &Grade, context: &mut Context<'_>) -> Ended {
    let patch = if command.patch == Path::new("-") {
        bounded(std::io::stdin().lock(), "standard input")?
    } else {
        let path = context.session.config().cwd.join(&command.patch);
        let name = path.display().to_string();
        let file = std::fs::File::open(&path).map_err(|error| {
            Error::Usage(format!("the patch {name} cannot be read ({error}); name a diff"))
        })?;
        bounded(file, &name)?
    };
    let request = GradeRequest {
        artifact: ArtifactRef::typed(&command.artifact),
        repository: command.tests.repository(Some(&command.repo)),
        patch,
    };
    let answer = context.session.grade(&request, &context.job)?;
    context.progress.clear();
    context.out.answer(&answer, show)?;
    Ok(Exit::done_if(answer.solved))
}

/// Reads all of a small input.
pub(super) fn bounded(input: impl Read, name: &str) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    input
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::Usage(format!("{name} cannot be read ({error})")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::Usage(format!("{name} has more than {LARGEST} bytes; give less")));
    }
    Ok(bytes)
}

fn show(answer: &GradeAnswer) -> String {
    let verdict = if answer.solved { "solved" } else { "not solved" };
    let mut lines = vec![format!("{verdict}: {}", answer.reason)];
    lines.extend(answer.flags.iter().map(|flag| format!("  note: {flag}")));
    lines.join("\n")
}
