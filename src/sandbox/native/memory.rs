//! How much memory the processes of this namespace use.

use std::fs;

/// Whether the whole namespace uses more than `limit` bytes.
///
/// The cheap sum counts a shared page once for each process, so it is only a reason to look closer.
pub(super) fn exceeds(limit: u64) -> bool {
    total(resident) > limit && total(proportional) > limit
}

fn total(of: fn(&str) -> Option<u64>) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else {
        return 0;
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|pid| of(&pid))
        .sum()
}

fn resident(pid: &str) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Each page divided by the number of processes that share it.
fn proportional(pid: &str) -> Option<u64> {
    let read = || {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    };
    read().or_else(|| resident(pid))
}
