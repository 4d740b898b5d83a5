//! Bombs: processes, memory, disk, output. The machine stays usable and the outcome says what happened.

use super::*;
use std::time::Instant;

#[test]
fn a_fork_bomb_stops_at_its_own_limit() {
    let mut world = World::new(&[]);
    world.view.limits.processes = 40;
    let out = succeeded(&world.run(&python(
        "import os, time
n = 0
try:
    while n < 1000:
        if os.fork() == 0: time.sleep(1000)
        n += 1
except BlockingIOError: pass
print(n)",
    )));
    let forked: u64 = out.trim().parse().unwrap();
    let bounds =
        if excepted("the limit on processes counts all of the user's") { 1..=300 } else { 30..=40 };
    assert!(bounds.contains(&forked), "{forked} processes were made, 40 allowed");
}

#[test]
fn a_wild_fork_bomb_ends_at_the_deadline_and_leaves_nothing() {
    let mut world = World::new(&[]);
    world.view.limits.processes = 60;
    let mut session = world.open();
    let mut step = shell("bomb() { bomb | bomb & }; bomb; while :; do bomb; done");
    step.deadline = Duration::from_millis(500);
    let end = session.run(&step, &Cancel::new()).unwrap().end;
    assert!(matches!(end, End::TimedOut | End::Exited(_)), "{end:?}");
    let left = count_inside(&mut session);
    assert!(left <= 5, "left over: {left}");
}

#[test]
fn process_limits_of_parallel_runs_are_apart() {
    if excepted("process limits of parallel runs are not apart") {
        return;
    }
    let script = "for i in $(seq 20); do sleep 1000 & done; jobs -p | wc -l";
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(move || {
                    let mut world = World::new(&[]);
                    world.view.limits.processes = 30;
                    world.sh(script)
                })
            })
            .collect();
        for run in runs {
            assert_eq!(run.join().unwrap().trim(), "20");
        }
    });
}

#[test]
fn one_process_gets_no_more_memory_than_allowed() {
    let mut world = World::new(&[]);
    world.view.limits.memory = 200 << 20;
    let finished = world.run(&python("x = []\nwhile True: x.append(bytearray(1 << 20))"));
    let out = text(&finished.stdout);
    assert!(
        finished.end == End::OutOfMemory || out.contains("MemoryError"),
        "{:?}: {out}",
        finished.end
    );
}

#[test]
fn many_processes_together_get_no_more_memory_than_allowed() {
    let mut world = World::new(&[]);
    world.view.limits.memory = 200 << 20;
    let finished = world.run(&python(
        "import os, time
for i in range(8):
    if os.fork() == 0:
        x = []
        for i in range(100): x.append(bytearray(os.urandom(1 << 20)))
        time.sleep(1000)
time.sleep(1000)",
    ));
    assert_eq!(finished.end, End::OutOfMemory, "{}", text(&finished.stdout));
}

#[test]
fn shared_pages_are_counted_once() {
    let mut world = World::new(&[]);
    world.view.limits.memory = 200 << 20;
    let finished = world.run(&python(
        "import os, time
x = os.urandom(100 << 20)
for i in range(8):
    if os.fork() == 0: time.sleep(0.5); os._exit(0)
for i in range(8): os.wait()",
    ));
    succeeded(&finished);
}

#[test]
fn the_disk_is_full_at_its_limit() {
    let mut world = World::new(&[]);
    world.view.limits.disk = 32 << 20;
    let script = "for where in . /tmp ~ /dev/shm; do
            head -c 100M /dev/zero > $where/big 2>/dev/null && echo \"100 MB went to $where\"; rm -f $where/big
        done
        head -c 20M /dev/zero > big && ! head -c 20M /dev/zero > /tmp/big && echo shared; ulimit -f";
    let finished = world.run(&shell(script));
    let out = text(&finished.stdout);
    if tier() != Tier::A {
        assert!(!out.contains("went to"), "{out}");
        assert_eq!(finished.end, End::OutOfDisk, "tree and /tmp have each their own limit: {out}");
        return;
    }
    assert_eq!(out.lines().filter(|line| line.contains("went to")).count(), 0, "{out}");
    assert!(out.contains("shared"), "tree and /tmp have each their own limit: {out}");
}

#[test]
fn inodes_and_sparse_files_are_bounded() {
    let mut world = World::new(&[]);
    world.view.limits.disk = 16 << 20;
    let finished = world.run(&python(
        "import os
try:
    for i in range(100000): os.close(os.open('/tmp/f%d' % i, os.O_CREAT | os.O_WRONLY))
    print('100000 files')
except OSError as error: print(error.strerror)
for name in os.listdir('/tmp'): os.unlink('/tmp/' + name)
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
f = open('sparse', 'w')
try: os.truncate(f.fileno(), 10 << 30); print('10 GB')
except OSError as error: print(error.strerror)",
    ));
    if tier() != Tier::A {
        assert_eq!(finished.end, End::OutOfDisk, "{}", text(&finished.stdout));
        return;
    }
    let out = succeeded(&finished);
    assert_eq!(out, "No space left on device\nFile too large\n");
}

#[test]
fn a_step_that_does_not_fit_on_the_disk_is_an_error() {
    let mut world = World::new(&[]);
    world.view.limits.disk = 4 << 20;
    let mut step = shell("true");
    step.files.push(("/tmp/big".into(), vec![0; 8 << 20], 0o644));
    let result = sandbox().run(&world.view, &step, &Cancel::new());
    assert!(matches!(result, Err(ssr_mcp::sandbox::Error::NotWritten { .. })), "{result:?}");
}

#[test]
fn endless_output_ends_the_run() {
    let mut world = World::new(&[]);
    world.view.limits.output = 4 << 20;
    let started = Instant::now();
    let finished = world.run(&shell("yes"));
    assert_eq!(finished.end, End::OutputLimit);
    assert!(finished.stdout.head.starts_with(b"y\ny\n") && finished.stdout.tail.ends_with(b"y\n"));
    assert!(started.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_run_that_printed_too_much_and_ended_is_over_the_limit_too() {
    let mut world = World::new(&[]);
    world.view.limits.output = 1000;
    assert_eq!(world.run(&shell("head -c 1001 /dev/zero")).end, End::OutputLimit);
    assert_eq!(world.run(&shell("head -c 1000 /dev/zero")).end, End::Exited(0));
}

#[test]
fn a_long_line_is_cut_in_the_middle_and_counted() {
    let mut world = World::new(&[]);
    world.view.limits.keep_head = 10;
    world.view.limits.keep_tail = 20;
    world.view.limits.output = 1 << 30;
    let finished =
        world.run(&shell("printf start; head -c 50000000 /dev/zero; printf 'end\\033[31m\\377'"));
    let out = finished.stdout;
    assert!(out.head.starts_with(b"start") && out.tail.ends_with(b"end\x1b[31m\xff"));
    assert_eq!(out.head.len() as u64 + out.tail.len() as u64 + out.dropped, 50_000_014);
}

#[test]
fn standard_error_has_its_own_head_and_tail() {
    let mut world = World::new(&[]);
    (world.view.limits.keep_head, world.view.limits.keep_tail) = (4, 4);
    let mut step = shell("echo abcdefghijkl; echo 123456789012 >&2");
    step.merge_stderr = false;
    let finished = world.run(&step);
    let shown = |c: &Captured| (text(c), c.dropped);
    assert_eq!(shown(&finished.stdout), ("abcdjkl\n".into(), 5));
    assert_eq!(shown(&finished.stderr), ("1234012\n".into(), 5));
}

/// The group of a process by one controller, as a directory; `None` where it is none of this process's making.
fn group_of(pid: &str, controller: &str, file: &str) -> Option<String> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let ours = format!("/ssr-mcp-{}-", std::process::id());
    let of = |names: &str| names.is_empty() || names.split(',').any(|name| name == controller);
    let group = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, group) = (parts.next()?, parts.next()?);
        (of(names) && group.contains(&ours)).then(|| group.to_owned())
    })?;
    let roots = [format!("/sys/fs/cgroup/{controller}"), "/sys/fs/cgroup".into()];
    roots.iter().find_map(|root| fs::read_to_string(format!("{root}{group}/{file}")).ok())
}

#[test]
fn a_run_is_in_a_group_with_its_limits_where_groups_may_be_made() {
    let mut world = World::new(&[]);
    world.view.limits.processes = 77;
    world.view.limits.memory = 333 << 20;
    world.view.limits.disk = 22 << 20;
    let marker = "in-a-group-of-its-own";
    let cancel = Cancel::new();
    let (processes, memory) = std::thread::scope(|scope| {
        let step = step(&["/bin/sh", "-c", "sleep 1000", marker]);
        let run = scope.spawn({
            let (world, cancel) = (&world, cancel.clone());
            move || sandbox().run(&world.view, &step, &cancel).unwrap()
        });
        let deadline = Instant::now() + Duration::from_mins(1);
        let is_it = |pid: &String| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).split('\0').any(|word| word == marker)
        };
        let pid = loop {
            let processes = fs::read_dir("/proc").unwrap().flatten();
            let mut names = processes.map(|entry| entry.file_name().into_string().unwrap());
            if let Some(pid) = names.find(is_it) {
                break pid;
            }
            assert!(Instant::now() < deadline, "the command does not begin");
        };
        let found = (
            group_of(&pid, "pids", "pids.max"),
            group_of(&pid, "memory", "memory.limit_in_bytes")
                .or_else(|| group_of(&pid, "memory", "memory.max")),
        );
        cancel.cancel();
        assert_eq!(run.join().unwrap().end, End::Cancelled);
        found
    });
    if processes.is_none() && memory.is_none() {
        use std::io::Write as _;
        writeln!(
            std::io::stderr(),
            "NOT RUN: no groups may be made here; that they bound is not proven"
        )
        .ok();
    }
    let number = |text: String| text.trim().parse::<u64>().unwrap();
    assert!(processes.map(number).is_none_or(|bound| (77..=90).contains(&bound)));
    assert!(memory.map(number).is_none_or(|bound| bound == (333 + 22 + 64) << 20));
}
