//! The one writer to standard output, and the one to standard error.

use serde::Serialize;
use std::io::{self, Write};

/// Answers: lines for people, or JSON for programs, never both.
pub(super) struct Out {
    json: bool,
}

impl Out {
    pub(super) fn new(json: bool) -> Self {
        Self { json }
    }

    pub(super) fn wants_json(&self) -> bool {
        self.json
    }

    /// The answer as JSON where that is wanted, else as the text that `human` makes of it.
    pub(super) fn answer<A: Serialize>(
        &self,
        answer: &A,
        human: impl FnOnce(&A) -> String,
    ) -> io::Result<()> {
        if self.json { json(answer) } else { line(&human(answer)) }
    }
}

/// One JSON object on one line.
pub(super) fn json(answer: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    write(&line)
}

/// Text for people, a line break added.
pub(super) fn line(text: &str) -> io::Result<()> {
    write(format!("{text}\n").as_bytes())
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Tells a person on standard error why there is no answer. A closed standard error is no reason to
/// fail again.
pub fn complain(error: &dyn std::fmt::Display) {
    note(&format!("ssr-mcp: {error}"));
}

/// A line on standard error.
pub fn note(text: &str) {
    writeln!(io::stderr().lock(), "{text}").unwrap_or_default();
}
