//! How much was written, where no single file system bounds all of it.

use rustix::fs::StatVfs;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The file systems that a run writes to, as they were before it.
#[derive(Debug)]
pub(super) struct Space {
    places: Vec<(OwnedFd, Used)>,
    bytes: u64,
    inodes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Used {
    bytes: u64,
    inodes: u64,
}

impl Space {
    pub(super) fn new<'a>(
        places: impl IntoIterator<Item = &'a Path>,
        limit: u64,
    ) -> Result<Self, String> {
        let places = places.into_iter().map(|path| {
            let named = |errno| format!("{}: {errno}", path.display());
            let fd = super::view::open_dir(path)?;
            let before = used(&rustix::fs::fstatvfs(&fd).map_err(named)?);
            Ok((fd, before))
        });
        let places = places.collect::<Result<_, String>>()?;
        Ok(Self { places, bytes: limit, inodes: inodes(limit) })
    }

    /// Whether more was written than the limit allows, in bytes or in files.
    pub(super) fn exceeded(&self) -> bool {
        let mut sum = Used::default();
        for (place, before) in &self.places {
            let now = rustix::fs::fstatvfs(place).map(|now| used(&now)).unwrap_or_default();
            sum.bytes += now.bytes.saturating_sub(before.bytes);
            sum.inodes += now.inodes.saturating_sub(before.inodes);
        }
        sum.bytes > self.bytes || sum.inodes > self.inodes
    }
}

fn used(stat: &StatVfs) -> Used {
    Used {
        bytes: (stat.f_blocks - stat.f_bfree) * stat.f_frsize,
        inodes: stat.f_files - stat.f_ffree,
    }
}

/// One inode for each 4 KiB, within reason: an empty file takes memory too.
pub(super) fn inodes(disk: u64) -> u64 {
    (disk / 4096).clamp(10_000, 2_000_000)
}
