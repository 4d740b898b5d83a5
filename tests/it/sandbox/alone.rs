//! Tier C: what only Landlock and the system call filter keep a command from. The other tiers have no
//! such files and processes in sight, and are not asked.

use super::ending::{DAEMON, HOLD, Locked};
use super::*;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;

/// Whether these tests are about another tier.
fn not_asked() -> bool {
    tier() != Tier::C
}

#[test]
fn modes_times_and_owners_of_files_outside_cannot_be_changed() {
    if not_asked() {
        return;
    }
    let world = World::new(&[("a", "1")]);
    let (file, toolchain) = (world.outside("file"), world.outside("toolchain"));
    fs::write(&file, "x").unwrap();
    fs::create_dir(&toolchain).unwrap();
    fs::write(toolchain.join("f"), "x").unwrap();
    let mut shown = World::new(&[]);
    shown.view.mounts.push(ssr_mcp::sandbox::Mount {
        source: toolchain.clone(),
        target: toolchain.clone(),
        access: ssr_mcp::sandbox::Access::ReadOnly,
    });
    let stat = |path: &Path| {
        let found = fs::metadata(path).unwrap();
        (found.mode(), found.mtime(), found.ctime(), found.ctime_nsec())
    };
    let files = [file, toolchain.join("f"), world.base().join("a"), world.dir.path().to_owned()];
    let before = files.each_ref().map(|path| stat(path));
    let mut step = python(
        "import fcntl, os, struct, sys
def tried(what, call):
    try: call(); print('did', what)
    except OSError: pass
for n, path in enumerate(sys.argv[1:]):
    os.symlink(path, 'link%d' % n)
    for name in [path, 'link%d' % n]:
        tried('chmod ' + name, lambda: os.chmod(name, 0o777))
        tried('utime ' + name, lambda: os.utime(name, (1, 1)))
        tried('chown ' + name, lambda: os.chown(name, os.getuid(), os.getgid()))
        tried('setxattr ' + name, lambda: os.setxattr(name, 'user.x', b'x'))
    try: fd = os.open(path, os.O_RDONLY)
    except OSError: continue
    tried('fchmod', lambda: os.fchmod(fd, 0o777)); tried('futimens', lambda: os.utime(fd, (1, 1)))
    tried('flags', lambda: fcntl.ioctl(fd, 0x40086602, struct.pack('l', 0x40)))
    tried('fsetxattr', lambda: os.setxattr(fd, 'user.x', b'x'))
    tried('chmod /proc', lambda: os.chmod('/proc/self/fd/%d' % fd, 0o777))
for fd in range(3, 40): tried('chmod of a descriptor', lambda: os.chmod('/proc/self/fd/%d' % fd, 0o777))
open('own', 'w').close(); os.chmod('own', 0o640); os.utime('own', (5, 6))
print(oct(os.stat('own').st_mode), os.stat('own').st_mtime)",
    );
    step.argv.extend(files.iter().map(Into::into));
    assert_eq!(succeeded(&shown.run(&step)), "0o100640 6.0\n");
    assert_eq!(files.each_ref().map(|path| stat(path)), before);
}

#[test]
fn processes_outside_cannot_be_signalled_limited_or_looked_into() {
    if not_asked() {
        return;
    }
    let world = World::new(&[]);
    let mut step = python(
        "import os, resource, signal, sys
def tried(what, call):
    try: call(); print('did', what)
    except OSError: pass
server = int(sys.argv[1])
for pid in [server, os.getppid(), os.getpgid(server)]:
    # A group may outlive its leader.
    if pid != server and not os.path.exists('/proc/%d' % pid): continue
    for number in [0, signal.SIGTERM, signal.SIGCONT]: tried('kill', lambda: os.kill(pid, number))
    fd = os.pidfd_open(pid); tried('pidfd', lambda: signal.pidfd_send_signal(fd, 0))
    tried('prlimit', lambda: resource.prlimit(pid, resource.RLIMIT_CPU))
    tried('nice', lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    tried('affinity', lambda: os.sched_setaffinity(pid, [0]))
    for name in ['environ', 'mem', 'maps', 'cmdline', 'status', 'stat', 'comm']:
        tried(name, lambda: open('/proc/%d/%s' % (pid, name)).read(1))
    for name in ['cwd', 'exe', 'root', 'fd/0']: tried(name, lambda: os.readlink('/proc/%d/%s' % (pid, name)))
tried('nice all', lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19))
try: os.kill(-1, 0)
except OSError: pass",
    );
    step.argv.push(std::process::id().to_string().into());
    assert_eq!(succeeded(&world.run(&step)), "");
}

#[test]
fn objects_that_are_found_by_number_are_out_of_reach() {
    if not_asked() {
        return;
    }
    let world = World::new(&[]);
    let out = succeeded(&world.run(&python(
        "import ctypes
c = ctypes.CDLL(None)
print(c.shmget(0, 4096, 0o1600), c.semget(0, 1, 0o1600), c.msgget(0, 0o1600))",
    )));
    assert_eq!(out, "-1 -1 -1\n");
}

/// The helper takes over what the first process leaves.
#[test]
fn nothing_outlives_a_first_process_that_is_killed() {
    if not_asked() {
        return;
    }
    let out = serve("sandbox::alone::server_whose_first_process_dies").output().unwrap();
    let printed = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && printed.contains("lost as it should"), "{printed}");
}

#[test]
fn server_whose_first_process_dies() {
    if !serving() || not_asked() {
        return;
    }
    let locked = Locked::new();
    let mut session = locked.world.open();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            session.run(&shell(&format!("{HOLD}; {DAEMON}; sleep 1000")), &Cancel::new())
        });
        while !locked.is_held() {
            std::thread::yield_now();
        }
        let fork_server = children("self").remove(0);
        for first in children(&fork_server).iter().flat_map(|helper| children(helper)) {
            let pid = rustix::process::Pid::from_raw(first.parse().unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        assert!(run.join().unwrap().is_err());
    });
    locked.assert_released();
    writeln!(std::io::stdout(), "lost as it should").unwrap();
}

/// What is written without a name counts, and what hides itself does not help.
#[test]
fn files_without_names_count() {
    if not_asked() {
        return;
    }
    let mut world = World::new(&[]);
    world.view.limits.disk = 16 << 20;
    let finished = world.run(&python(
        "import os, time
for i in range(8):
    f = open('x', 'wb'); os.unlink('x'); os.dup(f.fileno()); f.write(bytes(8 << 20)); f.flush()
time.sleep(20)",
    ));
    assert_eq!(finished.end, End::OutOfDisk, "{}", text(&finished.stdout));
}

/// A copy that cannot be hidden is not shown either.
#[test]
fn a_view_that_hides_something_is_refused() {
    if not_asked() {
        return;
    }
    let mut world = World::new(&[]);
    world.view.mounts.push(ssr_mcp::sandbox::Mount {
        source: "/dev/null".into(),
        target: "/usr/bin/env".into(),
        access: ssr_mcp::sandbox::Access::ReadOnly,
    });
    let refused = sandbox().open(&world.view).unwrap_err().to_string();
    assert!(refused.contains("tier C cannot hide /usr/bin/env"), "{refused}");
}

/// What the tree holds may lead out of it, and what is shown through a link is the original.
#[test]
fn no_place_for_a_mount_is_made_outside() {
    use ssr_mcp::sandbox::{Access, Mount};
    if not_asked() {
        return;
    }
    for access in [Access::ReadOnly, Access::Scratch, Access::Persistent] {
        let mut world = World::new(&[]);
        let (outside, source) = (world.outside("outside"), world.outside("source"));
        fs::create_dir(&outside).unwrap();
        fs::create_dir(&source).unwrap();
        std::os::unix::fs::symlink(&outside, world.base().join("out")).unwrap();
        let below = Path::new(ROOT).join("out/below/it");
        world.view.mounts.push(Mount { source: source.clone(), target: below, access });
        assert!(sandbox().open(&world.view).is_err(), "{access:?} through a link of the tree");
        let (venv, hidden) = (Path::new(ROOT).join(".venv"), Path::new(ROOT).join(".venv/hidden"));
        let shown = Mount { source: outside.clone(), target: venv, access: Access::ReadOnly };
        world.view.mounts = vec![shown, Mount { source, target: hidden, access }];
        assert!(sandbox().open(&world.view).is_err(), "{access:?} in what is shown");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{access:?} made something");
    }
}
