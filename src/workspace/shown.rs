//! A tree to be shown to a player: a base with changes, in which nothing tells what was changed. Laid over
//! a base, changed files would have other times, and other numbers of links, than the rest.

use super::Workspace;
use super::base::Base;
use super::blobs::{Owner, own};
use super::build;
use super::error::Error;
use super::files::set_base_time;
use super::freeze::Freezing;
use super::listing::{Entry, Listing, under, unescape};
use super::prune;
use super::report::FreezeReport;
use super::state;
use crate::tree::{Changes, RelPath, hex};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::Path;

/// The tree as a base of its own. Every file of it is a copy with the time that all bases have.
pub(super) fn show(
    workspace: &Workspace,
    base: &Base,
    changes: &Changes,
    options: &Freezing,
) -> Result<Base, Error> {
    let state = &workspace.state;
    let _held = state::lock(state)?;
    prune::recover(state)?;
    let listing = listing(base.listing(), changes);
    // By another name than a base of the same content: that one shares its files with others.
    let id = format!("{}-shown", listing.id());
    let home = build::home(state, &id, options.owner);
    if !home.is_dir() {
        prune::sweep_unfinished(state)?;
        let tree = |partial: &Path| tree(partial, base, changes, &listing, options.owner);
        build::finish(state, &home, &listing, options.owner, tree)?;
    }
    let in_use = prune::take(&home, options.now)?;
    let report = FreezeReport::default();
    Ok(Base::new(id, &home, workspace.root.clone(), report, listing, in_use))
}

/// What stands at every path of it.
pub(super) fn listing(base: &Listing, changes: &Changes) -> Listing {
    let mut all = base.clone();
    for (path, file) in changes.iter() {
        let raw = path.as_str().as_bytes().to_vec();
        let Some(file) = file else {
            all.0.remove(&raw);
            continue;
        };
        for (at, _) in path.as_str().match_indices('/') {
            all.0.entry(raw[..at].to_vec()).or_insert(Entry::Directory);
        }
        let (sha256, size) = (hex(&Sha256::digest(&file.bytes)), file.bytes.len() as u64);
        all.0.insert(raw, Entry::File { sha256, size, executable: file.executable });
    }
    for (path, _) in changes.iter().filter(|(_, file)| file.is_none()) {
        remove_empty(&mut all, path);
    }
    all
}

/// As version control does: directories that a deletion leaves empty go.
fn remove_empty(all: &mut Listing, path: &RelPath) {
    let mut directory = path.parent();
    while !directory.is_empty() {
        let inside = [directory.as_bytes(), b"/"].concat();
        let next = all.0.range(inside.clone()..).next();
        if next.is_some_and(|(path, _)| path.starts_with(&inside)) {
            return;
        }
        all.0.remove(directory.as_bytes());
        directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
    }
}

/// Fills a directory with it.
pub(super) fn tree(
    tree: &Path,
    base: &Base,
    changes: &Changes,
    listing: &Listing,
    owner: Owner,
) -> io::Result<()> {
    for (raw, entry) in &listing.0 {
        let place = under(tree, raw);
        match entry {
            Entry::Directory => build::directory(&place, owner)?,
            Entry::Link(target) => {
                symlink(OsStr::from_bytes(&unescape(target)), &place)?;
                owner.map_or(Ok(()), |(uid, gid)| lchown(&place, Some(uid), Some(gid)))?;
                set_base_time(&place)?;
            }
            Entry::File { executable, .. } => {
                let path = RelPath::parse(raw).ok();
                match path.and_then(|path| changes.get(&path).flatten()) {
                    Some(file) => fs::write(&place, &file.bytes)?,
                    None => fs::write(&place, fs::read(under(&base.dir, raw))?)?,
                }
                own(&place, owner)?;
                let mode = if *executable { 0o755 } else { 0o644 };
                fs::set_permissions(&place, Permissions::from_mode(mode))?;
                set_base_time(&place)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    fn file(text: &str) -> Entry {
        let sha256 = hex(&Sha256::digest(text.as_bytes()));
        Entry::File { sha256, size: text.len() as u64, executable: false }
    }

    #[test]
    fn what_is_shown_is_the_base_with_the_changes_and_without_empty_directories() {
        let entries = [
            ("a.py", file("a")),
            ("b", Entry::Directory),
            ("b/c", Entry::Directory),
            ("b/c/d.py", file("d")),
            ("b.py", file("b")),
        ];
        let base = entries.map(|(path, entry)| (path.as_bytes().to_vec(), entry));
        let path = |text: &str| RelPath::parse(text.as_bytes()).expect(text);
        let mut changes = Changes::new();
        changes.write(path("a.py"), File::plain(&b"A"[..]));
        changes.write(path("n/m/x.py"), File::plain(&b"x"[..]));
        changes.delete(path("b/c/d.py"));
        let shown = listing(&Listing(base.into()), &changes);
        let names: Vec<_> = shown.0.keys().map(|path| String::from_utf8_lossy(path)).collect();
        assert_eq!(names, ["a.py", "b.py", "n", "n/m", "n/m/x.py"]);
        assert_eq!(shown.0[&b"a.py"[..]], file("A"));
    }
}
