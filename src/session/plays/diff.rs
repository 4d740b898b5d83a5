//! What a player changed, as patches.

use crate::diff::Patch;
use crate::tree::{Changes, Overlaid, RelPath, Tree};
use crate::workspace::Products;
use std::collections::BTreeSet;

/// A tree without what work in it leaves behind, and the paths of that.
pub(super) struct Sources {
    /// Over the base.
    pub(super) changes: Changes,
    pub(super) left_out: Vec<RelPath>,
}

impl Sources {
    /// `shown`: what the player was given over the base. Only new files can be products.
    pub(super) fn of(base: &dyn Tree, shown: &Changes, now: &Changes) -> Self {
        let products = Products::of(&Overlaid { base, changes: shown });
        let before = Overlaid { base, changes: shown };
        let mut sources = Self { changes: Changes::new(), left_out: Vec::new() };
        for (path, file) in now.iter() {
            match file {
                Some(_) if !before.has(path) && products.has(path) => {
                    sources.left_out.push(path.clone());
                }
                Some(file) => sources.changes.write(path.clone(), file.clone()),
                None => sources.changes.delete(path.clone()),
            }
        }
        sources
    }

    /// The patch from what was shown to this tree.
    pub(super) fn since(&self, base: &dyn Tree, shown: &Changes) -> Vec<u8> {
        let mut now = self.changes.clone();
        // What is no change of the base any longer is the base's file again.
        for path in shown.paths().filter(|path| self.changes.get(path).is_none()) {
            match base.read(path) {
                Some(file) => now.write(path.clone(), file),
                None => now.delete(path.clone()),
            }
        }
        Patch::between(&Overlaid { base, changes: shown }, &now).to_bytes()
    }

    /// The changes of test files, and all others.
    pub(super) fn split(&self, tests: &BTreeSet<RelPath>) -> (Changes, Changes) {
        let entries = self.changes.iter().map(|(path, file)| (path.clone(), file.cloned()));
        let (tests, code): (Vec<_>, Vec<_>) = entries.partition(|(path, _)| tests.contains(path));
        (tests.into_iter().collect(), code.into_iter().collect())
    }
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

    #[track_caller]
    fn check(now: &[(&str, Option<&str>)], expect: &str) {
        let base = tree(&[("a.py", Some("1\n")), ("b.py", Some("1\n")), ("x.log", Some("1\n"))]);
        let shown = tree(&[("a.py", Some("2\n")), ("b.py", None)]);
        let sources = Sources::of(&base, &shown, &tree(now));
        let patch = String::from_utf8(sources.since(&base, &shown)).expect("a patch of text");
        let told: Vec<&str> = patch
            .lines()
            .filter(|line| line.starts_with(['+', '-']) && !line.starts_with("--- a"))
            .collect();
        assert_eq!(told.join(" "), expect);
    }

    #[test]
    fn a_patch_leads_from_what_was_shown_to_what_is_there_now() {
        check(&[("a.py", Some("2\n")), ("b.py", None)], "");
        check(&[("a.py", Some("3\n")), ("b.py", None)], "+++ b/a.py -2 +3");
        check(&[("b.py", None)], "+++ b/a.py -2 +1");
        check(&[("a.py", Some("2\n"))], "--- /dev/null +++ b/b.py +1");
        check(&[("a.py", None), ("b.py", None)], "+++ /dev/null -2");
    }

    #[test]
    fn new_products_are_left_out_and_old_files_never() {
        let base = tree(&[(".gitignore", Some("*.log\n")), ("x.log", Some("1\n"))]);
        let now = tree(&[("x.log", Some("2\n")), ("y.log", Some("1\n")), ("n.py", Some("1\n"))]);
        let sources = Sources::of(&base, &Changes::new(), &now);
        assert_eq!(sources.left_out.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["y.log"]);
        assert_eq!(sources.changes.len(), 2);
    }
}
