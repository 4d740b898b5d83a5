//! Where things are that a view wants at paths of its own, in a tier that can show nothing elsewhere.

use super::view::HOME;
use super::{Access, Error, Mount, Step, View};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The directory of one run.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) dir: PathBuf,
    pub(super) tree: PathBuf,
    pub(super) tmp: PathBuf,
    pub(super) home: PathBuf,
    pub(super) mounts: PathBuf,
}

impl Places {
    pub(super) fn of(dir: &Path) -> Self {
        let at = |name: &str| dir.join(name);
        Self {
            dir: dir.to_owned(),
            tree: at("tree"),
            tmp: at("tmp"),
            home: at("home"),
            mounts: at("mounts"),
        }
    }
}

/// Directories of runs: the lowest number that no live run has, so that runs one after the other are at
/// one path.
#[derive(Debug)]
pub(super) struct Slots {
    dir: PathBuf,
    taken: Mutex<BTreeSet<usize>>,
}

/// A directory that is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    number: usize,
}

impl Slots {
    pub(super) fn new(dir: PathBuf) -> Arc<Self> {
        Arc::new(Self { dir, taken: Mutex::default() })
    }

    pub(super) fn take(self: &Arc<Self>) -> Slot {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let number = (0..=taken.len()).find(|number| !taken.contains(number)).unwrap_or(0);
        taken.insert(number);
        Slot { slots: Arc::clone(self), number }
    }
}

impl Slot {
    pub(super) fn dir(&self) -> PathBuf {
        self.slots.dir.join(self.number.to_string())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        std::fs::remove_dir(&self.dir).ok();
    }
}

/// Paths of a view, and where they are.
#[derive(Debug)]
pub(super) struct Translation {
    places: Places,
    /// Longest first.
    pairs: Vec<(PathBuf, PathBuf)>,
    pub(super) slot: Slot,
}

impl Translation {
    /// The view as it can be had in a directory, and how to get from its paths to those there.
    pub(super) fn of(view: &View, slot: Slot) -> Result<(View, Self), Error> {
        let places = Places::of(&slot.dir());
        let mut all = Self { places: places.clone(), pairs: Vec::new(), slot };
        all.add(view.root.clone(), places.tree.clone());
        all.add("/tmp".into(), places.tmp.clone());
        all.add(HOME.into(), places.home.clone());
        let mut order: Vec<&Mount> = view.mounts.iter().collect();
        order.sort_by_key(|mount| &mount.target);
        let (mut mounts, mut linked) = (Vec::new(), Vec::<PathBuf>::new());
        for (index, mount) in order.into_iter().enumerate() {
            let Mount { source, target, access } = mount.clone();
            let inside = all.path(&target);
            let at = if linked.iter().any(|above| target.starts_with(above)) {
                // Seen through the link above it, unless it is another thing than what is there.
                refuse_other(mount)?;
                source.clone()
            } else if inside != target {
                if access != Access::Scratch {
                    linked.push(target);
                }
                inside
            } else if source == target && access != Access::Scratch {
                target
            } else {
                if mount.target.exists() {
                    refuse_other(mount)?;
                }
                let at = match access {
                    Access::Scratch => places.mounts.join(index.to_string()),
                    Access::ReadOnly | Access::Persistent => source.clone(),
                };
                all.add(target, at.clone());
                at
            };
            mounts.push(Mount { source, target: at, access });
        }
        Ok((View { root: places.tree, mounts, ..view.clone() }, all))
    }

    fn add(&mut self, from: PathBuf, to: PathBuf) {
        self.pairs.push((from, to));
        self.pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.as_os_str().len()));
    }

    pub(super) fn root(&self) -> &Path {
        &self.places.tree
    }

    /// Where a path of the view is.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        let found = self.pairs.iter().find_map(|(from, to)| {
            let below = path.strip_prefix(from).ok()?;
            Some(if below.as_os_str().is_empty() { to.clone() } else { to.join(below) })
        });
        found.unwrap_or_else(|| path.to_owned())
    }

    /// A step with the paths in its arguments and variables, but not in its files and input, as they are.
    pub(super) fn step(&self, step: &Step) -> Result<Step, Error> {
        let mut step = step.clone();
        step.argv = step.argv.iter().map(|word| self.text(word)).collect();
        step.env = step.env.iter().map(|(name, value)| (name.clone(), self.text(value))).collect();
        for (name, place) in [("HOME", &self.places.home), ("TMPDIR", &self.places.tmp)] {
            step.env.entry(name.into()).or_insert_with(|| place.clone().into());
        }
        for (path, ..) in &mut step.files {
            *path = self.path(path);
        }
        for path in &mut step.collect {
            let inside = self.path(path);
            if !inside.starts_with(&self.places.dir) {
                return Err(Error::View(format!(
                    "{} is not a file of the run, which alone are read back in tier C",
                    path.display()
                )));
            }
            *path = inside;
        }
        Ok(step)
    }

    /// Replaces the paths of the view wherever one stands as a whole.
    fn text(&self, text: &OsStr) -> OsString {
        let bytes = text.as_bytes();
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            let starts = at == 0 || !continues(bytes[at - 1]) && bytes[at - 1] != b'/';
            let found = self.pairs.iter().find(|(from, _)| {
                let from = from.as_os_str().as_bytes();
                starts
                    && bytes[at..].starts_with(from)
                    && bytes.get(at + from.len()).is_none_or(|next| !continues(*next))
            });
            if let Some((from, to)) = found {
                out.extend_from_slice(to.as_os_str().as_bytes());
                at += from.as_os_str().len();
            } else {
                out.push(bytes[at]);
                at += 1;
            }
        }
        OsString::from_vec(out)
    }
}

/// Whether a byte belongs to the name that it stands in or after.
fn continues(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~') || byte >= 0x80
}

/// What is shown in place of something that a command would see otherwise cannot be had.
fn refuse_other(mount: &Mount) -> Result<(), Error> {
    if mount.source == mount.target && mount.access != Access::Scratch {
        return Ok(());
    }
    Err(Error::View(format!(
        "tier C cannot hide {}, which may hold a copy of the code that is played with; uninstall it, or use a \
         machine where tier A or B works",
        mount.target.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Limits;
    use crate::tree::Changes;

    fn translation() -> Translation {
        let limits =
            Limits { memory: 0, processes: 0, disk: 0, keep_head: 0, keep_tail: 0, output: 0 };
        let view = View {
            layers: Vec::new(),
            root: "/code/repo".into(),
            changes: Changes::new(),
            mounts: Vec::new(),
            limits,
        };
        Translation::of(&view, Slots::new("/state".into()).take()).unwrap().1
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(translation().text(OsStr::new(text)), expect, "{text}");
    }

    #[test]
    fn paths_of_the_view_are_replaced_where_they_stand_as_a_whole() {
        check("/tmp/ssr/x.sh", "/state/0/tmp/ssr/x.sh");
        check("--junitxml=/tmp/r.xml", "--junitxml=/state/0/tmp/r.xml");
        check("/code/repo/bin:/usr/bin:/tmp", "/state/0/tree/bin:/usr/bin:/state/0/tmp");
        check("cd /code/repo; ls", "cd /state/0/tree; ls");
        check("HOME is /home/u", "HOME is /state/0/home");
    }

    #[test]
    fn longer_names_and_paths_inside_others_are_left() {
        for text in ["/tmpfile", "/code/repository", "/var/tmp/x", "x/tmp", "/home/user", "tmp"] {
            check(text, text);
        }
    }

    #[test]
    fn the_lowest_free_directory_is_taken() {
        let slots = Slots::new("/state".into());
        let (first, second) = (slots.take(), slots.take());
        assert_eq!([first.dir(), second.dir()], [Path::new("/state/0"), Path::new("/state/1")]);
        drop(first);
        assert_eq!(slots.take().dir(), Path::new("/state/0"));
    }
}
