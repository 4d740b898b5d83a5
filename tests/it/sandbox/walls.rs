//! What a command cannot reach: the machine's files, its network, the kernel's risky calls.

use super::*;
use ssr_mcp::sandbox::{Access, Mount};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;

#[test]
fn nothing_outside_the_view_can_be_written() {
    let world = World::new(&[("a", "1")]);
    let other = World::new(&[("b", "1")]);
    let mut step = shell(
        "for d in / /usr /usr/bin /etc /bin /lib /srv /home /root /proc /proc/sys/kernel /dev .. \"$@\"; do
            (echo x > $d/planted) 2>/dev/null && echo \"wrote in $d\"
            mkdir $d/planted-dir 2>/dev/null && echo \"made a directory in $d\"
        done; (echo >> /etc/passwd) 2>/dev/null && echo 'wrote /etc/passwd'
        rm -rf /usr/bin/env 2>/dev/null && echo removed; true",
    );
    step.argv.push("bash".into());
    step.argv
        .extend([world.base(), world.dir.path(), other.base(), other.dir.path()].map(Into::into));
    assert_eq!(succeeded(&world.run(&step)), "");
    assert!(!world.base().join("planted").exists() && !other.base().join("planted").exists());
}

#[test]
fn the_base_is_the_same_after_many_runs_that_destroy_it() {
    let world = World::new(&[("a", "1"), ("d/b", "2"), ("d/e/c", "3")]);
    let listing = |dir: &Path| {
        let out = std::process::Command::new("find")
            .arg(dir)
            .args(["-printf", "%P %m %s %T@ %i\n"])
            .output();
        String::from_utf8(out.unwrap().stdout).unwrap()
    };
    let before = listing(world.base());
    for _ in 0..40 {
        world.sh(
            "echo x >> a; chmod 777 d; rm -rf d; mkdir d; mv a d/a; ln -s /etc/passwd a; touch d/b",
        );
    }
    assert_eq!(listing(world.base()), before);
    assert_eq!(fs::read_to_string(world.base().join("d/e/c")).unwrap(), "3");
}

#[test]
fn no_network_is_reached_but_the_own_loopback() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let world = World::new(&[]);
    let mut step = python(
        "import socket, sys
def reached(what, call):
    try:
        call()
        print('reached', what)
    except OSError:
        pass
def tcp(host, port, family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(5); s.connect((host, port))
def udp(host, port, family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_DGRAM); s.connect((host, port)); s.send(b'x')
reached('the host loopback', lambda: tcp('127.0.0.1', int(sys.argv[1])))
for ip in ['8.8.8.8', '1.1.1.1', '169.254.169.254', '10.0.0.1', '192.168.0.1']:
    reached(ip, lambda: tcp(ip, 80)); reached(ip, lambda: udp(ip, 53))
reached('IPv6', lambda: tcp('2001:4860:4860::8888', 53, socket.AF_INET6))
reached('IPv6', lambda: udp('2001:4860:4860::8888', 53, socket.AF_INET6))
reached('DNS', lambda: socket.getaddrinfo('example.com', 80))
reached('broadcast', lambda: udp('255.255.255.255', 9))
try:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', int(sys.argv[2])))
except OSError: pass
for family in ['AF_VSOCK', 'AF_ALG', 'AF_PACKET', 'AF_BLUETOOTH', 'AF_CAN', 'AF_TIPC']:
    reached(family, lambda: socket.socket(getattr(socket, family), socket.SOCK_RAW if family == 'AF_PACKET' else socket.SOCK_SEQPACKET if family == 'AF_ALG' else socket.SOCK_STREAM))
reached('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))",
    );
    step.argv.push(tcp.local_addr().unwrap().port().to_string().into());
    step.argv.push(udp.local_addr().unwrap().port().to_string().into());
    assert_eq!(succeeded(&world.run(&step)), "");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram came through");
}

#[test]
fn routes_and_links_cannot_be_changed() {
    let world = World::new(&[]);
    if without_sockets("import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)") {
        return;
    }
    let out = succeeded(&world.run(&python(
        "import socket, struct
def request(kind, flags, payload):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.bind((0, 0))
    s.send(struct.pack('IHHII', 16 + len(payload), kind, flags, 1, 0) + payload)
    reply = s.recv(65536)
    return struct.unpack('i', reply[16:20])[0] if struct.unpack('H', reply[4:6])[0] == 2 else 'data'
# RTM_NEWLINK with IFF_UP cleared on lo, and RTM_NEWROUTE for the default route.
print(request(16, 5, struct.pack('BxHiII', 0, 0, 1, 0, 1)))
print(request(24, 0x605, struct.pack('BBBBBBBBI', 2, 0, 0, 0, 254, 3, 0, 1, 0) + struct.pack('HHi', 8, 4, 1)))",
    )));
    assert_eq!(out, "-1\n-1\n", "both must be refused with EPERM");
}

#[test]
fn the_machine_s_sockets_in_files_and_abstract_are_out_of_reach() {
    let world = World::new(&[]);
    let file = world.outside("socket");
    let _by_path = UnixListener::bind(&file).unwrap();
    let name = format!("ssr-test-{}", std::process::id());
    let address = {
        use std::os::linux::net::SocketAddrExt as _;
        std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap()
    };
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let mut step = python(
        "import socket, sys
for address in [sys.argv[1], '\\0' + sys.argv[2], '/var/run/docker.sock', '/run/docker.sock', '/run/dbus/system_bus_socket']:
    try:
        socket.socket(socket.AF_UNIX).connect(address)
        print('reached', repr(address))
    except OSError: pass",
    );
    step.argv.push(file.into());
    step.argv.push(name.into());
    assert_eq!(succeeded(&world.run(&step)), "");
}

#[test]
fn the_own_loopback_works_for_both_address_families() {
    let world = World::new(&[]);
    if without_sockets("import socket; socket.create_server(('127.0.0.1', 0))") {
        return;
    }
    let out = succeeded(&world.run(&python(
        "import socket
for family, host in [(socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1'), (socket.AF_INET, 'localhost')]:
    for kind in [socket.SOCK_STREAM, socket.SOCK_DGRAM]:
        a = socket.socket(family, kind); a.bind((host, 0))
        if kind == socket.SOCK_STREAM: a.listen()
        b = socket.socket(family, kind); b.connect(a.getsockname()); b.send(b'x')
        c = a.accept()[0] if kind == socket.SOCK_STREAM else a
        assert c.recv(1) == b'x'
print('ok')",
    )));
    assert_eq!(out, "ok\n");
}

/// True in tier C, where a socket is refused with a word that tells why.
fn without_sockets(script: &str) -> bool {
    if !excepted("there are no sockets") {
        return false;
    }
    let finished = World::new(&[]).run(&python(script));
    assert_eq!(finished.end, End::Exited(1));
    assert!(text(&finished.stdout).contains("Network is down"), "{}", text(&finished.stdout));
    assert_eq!(finished.wanted_network, !script.contains("NETLINK"), "{script}");
    true
}

#[test]
fn two_runs_bind_the_same_port_at_once() {
    if excepted("nobody binds a port") {
        return;
    }
    let (one, two) = (World::new(&[]), World::new(&[]));
    std::thread::scope(|scope| {
        let runs = [&one, &two].map(|world| {
            scope.spawn(|| {
                succeeded(&world.run(&python(
                    "import socket, time
s = socket.create_server(('127.0.0.1', 8080)); print('bound'); time.sleep(1)",
                )))
            })
        });
        for run in runs {
            assert_eq!(run.join().unwrap(), "bound\n");
        }
    });
}

#[test]
fn risky_system_calls_are_refused() {
    let world = World::new(&[]);
    let out = succeeded(&world.run(&python(
        "import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == 'x86_64'
CALLS = {
    'unshare user': (272 if x86 else 97, 0x10000000), 'unshare mount': (272 if x86 else 97, 0x20000),
    'setns': (308 if x86 else 268, 0, 0), 'mount': (165 if x86 else 40, 0, 0, 0, 0, 0),
    'ptrace': (101 if x86 else 117, 0, 0, 0, 0), 'io_uring_setup': (425, 1, 0), 'bpf': (321 if x86 else 280, 0, 0, 0),
    'keyctl': (250 if x86 else 219, 0, -3, 1), 'add_key': (248 if x86 else 217, 0, 0, 0, 0, 0),
    'perf_event_open': (298 if x86 else 241, 0, 0, 0, 0, 0), 'userfaultfd': (323 if x86 else 282, 0),
    'process_vm_readv': (310 if x86 else 270, 1, 0, 0, 0, 0, 0), 'open_tree': (428, -100, 0, 0),
    'fsopen': (430, 0, 0), 'chroot': (161 if x86 else 51, 0), 'pivot_root': (155 if x86 else 41, 0, 0),
    'init_module': (175 if x86 else 105, 0, 0, 0), 'pidfd_getfd': (438, 0, 0, 0),
    'clone newuser': (56 if x86 else 220, 0x10000000 | 17, 0, 0, 0, 0),
    'clone newnet': (56 if x86 else 220, 0x40000000 | 17, 0, 0, 0, 0),
}
for name, (number, *arguments) in CALLS.items():
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
    if result == 0 and name.startswith('clone'): os._exit(9)
    if (result, ctypes.get_errno()) != (-1, 1): print(name, result, os.strerror(ctypes.get_errno()))
result = libc.syscall(ctypes.c_long(435), ctypes.c_long(0), ctypes.c_long(0))
if (result, ctypes.get_errno()) != (-1, 38): print('clone3', result, ctypes.get_errno())
if x86:
    result = libc.syscall(ctypes.c_long(0x40000000 | 272), ctypes.c_long(0x10000000))
    if (result, ctypes.get_errno()) != (-1, 38): print('x32 unshare', result, ctypes.get_errno())",
    )));
    assert_eq!(out, "");
}

#[test]
fn a_set_user_id_program_gives_no_rights() {
    let world = World::new(&[]);
    if tier() == Tier::C {
        let out = world
            .sh("cp /usr/bin/id ./id && chmod 4755 ./id && ./id -u && ./id -ru && stat -c %a id");
        let user = rustix::process::getuid().as_raw();
        assert_eq!(out, format!("{user}\n{user}\n755\n"));
        return;
    }
    let out = world.sh("for p in su mount passwd; do f=$(command -v $p) && [ -u $f ] && stat -c %n $f; done | wc -l
        cp /usr/bin/id ./id && chmod 4755 ./id && ./id -u; grep Uid /proc/self/status | cut -f3");
    assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), ["1000", "1000"]);
}

/// The tools that a repository's tests are likely to use still run.
#[track_caller]
fn check_runs(program: &str, arguments: &[&str], expect: &str) {
    if !Path::new(program).exists() {
        not_run(&format!("{program} is not on this machine"));
        return;
    }
    let world = World::new(&[]);
    let argv: Vec<&str> = [program].iter().chain(arguments).copied().collect();
    assert_eq!(succeeded(&world.run(&step(&argv))).trim(), expect);
}

#[test]
fn python_runs_threads_processes_shared_memory_and_terminals() {
    if excepted("no shared memory, semaphores or terminals: no multiprocessing pools") {
        let rest = "import threading, os, shutil, subprocess, tempfile
t = threading.Thread(target=print); t.start(); t.join()
assert subprocess.run(['sh', '-c', 'exit 3']).returncode == 3
f = tempfile.NamedTemporaryFile(); f.write(b'x'); f.flush(); shutil.copy2(f.name, 'copy'); os.utime('copy', (1, 2))
os.chmod('copy', 0o600); assert os.stat('copy').st_mtime == 2
print('ok')";
        check_runs("/usr/bin/python3", &["-c", rest], "ok");
        return;
    }
    check_runs(
        "/usr/bin/python3",
        &[
            "-c",
            "import multiprocessing as mp, threading, pty, os, subprocess, tempfile
from multiprocessing import shared_memory
from concurrent.futures import ProcessPoolExecutor
def f(x): return x * 2
if __name__ == '__main__':
    t = threading.Thread(target=f, args=(1,)); t.start(); t.join()
    with mp.Pool(2) as pool: assert pool.map(f, [1, 2]) == [2, 4]
    with ProcessPoolExecutor(2) as pool: assert list(pool.map(f, [1, 2])) == [2, 4]
    with mp.Manager() as m: d = m.dict(); d['a'] = 1; assert d['a'] == 1
    s = shared_memory.SharedMemory(create=True, size=4096); s.buf[0] = 1; s.close(); s.unlink()
    master, slave = pty.openpty(); os.write(slave, b'x'); assert os.read(master, 1) == b'x'; os.ttyname(slave)
    assert subprocess.run(['sh', '-c', 'exit 3']).returncode == 3
    tempfile.NamedTemporaryFile().write(b'x')
    print('ok')",
        ],
        "ok",
    );
}

#[test]
fn node_runs_with_workers_and_web_assembly() {
    check_runs(
        "/usr/bin/node",
        &[
            "-e",
            "const { Worker } = require('worker_threads');
             new WebAssembly.Memory({ initial: 1 });
             require('fs').writeFileSync('/tmp/x', 'x');
             require('child_process').execSync('true');
             new Worker('process.exit(0)', { eval: true }).on('exit', () => console.log('ok'));",
        ],
        "ok",
    );
}

#[test]
fn java_starts() {
    if !Path::new("/usr/bin/java").exists() {
        not_run("java is not on this machine");
        return;
    }
    let world = World::new(&[(
        "A.java",
        "class A { public static void main(String[] a) { System.out.println(\"ok\"); } }",
    )]);
    let finished = world.run(&step(&["/usr/bin/java", "-version"]));
    assert!(succeeded(&finished).contains("version"));
}

#[test]
fn a_compiler_builds_and_its_program_runs_in_the_tree() {
    if !Path::new("/usr/bin/gcc").exists() {
        not_run("gcc is not on this machine");
        return;
    }
    let world = World::new(&[("a.c", "#include <stdio.h>\nint main(void) { puts(\"ok\"); }")]);
    assert_eq!(world.sh("gcc a.c -o a && ./a && cp a /tmp && /tmp/a"), "ok\nok\n");
}

/// The toolchain is shown at its own path, read-only, and the rest of `CARGO_HOME` is not.
#[test]
fn cargo_builds_and_tests_offline() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rustc = Path::new(&cargo).with_file_name("rustc");
    let sysroot = std::process::Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let Some(sysroot) = sysroot.ok().filter(|path| Path::new(path).join("bin/cargo").exists())
    else {
        return not_run("this user reaches no Rust toolchain");
    };
    let test = "#[test] fn t() { let l = std::net::TcpListener::bind(\"127.0.0.1:0\").unwrap();
        std::thread::spawn(|| ()).join().unwrap(); std::net::TcpStream::connect(l.local_addr().unwrap()).unwrap(); }";
    let mut world = World::new(&[
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", test),
    ]);
    let toolchain = PathBuf::from(&sysroot);
    world.view.mounts.push(Mount {
        source: toolchain.clone(),
        target: toolchain.clone(),
        access: Access::ReadOnly,
    });
    let mut step = step(&["cargo", "test", "--offline", "--lib"]);
    step.env.insert("PATH".into(), format!("{sysroot}/bin:/usr/bin:/bin").into());
    step.env.insert("CARGO_HOME".into(), "/tmp/cargo".into());
    step.deadline = Duration::from_mins(5);
    let out = succeeded(&world.run(&step));
    assert!(out.contains("test t ... ok"), "{out}");
}

/// Virtual environments and build trees name their own path.
#[test]
fn a_script_that_names_its_own_path_runs_from_it() {
    if excepted("what names its own path does not find it") {
        return;
    }
    let world = World::new(&[("bin/run", "#!/srv/project/bin/sh -e\necho \"$0 runs\"\n")]);
    let script = "ln -s /bin/sh bin/sh; chmod +x bin/run; /srv/project/bin/run";
    assert_eq!(world.sh(script), "/srv/project/bin/run runs\n");
}

#[test]
fn a_word_on_the_terminal_of_the_server_is_impossible() {
    let world = World::new(&[]);
    let out = world
        .sh("(echo x > /dev/tty) 2>/dev/null && echo wrote; ps -o tty= -p $$ 2>/dev/null; true");
    assert!(!out.contains("wrote"), "{out}");
}
