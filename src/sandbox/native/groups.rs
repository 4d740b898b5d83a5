//! Control groups: a bound on what all processes of a run take together, where groups may be made. The limits
//! of each process and the look at its memory every 50 ms hold everywhere; a group also stops what is faster.
//!
//! Groups are used again by later runs: one that was removed while files which its run read are still cached
//! stays in the kernel until they are not.

use super::{Limits, limits};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Memory of the kernel's own and of files that are read only, beside what a run may use and write.
const SLACK: u64 = 64 << 20;
/// Processes that a run is begun with, beside its own.
const BEGINNING: u64 = 6;
const PREFIX: &str = "ssr-mcp-";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A directory in which groups can be made, and what they bound.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    dir: PathBuf,
    version: Version,
    memory: bool,
    processes: bool,
}

/// The groups of this process.
#[derive(Debug, Default)]
pub(super) struct Groups {
    places: Vec<Place>,
    free: Arc<Mutex<Free>>,
}

/// Groups that no run is in.
type Free = Vec<Vec<PathBuf>>;

/// Of the whole process: what one sandbox made must not be another's to remove.
static MADE: AtomicU64 = AtomicU64::new(0);

/// What bounds one run; free again when it is dropped, which the run's processes have ended before.
#[derive(Debug)]
pub(super) struct Group {
    dirs: Vec<PathBuf>,
    free: Arc<Mutex<Free>>,
    /// Processes that were killed for memory before the run.
    killed: u64,
}

impl Groups {
    /// Where this process may make groups: below its own (version 1), or below the nearest group around it that
    /// hands controllers on (version 2; a group with processes, as its own, cannot).
    pub(super) fn find() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let places = places(
            &read("/proc/self/mountinfo"),
            &read("/proc/self/cgroup"),
            &|dir| handed_on(dir),
            &|path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok(),
        );
        for place in &places {
            sweep(&place.dir);
        }
        Self { places, free: Arc::default() }
    }

    pub(super) fn are_there(&self) -> bool {
        !self.places.is_empty()
    }

    /// A group with these limits; `None` where none can be made.
    pub(super) fn take(&self, limits: &Limits) -> Option<Group> {
        if self.places.is_empty() {
            return None;
        }
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let dirs = free.unwrap_or_else(|| {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}", std::process::id());
            self.places.iter().map(|place| place.dir.join(&name)).collect()
        });
        let mut group = Group { dirs, free: Arc::clone(&self.free), killed: 0 };
        for (place, dir) in self.places.iter().zip(&group.dirs) {
            if let Err(error) = bound(place, dir, limits) {
                tracing::warn!("{}: no group bounds this run: {error}", dir.display());
                return None;
            }
        }
        group.killed = group.killed_for_memory();
        Some(group)
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        for dir in free.drain(..).flatten() {
            fs::remove_dir(dir).ok();
        }
    }
}

impl Group {
    /// What a process joins by, with all that it starts from then on.
    pub(super) fn doors(&self) -> Vec<PathBuf> {
        self.dirs.iter().map(|dir| dir.join("cgroup.procs")).collect()
    }

    /// Whether a process of the run was killed since it took too much memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        self.killed_for_memory() > self.killed
    }

    fn killed_for_memory(&self) -> u64 {
        let count = |text: String| {
            let line = text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok());
            line.unwrap_or(0)
        };
        let files = self.dirs.iter().flat_map(|dir| {
            ["memory.events", "memory.oom_control"].map(|name| fs::read_to_string(dir.join(name)))
        });
        files.flatten().map(count).sum()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let is_empty = |dir: &PathBuf| {
            fs::read_to_string(dir.join("cgroup.procs")).is_ok_and(|inside| inside.is_empty())
        };
        if self.dirs.iter().all(is_empty) {
            let dirs = std::mem::take(&mut self.dirs);
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(dirs);
        } else {
            // Somebody is still going; the next process that looks for places removes it.
            for dir in &self.dirs {
                fs::remove_dir(dir).ok();
            }
        }
    }
}

/// Enters groups: this process, and whatever it starts.
pub(super) fn join(doors: &[PathBuf]) -> Result<(), String> {
    for door in doors {
        fs::write(door, "0").map_err(|error| format!("{}: {error}", door.display()))?;
    }
    Ok(())
}

fn bound(place: &Place, dir: &Path, limits: &Limits) -> io::Result<()> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let (memory, processes) =
        (limits.memory + limits.disk + SLACK, limits.processes + limits::OURS + BEGINNING);
    let (file, swap) = match place.version {
        Version::One => ("memory.limit_in_bytes", None),
        Version::Two => ("memory.max", Some("memory.swap.max")),
    };
    if place.memory {
        fs::write(dir.join(file), memory.to_string())?;
        if let Some(swap) = swap.map(|name| dir.join(name)).filter(|swap| swap.exists()) {
            fs::write(swap, "0")?;
        }
    }
    if place.processes {
        fs::write(dir.join("pids.max"), processes.to_string())?;
    }
    Ok(())
}

/// Groups of processes that are gone: those that a kill left.
fn sweep(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        let gone = pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists());
        if gone {
            fs::remove_dir(entry.path()).ok();
        }
    }
}

/// The controllers that a group of version 2 hands on to those in it.
fn handed_on(dir: &Path) -> String {
    fs::read_to_string(dir.join("cgroup.subtree_control")).unwrap_or_default()
}

fn places(
    mounts: &str,
    groups: &str,
    handed_on: &dyn Fn(&Path) -> String,
    may_write: &dyn Fn(&Path) -> bool,
) -> Vec<Place> {
    let mut places = Vec::new();
    // Controllers of version 1 to the group of this process; those of version 2 are told by "".
    let own: BTreeMap<&str, &str> = groups
        .lines()
        .filter_map(|line| line.splitn(3, ':').skip(1).collect::<Vec<_>>().try_into().ok())
        .flat_map(|[names, group]: [&str; 2]| names.split(',').map(move |name| (name, group)))
        .collect();
    for (kind, root, mount, options) in mounts.lines().filter_map(mounted) {
        let inside = |group: &str| {
            let below = Path::new(group).strip_prefix(root).ok()?;
            Some(Path::new(mount).join(below).components().collect::<PathBuf>())
        };
        let ours = |dir: &Path| may_write(dir) && may_write(&dir.join("cgroup.procs"));
        if kind == "cgroup" {
            let has = |name: &str| options.split(',').any(|option| option == name);
            let (memory, processes) = (has("memory"), has("pids"));
            let name = if memory { "memory" } else { "pids" };
            let dir = own.get(name).and_then(|group| inside(group)).filter(|dir| ours(dir));
            if let Some(dir) = dir.filter(|_| memory || processes) {
                places.push(Place { dir, version: Version::One, memory, processes });
            }
        } else if let Some(group) = own.get("").and_then(|group| inside(group)) {
            let around = group.ancestors().take_while(|dir| dir.starts_with(mount) && ours(dir));
            let found = around
                .map(|dir| {
                    let controllers = handed_on(dir);
                    let has = |name| controllers.split_whitespace().any(|it| it == name);
                    let (memory, processes) = (has("memory"), has("pids"));
                    Place { dir: dir.into(), version: Version::Two, memory, processes }
                })
                .find(|place| place.memory || place.processes);
            places.extend(found);
        }
    }
    places
}

/// The kind of a mount of groups, its root in the hierarchy, its place, and its options.
fn mounted(line: &str) -> Option<(&str, &str, &str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let kind = after.next().filter(|kind| ["cgroup", "cgroup2"].contains(kind))?;
    let options = after.nth(1)?;
    let mut before = before.split(' ').skip(3);
    Some((kind, before.next()?, before.next()?, options))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const UNIFIED: &str =
        "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[track_caller]
    fn check(
        mounts: &str,
        groups: &str,
        handed_on: &[(&str, &str)],
        writable: &str,
        expect: &[(&str, Version, bool, bool)],
    ) {
        let handed_on = |dir: &Path| {
            let found = handed_on.iter().find(|(name, _)| Path::new(name) == dir);
            found.map(|(_, controllers)| (*controllers).to_owned()).unwrap_or_default()
        };
        let places = places(mounts, groups, &handed_on, &|path| path.starts_with(writable));
        let found: Vec<_> = places
            .iter()
            .map(|place| {
                (place.dir.to_str().unwrap(), place.version, place.memory, place.processes)
            })
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the group is what is tested")]
    fn what_takes_too_much_is_killed_and_told_and_the_group_is_used_again() {
        let groups = Groups::find();
        let bounds_memory = groups.places.iter().any(|place| place.memory);
        let limits = Limits {
            memory: 32 << 20,
            processes: 20,
            disk: 1 << 20,
            keep_head: 0,
            keep_tail: 0,
            output: 0,
        };
        let Some(group) = groups.take(&limits).filter(|_| bounds_memory) else {
            use std::io::Write as _;
            let said = "NOT RUN: no groups may be made here; that they bound is not proven";
            writeln!(io::stderr(), "{said}").ok();
            return;
        };
        let dirs = group.dirs.clone();
        let inside = |script: &str| {
            let doors = group.doors();
            let join = doors.iter().map(|door| format!("echo 0 > {}; ", door.display()));
            let script = join.collect::<String>() + script;
            std::process::Command::new("sh").args(["-c", &script]).output().unwrap()
        };
        inside("head -c 1000000 /dev/zero | tail -c 1000000");
        assert!(!group.ran_out_of_memory());
        inside("head -c 300000000 /dev/zero | tail -c 300000000");
        assert!(group.ran_out_of_memory());
        drop(group);
        let again = groups.take(&limits).unwrap();
        assert!(again.dirs == dirs && !again.ran_out_of_memory());
        drop(again);
        drop(groups);
        assert!(!dirs.iter().any(|dir| dir.exists()));
    }

    #[test]
    fn what_one_sandbox_made_is_not_another_s_to_remove() {
        let (one, other) = (Groups::find(), Groups::find());
        let limits = Limits {
            memory: 32 << 20,
            processes: 20,
            disk: 1 << 20,
            keep_head: 0,
            keep_tail: 0,
            output: 0,
        };
        let (Some(kept), Some(gone)) = (one.take(&limits), other.take(&limits)) else { return };
        assert!(kept.dirs.iter().all(|dir| !gone.dirs.contains(dir)));
        drop(gone);
        drop(other);
        assert!(kept.doors().iter().all(|door| door.exists()));
    }

    #[test]
    fn version_1_has_them_below_the_groups_of_this_process() {
        let groups = "9:name=systemd:/\n8:pids:/\n4:memory:/a/b\n0::/\n";
        let (memory, pids) = ("/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/pids");
        let both = [(memory, Version::One, true, false), (pids, Version::One, false, true)];
        check(HYBRID, groups, &[], "/sys/fs/cgroup", &both);
        check(HYBRID, groups, &[], "/sys/fs/cgroup/pids", &both[1..]);
        check(HYBRID, groups, &[], "/nowhere", &[]);
    }

    #[test]
    fn version_2_has_them_in_the_nearest_group_around_that_hands_controllers_on() {
        let user = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service";
        let app = format!("{user}/app.slice");
        let groups = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n";
        let both = [(user, "cpu memory pids"), ("/sys/fs/cgroup", "cpu memory pids")];
        check(UNIFIED, groups, &both, user, &[(user, Version::Two, true, true)]);
        let nearer = [(user, "memory pids"), (app.as_str(), "pids")];
        check(UNIFIED, groups, &nearer, user, &[(app.as_str(), Version::Two, false, true)]);
        // What hands them on is another's.
        check(UNIFIED, groups, &both[1..], user, &[]);
        check(UNIFIED, "", &both, user, &[]);
        check("nonsense\n - cgroup2\n", groups, &both, user, &[]);
    }

    #[test]
    fn a_group_of_a_part_of_the_hierarchy_is_found_where_that_is_mounted() {
        let mounts = "5 4 0:2 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        let dir = "/sys/fs/cgroup";
        let handed = [(dir, "memory")];
        check(mounts, "0::/docker/x/y\n", &handed, dir, &[(dir, Version::Two, true, false)]);
        check(mounts, "0::/elsewhere\n", &handed, dir, &[]);
    }
}
