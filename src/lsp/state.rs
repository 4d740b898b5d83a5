//! What the server knows: folders, documents, bugs, jobs. Changed under one lock, never held across an await.

use super::document::Document;
use super::profile::Profile;
use crate::diff::Patch;
use crate::session::{Bug, PracticeAnswer, PracticePlace, Repository, Stamp, UnnoticedLine};
use crate::tree::RelPath;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct State {
    pub(super) profile: Profile,
    pub(super) settings: Settings,
    /// Workspace folders, as the client gave them.
    pub(super) folders: Vec<PathBuf>,
    /// By path.
    pub(super) documents: BTreeMap<PathBuf, Document>,
    /// By folder.
    pub(super) known: BTreeMap<PathBuf, Arc<Known>>,
    /// Practice trees that documents lie in.
    pub(super) practices: BTreeMap<PathBuf, PracticePlace>,
    /// Jobs that are waited for, by their id.
    pub(super) running: BTreeMap<String, Running>,
    /// `shutdown` was asked for.
    pub(super) leaving: bool,
}

/// A job with the token of its progress.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) repository: Repository,
    pub(super) token: String,
}

/// What of a folder is in the store.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) stamp: Stamp,
    /// Those that may be shown, newest first.
    pub(super) bugs: Vec<KnownBug>,
    /// Of the tree as it is; empty where they are not asked for.
    pub(super) unnoticed: Vec<KnownEdit>,
    /// Of a practice tree: how its round stands.
    pub(super) practice: Option<PracticeAnswer>,
}

#[derive(Debug)]
pub(super) struct KnownBug {
    pub(super) bug: Bug,
    pub(super) patch: Patch,
    pub(super) weakening: Patch,
}

#[derive(Debug)]
pub(super) struct KnownEdit {
    pub(super) edit: UnnoticedLine,
    pub(super) patch: Patch,
}

/// What the person wants to see; `ssrMcp.*` of the client's settings.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Lenses above tests and functions: bugs that only a test catches, open bugs, the wrong-book.
    pub code_lenses: bool,
    /// Hints on lines whose change no test notices.
    pub unnoticed_hints: bool,
    /// Most such hints in a file.
    pub most_hints: usize,
    /// Show the rating of a bug behind the function that it is in.
    pub inlay_hints: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { code_lenses: true, unnoticed_hints: false, most_hints: 20, inlay_hints: true }
    }
}

impl Settings {
    /// From what a client sends, which may lie below `ssrMcp`. What does not fit leaves the defaults.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let own = value.get("ssrMcp").unwrap_or(value);
        own.is_object().then(|| serde_json::from_value(own.clone()).ok())?
    }
}

/// A file's place: the folder it is played in, and its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) folder: PathBuf,
    pub(super) file: RelPath,
}

impl State {
    /// The innermost folder that holds the path, a practice tree being one; outside of all folders the directory around it that is under
    /// version control, or its own.
    pub(super) fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        if let Some(tree) = self.practices.keys().find(|tree| path.starts_with(tree)) {
            return Some(tree.clone());
        }
        let inside = self.folders.iter().filter(|folder| path.starts_with(folder));
        if let Some(folder) = inside.max_by_key(|folder| folder.components().count()) {
            return Some(folder.clone());
        }
        let directory = path.parent()?;
        let versioned = directory.ancestors().find(|above| above.join(".git").exists());
        Some(versioned.unwrap_or(directory).to_owned())
    }

    pub(super) fn home(&self, path: &Path) -> Option<Home> {
        let folder = self.folder_of(path)?;
        let inside = path.strip_prefix(&folder).ok()?;
        let file = RelPath::parse(inside.to_str()?.as_bytes()).ok()?;
        Some(Home { folder, file })
    }

    pub(super) fn known(&self, folder: &Path) -> Arc<Known> {
        self.known.get(folder).cloned().unwrap_or_default()
    }

    /// Open documents of a folder, by their names there.
    pub(super) fn documents_in(&self, folder: &Path) -> BTreeMap<RelPath, Document> {
        let inside = self.documents.iter().filter_map(|(path, document)| {
            let home = self.home(path)?;
            (home.folder == folder).then(|| (home.file, document.clone()))
        });
        inside.collect()
    }

    /// The folders that something is shown of: those that the client opened, and those of its documents.
    pub(super) fn all_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.folders.clone();
        folders.extend(self.documents.keys().filter_map(|path| self.folder_of(path)));
        folders.sort();
        folders.dedup();
        folders
    }
}

impl State {
    /// The same with practice trees for what they were made of.
    pub(super) fn repositories(&self) -> Vec<PathBuf> {
        let root = |folder| self.practices.get(&folder).map_or(folder, |place| place.root.clone());
        let mut roots: Vec<PathBuf> = self.all_folders().into_iter().map(root).collect();
        roots.sort();
        roots.dedup();
        roots
    }
}

impl Known {
    /// Equal where a client is shown the same.
    pub(super) fn shows(&self) -> Vec<(String, [usize; 3])> {
        let bugs = self.bugs.iter().map(|KnownBug { bug, .. }| {
            (bug.artifact.clone(), [bug.attempts, bug.solved, bug.wrong])
        });
        let round = self.practice.iter().map(|round| {
            let over = usize::from(round.state != "open");
            (round.practice.clone(), [round.hints.len(), over, round.broken.len()])
        });
        let edits = self.unnoticed.iter().map(|known| (known.edit.edit.id.clone(), [0; 3]));
        bugs.chain(edits).chain(round).collect()
    }

    pub(super) fn bug(&self, artifact: &str) -> Option<&KnownBug> {
        self.bugs.iter().find(|known| known.bug.artifact == artifact)
    }
}

pub(super) fn repository(folder: &Path) -> Repository {
    Repository { dir: Some(folder.to_owned()), ..Repository::default() }
}
