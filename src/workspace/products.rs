//! What work in a tree leaves behind that no patch of it should hold: caches, byte code, build output.

use super::skip;
use crate::tree::{RelPath, Tree};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::Path;

/// Tells products of a tree from its sources, by their names and by the tree's own `.gitignore` files.
pub struct Products {
    /// Directory (empty for the root) and its rules, the deepest first.
    rules: Vec<(String, Gitignore)>,
}

impl Products {
    pub fn of(tree: &dyn Tree) -> Self {
        let mut rules: Vec<(String, Gitignore)> = tree
            .paths()
            .into_iter()
            .filter(|path| path.file_name() == ".gitignore")
            .filter_map(|path| {
                let text = tree.read(&path)?;
                let directory = path.parent().to_owned();
                let mut builder = GitignoreBuilder::new(Path::new("/").join(&directory));
                for line in String::from_utf8_lossy(&text.bytes).lines() {
                    // A line that is no pattern ignores nothing, as in git.
                    builder.add_line(None, line).ok();
                }
                Some((directory, builder.build().ok()?))
            })
            .collect();
        rules.sort_by_key(|(directory, _)| std::cmp::Reverse(directory.len()));
        Self { rules }
    }

    pub fn has(&self, path: &RelPath) -> bool {
        let named = path
            .as_str()
            .split('/')
            .any(|part| skip::never(part.as_bytes()) || skip::CACHES.contains(&part));
        named || self.ignored(path)
    }

    fn ignored(&self, path: &RelPath) -> bool {
        let whole = Path::new("/").join(path.as_str());
        let above = |directory: &str| {
            directory.is_empty() || path.as_str().starts_with(&format!("{directory}/"))
        };
        let mut rules = self.rules.iter().filter(|(directory, _)| above(directory));
        rules
            .find_map(|(_, rules)| match rules.matched_path_or_any_parents(&whole, false) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            })
            .unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Changes, File};

    #[track_caller]
    fn check(path: &str, expect: bool) {
        let parse = |path: &str| RelPath::parse(path.as_bytes()).expect(path);
        let mut tree = Changes::new();
        tree.write(parse(".gitignore"), File::plain(&b"*.log\n/build/\n!keep.log\n"[..]));
        tree.write(parse("docs/.gitignore"), File::plain(&b"out\n!*.log\n"[..]));
        assert_eq!(Products::of(&tree).has(&parse(path)), expect, "{path}");
    }

    #[test]
    fn what_the_tree_ignores_and_what_tools_leave_is_a_product() {
        check("src/a.py", false);
        check("src/__pycache__/a.cpython-311.pyc", true);
        check(".pytest_cache/README.md", true);
        check("a.log", true);
        check("keep.log", false);
        check("build/x/y.o", true);
        check("src/build/x", false);
        check("docs/out/index.html", true);
        check("docs/a.log", false);
        check("other/out/index.html", false);
    }
}
