//! What a player changed that is worth a patch.

use crate::diff::Patch;
use crate::grading::Task;
use crate::tree::{Changes, Overlaid, RelPath, Tree};
use crate::workspace::Products;
use std::collections::BTreeSet;

/// A tree without what work in it leaves behind, and the paths of that.
pub struct Sources {
    /// Over what was shown.
    pub changes: Changes,
    pub left_out: Vec<RelPath>,
}

impl Sources {
    /// `shown`: what the player was given, which `now` changes. Only new files can be products.
    pub fn of(shown: &dyn Tree, now: &Changes) -> Self {
        let products = Products::of(shown);
        let mut sources = Self { changes: Changes::new(), left_out: Vec::new() };
        for (path, file) in now.iter() {
            match file {
                Some(_) if !shown.has(path) && products.has(path) => {
                    sources.left_out.push(path.clone());
                }
                Some(file) => sources.changes.write(path.clone(), file.clone()),
                None => sources.changes.delete(path.clone()),
            }
        }
        sources
    }

    /// The changes of test files, and all others.
    pub fn split(&self, tests: &BTreeSet<RelPath>) -> (Changes, Changes) {
        let entries = self.changes.iter().map(|(path, file)| (path.clone(), file.cloned()));
        let (tests, code): (Vec<_>, Vec<_>) = entries.partition(|(path, _)| tests.contains(path));
        (tests.into_iter().collect(), code.into_iter().collect())
    }
}

/// A solver's patch against the tree that it was shown, and the paths that are no part of it. `now`: what it
/// changed in that tree.
pub fn fix_of(base: &dyn Tree, task: &Task, now: &Changes) -> (Vec<u8>, Vec<RelPath>) {
    let shown = Overlaid { base, changes: &task.changes };
    let sources = Sources::of(&shown, now);
    (Patch::between(&shown, &sources.changes).to_bytes(), sources.left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    fn tree(files: &[(&str, Option<&str>)]) -> Changes {
        let parse = |path: &str| RelPath::parse(path.as_bytes()).expect(path);
        let file = |text: &str| File::plain(text.as_bytes());
        files.iter().map(|(path, text)| (parse(path), text.map(file))).collect()
    }

    #[test]
    fn new_products_are_left_out_and_old_files_never() {
        let base = tree(&[(".gitignore", Some("*.log\n")), ("x.log", Some("1\n"))]);
        let now = tree(&[("x.log", Some("2\n")), ("y.log", Some("1\n")), ("n.py", Some("1\n"))]);
        let sources = Sources::of(&base, &now);
        assert_eq!(sources.left_out.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["y.log"]);
        assert_eq!(sources.changes.len(), 2);
    }
}
