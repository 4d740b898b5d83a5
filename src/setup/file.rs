//! One file of the user's: read, backed up, replaced in one step.
//!
//! A link is followed to its target. What replaces a file has its mode and owner. Whoever reads the
//! file sees the old text or the new one.

use super::Error;
use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// Clients keep histories in these files, too; more than this is none of them.
const LARGEST: u64 = 64 << 20;
const BACKUP: &str = "before-ssr-mcp";
/// Backups of different contents that are kept beside a file.
const BACKUPS: usize = 1000;

pub(super) struct File {
    /// Where links lead to.
    path: PathBuf,
    /// `None` where there is no file.
    metadata: Option<Metadata>,
    text: String,
}

impl File {
    /// A file that is not there reads as an empty text.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let unreadable =
            |reason: String| Error::Unreadable { path: path.display().to_string(), reason };
        match path.symlink_metadata() {
            Ok(_) => {}
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(Self { path: path.to_owned(), metadata: None, text: String::new() });
            }
            Err(error) => return Err(unreadable(error.to_string())),
        }
        let target = path.canonicalize().map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                unreadable("it is a link to a file that is not there".to_owned())
            }
            _ => unreadable(error.to_string()),
        })?;
        let metadata = target.metadata().map_err(|error| unreadable(error.to_string()))?;
        if !metadata.is_file() {
            return Err(unreadable("it is not a regular file".to_owned()));
        }
        if metadata.len() > LARGEST {
            return Err(unreadable(format!("it has {} bytes", metadata.len())));
        }
        let bytes = fs::read(&target).map_err(|error| unreadable(error.to_string()))?;
        let text =
            String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
        Ok(Self { path: target, metadata: Some(metadata), text })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Writes the new text and gives the backup of the old one.
    pub(super) fn replace(&self, text: &str) -> Result<Option<PathBuf>, Error> {
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(directory).map_err(|error| self.unwritable(&error))?;
        let backup = self.back_up()?;
        self.replace_once(text)?;
        Ok(backup)
    }

    /// The same of a file whose backup is made.
    pub(super) fn replace_once(&self, text: &str) -> Result<(), Error> {
        let new = beside(&self.path, &format!("new-{}", std::process::id()));
        let written = self.write_new(&new, text).map_err(|error| self.unwritable(&error));
        let replaced = written
            .and_then(|()| self.unchanged())
            .and_then(|()| fs::rename(&new, &self.path).map_err(|error| self.unwritable(&error)));
        if replaced.is_err() {
            fs::remove_file(&new).unwrap_or_default();
        }
        replaced
    }

    pub(super) fn delete(&self) -> Result<Option<PathBuf>, Error> {
        let backup = self.back_up()?;
        self.unchanged()?;
        fs::remove_file(&self.path).map_err(|error| self.unwritable(&error))?;
        Ok(backup)
    }

    /// The old text under another name beside the file; one that holds it already will do.
    pub(super) fn back_up(&self) -> Result<Option<PathBuf>, Error> {
        if self.metadata.is_none() {
            return Ok(None);
        }
        for number in 0..BACKUPS {
            let extension =
                if number == 0 { BACKUP.to_owned() } else { format!("{BACKUP}.{number}") };
            let backup = beside(&self.path, &extension);
            match self.write_new(&backup, &self.text) {
                Ok(()) => return Ok(Some(backup)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if fs::read(&backup).is_ok_and(|there| there == self.text.as_bytes()) {
                        return Ok(Some(backup));
                    }
                }
                Err(error) => return Err(self.unwritable(&error)),
            }
        }
        let reason = format!("{BACKUPS} backups are beside it; remove some");
        Err(Error::Unwritable { path: self.path.display().to_string(), reason })
    }

    /// A file that was not there before, with the mode and owner of the one that is read. Never more
    /// open than that, from its first byte on.
    fn write_new(&self, path: &Path, text: &str) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if self.metadata.is_some() {
            options.mode(0o600);
        }
        let mut file = options.open(path)?;
        let written = self.fill(&mut file, text);
        if written.is_err() {
            fs::remove_file(path).unwrap_or_default();
        }
        written
    }

    fn fill(&self, file: &mut fs::File, text: &str) -> std::io::Result<()> {
        file.write_all(text.as_bytes())?;
        if let Some(metadata) = &self.metadata {
            let made = file.metadata()?;
            if (made.uid(), made.gid()) != (metadata.uid(), metadata.gid()) {
                fchown(&*file, Some(metadata.uid()), Some(metadata.gid()))?;
            }
            file.set_permissions(Permissions::from_mode(metadata.mode() & 0o7777))?;
        }
        file.sync_all()
    }

    /// Clients write these files, too, and may have done so since we read.
    fn unchanged(&self) -> Result<(), Error> {
        let same = match (fs::read(&self.path), &self.metadata) {
            (Ok(now), Some(_)) => now == self.text.as_bytes(),
            (Err(error), None) => error.kind() == ErrorKind::NotFound,
            _ => false,
        };
        if same { Ok(()) } else { Err(Error::Changed { path: self.path.display().to_string() }) }
    }

    fn unwritable(&self, error: &std::io::Error) -> Error {
        Error::Unwritable { path: self.path.display().to_string(), reason: error.to_string() }
    }
}

fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}
