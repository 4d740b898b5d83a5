//! How a caller names an artifact: by id, by folder, or by handing over its files.

use super::record::Record;
use super::{Error, Session, folder};
use crate::artifact::Artifact;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub enum ArtifactRef {
    /// The whole id, or the first characters of it (8 at least).
    Id(String),
    /// A folder with the five parts; relative to the working directory.
    Folder(PathBuf),
    /// File name to content.
    Inline(serde_json::Value),
}

impl ArtifactRef {
    /// What a person typed: an id where it can only be one, else a folder.
    pub fn typed(text: &str) -> Self {
        let hex = text.len() >= 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if hex && !std::path::Path::new(text).exists() {
            Self::Id(text.to_ascii_lowercase())
        } else {
            Self::Folder(text.into())
        }
    }
}

impl Session {
    /// `record` is asked for ids; `None` where no repository is in play.
    pub(super) fn artifact(
        &self,
        reference: &ArtifactRef,
        record: Option<&Record>,
    ) -> Result<Artifact, Error> {
        match reference {
            ArtifactRef::Folder(dir) => folder::read(&self.config().cwd.join(dir)),
            ArtifactRef::Inline(json) => Artifact::from_json(json)
                .map_err(|malformed| Error::usage(format!("the artifact: {malformed}"))),
            ArtifactRef::Id(id) => {
                let Some(record) = record else {
                    return Err(Error::usage(
                        "an artifact's id means something in one repository only; name the repository",
                    ));
                };
                record.artifact(id)
            }
        }
    }
}
