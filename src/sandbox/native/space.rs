//! How much was written, where no single file system bounds all of it.

use super::upper::{entries, join, lstat};
use rustix::fs::{FileType, StatVfs};
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a directory is looked through, whatever became of the disk that it is on.
const OFTEN: Duration = Duration::from_secs(2);

/// How long something stays hidden that hides itself, and how often it is looked for meanwhile.
const HIDDEN: Duration = Duration::from_millis(500);
const MOMENT: Duration = Duration::from_millis(10);

/// What a run has written against what it may.
#[derive(Debug)]
pub(super) struct Space {
    place: Place,
    limit: Used,
}

#[derive(Debug)]
enum Place {
    /// File systems that are the run's alone, as they were before it.
    Own(Vec<(OwnedFd, Used)>),
    /// A directory on a disk of others too: what was in it and on the disk before, and when it was last
    /// looked through.
    Shared { dir: OwnedFd, before: Used, disk: Used, looked: Instant },
}

#[derive(Clone, Copy, Debug, Default)]
struct Used {
    bytes: u64,
    inodes: u64,
}

impl Used {
    fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(before.bytes),
            inodes: self.inodes.saturating_sub(before.inodes),
        }
    }

    fn exceeds(self, limit: Self) -> bool {
        self.bytes > limit.bytes || self.inodes > limit.inodes
    }
}

impl Space {
    pub(super) fn own<'a>(
        places: impl IntoIterator<Item = &'a Path>,
        limit: u64,
    ) -> Result<Self, String> {
        let places = places.into_iter().map(|path| {
            let fd = super::view::open_dir(path)?;
            let before = of_disk(&fd);
            Ok((fd, before))
        });
        Ok(Self {
            place: Place::Own(places.collect::<Result<_, String>>()?),
            limit: limited(limit),
        })
    }

    pub(super) fn shared(dir: &Path, limit: u64) -> Result<Self, String> {
        let dir = super::view::open_dir(dir)?;
        let (before, disk) = (in_dir(&dir).0, of_disk(&dir));
        let place = Place::Shared { dir, before, disk, looked: Instant::now() };
        Ok(Self { place, limit: limited(limit) })
    }

    /// Whether more was written than the limit allows, in bytes or in files. `processes`: whose open files
    /// without a name count. `last`: the command has ended, and nobody looks again.
    pub(super) fn exceeded(&mut self, processes: impl Fn() -> Vec<i32>, last: bool) -> bool {
        match &mut self.place {
            Place::Own(places) => {
                let mut sum = Used::default();
                for (place, before) in places {
                    let now = of_disk(place).since(*before);
                    sum.bytes += now.bytes;
                    sum.inodes += now.inodes;
                }
                sum.exceeds(self.limit)
            }
            Place::Shared { dir, before, disk, looked } => {
                // The cheap question first: all of the run's is among what the disk holds more by now, unless
                // others made room meanwhile.
                let grown = of_disk(&*dir).since(*disk).exceeds(self.limit);
                if !grown && !last && looked.elapsed() < OFTEN {
                    return false;
                }
                *looked = Instant::now();
                let begun = Instant::now();
                loop {
                    let (mut now, all_seen) = in_dir(dir);
                    let (nameless, all_told) = without_names(&*dir, processes());
                    now.bytes += nameless;
                    if now.since(*before).exceeds(self.limit) {
                        return true;
                    }
                    if !grown || all_seen && all_told {
                        return false;
                    }
                    // What hides itself while the disk fills is held to be what fills it. A process that
                    // begins or ends cannot be asked for a moment, which is longer on a busy machine.
                    if begun.elapsed() >= HIDDEN {
                        return true;
                    }
                    std::thread::sleep(MOMENT);
                }
            }
        }
    }
}

fn limited(bytes: u64) -> Used {
    Used { bytes, inodes: inodes(bytes) }
}

/// One inode for each 4 KiB, within reason: an empty file takes memory too.
pub(super) fn inodes(disk: u64) -> u64 {
    (disk / 4096).clamp(10_000, 2_000_000)
}

fn of_disk(place: &OwnedFd) -> Used {
    let used = |stat: StatVfs| Used {
        bytes: (stat.f_blocks - stat.f_bfree) * stat.f_frsize,
        inodes: stat.f_files - stat.f_ffree,
    };
    rustix::fs::fstatvfs(place).map(used).unwrap_or_default()
}

/// What is below a directory, and whether all of it could be seen.
fn in_dir(root: &OwnedFd) -> (Used, bool) {
    let mut sum = Used::default();
    let mut all_seen = true;
    let mut pending = vec![Vec::new()];
    while let Some(dir) = pending.pop() {
        let Ok(names) = entries(root, &dir) else {
            all_seen = false;
            continue;
        };
        for path in names.iter().map(|name| join(&dir, name)) {
            let Ok(Some(stat)) = lstat(root, &path) else { continue };
            sum.inodes += 1;
            // Each name of a file with several counts its share.
            sum.bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512 / stat.st_nlink.max(1);
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                sum.bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
                pending.push(path);
            }
        }
    }
    (sum, all_seen)
}

/// Whether a process has ended and waits to be buried: it holds no file, and its list of them is root's.
fn is_dead(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_none_or(|state| matches!(state, 'Z' | 'X'))
}

/// Bytes of files that processes hold open and that have no name any more, on the disk of a directory;
/// and whether all processes could be asked.
fn without_names(dir: &OwnedFd, processes: Vec<i32>) -> (u64, bool) {
    let Ok(disk) = rustix::fs::fstat(dir) else { return (0, false) };
    let (mut sum, mut all_told) = (0, true);
    let mut counted = BTreeSet::new();
    for pid in processes {
        let process = format!("/proc/{pid}");
        let open = match fs::read_dir(format!("{process}/fd")) {
            Ok(open) => open,
            Err(error) => {
                all_told &= error.kind() != std::io::ErrorKind::PermissionDenied || is_dead(pid);
                continue;
            }
        };
        for file in open.flatten().filter_map(|fd| fs::metadata(fd.path()).ok()) {
            let nameless = file.is_file() && file.nlink() == 0 && file.dev() == disk.st_dev;
            if nameless && counted.insert(file.ino()) {
                sum += file.blocks() * 512;
            }
        }
    }
    (sum, all_told)
}
