//! The tools as a player calls them: paths as text, and what is shown of a result.

use super::{Error, LARGEST, Place, Ran, Room, Trouble, numbered, replaced};
use crate::sandbox::{Cancel, End};
use crate::tree::File;
use std::time::Duration;

/// Lines shown around a replacement.
const AROUND: usize = 4;

/// What a replacement did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub place: Place,
    /// The line, from 1, on which the new text begins.
    pub line: usize,
    /// The lines around it, with their numbers.
    pub text: String,
}

/// What a tool did, or why it did nothing.
type Worked<T> = Result<Result<T, Trouble>, Error>;

impl Room {
    /// [`bash`](Room::bash), but for a command that is no command any more.
    pub fn command(&mut self, command: &str, limit: Duration, cancel: &Cancel) -> Worked<Ran> {
        if command.len() as u64 > LARGEST {
            return Ok(Err(Trouble::TooLarge));
        }
        self.bash(command, limit, cancel).map(Ok)
    }

    /// Replaces the one occurrence of a text in a file.
    pub fn edit_at(
        &mut self,
        path: &str,
        search: &str,
        replace: &str,
        cancel: &Cancel,
    ) -> Worked<Edited> {
        let (place, file) = match self.read_at(path, cancel)? {
            Ok(found) => found,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let done = match replaced(&place.to_string(), &file.bytes, search, replace) {
            Ok(done) => done,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let last = done.line + replace.lines().count() + AROUND;
        let (text, _) = numbered(&done.bytes, done.line.saturating_sub(AROUND)..=last);
        let file = File { bytes: done.bytes.into(), ..file };
        let written = self.write(&place, file, cancel)?;
        Ok(written.map(|()| Edited { place, line: done.line, text }))
    }

    /// Makes a file that is not there.
    pub fn create_at(&mut self, path: &str, content: &str, cancel: &Cancel) -> Worked<Place> {
        let place = match Place::parse(self.root(), path) {
            Ok(place) => place,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let made = self.create(&place, content.as_bytes(), cancel)?;
        Ok(made.map(|()| place))
    }

    pub fn read_at(&mut self, path: &str, cancel: &Cancel) -> Worked<(Place, File)> {
        let place = match Place::parse(self.root(), path) {
            Ok(place) => place,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let file = self.read(&place, cancel)?;
        Ok(file.map(|file| (place, file)))
    }
}

/// How a command ended, for who gave it.
pub fn in_words(end: End, limit: Duration) -> String {
    match end {
        End::Exited(_) => "exited".to_owned(),
        End::Signalled(signal) => format!("ended by signal {signal}"),
        End::TimedOut => {
            format!("killed after {} s, with all that it had started", limit.as_secs_f64())
        }
        End::OutOfMemory => "killed: it took too much memory".to_owned(),
        End::OutOfDisk => "killed: it wrote more than the sandbox holds".to_owned(),
        End::OutputLimit => "killed: it printed too much".to_owned(),
        End::Cancelled => "cancelled".to_owned(),
    }
}
