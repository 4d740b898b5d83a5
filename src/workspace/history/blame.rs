//! Which commits wrote lines of a file that still stand: blame of a line range, through renames.

use super::RawPath;
use crate::diff::line_changes;
use crate::text::lines;
use crate::workspace::listing::as_path;
use git2::{BlameOptions, Oid, Repository};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The commits, each with the name that the file had then. `name`: the file's at HEAD; `today`: its text
/// in the working directory, whose lines (from 1) are asked for.
pub(super) fn of(
    git: &Repository,
    head: Oid,
    name: &RawPath,
    today: &[u8],
    asked: &RangeInclusive<u32>,
) -> Result<BTreeMap<Oid, RawPath>, git2::Error> {
    let entry = git.find_commit(head)?.tree()?.get_path(as_path(name))?;
    let blob = git.find_blob(entry.id())?;
    let Some((first, last)) = at_head(blob.content(), today, asked) else {
        return Ok(BTreeMap::new());
    };
    let mut options = BlameOptions::new();
    options.newest_commit(head).min_line(first).max_line(last);
    let blame = git.blame_file(as_path(name), Some(&mut options))?;
    let mut commits = BTreeMap::new();
    for hunk in blame.iter() {
        let path = hunk.path().map_or_else(|| name.clone(), bytes_of);
        commits.insert(hunk.final_commit_id(), path);
    }
    Ok(commits)
}

fn bytes_of(path: &std::path::Path) -> RawPath {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

/// The lines at HEAD, from 1, between which those asked for stand; `None` where none of them does.
fn at_head(head: &[u8], today: &[u8], asked: &RangeInclusive<u32>) -> Option<(usize, usize)> {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(head).collect(), lines(today).collect());
    let changes = line_changes(&old, &new);
    let asked = asked.start().saturating_sub(1) as usize..*asked.end() as usize;
    let (mut at, mut place, mut found) = (0, 0, None::<(usize, usize)>);
    let mut same = |from: usize, count: usize, old: usize| {
        let first = from.max(asked.start);
        let last = (from + count).min(asked.end);
        if first < last {
            let (start, end) = (old + first - from + 1, old + last - from);
            found = Some(found.map_or((start, end), |(begin, _)| (begin, end)));
        }
    };
    for change in &changes {
        same(at, change.new.start - at, place);
        (at, place) = (change.new.end, change.old.end);
    }
    same(at, new.len().saturating_sub(at), place);
    found
}
