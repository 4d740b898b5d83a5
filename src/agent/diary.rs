//! What is kept of a session as it happens, and how one that was interrupted is taken up.

use super::{Error, Role, Spent};
use crate::harness;
use crate::model::{self, Finish, Message, Reply};
use crate::scaffold::Room;
use crate::store::{After, PlayFile, Said, Store, StoredSitting};
use crate::tree::{Changes, File, RelPath, hex};
use sha2::{Digest, Sha256};

/// Whose session it is: everything that makes two the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// A run of `play`, or one call of another verb.
    pub run: String,
    /// Round and bug within the run.
    pub step: u32,
    pub item: u32,
    pub role: Role,
    /// A part of what the role does.
    pub phase: &'static str,
    pub attempt: u32,
    /// The bug that a solver repairs.
    pub artifact: Option<String>,
    /// Seconds since 1970, for the record.
    pub now: i64,
}

impl Who {
    /// For the record of what a policy can be trained on: attempts at one bug are compared with each other.
    pub(super) fn rollout(&self, id: &str) -> model::Rollout {
        let task = self.artifact.clone().unwrap_or_default();
        let group = match self.role {
            Role::Solver => format!("{}/{}/{}/{task}", self.run, self.step, self.item),
            Role::Injector => format!("{}/{}", self.run, self.phase),
        };
        let (id, role) = (id.to_owned(), self.role.name().to_owned());
        // Whose weights answer is not known here but by the server's word.
        model::Rollout { id, task, role, group, weights: String::new() }
    }

    /// By whom, by which prompts and on which tree it is played is a part of it, too.
    pub(super) fn id(&self, model: &str, prompt: &str, base: &str) -> String {
        let (step, item, attempt) =
            (self.step.to_string(), self.item.to_string(), self.attempt.to_string());
        let parts = [
            &*self.run,
            &*step,
            &*item,
            self.role.name(),
            self.phase,
            &*attempt,
            self.artifact.as_deref().unwrap_or_default(),
            model,
            prompt,
            base,
        ];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hex(&hash.finalize()[..16])
    }
}

/// What a message is in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Opening,
    Reply,
    /// Of a call that was made.
    Result,
    /// Of a call beside another one.
    Unmade,
    /// Of a reply that could not be used.
    Correction,
    /// Of a reply without a call.
    Nudge,
    Submitted,
    /// Of a submission that the judge did not take.
    Refused,
}

impl Kind {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Opening, "opening"),
        (Self::Reply, "reply"),
        (Self::Result, "result"),
        (Self::Unmade, "unmade"),
        (Self::Correction, "correction"),
        (Self::Nudge, "nudge"),
        (Self::Submitted, "submitted"),
        (Self::Refused, "refused"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("result", |(_, name)| name)
    }

    fn of(name: &str) -> Self {
        let found = Self::ALL.iter().find(|(_, known)| *known == name);
        found.map_or(Self::Result, |(kind, _)| *kind)
    }
}

/// A message with what it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) message: Message,
    /// A reply's.
    pub(super) finish: Option<Finish>,
    pub(super) spent: Spent,
}

impl Line {
    pub(super) fn new(kind: Kind, message: Message) -> Self {
        Self { kind, message, finish: None, spent: Spent::default() }
    }
}

/// A session in the store.
pub(super) struct Diary<'a> {
    store: &'a Store,
    pub(super) id: String,
    /// Digest of the tree that was kept last.
    kept: String,
}

/// How far a session is.
pub(super) struct Taken {
    pub(super) lines: Vec<Line>,
    /// Tools were offered natively.
    pub(super) native: bool,
    /// JSON of its ending.
    pub(super) ending: Option<String>,
    pub(super) submitted: Option<String>,
    pub(super) changes: Changes,
    pub(super) shell: Vec<u8>,
}

impl<'a> Diary<'a> {
    pub(super) fn new(store: &'a Store, id: String, changes: &Changes) -> Self {
        Self { store, id, kept: changes.digest() }
    }

    /// What there is of it; `None`: it has not begun.
    pub(super) fn take(&mut self) -> Result<Option<Taken>, Error> {
        let Some(row) = self.store.sitting(&self.id)? else { return Ok(None) };
        let lines = self.store.said(&self.id)?.iter().map(line).collect::<Result<_, _>>()?;
        let changes = tree_of(self.store.sitting_files(&self.id)?)?;
        self.kept = changes.digest();
        let StoredSitting { ending, submitted, shell, tools, .. } = row;
        let native = !tools.is_empty();
        Ok(Some(Taken { lines, native, ending, submitted, changes, shell }))
    }

    pub(super) fn begin(
        &self,
        who: &Who,
        (model, prompt, tools): (&str, &str, &str),
        opening: &[Line],
        changes: &Changes,
    ) -> Result<(), Error> {
        let row = StoredSitting {
            id: self.id.clone(),
            run: who.run.clone(),
            step: who.step,
            item: who.item,
            role: who.role.name().to_owned(),
            phase: who.phase.to_owned(),
            attempt: who.attempt,
            model: model.to_owned(),
            artifact: who.artifact.clone(),
            prompt: prompt.to_owned(),
            tools: tools.to_owned(),
            begun: who.now,
            ending: None,
            submitted: None,
            reward: None,
            shell: Vec::new(),
        };
        let opening = opening.iter().map(said).collect::<Result<Vec<_>, _>>()?;
        self.store.begin_sitting(&row, &opening)?;
        let files = files_of(changes);
        if !files.is_empty() {
            let after = After { shell: &[], files: Some(&files) };
            self.store.record_said(&self.id, &[], Some(after), None)?;
        }
        Ok(())
    }

    /// Keeps an answer at once: it is paid for.
    pub(super) fn reply(&self, line: &Line, reply: &Reply) -> Result<(), Error> {
        let tokens = reply.tokens.as_ref().map(serde_json::to_string).transpose();
        let tokens = tokens.map_err(|error| unreadable(&error))?;
        let said = Said { tokens, ..said(line)? };
        Ok(self.store.record_said(&self.id, &[said], None, None)?)
    }

    /// Keeps what followed an answer. `room`: where a call was made that may have changed the tree.
    pub(super) fn follow(
        &mut self,
        lines: &[Line],
        room: Option<&mut Room>,
        submitted: Option<&str>,
    ) -> Result<(), Error> {
        let lines = lines.iter().map(said).collect::<Result<Vec<_>, _>>()?;
        let Some(room) = room else {
            return Ok(self.store.record_said(&self.id, &lines, None, submitted)?);
        };
        let tree = room.changes()?.changes;
        let digest = tree.digest();
        let files = (digest != self.kept).then(|| files_of(&tree));
        let after = After { shell: room.shell(), files: files.as_deref() };
        self.store.record_said(&self.id, &lines, Some(after), submitted)?;
        self.kept = digest;
        Ok(())
    }

    pub(super) fn end(&self, ending: &super::Ending) -> Result<(), Error> {
        let ending = serde_json::to_string(ending).map_err(|error| unreadable(&error))?;
        Ok(self.store.end_sitting(&self.id, &ending)?)
    }
}

/// A tree's changes as rows.
pub fn files_of(tree: &Changes) -> Vec<PlayFile> {
    let row = |(path, file): (&RelPath, Option<&File>)| PlayFile {
        path: path.as_str().to_owned(),
        executable: file.is_some_and(|file| file.executable),
        content: file.map(|file| file.bytes.to_vec()),
    };
    tree.iter().map(row).collect()
}

/// What [`files_of`] made rows of.
pub fn tree_of(files: Vec<PlayFile>) -> Result<Changes, harness::Error> {
    let entry = |PlayFile { path, executable, content }: PlayFile| {
        let path = RelPath::parse(path.as_bytes()).map_err(|refusal| {
            harness::Error::Instrument(format!("a kept path is refused: {refusal}"))
        })?;
        Ok((path, content.map(|bytes| File { bytes: bytes.into(), executable })))
    };
    files.into_iter().map(entry).collect()
}

fn said(line: &Line) -> Result<Said, Error> {
    let json = |value: &Message| serde_json::to_string(value).map_err(|error| unreadable(&error));
    let finish = line.finish.as_ref().map(serde_json::to_string).transpose();
    let Spent {
        prompt_tokens, completion_tokens, cached_tokens, estimated, money, seconds, ..
    } = line.spent;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds")]
    let millis = (seconds * 1000.0).round().max(0.0) as u64;
    Ok(Said {
        kind: line.kind.name().to_owned(),
        message: json(&line.message)?,
        finish: finish.map_err(|error| unreadable(&error))?,
        prompt_tokens,
        completion_tokens,
        cached_tokens,
        estimated: estimated > 0,
        money,
        millis,
        tokens: None,
    })
}

fn line(said: &Said) -> Result<Line, Error> {
    let kind = Kind::of(&said.kind);
    let finish = said.finish.as_deref().map(serde_json::from_str).transpose();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
    let seconds = said.millis as f64 / 1000.0;
    Ok(Line {
        kind,
        message: serde_json::from_str(&said.message).map_err(|error| unreadable(&error))?,
        finish: finish.map_err(|error| unreadable(&error))?,
        spent: Spent {
            requests: u64::from(kind == Kind::Reply),
            prompt_tokens: said.prompt_tokens,
            completion_tokens: said.completion_tokens,
            cached_tokens: said.cached_tokens,
            estimated: u64::from(said.estimated),
            money: said.money,
            seconds,
        },
    })
}

fn unreadable(error: &serde_json::Error) -> Error {
    harness::Error::Instrument(format!("a kept message cannot be read or written: {error}")).into()
}
