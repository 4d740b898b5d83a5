//! Refuses a view or a step that could not mean what it says, before anything starts.

use super::{Error, Step, View};
use std::path::{Component, Path};

/// Directories that the sandbox makes itself: nothing of the caller's can be put in their place.
const OURS: &[&str] = &["/", "/tmp", "/dev", "/dev/shm", "/proc", "/sys", "/etc", "/home", "/usr"];

pub(super) fn view(view: &View) -> Result<(), Error> {
    if view.layers.is_empty() {
        return Err(Error::View("it has no layer".into()));
    }
    let sources = view.mounts.iter().map(|mount| &mount.source).chain(&view.layers);
    if let Some(relative) = sources.into_iter().find(|source| !source.is_absolute()) {
        return Err(Error::View(format!("{} is not an absolute path", relative.display())));
    }
    let targets = view.mounts.iter().map(|mount| &mount.target);
    for target in targets.chain([&view.root]) {
        let shown = target.display();
        if !is_plain_absolute(target) {
            return Err(Error::View(format!("{shown} is not an absolute path without `..`")));
        }
        if OURS.iter().any(|ours| target == Path::new(ours)) || target.starts_with("/proc") {
            return Err(Error::View(format!(
                "nothing can be shown at {shown}; move the repository to a directory of its own"
            )));
        }
    }
    Ok(())
}

pub(super) fn step(step: &Step) -> Result<(), Error> {
    if step.argv.is_empty() {
        return Err(Error::View("a step has no command".into()));
    }
    if step.cwd.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(Error::View(format!(
            "the step's directory {} leaves the tree",
            step.cwd.display()
        )));
    }
    for path in step.files.iter().map(|(path, ..)| path).chain(&step.collect) {
        if !is_plain_absolute(path) {
            return Err(Error::View(format!(
                "{} is not an absolute path without `..`",
                path.display()
            )));
        }
    }
    Ok(())
}

fn is_plain_absolute(path: &Path) -> bool {
    path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}
