//! What runs on this machine: a process and its descendants, and who has to do with a place.

use std::fs;
use std::path::Path;

/// A process by its id and when it started, so that a new one with an old id is another.
pub(crate) type Process = (u32, String);

pub(crate) fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    // A zombie runs nothing; who reaps it is not ours to say.
    (!matches!(fields.next()?, "Z" | "X")).then(|| fields.nth(18).map(str::to_owned))?
}

pub(crate) fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

pub(crate) fn descendants(pid: u32) -> Vec<Process> {
    let mut found = Vec::new();
    let mut todo = children(pid);
    while let Some(child) = todo.pop() {
        todo.extend(children(child));
        found.extend(started(child).map(|at| (child, at)));
    }
    found
}

/// Living processes with `place` in their arguments, their environment or their mounts.
pub(crate) fn around(place: &Path) -> Vec<Process> {
    let place = place.as_os_str().as_encoded_bytes();
    let names = |pid: u32, file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        bytes.windows(place.len()).any(|window| window == place)
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| ["cmdline", "environ", "mountinfo"].iter().any(|file| names(*pid, file)))
        .filter_map(|pid| Some((pid, started(pid)?)))
        .collect()
}
