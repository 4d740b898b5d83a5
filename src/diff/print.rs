//! A patch as text: git headers, or plain ones where a new or deleted file's mode is unknown.

use super::hunk::with_new_places;
use super::{FilePatch, Hunk, Kind, Line, ModeChange, Patch, name};
use crate::tree::RelPath;

pub(super) fn patch(patch: &Patch) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bare = false;
    for file in &patch.files {
        if bare && is_plain(&file.kind) {
            // Else these names would be taken for those of the header above, which has none.
            out.push(b'\n');
        }
        bare = file.hunks.is_empty();
        header(&mut out, &file.kind);
        if !file.hunks.is_empty() {
            names(&mut out, file);
        }
        for (hunk, new_at) in with_new_places(&file.hunks) {
            write_hunk(&mut out, hunk, new_at);
        }
    }
    out
}

/// The plain form is the one that says nothing of modes.
fn is_plain(kind: &Kind) -> bool {
    matches!(kind, Kind::Added { mode: None, .. } | Kind::Deleted { mode: None, .. })
}

fn header(out: &mut Vec<u8>, kind: &Kind) {
    match kind {
        Kind::Added { mode: None, .. } | Kind::Deleted { mode: None, .. } => {}
        Kind::Added { path, mode: Some(mode) } => {
            git_line(out, path, path);
            out.extend_from_slice(format!("new file mode {mode}\n").as_bytes());
        }
        Kind::Deleted { path, mode: Some(mode) } => {
            git_line(out, path, path);
            out.extend_from_slice(format!("deleted file mode {mode}\n").as_bytes());
        }
        Kind::Modified { path, modes } => {
            git_line(out, path, path);
            mode_lines(out, *modes);
        }
        Kind::Renamed { from, to, modes } => {
            git_line(out, from, to);
            mode_lines(out, *modes);
            for (word, path) in [("rename from ", from), ("rename to ", to)] {
                out.extend_from_slice(word.as_bytes());
                name::write(out, "", path.as_str());
                out.push(b'\n');
            }
        }
    }
}

fn git_line(out: &mut Vec<u8>, old: &RelPath, new: &RelPath) {
    out.extend_from_slice(b"diff --git ");
    name::write_word(out, "a/", old.as_str());
    out.push(b' ');
    name::write_word(out, "b/", new.as_str());
    out.push(b'\n');
}

fn mode_lines(out: &mut Vec<u8>, modes: Option<ModeChange>) {
    if let Some(ModeChange { old, new }) = modes {
        out.extend_from_slice(format!("old mode {old}\nnew mode {new}\n").as_bytes());
    }
}

fn names(out: &mut Vec<u8>, file: &FilePatch) {
    for (marker, prefix, path) in [("--- ", "a/", file.old_path()), ("+++ ", "b/", file.new_path())]
    {
        out.extend_from_slice(marker.as_bytes());
        match path {
            None => out.extend_from_slice(b"/dev/null"),
            Some(path) => {
                name::write(out, prefix, path.as_str());
                // Ends a name with spaces for GNU patch, as git does it.
                if path.as_str().contains(' ') {
                    out.push(b'\t');
                }
            }
        }
        out.push(b'\n');
    }
}

fn write_hunk(out: &mut Vec<u8>, hunk: &Hunk, new_at: usize) {
    let old = range(hunk.at, hunk.old_lines().count());
    let new = range(new_at, hunk.new_lines().count());
    out.extend_from_slice(format!("@@ -{old} +{new} @@\n").as_bytes());
    for line in &hunk.lines {
        out.push(match line {
            Line::Context(_) => b' ',
            Line::Added(_) => b'+',
            Line::Removed(_) => b'-',
        });
        out.extend_from_slice(line.text());
        if !line.text().ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// An empty side names the line before it, any other its first line.
fn range(before: usize, count: usize) -> String {
    match count {
        0 => format!("{before},0"),
        1 => format!("{}", before + 1),
        _ => format!("{},{count}", before + 1),
    }
}
