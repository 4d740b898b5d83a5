//! What the supervisor orders and what the helper reports.

use super::system::Item;
use super::wire::{Wire, wire_struct};
use super::{Access, Collected, End, Limits, Mount, Step, View};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The first message: the world to build.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) view: View,
    /// The machine's own directories that every run sees.
    pub(super) system: Vec<Item>,
    /// The compiled system call filter.
    pub(super) filter: Vec<u8>,
    pub(super) way: Way,
    /// What the helper joins the run's groups by, before anything else.
    pub(super) groups: Vec<PathBuf>,
}

/// How the world is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By the helper itself, in namespaces of its own making.
    Namespaces,
    /// By this bubblewrap, which runs the program again inside.
    Bubblewrap(PathBuf),
    /// In this directory of the run's own, without namespaces.
    Confined(PathBuf),
}

/// What follows the policy.
#[derive(Debug)]
pub(super) enum Order<'a> {
    /// With one to three file descriptors: standard output, standard error unless merged, and
    /// standard input where it is not the step's own bytes.
    Run(Cow<'a, Step>),
    /// End the running command. Ignored when none runs: it may cross its report.
    Stop(End),
    ListChanges,
}

#[derive(Debug)]
pub(super) enum Report {
    /// The helper's first word, with a descriptor of its process.
    Begun,
    /// The view is built.
    Ready,
    /// The world could not be built.
    Broken(String),
    Ended(Ended),
    /// The command did not start; the program and why.
    NotStarted(String, String),
    /// A file of the step could not be written; its path and why.
    NotWritten(String, String),
    Changed(RawChanges),
}

/// How a step ended, as the init process saw it.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) collected: BTreeMap<PathBuf, Collected>,
    pub(super) wanted_network: bool,
}

/// A written file's bytes and executable bit.
pub(super) type Written = (Vec<u8>, bool);

/// A change set before its paths are checked.
#[derive(Debug, Default)]
pub(super) struct RawChanges {
    pub(super) files: BTreeMap<Vec<u8>, Option<Written>>,
    pub(super) others: Vec<(Vec<u8>, String)>,
}

wire_struct!(Policy { view, system, filter, way, groups });
wire_struct!(Ended { end, wall, cpu, collected, wanted_network });
wire_struct!(RawChanges { files, others });
wire_struct!(View { layers, root, changes, mounts, limits });
wire_struct!(Mount { source, target, access });
wire_struct!(Limits { memory, processes, disk, keep_head, keep_tail, output });
wire_struct!(Step {
    argv,
    env,
    cwd,
    stdin,
    merge_stderr,
    deadline,
    files,
    changes,
    collect,
    collect_limit
});

impl Wire for Order<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Run(step) => {
                0_u32.put(out);
                step.put(out);
            }
            Self::Stop(end) => {
                1_u32.put(out);
                end.put(out);
            }
            Self::ListChanges => 2_u32.put(out),
        }
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u32::take(input)? {
            0 => Self::Run(Cow::Owned(Step::take(input)?)),
            1 => Self::Stop(End::take(input)?),
            2 => Self::ListChanges,
            _ => return None,
        })
    }
}

impl Wire for Report {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Begun => 6_u32.put(out),
            Self::Ready => 0_u32.put(out),
            Self::Broken(reason) => {
                1_u32.put(out);
                reason.put(out);
            }
            Self::Ended(ended) => {
                2_u32.put(out);
                ended.put(out);
            }
            Self::NotStarted(program, reason) => {
                3_u32.put(out);
                program.put(out);
                reason.put(out);
            }
            Self::NotWritten(path, reason) => {
                4_u32.put(out);
                path.put(out);
                reason.put(out);
            }
            Self::Changed(changes) => {
                5_u32.put(out);
                changes.put(out);
            }
        }
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u32::take(input)? {
            0 => Self::Ready,
            1 => Self::Broken(Wire::take(input)?),
            2 => Self::Ended(Wire::take(input)?),
            3 => Self::NotStarted(Wire::take(input)?, Wire::take(input)?),
            4 => Self::NotWritten(Wire::take(input)?, Wire::take(input)?),
            5 => Self::Changed(Wire::take(input)?),
            6 => Self::Begun,
            _ => return None,
        })
    }
}

impl Wire for End {
    fn put(&self, out: &mut Vec<u8>) {
        let (tag, value) = match *self {
            Self::Exited(code) => (0_u32, code),
            Self::Signalled(signal) => (1, signal),
            Self::TimedOut => (2, 0),
            Self::OutOfMemory => (3, 0),
            Self::OutputLimit => (4, 0),
            Self::Cancelled => (5, 0),
            Self::OutOfDisk => (6, 0),
        };
        tag.put(out);
        value.put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        let (tag, value) = (u32::take(input)?, i32::take(input)?);
        Some(match tag {
            0 => Self::Exited(value),
            1 => Self::Signalled(value),
            2 => Self::TimedOut,
            3 => Self::OutOfMemory,
            4 => Self::OutputLimit,
            5 => Self::Cancelled,
            6 => Self::OutOfDisk,
            _ => return None,
        })
    }
}

impl Wire for Collected {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::File(bytes) => {
                0_u32.put(out);
                bytes.put(out);
            }
            Self::Missing => 1_u32.put(out),
            Self::Refused(reason) => {
                2_u32.put(out);
                reason.put(out);
            }
        }
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u32::take(input)? {
            0 => Self::File(Wire::take(input)?),
            1 => Self::Missing,
            2 => Self::Refused(Wire::take(input)?),
            _ => return None,
        })
    }
}

impl Wire for Way {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Namespaces => 0_u32.put(out),
            Self::Bubblewrap(program) => {
                1_u32.put(out);
                program.put(out);
            }
            Self::Confined(dir) => {
                2_u32.put(out);
                dir.put(out);
            }
        }
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u32::take(input)? {
            0 => Self::Namespaces,
            1 => Self::Bubblewrap(Wire::take(input)?),
            2 => Self::Confined(Wire::take(input)?),
            _ => return None,
        })
    }
}

impl Wire for Access {
    fn put(&self, out: &mut Vec<u8>) {
        let tag: u32 = match self {
            Self::ReadOnly => 0,
            Self::Scratch => 1,
            Self::Persistent => 2,
        };
        tag.put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        Some(match u32::take(input)? {
            0 => Self::ReadOnly,
            1 => Self::Scratch,
            2 => Self::Persistent,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::mangled;
    use crate::tree::{Changes, File, RelPath};

    fn bytes(message: &impl Wire) -> Vec<u8> {
        let mut bytes = Vec::new();
        message.put(&mut bytes);
        bytes
    }

    /// Nothing, or a message that is the same once it was sent on.
    fn check<T: Wire>(name: &str, messages: &[T]) {
        let seeds: Vec<Vec<u8>> = messages.iter().map(bytes).collect();
        let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
        let words: [&[u8]; 5] =
            [&[0; 8], &[255; 8], &[1, 0, 0, 0, 0, 0, 0, 0], b"../", &[0, 0, 0, 128, 0, 0, 0, 0]];
        mangled::check(name, &seeds, &words, &|input| {
            let Some(message) = T::take(&mut &*input) else { return };
            let sent = bytes(&message);
            let again = T::take(&mut sent.as_slice()).expect("what is written can be read");
            assert_eq!(bytes(&again), sent);
        });
    }

    fn changes() -> Changes {
        let path = |name: &str| RelPath::parse(name.as_bytes()).unwrap();
        [(path("a/b.py"), Some(File::plain(b"x".to_vec()))), (path("c"), None)]
            .into_iter()
            .collect()
    }

    fn step() -> Step {
        Step {
            argv: vec!["true".into(), "-x".into()],
            env: [("A".into(), "b".into())].into(),
            cwd: "sub".into(),
            stdin: b"in".to_vec(),
            merge_stderr: true,
            deadline: Duration::from_millis(1500),
            files: vec![("/tmp/f".into(), b"f".to_vec(), 0o644)],
            changes: changes(),
            collect: vec!["/tmp/out".into()],
            collect_limit: 9,
        }
    }

    #[test]
    fn a_mangled_order_is_none_or_can_be_sent_on() {
        check(
            "sandbox-order",
            &[Order::Run(Cow::Owned(step())), Order::Stop(End::TimedOut), Order::ListChanges],
        );
    }

    #[test]
    fn a_mangled_report_is_none_or_can_be_sent_on() {
        let collected = [
            ("/tmp/a".into(), Collected::File(b"a".to_vec())),
            ("/tmp/b".into(), Collected::Missing),
            ("/tmp/c".into(), Collected::Refused("a link".to_owned())),
        ];
        let ended = Ended {
            end: End::Exited(3),
            wall: Duration::from_secs(1),
            cpu: Duration::from_millis(7),
            collected: collected.into(),
            wanted_network: true,
        };
        check(
            "sandbox-report",
            &[Report::Ended(ended), Report::Begun, Report::Broken("why".to_owned())],
        );
    }

    #[test]
    fn a_mangled_policy_is_none_or_can_be_sent_on() {
        let mount = |access| Mount { source: "/s".into(), target: "/t".into(), access };
        let view = View {
            layers: vec!["/base".into()],
            root: "/repo".into(),
            changes: changes(),
            mounts: vec![mount(Access::ReadOnly), mount(Access::Scratch)],
            limits: Limits {
                memory: 1,
                processes: 2,
                disk: 3,
                keep_head: 4,
                keep_tail: 5,
                output: 6,
            },
        };
        let policy = |way| Policy {
            view: view.clone(),
            system: Vec::new(),
            filter: vec![1],
            way,
            groups: vec!["/sys/fs/cgroup/x/cgroup.procs".into()],
        };
        check(
            "sandbox-policy",
            &[policy(Way::Namespaces), policy(Way::Bubblewrap("/usr/bin/bwrap".into()))],
        );
    }
}
