//! Clients' configuration files: where they are, whether they name this server, and edits of them
//! that change the server's entry and nothing else.
//!
//! An edit is made on the text, so that comments and layout stay, and is kept only if the result
//! reads as exactly what was there with the entry added or taken out. What is not understood is
//! refused. No client's program is started: only `sandbox` starts processes, and a command of the
//! user's own would have to run outside of it.

mod client;
mod document;
mod entry;
mod file;
mod jsonc;
mod snippet;
mod tables;
#[cfg(test)]
mod tests;
mod yaml;

pub use client::{Client, Place, Scope};
pub use snippet::Snippet;

use document::Document;
use entry::Entry;
use file::File;
use std::path::{Path, PathBuf};

/// The name of the entry in every client: short, since clients prefix tools with it.
pub const SERVER: &str = "ssr";

/// Why a client's file was left as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{client} has no configuration file for --scope {scope}; use --scope {other}")]
    NoSuchScope { client: Client, scope: Scope, other: Scope },
    #[error(
        "{client} has no file in which MCP servers are registered: a plugin of yours starts them; copy \
         what `ssr-mcp setup {client}` prints to where the plugin wants it"
    )]
    ByPlugin { client: Client },
    #[error(
        "HOME is not set (or is not an absolute path), and {client} keeps its file below it; set HOME"
    )]
    NoHome { client: Client },
    #[error(
        "the path of the running program ({0}) cannot be written to a file for others: it is gone or not \
         UTF-8; start ssr-mcp from where it is installed"
    )]
    NoProgram(String),
    #[error("{path} cannot be read ({reason}); nothing was changed")]
    Unreadable { path: String, reason: String },
    #[error(
        "{path} is not understood ({reason}); nothing was changed. Correct it, or add by hand what \
         `ssr-mcp setup` prints"
    )]
    NotUnderstood { path: String, reason: String },
    #[error(
        "{path} has an entry {SERVER:?} that starts something else ({command}); nothing was changed. Rename \
         or remove that entry first"
    )]
    Foreign { path: String, command: String },
    #[error("{path} was changed by somebody else meanwhile; nothing was changed by us. Try again")]
    Changed { path: String },
    #[error("{path} cannot be written ({reason}); nothing was changed")]
    Unwritable { path: String, reason: String },
}

/// How a client starts this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The entry's name there.
    pub name: String,
    /// As it stands in the file.
    pub command: String,
}

impl Registered {
    /// Whether the program is there: an absolute path, or a name that the search path leads to.
    pub fn exists(&self, path: &[PathBuf]) -> bool {
        let command = Path::new(&self.command);
        if command.is_absolute() {
            return command.is_file();
        }
        command.components().count() == 1 && path.iter().any(|dir| dir.join(command).is_file())
    }
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was as asked already.
    None,
    /// It was written, or removed where nothing else was in it. The backup, if there was a file before.
    Made { backup: Option<PathBuf> },
}

/// The entries of a client's file that start this server; none where there is no file.
pub fn registered(place: &Place) -> Result<Vec<Registered>, Error> {
    let file = File::read(&place.path)?;
    let document = Document::of(place, file.text())?;
    Ok(document.ours())
}

/// Has the client start `program`. Other keys of an entry that is there already stay.
pub fn write(place: &Place, program: &Path) -> Result<Change, Error> {
    let entry = Entry::of(place.client, &usable(program)?);
    let file = File::read(&place.path)?;
    let document = Document::of(place, file.text())?;
    document.refuse_foreign()?;
    match document.with(&entry)? {
        None => Ok(Change::None),
        Some(text) => Ok(Change::Made { backup: file.replace(&text)? }),
    }
}

/// Takes the entry out.
pub fn remove(place: &Place) -> Result<Change, Error> {
    let file = File::read(&place.path)?;
    let document = Document::of(place, file.text())?;
    document.refuse_foreign()?;
    match document.without()? {
        None => Ok(Change::None),
        Some(text) if text.is_empty() => Ok(Change::Made { backup: file.delete()? }),
        Some(text) => Ok(Change::Made { backup: file.replace(&text)? }),
    }
}

/// What to add by hand, and where.
pub fn snippet(client: Client, place: Option<&Place>, program: &Path) -> Result<Snippet, Error> {
    Ok(Snippet::of(client, place, &usable(program)?))
}

/// The program's path as text, where a client could start it.
fn usable(program: &Path) -> Result<String, Error> {
    let text = program.to_str().filter(|_| program.is_absolute() && program.is_file());
    // `/proc/self/exe` is the client itself in the client's process.
    match text.filter(|text| !text.starts_with("/proc/")) {
        Some(text) => Ok(text.to_owned()),
        None => Err(Error::NoProgram(program.display().to_string())),
    }
}
