//! What a player works with, agent or model: a shell whose state lasts and an editor, inside a sandbox.
//! (The scaffold of SSR's two roles, arXiv 2512.18552, section 3: a shell and search and replace.)
//!
//! Each command is a process of its own: what it started is gone when it ends. What lasts is the tree, the
//! directory for temporary files, and the shell's state as text, which outlives the sandbox, too.

mod excerpt;
mod place;
mod replace;
mod shell;
mod tool;

pub use excerpt::{Capped, capped, numbered, shortened};
pub use place::Place;
pub use replace::{Replaced, replaced};
pub use tool::{Edited, in_words};

use crate::harness::{self, Audience, Harness};
use crate::sandbox::{self, Cancel, ChangeSet, Collected, End, Step};
use crate::tree::{Changes, File};
use crate::workspace::Base;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most of a command's output that a player sees, bytes; half of it from its beginning, half from its end.
pub const OUTPUT: usize = 30_000;
/// Largest file that is read, edited or made, bytes.
pub const LARGEST: u64 = 4 << 20;
/// How long looking at or writing one file may take: nothing of the player's runs then.
const PATIENCE: Duration = Duration::from_secs(30);

/// An open sandbox with a player in it. Dropping it ends everything inside.
pub struct Room {
    session: sandbox::Session,
    env: BTreeMap<OsString, OsString>,
    /// What the next command's shell begins with.
    shell: Vec<u8>,
    /// What the tree lies on, and what it will be judged on, are not pruned meanwhile.
    tree: Base,
    _base: Base,
}

/// What is shown.
pub struct Furnishing<'a> {
    /// The tree: the base, or the base with `hidden` as a tree of its own; and what was changed in it since.
    pub tree: Base,
    pub changes: Changes,
    /// A solver is shown no cache that was made from a file which these change.
    pub hidden: &'a Changes,
    pub audience: Audience,
    /// Files in the directory for temporary files, by their names there.
    pub files: Vec<(String, Vec<u8>)>,
    /// The state of the shell, as [`Room::shell`] gave it; empty for a new one.
    pub shell: Vec<u8>,
}

/// What became of a command.
#[derive(Clone, Debug)]
pub struct Ran {
    pub end: End,
    pub output: Capped,
    pub wall: Duration,
    /// The shell's state after the command was kept; otherwise the next one begins where this one did.
    pub remembered: bool,
}

/// Why a tool did nothing. The player can do something about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error(
        "the path {path:?} is refused: {reason}; name a file of the tree, relative to its root, or one below /tmp"
    )]
    Path { path: String, reason: String },
    #[error("there is no file {0}")]
    Missing(String),
    #[error("{0} is a directory; list it with the shell")]
    Directory(String),
    #[error("{0} is a symbolic link or no regular file; name the file itself")]
    NotAFile(String),
    #[error("{path} cannot be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("{0} exists; edit it, or remove it first")]
    Exists(String),
    #[error("{0} cannot be made: its directory does not exist; make it first")]
    NoDirectory(String),
    #[error("the search text is empty; give the exact text to replace, with its indentation")]
    EmptySearch,
    #[error(
        "{path}: the search text occurs 0 times{hint}; it must match exactly once, with its indentation"
    )]
    NoMatch { path: String, hint: String },
    #[error("{path}: the search text occurs {} times, on lines {}; give more of the lines around it, so that it matches once", .lines.len(), listed(.lines))]
    Matches { path: String, lines: Vec<usize> },
    #[error("search and replace are the same text: nothing would change")]
    Same,
    #[error("the text has more than {LARGEST} bytes")]
    TooLarge,
    #[error("{path} could not be written: {reason}")]
    NotWritten { path: String, reason: String },
}

fn listed(lines: &[usize]) -> String {
    let mut text: Vec<String> = lines.iter().take(20).map(ToString::to_string).collect();
    if lines.len() > text.len() {
        text.push("…".to_owned());
    }
    text.join(", ")
}

/// Why a room cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is spoilt (full, or its tree was moved away) and must be opened anew from what was saved.
    #[error("the sandbox cannot go on: {0}")]
    Spoilt(String),
    #[error(transparent)]
    Harness(#[from] harness::Error),
}

impl From<sandbox::Error> for Error {
    fn from(error: sandbox::Error) -> Self {
        match error {
            sandbox::Error::NotWritten { path, reason } => {
                Self::Spoilt(format!("{path}: {reason}"))
            }
            other => Self::Harness(other.into()),
        }
    }
}

/// What stands at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File {
        executable: bool,
    },
    Directory,
    Other,
    /// Nothing, and whether its directory is there.
    Nothing {
        parent: bool,
    },
}

/// Tells what stands at its argument.
const LOOK: &str = r#"
if [ -L "$1" ]; then exit 13
elif [ -d "$1" ]; then exit 12
elif [ -f "$1" ] && [ -x "$1" ]; then exit 11
elif [ -f "$1" ]; then exit 10
elif [ -e "$1" ]; then exit 13
elif [ -d "${1%/*}" ]; then exit 14
else exit 15
fi"#;

impl Room {
    pub fn open(harness: &Harness, furnishing: Furnishing<'_>) -> Result<Self, Error> {
        let Furnishing { tree, changes, hidden, audience, files: beside, shell } = furnishing;
        let session = harness.room(&tree, changes, hidden, audience, OUTPUT / 2)?;
        let env = harness.environment();
        let mut opened = Self { session, env, shell, tree, _base: harness.base().clone() };
        let files = beside.into_iter().map(|(name, bytes)| (temporary(&name), bytes, 0o644));
        opened.step(&Step { files: files.collect(), ..opened.quiet() }, &Cancel::new())?;
        Ok(opened)
    }

    /// Where the tree is for the player.
    pub fn root(&self) -> &Path {
        self.session.root()
    }

    /// The shell's state, for a room to come.
    pub fn shell(&self) -> &[u8] {
        &self.shell
    }

    /// What was changed in the tree.
    pub fn changes(&mut self) -> Result<ChangeSet, Error> {
        Ok(self.session.changes()?)
    }

    /// Runs a command in the shell. When it ends, or its time is over, all that it started is gone.
    pub fn bash(&mut self, command: &str, limit: Duration, cancel: &Cancel) -> Result<Ran, Error> {
        let [program, before, after] = ["command", "before", "after"]
            .map(|name| temporary(&format!("{}/{name}", shell::PLACE)));
        let word = |path: &Path| OsString::from(path);
        let argv = ["bash", "-c", shell::RUN, "bash"].map(OsString::from).into_iter();
        let step = Step {
            argv: argv.chain([word(&program), word(&before), word(&after)]).collect(),
            deadline: limit,
            files: vec![
                (program, command.as_bytes().to_vec(), 0o644),
                (before, self.shell.clone(), 0o644),
                // That of the command before is none of this one's.
                (after.clone(), Vec::new(), 0o644),
            ],
            collect: vec![after.clone()],
            collect_limit: shell::LARGEST,
            ..self.quiet()
        };
        let finished = self.step(&step, cancel)?;
        let state = match finished.collected.get(&after) {
            Some(Collected::File(state)) if state.ends_with(shell::WHOLE) => Some(state.clone()),
            _ => None,
        };
        let remembered = state.is_some();
        self.shell = state.unwrap_or_else(|| std::mem::take(&mut self.shell));
        Ok(Ran {
            end: finished.end,
            output: capped(&finished.stdout),
            wall: finished.wall,
            remembered,
        })
    }

    /// A regular file's content.
    pub fn read(&mut self, place: &Place, cancel: &Cancel) -> Result<Result<File, Trouble>, Error> {
        let path = place.inside(&self.tree.root);
        let shown = place.to_string();
        let (kind, collected) = self.look(&path, cancel)?;
        let executable = match kind {
            Kind::File { executable } => executable,
            Kind::Directory => return Ok(Err(Trouble::Directory(shown))),
            Kind::Other => return Ok(Err(Trouble::NotAFile(shown))),
            Kind::Nothing { .. } => return Ok(Err(Trouble::Missing(shown))),
        };
        Ok(match collected {
            Collected::File(bytes) => Ok(File { bytes: bytes.into(), executable }),
            Collected::Missing => Err(Trouble::Missing(shown)),
            Collected::Refused(reason) => Err(Trouble::Unreadable { path: shown, reason }),
        })
    }

    /// Makes a file that is not there, in a directory that is.
    pub fn create(
        &mut self,
        place: &Place,
        content: &[u8],
        cancel: &Cancel,
    ) -> Result<Result<(), Trouble>, Error> {
        let shown = place.to_string();
        match self.look(&place.inside(&self.tree.root), cancel)?.0 {
            Kind::Nothing { parent: true } => self.write(place, File::plain(content), cancel),
            Kind::Nothing { parent: false } => Ok(Err(Trouble::NoDirectory(shown))),
            Kind::File { .. } | Kind::Directory | Kind::Other => Ok(Err(Trouble::Exists(shown))),
        }
    }

    /// Writes a file, whatever is there, without following a link.
    pub fn write(
        &mut self,
        place: &Place,
        file: File,
        cancel: &Cancel,
    ) -> Result<Result<(), Trouble>, Error> {
        if file.bytes.len() as u64 > LARGEST {
            return Ok(Err(Trouble::TooLarge));
        }
        let mut step = self.quiet();
        match place {
            Place::Tree(path) => step.changes.write(path.clone(), file),
            Place::Temporary(_) => {
                let mode = if file.executable { 0o755 } else { 0o644 };
                step.files.push((place.inside(&self.tree.root), file.bytes.to_vec(), mode));
            }
        }
        match self.step(&step, cancel) {
            Ok(_) => Ok(Ok(())),
            Err(Error::Spoilt(reason)) => {
                Ok(Err(Trouble::NotWritten { path: place.to_string(), reason }))
            }
            Err(error) => Err(error),
        }
    }

    fn look(&mut self, path: &Path, cancel: &Cancel) -> Result<(Kind, Collected), Error> {
        let argv = ["bash", "-c", LOOK, "bash"].map(OsString::from).into_iter();
        let step = Step {
            argv: argv.chain([OsString::from(path)]).collect(),
            collect: vec![path.to_owned()],
            collect_limit: LARGEST,
            ..self.quiet()
        };
        let mut finished = self.step(&step, cancel)?;
        let kind = match finished.end {
            End::Exited(10) => Kind::File { executable: false },
            End::Exited(11) => Kind::File { executable: true },
            End::Exited(12) => Kind::Directory,
            End::Exited(14) => Kind::Nothing { parent: true },
            End::Exited(15) => Kind::Nothing { parent: false },
            _ => Kind::Other,
        };
        Ok((kind, finished.collected.remove(path).unwrap_or(Collected::Missing)))
    }

    fn step(&mut self, step: &Step, cancel: &Cancel) -> Result<sandbox::Finished, Error> {
        let finished = self.session.run(step, cancel)?;
        if finished.end == End::Cancelled {
            return Err(harness::Error::Cancelled.into());
        }
        Ok(finished)
    }

    /// A step that does nothing.
    fn quiet(&self) -> Step {
        Step {
            argv: vec!["true".into()],
            env: self.env.clone(),
            cwd: PathBuf::new(),
            stdin: Vec::new(),
            merge_stderr: true,
            deadline: PATIENCE,
            files: Vec::new(),
            changes: Changes::new(),
            collect: Vec::new(),
            collect_limit: 0,
        }
    }
}

fn temporary(name: &str) -> PathBuf {
    Path::new("/tmp").join(name)
}
