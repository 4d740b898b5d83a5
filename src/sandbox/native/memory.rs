//! How much memory the processes of a sandbox use.

use std::fs;

/// Whether these processes use more than `limit` bytes.
///
/// The cheap sum counts a shared page once for each process, so it is only a reason to look closer.
pub(super) fn exceeds(limit: u64, processes: impl Fn() -> Vec<i32>) -> bool {
    let total = |of: fn(i32) -> Option<u64>| processes().into_iter().filter_map(of).sum::<u64>();
    total(resident) > limit && total(proportional) > limit
}

fn resident(pid: i32) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Each page divided by the number of processes that share it.
fn proportional(pid: i32) -> Option<u64> {
    let read = || {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    };
    read().or_else(|| resident(pid))
}
