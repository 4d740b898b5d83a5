//! Nothing of the developer's machine is seen: files, environment, descriptors, other processes.

use super::*;
use std::io::Write as _;
use std::process::{Command, Stdio};

const SECRET: &str = "PLANTED-4b1d7c-SECRET";

#[test]
fn a_secret_outside_the_view_is_in_no_file_that_can_be_read() {
    let world = World::new(&[("a", "1")]);
    fs::write(world.outside("secret"), SECRET).unwrap();
    let reads = "cat \"$1\"; cat ~/.ssh/* ~/.aws/* ~/.cargo/credentials.toml ~/.netrc ~/.gitconfig /etc/shadow
        cat /root/.ssh/* /root/.cargo/credentials.toml; ls -a ~ /root /home /tmp /run /var /mnt /opt
        grep -rsl PLANTED-4b1d7c / --include='*' --exclude-dir=proc --exclude-dir=usr --exclude-dir=sys; true";
    let mut step = step(&["bash", "-c", reads, "bash"]);
    step.argv.push(world.outside("secret").into());
    let out = text(&world.run(&step).stdout);
    let told = out.replace(&*world.outside("secret").to_string_lossy(), "");
    assert!(!told.contains(SECRET) && !told.contains("secret"), "leaked: {out}");
    assert!(!told.contains("root:x") && !told.contains("PRIVATE KEY"), "leaked: {out}");
}

#[test]
fn only_the_sandbox_s_own_directories_are_at_the_top() {
    let world = World::new(&[]);
    if excepted("the machine's own directories are there, unreadable") {
        let out = world.sh(
            "for d in / /home /root /tmp /var /mnt /opt /run; do ls $d 2>/dev/null; done; true",
        );
        assert_eq!(out, "", "a directory of the machine's was listed");
        return;
    }
    let out = world.sh("ls -a / | grep -vxE '\\.|\\.\\.|usr|s?bin|lib(32|64|x32)?|etc|dev|proc|tmp|home|srv|nix|gnu'; true");
    assert_eq!(out, "", "unexpected at the top");
    assert_eq!(world.sh("ls /home; ls -A ~ /tmp"), "u\n/home/u:\n\n/tmp:\n");
}

#[test]
fn the_server_s_environment_is_in_no_process() {
    let world = World::new(&[]);
    let out = world.sh("env; cat /proc/1/environ /proc/self/environ /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; true");
    // Cargo sets this for every test process.
    assert!(!out.contains("CARGO_MANIFEST_DIR"), "leaked: {out}");
    assert!(
        as_in_the_view(&out, ROOT).contains("HOME=/home/u"),
        "the command's own environment is missing: {out}"
    );
}

#[test]
fn an_inherited_descriptor_is_closed() {
    let world = World::new(&[]);
    let mut secret = tempfile::tempfile().unwrap();
    secret.write_all(SECRET.as_bytes()).unwrap();
    // Without close-on-exec, as a careless parent of the server would leave it.
    let planted = rustix::io::dup(&secret).unwrap();
    rustix::io::fcntl_setfd(&planted, rustix::io::FdFlags::empty()).unwrap();
    let out =
        world.sh("for fd in /proc/self/fd/*; do readlink $fd; done; ls -l /proc/1/fd 2>&1 || true");
    let (own, _) = out.split_once("/proc").unwrap_or((&out, ""));
    assert!(!out.contains("deleted"), "leaked: {out}");
    assert!(own.lines().count() <= 4, "more than the three standard descriptors: {out}");
}

#[test]
fn only_the_sandbox_s_processes_are_seen() {
    let world = World::new(&[]);
    if excepted("there is no list of processes of their own") {
        let out =
            world.sh("ls /proc; cat /proc/1/status /proc/$PPID/cmdline /proc/self/maps; true");
        assert!(out.lines().all(|line| line.ends_with("Permission denied")), "{out}");
        return;
    }
    let pids: Vec<u32> =
        world.sh("ls /proc | grep '^[0-9]*$'").lines().map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.len() <= 5 && pids.iter().all(|pid| *pid < 20), "{pids:?}");
}

#[test]
fn the_first_process_keeps_its_memory_to_itself() {
    let world = World::new(&[]);
    let out = world.sh("for f in mem environ maps fd auxv; do head -c1 /proc/1/$f && echo \"$f was read\"; done 2>/dev/null; true");
    assert_eq!(out, "");
}

#[test]
fn machine_and_person_have_made_up_names() {
    let world = World::new(&[]);
    if excepted("machine and user have their own names") {
        let out = world.sh("cat /etc/passwd /etc/hostname /etc/hosts /etc/resolv.conf 2>/dev/null; id -un 2>/dev/null; true");
        assert!(!out.contains('/') && !out.contains("localhost"), "{out}");
        return;
    }
    assert_eq!(
        world.sh("hostname; id -un; id -u; id -gn; wc -l < /etc/passwd; cat /etc/resolv.conf"),
        "sandbox\nu\n1000\nu\n3\n"
    );
}

#[test]
fn the_mount_table_names_no_directory_of_the_machine() {
    let world = World::new(&[]);
    let out = world.sh("cat /proc/self/mountinfo /proc/mounts /etc/mtab; true");
    assert!(!out.contains(&*world.dir.path().to_string_lossy()), "{out}");
}

/// The rights of root must be gone whoever started the server.
#[test]
fn root_s_files_and_switches_are_out_of_reach() {
    let world = World::new(&[]);
    let script = "
        for f in /etc/shadow /proc/kcore; do head -c1 $f && echo \"read $f\"; done
        for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/drop_caches /sys/power/state; do
            (echo > $f) && echo \"wrote $f\"; done
        grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):' /proc/self/status | grep -v 0000000000000000
        grep -E '^NoNewPrivs:.1|^Seccomp:.2' /proc/self/status
        cat /proc/self/uid_map; exit 0";
    let mut step = shell(script);
    step.merge_stderr = false;
    let out = text(&world.run(&step).stdout);
    check_owner_of_what_is_written();
    if excepted("a process cannot read its own status") {
        assert_eq!(out, "");
        let out = world.sh("/usr/bin/python3 -c 'import ctypes; c = ctypes.CDLL(None); print(c.prctl(39, 0, 0, 0, 0), c.prctl(21))'");
        assert_eq!(out, "1 2\n", "no_new_privs and seccomp");
        return;
    }
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[..2], [["NoNewPrivs:", "1"], ["Seccomp:", "2"]], "{out}");
    assert_eq!(lines.len(), 3, "{out}");
    assert_eq!([lines[2][0], lines[2][2]], ["1000", "1"], "{out}");
    // Bubblewrap maps twice, so that the outer user shows as the root of the namespace between.
    if tier() == Tier::A {
        assert_ne!(lines[2][1], "0", "the commands are outer root: {out}");
    }
}

/// Seen from outside, a command is not root.
fn check_owner_of_what_is_written() {
    use std::os::unix::fs::MetadataExt as _;
    let mut world = World::new(&[]);
    let kept = world.outside("kept");
    fs::create_dir(&kept).unwrap();
    own(&kept);
    let access = ssr_mcp::sandbox::Access::Persistent;
    let source = kept.clone();
    world.view.mounts.push(ssr_mcp::sandbox::Mount { source, target: "/kept".into(), access });
    world.sh("echo x > /kept/f");
    assert_ne!(fs::metadata(kept.join("f")).unwrap().uid(), 0, "the commands are outer root");
}

/// A server with a secret in its own environment and descriptors, in a process of its own.
#[test]
fn a_key_in_the_server_s_environment_stays_there() {
    let out =
        serve("sandbox::secrets::server_with_a_key").env("FOO_API_KEY", SECRET).output().unwrap();
    let printed = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && printed.contains("seen: "), "{printed}");
    assert!(!printed.contains(SECRET), "leaked: {printed}");
}

#[test]
fn server_with_a_key() {
    if serving() {
        let world = World::new(&[]);
        let out =
            world.sh("echo seen; env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; true");
        writeln!(std::io::stdout(), "seen: {out}").unwrap();
    }
}

#[test]
fn the_helper_says_nothing_when_started_by_hand() {
    let out = Command::new(helper()).arg("__sandbox-init").stdin(Stdio::null()).output().unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0));
}
