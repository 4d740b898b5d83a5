//! `setup`: registers this server with a client. The only verb that writes files of the user's, and
//! only those that it is asked to write.

use super::{Error, Session};
use crate::setup::{self, Change, Client, Place, Registered, SERVER, Scope, Via, Written};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupAction {
    /// Says what to add, and changes nothing.
    Print,
    Write,
    Remove,
    /// Says whether the client starts this server, by a program that is there.
    Check,
}

#[derive(Clone, Copy, Debug)]
pub struct SetupRequest {
    pub client: Client,
    pub scope: Scope,
    pub action: SetupAction,
    /// Who adds the entry; the client's own command where it has one that is installed, if nobody says.
    pub via: Option<Via>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SetupOutcome {
    Printed,
    Written,
    /// `--write`, and it was written already.
    Unchanged,
    Removed,
    /// `--remove`, and there was nothing to remove.
    Absent,
    Configured,
    NotConfigured,
    /// An entry names a program that is not there.
    ProgramGone,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct SetupAnswer {
    pub client: &'static str,
    pub scope: &'static str,
    /// The client's file; null where it has none.
    pub file: Option<String>,
    /// The entry's name.
    pub server: &'static str,
    pub outcome: SetupOutcome,
    /// Who wrote it: `command` is the client's own; null where nothing was written.
    pub via: Option<&'static str>,
    /// The file as it was, where it was changed.
    pub backup: Option<String>,
    /// The program that the client starts, where it was looked up.
    pub command: Option<String>,
    /// What to add by hand, where that was asked.
    pub snippet: Option<String>,
    /// The client's own command that adds it.
    pub own_command: Option<String>,
    /// Settings that are the user's to decide.
    pub optional: Option<String>,
    /// What has an editor start the language server; null for clients that only speak MCP.
    pub language_server: Option<String>,
    pub notes: Vec<String>,
}

/// An entry in a client's file that starts this server.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ClientEntry {
    pub client: String,
    /// `user` or `project`.
    pub scope: String,
    pub file: String,
    /// The program that the client starts; null where the file is not understood.
    pub command: Option<String>,
    /// Whether that program is there.
    pub exists: bool,
    /// What is wrong and what to do; null where nothing is.
    pub problem: Option<String>,
}

impl Session {
    pub fn setup(&self, request: &SetupRequest) -> Result<SetupAnswer, Error> {
        let SetupRequest { client, scope, action, via } = *request;
        let place = Place::of(client, scope, &self.config().clients);
        let mut answer = SetupAnswer {
            client: client.name(),
            scope: scope.name(),
            file: place.as_ref().ok().map(|place| place.path.display().to_string()),
            server: SERVER,
            outcome: SetupOutcome::Printed,
            via: None,
            backup: None,
            command: None,
            snippet: None,
            own_command: None,
            optional: None,
            language_server: None,
            notes: Vec::new(),
        };
        if action == SetupAction::Print {
            let place = match place {
                Err(setup::Error::ByPlugin { .. }) => None,
                place => Some(place?),
            };
            let snippet = setup::snippet(client, place.as_ref(), &self.config().program)?;
            return Ok(SetupAnswer {
                snippet: Some(snippet.text),
                own_command: snippet.command,
                optional: snippet.optional,
                language_server: snippet.language_server,
                notes: snippet.notes,
                ..answer
            });
        }
        let place = place?;
        match action {
            SetupAction::Print | SetupAction::Check => self.check_client(&place, &mut answer)?,
            SetupAction::Write => {
                let program = &self.config().program;
                let surroundings = &self.config().client_commands;
                let Written { change, via, failed } =
                    setup::register(&place, program, via, surroundings)?;
                answer.command = Some(program.display().to_string());
                answer.changed(change, SetupOutcome::Written, SetupOutcome::Unchanged);
                if answer.outcome == SetupOutcome::Written {
                    answer.via = Some(if via == Via::Command { "command" } else { "file" });
                }
                answer.notes.extend(failed.map(|error| {
                    format!("Written to the file by ssr-mcp, since {client}'s own command failed: {error}")
                }));
                answer.notes.extend(setup::snippet(client, Some(&place), program)?.notes);
            }
            SetupAction::Remove => {
                let change = setup::remove(&place)?;
                answer.changed(change, SetupOutcome::Removed, SetupOutcome::Absent);
            }
        }
        Ok(answer)
    }

    fn check_client(&self, place: &Place, answer: &mut SetupAnswer) -> Result<(), Error> {
        let found = setup::registered(place)?;
        let there = found.iter().find(|entry| self.is_there(entry));
        answer.outcome = match (there, found.first()) {
            (Some(_), _) => SetupOutcome::Configured,
            (None, Some(_)) => SetupOutcome::ProgramGone,
            (None, None) => SetupOutcome::NotConfigured,
        };
        answer.command = there.or(found.first()).map(|entry| entry.command.clone());
        Ok(())
    }

    fn is_there(&self, entry: &Registered) -> bool {
        let path = self.config().machine().map(|machine| machine.path.as_slice());
        entry.exists(path.unwrap_or_default())
    }

    /// The clients that name this server, and the files of clients that are not understood.
    pub(super) fn client_entries(&self) -> Vec<ClientEntry> {
        let mut entries = Vec::new();
        for place in Place::all(&self.config().clients) {
            let entry = |command: Option<String>, exists, problem| ClientEntry {
                client: place.client.name().to_owned(),
                scope: place.scope.name().to_owned(),
                file: place.path.display().to_string(),
                command,
                exists,
                problem,
            };
            match setup::registered(&place) {
                Ok(found) => entries.extend(found.iter().map(|found| {
                    let exists = self.is_there(found);
                    let fix = || {
                        format!(
                            "the program is not there; ssr-mcp setup {} --scope {} --write names this one",
                            place.client, place.scope
                        )
                    };
                    entry(Some(found.command.clone()), exists, (!exists).then(fix))
                })),
                Err(error) => entries.push(entry(None, false, Some(error.to_string()))),
            }
        }
        entries
    }
}

impl SetupAnswer {
    fn changed(&mut self, change: Change, made: SetupOutcome, none: SetupOutcome) {
        match change {
            Change::None => self.outcome = none,
            Change::Made { backup } => {
                self.outcome = made;
                self.backup = backup.map(|path| path.display().to_string());
            }
        }
    }

    /// Whether it is as it was asked to be.
    pub fn good(&self) -> bool {
        !matches!(self.outcome, SetupOutcome::NotConfigured | SetupOutcome::ProgramGone)
    }
}

impl From<setup::Error> for Error {
    fn from(error: setup::Error) -> Self {
        match error {
            setup::Error::NoSuchScope { .. }
            | setup::Error::ByPlugin { .. }
            | setup::Error::NoCommand { .. }
            | setup::Error::NotInstalled { .. }
            | setup::Error::Foreign { .. }
            | setup::Error::NotUnderstood { .. } => Self::usage(error.to_string()),
            _ => Self::harness(error),
        }
    }
}
