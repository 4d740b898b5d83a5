//! The files of one commit, as values: read with libgit2, checked out nowhere.

use super::error::Error;
use super::git;
use crate::tree::{Changes, File, RelPath};
use git2::{ObjectType, TreeWalkMode, TreeWalkResult};
use std::path::Path;

const EXECUTABLE: i32 = 0o100_755;
const FILE: i32 = 0o100_644;

/// Every regular file of a commit (named as git names commits); links and submodules are left out. `None`
/// where the directory is no repository or the commit is not in it.
pub fn files_at(dir: &Path, commit: &str) -> Result<Option<Changes>, Error> {
    let Some(repository) = git::at(dir)? else { return Ok(None) };
    let git = repository.git();
    let Ok(tree) = git.revparse_single(commit).and_then(|found| found.peel_to_tree()) else {
        return Ok(None);
    };
    let mut files = Changes::new();
    let mut refused = None;
    let walked = tree.walk(TreeWalkMode::PreOrder, |parent, entry| {
        let mode = entry.filemode();
        if entry.kind() != Some(ObjectType::Blob) || ![FILE, EXECUTABLE].contains(&mode) {
            return TreeWalkResult::Ok;
        }
        let name = [parent.as_bytes(), entry.name_bytes()].concat();
        let read = RelPath::parse(&name).ok().zip(git.find_blob(entry.id()).ok());
        let Some((path, blob)) = read else {
            refused.get_or_insert(name);
            return TreeWalkResult::Abort;
        };
        let executable = mode == EXECUTABLE;
        files.write(path, File { bytes: blob.content().into(), executable });
        TreeWalkResult::Ok
    });
    if let Some(name) = refused {
        let reason = format!("{} of {commit} cannot be read", String::from_utf8_lossy(&name));
        return Err(Error::Git { dir: dir.to_path_buf(), reason });
    }
    match walked {
        Ok(()) => Ok(Some(files)),
        Err(error) => {
            let reason = error.message().to_owned();
            Err(Error::Git { dir: dir.to_path_buf(), reason })
        }
    }
}
