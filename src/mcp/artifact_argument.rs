//! How a tool's caller names an artifact: three optional arguments, exactly one of them given.

use crate::session::{ArtifactRef, Error, Repository};
use std::collections::BTreeMap;

/// Taken apart rather than nested, because flat schemas are what every client takes.
pub(super) fn reference(
    id: Option<String>,
    folder: Option<String>,
    files: Option<BTreeMap<String, String>>,
) -> Result<ArtifactRef, Error> {
    match (id, folder, files) {
        (Some(id), None, None) => Ok(ArtifactRef::Id(id.to_ascii_lowercase())),
        (None, Some(folder), None) => Ok(ArtifactRef::Folder(folder.into())),
        (None, None, Some(files)) => {
            let files = files.into_iter().map(|(name, content)| (name, content.into())).collect();
            Ok(ArtifactRef::Inline(serde_json::Value::Object(files)))
        }
        _ => Err(Error::Usage(
            "give exactly one of artifact_id, artifact_folder and artifact_files".to_owned(),
        )),
    }
}

/// The repository of a call; `None` is the server's working directory.
pub(super) fn repository(repo: Option<String>) -> Repository {
    Repository { dir: repo.map(Into::into), ..Repository::default() }
}
