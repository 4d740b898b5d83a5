//! How a tool's caller names an artifact: three optional arguments, exactly one of them given.

use crate::session::{ArtifactRef, Error};
use serde_json::{Map, Value};

/// Flattened into a tool's arguments, because flat schemas are what every client takes.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(clippy::struct_field_names, reason = "a field's name is its argument's name")]
pub(super) struct ArtifactArguments {
    /// The id of an artifact of this repository, or the first 8 or more characters of it.
    #[serde(default)]
    #[schemars(with = "String")]
    artifact_id: Option<String>,
    /// Path of a folder with the artifact's five files.
    #[serde(default)]
    #[schemars(with = "String")]
    artifact_folder: Option<String>,
    /// The artifact itself: file name (`bug_inject.diff`, `test_weaken.diff`, `test_script.sh`,
    /// `test_parser.py`, `test_files.txt`) to content: a text, or `{"base64": ".."}` for bytes
    /// that are not UTF-8.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    artifact_files: Option<Map<String, Value>>,
}

impl ArtifactArguments {
    pub(super) fn is_given(&self) -> bool {
        self.artifact_id.is_some()
            || self.artifact_folder.is_some()
            || self.artifact_files.is_some()
    }

    pub(super) fn reference(self) -> Result<ArtifactRef, Error> {
        match (self.artifact_id, self.artifact_folder, self.artifact_files) {
            (Some(id), None, None) => Ok(ArtifactRef::Id(id.to_ascii_lowercase())),
            (None, Some(folder), None) => Ok(ArtifactRef::Folder(folder.into())),
            (None, None, Some(files)) => Ok(ArtifactRef::Inline(Value::Object(files))),
            _ => Err(Error::Usage(
                "give exactly one of artifact_id, artifact_folder and artifact_files".to_owned(),
            )),
        }
    }
}
