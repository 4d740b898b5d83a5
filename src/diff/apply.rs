//! Patch and tree to changes: exact context, no guessing between places, all files or none.

use super::{ApplyFailure, FilePatch, Hunk, Kind, Mode, ModeChange, Patch};
use crate::text;
use crate::tree::{Changes, File, Overlaid, RelPath, Tree};
use std::collections::BTreeSet;

pub(super) fn patch(patch: &Patch, tree: &dyn Tree) -> Result<Changes, ApplyFailure> {
    let vacated: BTreeSet<_> = patch
        .files
        .iter()
        .filter(|file| matches!(file.kind, Kind::Deleted { .. } | Kind::Renamed { .. }))
        .filter_map(FilePatch::old_path)
        .collect();
    let mut changes: Changes = vacated.iter().map(|path| ((*path).clone(), None)).collect();
    let mut made = Vec::new();
    for file in &patch.files {
        let after = after(file, tree)?;
        if let (Some(path), Some(after)) = (file.new_path(), after) {
            if file.old_path() != Some(path) {
                if tree.has(path) && !vacated.contains(path) {
                    return Err(ApplyFailure::Exists { path: path.clone() });
                }
                made.push(path);
            }
            changes.write(path.clone(), after);
        }
    }
    if !made.is_empty() {
        nothing_in_the_way(&Overlaid { base: tree, changes: &changes }, &made)?;
    }
    Ok(changes)
}

/// The file as the patch leaves it; `None` for a deleted one.
fn after(file: &FilePatch, tree: &dyn Tree) -> Result<Option<File>, ApplyFailure> {
    let before = match file.old_path() {
        None => File::plain([]),
        Some(path) => {
            tree.read(path).ok_or_else(|| ApplyFailure::Missing { path: path.clone() })?
        }
    };
    let Some(path) = file.old_path().or(file.new_path()) else { return Ok(None) };
    let bytes = hunks(path, &before.bytes, &file.hunks)?;
    let has = |stated: Mode| {
        let found = Mode::of(before.executable);
        let path = path.clone();
        if stated == found {
            Ok(())
        } else {
            Err(ApplyFailure::ModeDiffers { path, stated, found })
        }
    };
    let mode = match &file.kind {
        Kind::Deleted { mode, .. } => {
            mode.map_or(Ok(()), has)?;
            let left = || ApplyFailure::ContentLeft { path: path.clone() };
            return if bytes.is_empty() { Ok(None) } else { Err(left()) };
        }
        Kind::Added { mode, .. } => mode.unwrap_or(Mode::Plain),
        Kind::Modified { modes: Some(ModeChange { old, new }), .. }
        | Kind::Renamed { modes: Some(ModeChange { old, new }), .. } => {
            has(*old)?;
            *new
        }
        Kind::Modified { .. } | Kind::Renamed { .. } => Mode::of(before.executable),
    };
    Ok(Some(File { bytes: bytes.into(), executable: mode == Mode::Executable }))
}

/// A path may not be both a file and the directory of another.
fn nothing_in_the_way(result: &dyn Tree, made: &[&RelPath]) -> Result<(), ApplyFailure> {
    let all: BTreeSet<String> =
        result.paths().iter().map(|path| path.as_str().to_owned()).collect();
    let clash = |path: &str, other: &str| {
        let parse =
            |path: &str| RelPath::parse(path.as_bytes()).expect("it came from a checked path");
        Err(ApplyFailure::InTheWay { path: parse(path), other: parse(other) })
    };
    for path in made.iter().map(|path| path.as_str()) {
        let parents = path.match_indices('/').map(|(at, _)| &path[..at]);
        if let Some(parent) = parents.into_iter().find(|parent| all.contains(*parent)) {
            return clash(parent, path);
        }
        let inside = format!("{path}/");
        if let Some(child) =
            all.range(inside.clone()..).next().filter(|child| child.starts_with(&inside))
        {
            return clash(path, child);
        }
    }
    Ok(())
}

fn hunks(path: &RelPath, before: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, ApplyFailure> {
    let lines: Vec<&[u8]> = text::lines(before).collect();
    let mut after = Vec::with_capacity(before.len());
    let mut copied = 0;
    let mut number = 0;
    for hunk in hunks {
        number += 1;
        let at = place(path, number, &lines, hunk)?;
        if at < copied {
            return Err(ApplyFailure::Order { path: path.clone(), hunk: number });
        }
        append(&mut after, lines[copied..at].iter().copied(), path, number)?;
        append(&mut after, hunk.new_lines(), path, number)?;
        copied = at + hunk.old_lines().count();
    }
    append(&mut after, lines[copied..].iter().copied(), path, number)?;
    Ok(after)
}

/// Only the last line of a file may lack a newline, else two lines would run into one.
fn append<'l>(
    after: &mut Vec<u8>,
    lines: impl Iterator<Item = &'l [u8]>,
    path: &RelPath,
    hunk: usize,
) -> Result<(), ApplyFailure> {
    for line in lines {
        if after.last().is_some_and(|byte| *byte != b'\n') {
            return Err(ApplyFailure::NoNewline { path: path.clone(), hunk });
        }
        after.extend_from_slice(line);
    }
    Ok(())
}

/// How many lines stand before the place where the hunk fits.
fn place(
    path: &RelPath,
    number: usize,
    lines: &[&[u8]],
    hunk: &Hunk,
) -> Result<usize, ApplyFailure> {
    let old: Vec<&[u8]> = hunk.old_lines().collect();
    let stated = lines.get(hunk.at..).is_some_and(|rest| rest.starts_with(&old));
    if stated {
        return Ok(hunk.at);
    }
    let no_fit = || {
        let rest = lines.get(hunk.at..).unwrap_or_default();
        let agree = old.iter().zip(rest).take_while(|(want, have)| want == have).count();
        let show = |line: &&[u8]| String::from_utf8_lossy(line).into_owned();
        ApplyFailure::Context {
            path: path.clone(),
            hunk: number,
            line: hunk.at + agree + 1,
            expected: old.get(agree).map(show).unwrap_or_default(),
            found: rest.get(agree).map(show),
        }
    };
    if !hunk.has_context() {
        return Err(no_fit());
    }
    let mut places = lines.windows(old.len()).enumerate().filter(|(_, window)| **window == *old);
    match (places.next(), places.next()) {
        (None, _) => Err(no_fit()),
        (Some((at, _)), None) => Ok(at),
        (Some((first, _)), Some((second, _))) => Err(ApplyFailure::Ambiguous {
            path: path.clone(),
            hunk: number,
            first: first + 1,
            second: second + 1,
        }),
    }
}
