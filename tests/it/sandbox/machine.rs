//! The machine around it: refused where isolation does not work, and left as it was.

use super::*;
use std::process::{Command, Stdio};

/// Makes a copy of the helper and this test program that anybody can run.
fn copies() -> (TempDir, PathBuf, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let dir =
        // Not below /tmp, which is private inside: what lies there would not be looked for in the right place.
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir_in("/var/tmp").unwrap();
    let (tests, program) = (dir.path().join("tests"), dir.path().join("helper"));
    fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    fs::copy(helper(), &program).unwrap();
    (dir, tests, program)
}

/// All of these tests again as a plain user: the two ways into the namespaces differ.
#[test]
fn without_root() {
    if rustix::process::geteuid().is_root() {
        again(Tier::A, Some(12_345));
    } else {
        not_run("already a plain user: all the other tests are this one");
    }
}

/// All of these tests again in a tier, as a plain user where one is given.
pub(super) fn again(tier: Tier, user: Option<u32>) {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() && user.is_some() {
        return not_run("this test run is a plain user, and cannot become another");
    }
    if tier == Tier::B && !path_list().iter().any(|dir| dir.join("bwrap").exists()) {
        return not_run("tier B: bubblewrap is not on this machine (`apt install bubblewrap`)");
    }
    let (dir, tests, program) = copies();
    let tmp = dir.path().join("tmp");
    fs::create_dir(&tmp).unwrap();
    chown(&tmp, user, user).unwrap();
    let mut command = Command::new(tests);
    command
        .args(["sandbox::", "--skip", "without_root", "--skip", "nothing_is_left_over"])
        .args(["--skip", "all_again", "--skip", "sandbox::tiers::a_bubblewrap"])
        .env(HELPER, program)
        .env(TIER, format!("{tier:?}"))
        .env("TMPDIR", &tmp)
        .env_remove("HOME")
        .current_dir(&tmp);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let out = command.output().unwrap();
    let (printed, told) =
        (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let who = if user.is_some() { "a plain user" } else { "the same user" };
    assert!(out.status.success(), "tier {tier:?} as {who}:\n{printed}{told}");
    for line in told.lines().filter(|l| l.starts_with("NOT RUN") || l.starts_with("EXCEPTION")) {
        not_run(&format!("tier {tier:?} as {who}: {line}"));
    }
    assert!(printed.contains("test result: ok") && !printed.contains(" 0 passed"), "{printed}");
}

/// Denies system calls to the calling thread and what it starts.
pub(super) fn deny(calls: &[i64]) {
    rustix::thread::set_no_new_privs(true).unwrap();
    let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    let denied = seccompiler::SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter =
        seccompiler::SeccompFilter::new(rules, seccompiler::SeccompAction::Allow, denied, arch);
    let program: seccompiler::BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

/// What the probe of the first tier says where a system call is denied.
fn refusal(call: i64) -> String {
    let scratch = TempDir::new().unwrap();
    let probe = || {
        deny(&[call]);
        let choice = Choice { only: Some(Tier::A), path: Vec::new() };
        Sandbox::choose(&helper(), scratch.path(), &choice).err()
    };
    let refused = std::thread::scope(|scope| scope.spawn(probe).join().unwrap());
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "the probe left something");
    refused.expect("a sandbox without its walls was called one").to_string()
}

#[track_caller]
fn check_refusal(call: i64, reason: &str, fix: &str) {
    let refused = refusal(call);
    assert!(refused.contains(reason) && refused.contains(fix), "{refused}");
}

#[test]
fn a_machine_that_denies_namespaces_is_refused_with_the_reason() {
    let container = "forbids namespaces, as containers do by default";
    check_refusal(libc::SYS_unshare, "unshare(NEWUSER): Operation not permitted", container);
    check_refusal(libc::SYS_mount, "mount", container);
    check_refusal(libc::SYS_open_tree, "Operation not permitted", container);
}

#[test]
fn a_machine_without_landlock_is_refused_with_the_reason() {
    check_refusal(libc::SYS_landlock_create_ruleset, "Landlock is off", "`lsm=` list");
    check_refusal(libc::SYS_landlock_restrict_self, "landlock", "without isolation is refused");
}

#[test]
fn a_machine_that_cannot_limit_or_close_is_refused() {
    check_refusal(libc::SYS_close_range, "does not work here", "");
    check_refusal(libc::SYS_prlimit64, "could not be started", "");
}

#[test]
fn a_helper_that_is_no_helper_is_refused_with_the_reason() {
    let scratch = TempDir::new().unwrap();
    for program in ["/usr/bin/false", "/no/such/program"] {
        let refused =
            Sandbox::probe_with(Path::new(program), scratch.path()).unwrap_err().to_string();
        assert!(refused.contains("does not work here"), "{refused}");
    }
}

#[test]
fn the_own_program_must_be_a_helper_for_the_plain_probe() {
    let scratch = TempDir::new().unwrap();
    // This test program does not begin with `helper_main`, so that it runs its tests instead.
    assert!(Sandbox::probe(scratch.path()).is_err());
}

/// In a process of its own, since other tests come and go in this one.
#[test]
fn nothing_is_left_over() {
    let before = left();
    let out = serve("sandbox::machine::server_that_works").stdout(Stdio::null()).status().unwrap();
    assert!(out.success());
    assert_eq!(left(), before, "mounts of this namespace changed");
}

fn left() -> String {
    fs::read_to_string("/proc/self/mounts").unwrap()
}

#[test]
fn server_that_works() {
    if !serving() {
        return;
    }
    let world = World::new(&[("a", "1")]);
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    world.sh("true");
    let before = descriptors();
    for _ in 0..20 {
        world.sh("echo x > a");
        sandbox().run(&world.view, &step(&["no-such-program"]), &Cancel::new()).unwrap_err();
    }
    assert_eq!(descriptors(), before, "descriptors of the server leak");
    let fork_servers = children("self");
    assert_eq!(fork_servers.len(), 1, "{fork_servers:?}");
    // A child's last moment may come after its end was seen.
    let last = std::time::Instant::now() + Duration::from_secs(10);
    while !children(&fork_servers[0]).is_empty() {
        assert!(std::time::Instant::now() < last, "helpers are left");
        std::thread::yield_now();
    }
    assert_eq!(fs::read_dir(world.dir.path()).unwrap().count(), 1, "files are left");
}

/// Two hundred at once: each with its own view, network and limits.
#[test]
fn two_hundred_sandboxes_live_at_once() {
    let world = World::new(&[("a", "1")]);
    let mut sessions: Vec<_> = (0..200).map(|_| world.open()).collect();
    for (number, session) in sessions.iter_mut().enumerate() {
        let out =
            session.run(&shell(&format!("echo {number} > a; cat a")), &Cancel::new()).unwrap();
        assert_eq!(succeeded(&out), format!("{number}\n"));
    }
}
