//! Runs in a process that has the test framework loaded, beside plain ones: the same verdicts and, but
//! for times and addresses, the same log.

use crate::bench::{Bench, bench_of, machine, path, pytest_machine};
use ssr_mcp::harness::{How, NoVerdict, Program, ScriptRun};
use ssr_mcp::tree::{Changes, File};
use ssr_mcp::verdict::Outcome;
use std::time::Duration;

const ACT: &str = "def act():\n    return 1\n";

const TEST_ACT: &str = "\
import pkg.act

def test_before():
    assert pkg.act

def test_act():
    assert pkg.act.act() == 1

def test_after():
    assert pkg.act
";

/// Fails where an earlier run left something behind.
const TEST_CLEAN: &str = "\
import os, string

def test_clean():
    assert sorted(os.listdir('.')) == ['data.txt', 'pkg', 'tests']
    assert open('data.txt').read() == 'kept'
    assert os.access('data.txt', os.W_OK)
    assert not {'left', 'more'}.intersection(os.listdir('/tmp'))
    assert sorted(os.listdir(os.environ['HOME'])) == []
    assert sorted(os.listdir('/dev/shm')) == []
    others = [pid for pid in os.listdir('/proc') if pid.isdigit() and int(pid) != os.getpid()]
    commands = [open('/proc/%s/cmdline' % pid).read().replace('\\0', ' ') for pid in others]
    assert not [command for command in commands if 'stray' in command]
    assert string.digits == '0123456789' and 'STRAY' not in os.environ
";

fn tree() -> [(&'static str, &'static [u8]); 5] {
    [
        ("pkg/__init__.py", b""),
        ("pkg/act.py", ACT.as_bytes()),
        ("tests/test_act.py", TEST_ACT.as_bytes()),
        ("tests/test_clean.py", TEST_CLEAN.as_bytes()),
        ("data.txt", b"kept"),
    ]
}

/// A pytest tree with warm caches.
fn pytest() -> Bench {
    let bench = bench_of(&tree(), &pytest_machine(), None);
    bench.harness.baseline().unwrap();
    bench
}

/// `act` with another body.
fn acting(body: &str) -> Changes {
    writing(
        "pkg/act.py",
        format!("import os, sys, time\n\ndef act():\n    {}\n", body.replace('\n', "\n    ")),
    )
}

fn writing(file: &str, content: impl AsRef<[u8]>) -> Changes {
    let mut changes = Changes::new();
    changes.write(path(file), File::plain(content.as_ref().to_vec()));
    changes
}

/// Runs the tests of some files in a warm process, which must be there.
#[track_caller]
fn warm(bench: &Bench, changes: &Changes, files: &[&str], limit: Option<Duration>) -> ScriptRun {
    let before = bench.harness.spent().warm;
    let run = given(bench, files, |program| bench.harness.run_warm(changes, program, limit));
    assert_eq!(bench.harness.spent().warm, before + 1, "the run was not warm");
    run
}

fn given<T>(
    bench: &Bench,
    files: &[&str],
    run: impl FnOnce(Program<'_>) -> Result<T, ssr_mcp::harness::Error>,
) -> T {
    let files: Vec<_> = files.iter().map(|file| path(file)).collect();
    let runner = bench.harness.runner();
    let (script, parser) = (runner.script(&files, &[]), runner.parser());
    run(Program { script: &script, parser: &parser }).unwrap()
}

/// The run plainly made and the warm one say the same.
#[track_caller]
fn check_same(bench: &Bench, changes: &Changes, files: &[&str]) -> ScriptRun {
    let warm = warm(bench, changes, files, None);
    let plain =
        given(bench, files, |program| bench.harness.run(changes, program, How::CHECK, true));
    assert_eq!(warm.verdicts, plain.verdicts, "{}", String::from_utf8_lossy(&warm.log));
    let (ours, theirs) = (normal(&warm.log), normal(&plain.log));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
    warm
}

/// A log's lines without times, addresses and places of scratch, and less what bash says.
fn normal(log: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(log);
    let own = text.lines().filter(|line| !line.starts_with("/tmp/ssr/test_script.sh: line"));
    let number = |c: char| c.is_ascii_hexdigit() || c == '.';
    let masked = |line: &str| {
        let line = without(line, "0x", "", number);
        let line = without(&line, " in ", "s", number);
        let line = without(&line, "/tmp/tmp.", "/driver.py", char::is_alphanumeric);
        line.replace("/tmp/ssr/server/ssr_driver.py", "/tmp/tmp./driver.py")
    };
    own.map(masked).collect()
}

/// `line` less whatever of `kind` stands between `before` and `after`.
fn without(line: &str, before: &str, after: &str, kind: impl Fn(char) -> bool) -> String {
    let mut parts = line.split(before);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(&kind);
        out.push_str(before);
        out.push_str(if rest.starts_with(after) { rest } else { part });
    }
    out
}

#[test]
fn a_warm_run_says_what_a_plain_one_says() {
    let bench = pytest();
    check_same(&bench, &Changes::new(), &["tests/test_act.py"]);
    for body in [
        "return 2",
        "raise ValueError('no')",
        "import pytest; pytest.skip('not now')",
        "import pytest; pytest.xfail('known')",
        "os._exit(3)",
        "sys.exit(4)",
        "raise KeyboardInterrupt",
        "os.kill(os.getpid(), 9)",
        "os.kill(os.getpid(), 2); return 1",
        "print('--- report begin ---\\n{\"test\": \"x\", \"outcome\": \"passed\"}\\n--- report end ---'); return 2",
        "os.write(1, b'--- report begin ---\\n\\xff\\n--- report end ---\\n'); return 2",
        "os.write(2, b'\\xe9 ' * 100); print('x' * 500000); return 2",
        "import atexit; atexit.register(print, 'bye'); return 1",
        "import threading; threading.Thread(target=lambda: (time.sleep(0.3), print('late'))).start(); return 1",
        "import subprocess; return len(subprocess.run(['echo'], stdout=-1).stdout)",
        "import multiprocessing as m\npool = m.get_context('spawn').Pool(1)\nreturn pool.apply(len, ['x'])",
        "import multiprocessing as m\npool = m.get_context('fork').Pool(1)\nreturn pool.apply(len, ['x'])",
        "import ctypes, binascii, resource, signal, shutil\nreturn ctypes.c_int(1).value",
        "import concurrent.futures as f\nwith f.ThreadPoolExecutor(2) as e:\n    return e.submit(len, 'x').result()",
        "import tempfile; tempfile.mkdtemp(); return 1",
        "sys.setrecursionlimit(200); return act()",
        "import importlib\nreturn importlib.util.find_spec('os') is not None",
    ] {
        check_same(&bench, &acting(body), &["tests/test_act.py"]);
    }
}

#[test]
fn a_warm_run_sees_the_same_world() {
    let bench = pytest();
    let changes = acting(
        "names = sorted(name for name in sys.modules if not name.startswith(('_pytest', 'pkg')))\n\
         print(sorted(os.environ.items()), sys.flags, sys.path, os.getcwd(), os.umask(0o22))\n\
         import signal, threading, gc\n\
         print([signal.getsignal(n) for n in range(1, 32)], hash('a'))\n\
         print(signal.pthread_sigmask(signal.SIG_BLOCK, []), threading.active_count(), sys.stdin)\n\
         print(names, sorted(os.listdir('/proc/self/fd')), sys.stdout.encoding, gc.isenabled())\n\
         print(sys.modules['__main__'].__name__, len(sys.argv), sys._getframe().f_code.co_filename)\n\
         print([line.split() for line in open('/proc/self/limits') if 'cpu' not in line])\n\
         depth, frame = 0, sys._getframe()\n\
         while frame: depth, frame = depth + 1, frame.f_back\n\
         print(depth, os.stat('pkg/act.py').st_mode, os.listdir('pkg'))\n\
         return 2",
    );
    check_same(&bench, &changes, &["tests/test_act.py"]);
}

#[test]
fn a_warm_run_lays_files_as_a_plain_one_does() {
    let bench = pytest();
    let crlf = TEST_ACT.replace('\n', "\r\n").replace("== 1", "== 2");
    let latin = b"# -*- coding: latin-1 -*-\nimport pkg.act\n\ndef test_name():\n    assert 'n\xe9' == 'ne'\n";
    let mut gone = Changes::new();
    gone.delete(path("pkg/act.py"));
    gone.delete(path("pkg/__init__.py"));
    let mut new = writing("pkg/act/__init__.py", "from .inner.act import act\n");
    new.delete(path("pkg/act.py"));
    new.write(path("pkg/act/inner/act.py"), File::plain(ACT.as_bytes().to_vec()));
    new.write(path("run.sh"), File { bytes: (*b"#!/bin/sh\n").into(), executable: true });
    let mut deleted = Changes::new();
    deleted.delete(path("tests/test_act.py"));
    for changes in [
        writing("tests/test_act.py", crlf),
        writing("tests/test_act.py", latin),
        writing(
            "tests/test_act.py",
            "import pytest\n\n@pytest.fixture\ndef bad():\n    assert 0\n\ndef test_bad(bad):\n    pass\n",
        ),
        writing("tests/test_act.py", "import nowhere\n"),
        writing("tests/test_act.py", "def test_syntax(:\n"),
        writing("pkg/act.py", "raise RuntimeError('broken')\n"),
        gone,
        new,
    ] {
        check_same(&bench, &changes, &["tests/test_act.py", "tests/test_clean.py"]);
        check_same(
            &bench,
            &acting(&format!("return 3 # {}", bench.harness.spent().runs)),
            &["tests/test_act.py"],
        );
        check_clean(&bench);
    }
    check_same(&bench, &deleted, &["tests/test_act.py"]);
    check_same(&bench, &deleted, &["tests/test_act.py", "tests/test_clean.py"]);
    check_clean(&bench);
}

/// The next run finds nothing of earlier ones. (A changed file keeps the memo from answering.)
#[track_caller]
fn check_clean(bench: &Bench) {
    let changes = writing("pkg/unused.py", format!("# {}\n", bench.harness.spent().runs));
    let run = warm(bench, &changes, &["tests/test_clean.py"], None);
    let verdicts = run.verdicts.unwrap();
    let outcome = verdicts.of("tests/test_clean.py::test_clean");
    assert_eq!(outcome, Outcome::Passed, "{}", String::from_utf8_lossy(&run.log));
}

#[test]
fn what_a_run_leaves_behind_does_not_sway_the_next_one() {
    let bench = pytest();
    for body in [
        "open('left.txt', 'w').close(); return 1",
        "open('data.txt', 'a').write('more'); return 1",
        "os.unlink('data.txt'); return 1",
        "os.chmod('data.txt', 0o400); return 1",
        "status = os.stat('data.txt')\nopen('data.txt', 'w').write('lost')\nos.utime('data.txt', ns=(status.st_atime_ns, status.st_mtime_ns)); return 1",
        "os.makedirs('left/over'); open('left/over/file', 'w').close(); return 1",
        "os.symlink('data.txt', 'left'); return 1",
        "open(b'left\\xff', 'w').close(); os.link('data.txt', 'left'); return 1",
        "os.mkfifo('/tmp/left'); os.makedirs('/tmp/more/left'); return 1",
        "open(os.path.expanduser('~/left'), 'w').close(); return 1",
        "open('/dev/shm/left', 'w').close(); return 1",
        "os.unlink('pkg/act.py'); os.mkdir('pkg/act.py'); return 1",
        "os.makedirs('shut/away'); os.chmod('shut', 0); return 1",
        "import shutil; shutil.rmtree('pkg'); return 1",
        "os.environ['STRAY'] = '1'; import string; string.digits = 'STRAY'; os.chdir('/'); return 1",
        "import subprocess\nsubprocess.Popen(['bash', '-c', ': stray; while :; do echo x >>left; done'], start_new_session=True); return 1",
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        for n in range(10000):\n            open('left%d' % n, 'w').close()\n    os._exit(0)\nreturn 1",
        "import glob\nfor name in glob.glob('/tmp/ssr/pycache/**/*.pyc', recursive=True):\n    open(name, 'wb').write(b'stray')\nreturn 1",
        "import glob\nfor name in glob.glob('/tmp/ssr/server/*.py'):\n    open(name, 'a').write('stray')\nreturn 1",
    ] {
        warm(&bench, &acting(body), &["tests/test_act.py"], None).verdicts.unwrap();
        check_clean(&bench);
        check_clean(&bench);
    }
}

#[test]
fn a_port_that_a_run_left_taken_is_free_in_the_next_one() {
    let bench = pytest();
    // The side that closes first keeps the port for a while.
    let serve = "import socket\nserver = socket.socket()\nserver.bind(('127.0.0.1', 8471))\nserver.listen(1)\n\
        client = socket.create_connection(('127.0.0.1', 8471))\npeer = server.accept()[0]\npeer.close()\n\
        client.recv(1)\nclient.close()\nserver.close()\nreturn 1";
    for again in ["", " ", "  "] {
        let run = warm(&bench, &acting(&format!("{serve}{again}")), &["tests/test_act.py"], None);
        let outcome = run.verdicts.unwrap().of("tests/test_act.py::test_act");
        assert_eq!(outcome, Outcome::Passed, "{}", String::from_utf8_lossy(&run.log));
        check_clean(&bench);
    }
}

#[test]
fn versions_of_one_file_are_told_apart() {
    let bench = pytest();
    for answer in [2, 1, 3, 1, 4, 5, 1] {
        let changes = acting(&format!("return {answer} # {}", bench.harness.spent().runs % 10));
        let run = warm(&bench, &changes, &["tests/test_act.py"], None);
        let expect = if answer == 1 { Outcome::Passed } else { Outcome::Failed };
        assert_eq!(run.verdicts.unwrap().of("tests/test_act.py::test_act"), expect);
    }
}

#[test]
fn a_run_that_hangs_times_out_and_the_next_one_works() {
    let bench = bench_of(&tree(), &pytest_machine(), Some(Duration::from_secs(3)));
    for body in ["while True: pass", "import signal; signal.pause()", "os.kill(os.getpid(), 19)"] {
        let run = warm(&bench, &acting(body), &["tests/test_act.py"], None);
        assert_eq!(run.verdicts, Err(NoVerdict::TimedOut(3)), "{body}");
        check_clean(&bench);
    }
}

#[test]
fn a_run_that_harms_the_process_is_made_plainly() {
    let bench = pytest();
    check_clean(&bench);
    for body in [
        "os.kill(os.getppid(), 9); return 1",
        "x = 'x' * (3 << 30); return 1",
        // Deeper than what is left behind can be looked at.
        "here = os.getcwd()\nfor n in range(1500):\n    os.mkdir('d'); os.chdir('d')\nos.chdir(here); return 1",
    ] {
        let run = given(&bench, &["tests/test_act.py"], |program| {
            bench.harness.run_warm(&acting(body), program, None)
        });
        let plain = given(&bench, &["tests/test_act.py"], |program| {
            bench.harness.run(&acting(body), program, How::CHECK, true)
        });
        assert_eq!(run.verdicts, plain.verdicts);
        check_clean(&bench);
    }
}

#[test]
fn a_run_cut_by_a_shorter_limit_is_not_remembered() {
    let bench = pytest();
    let changes = acting("time.sleep(1.5); return 1");
    let files = ["tests/test_act.py"];
    let cut = warm(&bench, &changes, &files, Some(Duration::from_secs(1)));
    assert_eq!(cut.verdicts, Err(NoVerdict::TimedOut(1)));
    let whole = warm(&bench, &changes, &files, None);
    assert_eq!(whole.verdicts.unwrap().with(Outcome::Passed).len(), 3);
}

#[test]
fn runs_that_a_warm_process_must_not_make_are_plain() {
    let bench = pytest();
    let files = ["tests/test_act.py"];
    for changes in [
        writing("conftest.py", "import os\n"),
        writing("pyproject.toml", "[tool.pytest.ini_options]\n"),
        writing("sitecustomize.py", ""),
        writing("json.py", ""),
    ] {
        given(&bench, &files, |program| bench.harness.run_warm(&changes, program, None));
    }
    let runner = bench.harness.runner();
    let (script, parser) = (runner.script(&files.map(path), &[]), runner.parser());
    let foreign = [&script[..], b"# foreign\n"].concat();
    let program = Program { script: &foreign, parser: &parser };
    bench.harness.run_warm(&Changes::new(), program, None).unwrap();
    let program = Program { script: &script, parser: &foreign };
    bench.harness.run_warm(&Changes::new(), program, None).unwrap();
    let program = Program { script: &script, parser: &parser };
    bench.harness.run(&Changes::new(), program, How::SOLVER, false).unwrap();
    assert_eq!(bench.harness.spent().warm, 0);
}

#[test]
fn a_warm_answer_is_not_given_for_a_plain_run() {
    let bench = pytest();
    let files = ["tests/test_act.py"];
    warm(&bench, &Changes::new(), &files, None);
    let runs = bench.harness.spent().runs;
    given(&bench, &files, |program| bench.harness.run(&Changes::new(), program, How::CHECK, false));
    assert_eq!(bench.harness.spent().runs, runs + 1);
    given(&bench, &files, |program| bench.harness.run_warm(&Changes::new(), program, None));
    assert_eq!(bench.harness.spent().runs, runs + 1);
}

#[test]
fn threads_run_warm_and_plain_at_once_and_agree() {
    let bench = pytest();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let bench = &bench;
            scope.spawn(move || {
                for round in 0..3 {
                    let answer = 1 + (thread + round) % 2;
                    let changes = acting(&format!("return {answer} # {thread} {round}"));
                    let run = given(bench, &["tests/test_act.py"], |program| {
                        bench.harness.run_warm(&changes, program, None)
                    });
                    let failing = run.verdicts.unwrap().failing().len();
                    assert_eq!(failing, answer - 1);
                }
            });
        }
    });
    assert!(bench.harness.spent().warm > 0);
}

#[test]
fn unittest_runs_warm_too() {
    let test = "\
import unittest
import pkg.act

class TestAct(unittest.TestCase):
    def test_act(self):
        self.assertEqual(pkg.act.act(), 1)

    @unittest.skip('not now')
    def test_skipped(self):
        pass
";
    let files: [(&str, &[u8]); 3] = [
        ("pkg/__init__.py", b""),
        ("pkg/act.py", ACT.as_bytes()),
        ("tests/test_act.py", test.as_bytes()),
    ];
    let bench = bench_of(&files, &machine(), None);
    assert_eq!(bench.harness.runner().framework(), "unittest");
    bench.harness.baseline().unwrap();
    for body in [
        "return 1",
        "return 2",
        "raise ValueError('no')",
        "os._exit(3)",
        "sys.exit(4)",
        "import unittest; raise unittest.SkipTest('x')",
        "import multiprocessing as m\npool = m.get_context('spawn').Pool(1)\nreturn pool.apply(len, ['x'])",
        "print('--- report end ---'); return 2",
    ] {
        check_same(&bench, &acting(body), &["tests/test_act.py"]);
    }
    check_same(&bench, &writing("pkg/act.py", "import nowhere\n"), &["tests/test_act.py"]);
    let mut gone = Changes::new();
    gone.delete(path("tests/test_act.py"));
    check_same(&bench, &gone, &["tests/test_act.py"]);
}
