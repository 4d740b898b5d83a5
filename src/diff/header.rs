//! File headers: what becomes of which file, checked against the policy.

use super::name::{self, Names};
use super::parse::Cursor;
use super::refusal::HeaderFault;
use super::{Kind, Mode, ModeChange, Refusal};
use crate::tree::RelPath;

/// A header's verdict, and whether `---` and `+++` promised hunks.
pub(super) struct Header {
    pub(super) line: usize,
    pub(super) kind: Kind,
    pub(super) promises_hunks: bool,
}

/// Names as `---` and `+++` give them; `None` is `/dev/null`.
type Sides = (Option<Vec<u8>>, Option<Vec<u8>>);

/// A value and the patch line it stands on.
type Noted = Option<(usize, Vec<u8>)>;

/// What the lines after `diff --git` say.
#[derive(Default)]
struct Extended {
    old_mode: Noted,
    new_mode: Noted,
    added: Noted,
    deleted: Noted,
    rename_from: Noted,
    rename_to: Noted,
    copied: Noted,
    index: Noted,
    ignored: Noted,
}

/// Reads a header that starts with `diff --git`.
pub(super) fn git(cursor: &mut Cursor, names: &[u8]) -> Result<Header, Refusal> {
    let line = cursor.number();
    let fault = |reason| Refusal::Header { line, reason };
    let names = name::pair(names).map_err(fault)?;
    cursor.advance();
    let extended = Extended::read(cursor)?;
    if let Some((line, _)) = extended.copied {
        return Err(Refusal::Copy { line });
    }
    let sides = match cursor.header() {
        Some(text) if text.starts_with(b"--- ") => Some(sides(cursor)?),
        _ => None,
    };
    let kind = match (&extended.rename_from, &extended.rename_to) {
        (None, None) => extended.unrenamed(line, names.as_ref(), sides.as_ref())?,
        (Some((_, from)), Some((_, to))) => extended.renamed(line, from, to, sides.as_ref())?,
        _ => return Err(fault(HeaderFault::Contradiction)),
    };
    Ok(Header { line, kind, promises_hunks: sides.is_some() })
}

/// Reads a plain header: `---` and `+++`.
pub(super) fn plain(cursor: &mut Cursor) -> Result<Header, Refusal> {
    let line = cursor.number();
    let sides = sides(cursor)?;
    let kind = Extended::default().unrenamed(line, None, Some(&sides))?;
    Ok(Header { line, kind, promises_hunks: true })
}

fn sides(cursor: &mut Cursor) -> Result<Sides, Refusal> {
    let old = side(cursor, b"--- ")?;
    let new = side(cursor, b"+++ ")?;
    Ok((old, new))
}

fn side(cursor: &mut Cursor, marker: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
    let fault = |reason| Refusal::Header { line: cursor.number(), reason };
    let text = cursor.header().and_then(|text| text.strip_prefix(marker));
    let text = text.ok_or_else(|| fault(HeaderFault::NoNewName))?;
    let name = name::whole(text).map_err(fault)?;
    let absent = name == b"/dev/null";
    cursor.advance();
    Ok((!absent).then_some(name))
}

impl Extended {
    fn read(cursor: &mut Cursor) -> Result<Self, Refusal> {
        let mut read = Self::default();
        while let Some(text) = cursor.header() {
            let line = cursor.number();
            let Some((slot, value)) = read.slot(text) else { break };
            if slot.replace((line, value)).is_some() {
                return Err(Refusal::Header { line, reason: HeaderFault::Repeated });
            }
            cursor.advance();
        }
        for (line, path) in [&mut read.rename_from, &mut read.rename_to].into_iter().flatten() {
            *path = name::whole(path).map_err(|reason| Refusal::Header { line: *line, reason })?;
        }
        Ok(read)
    }

    fn slot(&mut self, text: &[u8]) -> Option<(&mut Noted, Vec<u8>)> {
        let slots: [(&[u8], &mut Noted); 8] = [
            (b"old mode ", &mut self.old_mode),
            (b"new mode ", &mut self.new_mode),
            (b"new file mode ", &mut self.added),
            (b"deleted file mode ", &mut self.deleted),
            (b"rename from ", &mut self.rename_from),
            (b"rename to ", &mut self.rename_to),
            (b"copy from ", &mut self.copied),
            (b"index ", &mut self.index),
        ];
        for (word, slot) in slots {
            if let Some(value) = text.strip_prefix(word) {
                return Some((slot, value.to_vec()));
            }
        }
        let known = [&b"similarity index "[..], b"dissimilarity index ", b"copy to "];
        if known.iter().any(|word| text.starts_with(word)) {
            self.ignored = None;
            return Some((&mut self.ignored, Vec::new()));
        }
        None
    }

    fn renamed(
        &self,
        line: usize,
        from: &[u8],
        to: &[u8],
        sides: Option<&Sides>,
    ) -> Result<Kind, Refusal> {
        let agree = match sides {
            None => true,
            Some((Some(old), Some(new))) => {
                name::stripped(old, new) == (from, to)
                    || (old.as_slice(), new.as_slice()) == (from, to)
            }
            Some(_) => false,
        };
        if !agree || from == to || self.added.is_some() || self.deleted.is_some() {
            return Err(Refusal::Header { line, reason: HeaderFault::Contradiction });
        }
        let (from, to) = (path(line, from)?, path(line, to)?);
        let modes = self.mode_change(line, &to)?;
        Ok(Kind::Renamed { from, to, modes })
    }

    fn unrenamed(
        &self,
        line: usize,
        names: Option<&Names>,
        sides: Option<&Sides>,
    ) -> Result<Kind, Refusal> {
        let fault = |reason| Refusal::Header { line, reason };
        let path = path(line, &one_name(names, sides).map_err(fault)?)?;
        let (is_added, is_deleted) = match sides {
            None => (self.added.is_some(), self.deleted.is_some()),
            Some((old, new)) => (old.is_none(), new.is_none()),
        };
        // `new file mode` needs `--- /dev/null`, and may only be missing beside it.
        let contradiction = (self.added.is_some() && (!is_added || self.deleted.is_some()))
            || (self.deleted.is_some() && !is_deleted)
            || ((is_added || is_deleted) && (self.old_mode.is_some() || self.new_mode.is_some()));
        if contradiction {
            return Err(fault(HeaderFault::Contradiction));
        }
        let modes = self.mode_change(line, &path)?;
        if is_added {
            return Ok(Kind::Added { mode: mode(self.added.as_ref(), &path)?, path });
        }
        if is_deleted {
            return Ok(Kind::Deleted { mode: mode(self.deleted.as_ref(), &path)?, path });
        }
        Ok(Kind::Modified { path, modes })
    }

    /// Also looks at the mode in `index 123..456 120000`: it is the only one where the target of a
    /// symbolic link changes.
    fn mode_change(&self, line: usize, path: &RelPath) -> Result<Option<ModeChange>, Refusal> {
        if let Some((line, value)) = &self.index
            && let Some(at) = value.iter().position(|byte| *byte == b' ')
        {
            mode(Some(&(*line, value[at + 1..].to_vec())), path)?;
        }
        let old = mode(self.old_mode.as_ref(), path)?;
        let new = mode(self.new_mode.as_ref(), path)?;
        match (old, new) {
            (None, None) => Ok(None),
            (Some(old), Some(new)) => Ok((old != new).then_some(ModeChange { old, new })),
            _ => Err(Refusal::Header { line, reason: HeaderFault::Contradiction }),
        }
    }
}

/// The one name of a file that keeps it.
fn one_name(names: Option<&Names>, sides: Option<&Sides>) -> Result<Vec<u8>, HeaderFault> {
    let from_git = match names {
        None => None,
        Some((old, new)) => match name::stripped(old, new) {
            (old, new) if old == new => Some(new.to_vec()),
            _ => return Err(HeaderFault::NamesDiffer),
        },
    };
    let Some(sides) = sides else { return from_git.ok_or(HeaderFault::NamesDiffer) };
    let agrees =
        |side: &Vec<u8>, git: fn(&Names) -> &Vec<u8>| names.is_none_or(|names| git(names) == side);
    match sides {
        (None, None) => Err(HeaderFault::NoFile),
        (Some(old), Some(new)) => match name::stripped(old, new) {
            (old, new) if old != new => Err(HeaderFault::NamesDiffer),
            (_, new) if from_git.as_deref().is_some_and(|git| git != new) => {
                Err(HeaderFault::Contradiction)
            }
            (_, new) => Ok(new.to_vec()),
        },
        (None, Some(new)) if !agrees(new, |names| &names.1) => Err(HeaderFault::Contradiction),
        (Some(old), None) if !agrees(old, |names| &names.0) => Err(HeaderFault::Contradiction),
        (None, Some(new)) => {
            Ok(from_git.unwrap_or_else(|| new.strip_prefix(b"b/").unwrap_or(new).to_vec()))
        }
        (Some(old), None) => {
            Ok(from_git.unwrap_or_else(|| old.strip_prefix(b"a/").unwrap_or(old).to_vec()))
        }
    }
}

fn path(line: usize, name: &[u8]) -> Result<RelPath, Refusal> {
    RelPath::parse(name).map_err(|reason| Refusal::Path {
        line,
        path: String::from_utf8_lossy(name).into_owned(),
        reason,
    })
}

fn mode(noted: Option<&(usize, Vec<u8>)>, path: &RelPath) -> Result<Option<Mode>, Refusal> {
    let Some((line, value)) = noted else { return Ok(None) };
    let (line, path) = (*line, path.to_string());
    match value.as_slice() {
        b"100644" => Ok(Some(Mode::Plain)),
        b"100755" => Ok(Some(Mode::Executable)),
        b"120000" => Err(Refusal::Symlink { line, path }),
        b"160000" => Err(Refusal::Gitlink { line, path }),
        other => {
            Err(Refusal::Mode { line, path, mode: String::from_utf8_lossy(other).into_owned() })
        }
    }
}
