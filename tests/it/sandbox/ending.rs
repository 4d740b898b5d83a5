//! How runs end: nothing outlives them, and nothing holds them up.

use super::*;
use ssr_mcp::sandbox::{Access, Error, Mount};
use std::fs::File;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Instant;

/// A world with a file that a command locks for as long as it, or a child, lives.
pub(super) struct Locked {
    pub(super) world: World,
    lock: PathBuf,
}

/// Takes the lock of a `Locked` and says so, in shell.
pub(super) const HOLD: &str = "exec 9</kept/lock; flock -s 9; echo held";

impl Locked {
    pub(super) fn new() -> Self {
        let mut world = World::new(&[]);
        let kept = world.outside("kept");
        fs::create_dir(&kept).unwrap();
        let lock = kept.join("lock");
        fs::write(&lock, "").unwrap();
        own(&kept);
        world.view.mounts.push(Mount {
            source: kept,
            target: "/kept".into(),
            access: Access::Persistent,
        });
        Self { world, lock }
    }

    /// Fails if a process that held the lock is still there after a while.
    #[track_caller]
    pub(super) fn assert_released(&self) {
        let (sender, receiver) = mpsc::channel();
        let file = File::open(&self.lock).unwrap();
        std::thread::spawn(move || sender.send(file.lock()));
        let locked = receiver.recv_timeout(Duration::from_secs(20));
        locked.expect("a process of the sandbox is still alive").unwrap();
    }

    /// Whether some process holds the lock now.
    pub(super) fn is_held(&self) -> bool {
        File::open(&self.lock).unwrap().try_lock().is_err()
    }
}

/// A process that leaves its session, its group and its parent, and ignores what it can.
pub(super) const DAEMON: &str = "(trap '' TERM HUP INT; setsid bash -c 'trap \"\" TERM HUP INT; (sleep 1000 &) ; sleep 1000' >/dev/null 2>&1 &)";

#[test]
fn a_daemon_does_not_outlive_a_normal_exit() {
    let locked = Locked::new();
    let mut session = locked.world.open();
    let out =
        succeeded(&session.run(&shell(&format!("{HOLD}; {DAEMON}")), &Cancel::new()).unwrap());
    assert_eq!(out, "held\n");
    assert!(!locked.is_held(), "a daemon outlived its step");
    let processes = count_inside(&mut session);
    assert!(processes <= 5, "{processes}");
}

#[test]
fn a_daemon_does_not_outlive_a_timeout() {
    let locked = Locked::new();
    let mut step = shell(&format!("{HOLD}; {DAEMON}; sleep 1000"));
    step.deadline = Duration::from_millis(300);
    assert_eq!(locked.world.run(&step).end, End::TimedOut);
    assert!(!locked.is_held(), "a daemon outlived its run");
}

#[test]
fn a_grandchild_that_holds_standard_output_does_not_hold_the_run_up() {
    let world = World::new(&[]);
    let started = Instant::now();
    let out = world.sh("echo before; setsid sleep 1000 & disown; echo after");
    assert_eq!(out, "before\nafter\n");
    assert!(started.elapsed() < Duration::from_secs(500));
}

#[test]
fn dropping_a_session_kills_what_runs_in_it() {
    let locked = Locked::new();
    let mut session = locked.world.open();
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let result = session.run(&shell(&format!("{HOLD}; {DAEMON}; sleep 1000")), &cancel);
            drop(session);
            result
        });
        while !locked.is_held() {
            std::thread::yield_now();
        }
        cancel.cancel();
        assert_eq!(run.join().unwrap().unwrap().end, End::Cancelled);
    });
    assert!(!locked.is_held());
}

/// A server that starts a daemon in a sandbox and waits.
#[test]
fn server_to_kill() {
    if serving() {
        let mut locked = Locked::new();
        locked.world.view.mounts[0].source = std::env::current_dir().unwrap().join("kept");
        locked.world.run(&shell(&format!("{HOLD}; {DAEMON}; sleep 1000")));
    }
}

#[test]
fn nothing_outlives_a_server_that_is_killed() {
    let locked = Locked::new();
    let mut server = serve("sandbox::ending::server_to_kill")
        .current_dir(locked.world.dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !locked.is_held() {
        assert!(server.try_wait().unwrap().is_none(), "the server ended by itself");
        std::thread::yield_now();
    }
    server.kill().unwrap();
    server.wait().unwrap();
    locked.assert_released();
}

#[test]
fn a_session_survives_the_thread_that_opened_it() {
    let world = World::new(&[]);
    let mut session = std::thread::scope(|scope| scope.spawn(|| world.open()).join().unwrap());
    let out = succeeded(&session.run(&shell("sleep 0.2; echo alive"), &Cancel::new()).unwrap());
    assert_eq!(out, "alive\n");
}

#[track_caller]
fn check_times_out(script: &str) {
    let world = World::new(&[]);
    let mut step = shell(script);
    step.deadline = Duration::from_millis(200);
    let finished = world.run(&step);
    assert_eq!(finished.end, End::TimedOut, "{script}");
    assert!(finished.wall >= step.deadline);
}

#[test]
fn a_deadline_ends_whatever_does_not_want_to() {
    check_times_out("sleep 1000");
    check_times_out("trap '' TERM; while :; do :; done");
    check_times_out("kill -STOP $$");
    check_times_out(
        "setsid bash -c 'trap \"\" TERM; kill -STOP $$' & trap '' TERM; wait; wait; sleep 1000",
    );
    check_times_out("exit_on_term() { exit 0; }; trap exit_on_term TERM; sleep 1000 & wait");
}

#[test]
fn a_command_may_tidy_up_at_its_deadline() {
    let world = World::new(&[]);
    let mut step = shell("trap 'echo tidied; exit 0' TERM; sleep 1000 & wait");
    step.deadline = Duration::from_millis(200);
    assert_eq!(text(&world.run(&step).stdout), "tidied\n");
}

#[test]
fn a_cancelled_run_ends_and_keeps_what_it_printed() {
    let world = World::new(&[]);
    let cancel = Cancel::new();
    cancel.cancel();
    let finished = sandbox().run(&world.view, &shell("echo x; sleep 1000"), &cancel).unwrap();
    assert_eq!(finished.end, End::Cancelled);
}

#[test]
fn the_first_process_cannot_be_killed_from_inside() {
    let world = World::new(&[]);
    let mut session = world.open();
    let out = session
        .run(&shell("kill -9 1; kill -TERM 1; kill -STOP 1; kill -9 -1; echo"), &Cancel::new());
    assert!(matches!(out.unwrap().end, End::Signalled(9) | End::Exited(_)));
    assert_eq!(session.run(&step(&["true"]), &Cancel::new()).unwrap().end, End::Exited(0));
}

/// Sandboxes do not depend on the process that they were forked from.
#[test]
fn a_fork_server_that_dies_is_started_again_and_its_sandboxes_go_on() {
    let out = serve("sandbox::ending::server_whose_fork_server_dies").output().unwrap();
    let printed = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && printed.contains("went on"), "{printed}");
}

#[test]
fn server_whose_fork_server_dies() {
    if !serving() {
        return;
    }
    let world = World::new(&[]);
    let mut session = world.open();
    for fork_server in children("self") {
        let pid = rustix::process::Pid::from_raw(fork_server.parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    while children("self").iter().any(|pid| !is_zombie(pid)) {
        std::thread::yield_now();
    }
    succeeded(&session.run(&shell("echo the old one"), &Cancel::new()).unwrap());
    world.sh("echo a new one");
    writeln!(std::io::stdout(), "went on").unwrap();
}

fn is_zombie(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

/// A helper that is killed from outside is an error, never an outcome.
#[test]
fn a_helper_that_dies_is_an_error() {
    let out = serve("sandbox::ending::server_whose_helper_dies").output().unwrap();
    let printed = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && printed.contains("lost as it should"), "{printed}");
}

#[test]
fn server_whose_helper_dies() {
    if !serving() {
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
        // The one child of this process is the fork server, whose one child is the helper.
        let fork_server = children("self").remove(0);
        for helper in children(&fork_server) {
            let pid = rustix::process::Pid::from_raw(helper.parse().unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        assert!(matches!(run.join().unwrap(), Err(Error::Lost(_))));
    });
    locked.assert_released();
    writeln!(std::io::stdout(), "lost as it should").unwrap();
}

/// Else its directory, in tier C, would be another session's while it still fills and removes it.
#[test]
fn a_sandbox_whose_only_step_is_refused_has_ended() {
    let out = serve("sandbox::ending::server_whose_steps_are_refused").output().unwrap();
    let printed = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && printed.contains("all ended"), "{printed}");
}

#[test]
fn server_whose_steps_are_refused() {
    if !serving() {
        return;
    }
    let world = World::new(&[("a", "a")]);
    let mut step = shell("true");
    step.cwd = "../..".into();
    for _ in 0..20 {
        assert!(sandbox().run(&world.view, &step, &Cancel::new()).is_err());
        // The one child of this process is the fork server. A helper may also begin only now.
        let fork_server = children("self").remove(0);
        let watched = Instant::now();
        while watched.elapsed() < Duration::from_millis(20) {
            let mut left = children(&fork_server);
            left.retain(|id| Path::new(&format!("/proc/{id}")).exists() && !is_zombie(id));
            assert!(left.is_empty(), "helpers live on: {left:?}");
        }
    }
    writeln!(std::io::stdout(), "all ended").unwrap();
}

/// As by Ctrl-Z and `fg`: what waits with a time limit is interrupted then.
#[test]
fn who_is_stopped_and_goes_on_loses_no_sandbox() {
    use rustix::process::{Pid, Signal, kill_process};
    let mut command = serve("sandbox::ending::server_that_is_stopped");
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_child(&server);
    while server.try_wait().unwrap().is_none() {
        kill_process(pid, Signal::STOP).unwrap();
        std::thread::yield_now();
        kill_process(pid, Signal::CONT).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    let out = server.wait_with_output().unwrap();
    let (printed, told) =
        (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && printed.contains("none lost"), "{printed}{told}");
}

#[test]
fn server_that_is_stopped() {
    if !serving() {
        return;
    }
    let world = World::new(&[("a", "a")]);
    for _ in 0..20 {
        let mut session = world.open();
        assert_eq!(succeeded(&session.run(&shell("cat a"), &Cancel::new()).unwrap()), "a");
        session.changes().unwrap();
    }
    writeln!(std::io::stdout(), "none lost").unwrap();
}
