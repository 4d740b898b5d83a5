//! Clients' configuration files: where they are, whether they name this server, and edits of them
//! that change the server's entry and nothing else.
//!
//! An edit is made on the text, so that comments and layout stay, and is kept only if the result
//! reads as exactly what was there with the entry added or taken out. What is not understood is
//! refused. Where a client has a command of its own that adds a server, that is asked first
//! (`client_command.rs`), and believed only as far as the client's file says it then.

mod client;
mod client_command;
mod document;
mod entry;
mod file;
mod jsonc;
mod own_command;
mod snippet;
mod tables;
#[cfg(test)]
mod tests;
mod yaml;

pub use client::{Client, Place, Scope};
pub use snippet::Snippet;

use crate::config::ClientCommands;
use document::Document;
use entry::Entry;
use file::File;
use own_command::OwnCommand;
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
    #[error("{client} has no command of its own that adds a server here; leave --via command out")]
    NoCommand { client: Client },
    #[error(
        "`{program}` is not on the PATH outside of this project; install it, or leave --via command out"
    )]
    NotInstalled { program: String },
    #[error("`{command}` did not do it: {reason}. --via file adds the entry without it")]
    NotByCommand { command: String, reason: String },
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

/// Who writes a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The client's own command.
    Command,
    /// We.
    File,
}

impl Client {
    /// By its own command where that was seen to work, beside programs of these clients that are real.
    fn prefers_command(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex | Self::Cline | Self::Gemini)
    }
}

/// What was done for a client to start this server, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub change: Change,
    pub via: Via,
    /// Why the client's own command did not do it, where it was tried.
    pub failed: Option<Error>,
}

/// [`write`], by the client's own command where there is one that is installed, or as `via` says. One adds
/// a new entry only: what is there already is changed in the file.
pub fn register(
    place: &Place,
    program: &Path,
    via: Option<Via>,
    surroundings: &ClientCommands,
) -> Result<Written, Error> {
    let by_file = |failed| Ok(Written { change: write(place, program)?, via: Via::File, failed });
    if via == Some(Via::File) || (via.is_none() && !place.client.prefers_command()) {
        return by_file(None);
    }
    let entry = Entry::of(place.client, &usable(program)?);
    let file = File::read(&place.path)?;
    let document = Document::of(place, file.text())?;
    document.refuse_foreign()?;
    if document.has_entry() {
        return by_file(None);
    }
    match by_command(place, program, &file, &entry, surroundings) {
        Ok(change) => Ok(Written { change, via: Via::Command, failed: None }),
        Err(error) if via == Some(Via::Command) => Err(error),
        Err(Error::NoCommand { .. } | Error::NotInstalled { .. }) => by_file(None),
        Err(error) => by_file(Some(error)),
    }
}

fn by_command(
    place: &Place,
    program: &Path,
    before: &File,
    entry: &Entry,
    surroundings: &ClientCommands,
) -> Result<Change, Error> {
    let Place { client, scope, .. } = *place;
    let command =
        OwnCommand::of(client, scope, &usable(program)?).ok_or(Error::NoCommand { client })?;
    let Some(found) = client_command::find(&command, surroundings) else {
        return Err(Error::NotInstalled { program: command.program.to_owned() });
    };
    let failed = |reason: String| Error::NotByCommand { command: command.shown(), reason };
    let backup = before.back_up()?;
    client_command::run(&found, &command, surroundings).map_err(failed)?;
    let file = File::read(&place.path)?;
    let document = Document::of(place, file.text())?;
    if !document.has_entry() || document.with(entry)?.is_some() {
        let path = place.path.display();
        return Err(failed(format!(
            "it ended well, and {path} does not name this server as it should"
        )));
    }
    // What the client's command has no words for.
    if let Some(text) = document.completed(entry)? {
        file.replace_once(&text)?;
    }
    Ok(Change::Made { backup })
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
