//! Runs in a process that has the test framework loaded, beside plain ones.

use crate::bench::{Bench, bench_of, machine, path, pytest_machine};
use ssr_mcp::harness::{How, Program, ScriptRun};
use ssr_mcp::tree::{Changes, File};
use std::time::Duration;

const CODE: &str = "\
def double(x):
    return x + x


def half(x):
    return x // 2
";

const TESTS: &str = "\
import os, sys, signal, threading
import pkg.code as code

def test_double():
    assert code.double(2) == 4

def test_half():
    assert code.half(4) == 2

def test_world():
    names = sorted(name for name in sys.modules if not name.startswith('pkg'))
    print('WORLD', sorted(os.environ.items()), sys.flags, sys.path, os.getcwd(), os.umask(0o22))
    print('WORLD', signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM), hash('a'))
    print('WORLD', signal.pthread_sigmask(signal.SIG_BLOCK, []), threading.active_count())
    print('WORLD', names, sorted(os.listdir('/proc/self/fd')), sys.stdout.encoding, sys.stdin)
    print('WORLD', sys.modules['__main__'].__name__, os.path.basename(sys.argv[0])[-9:], len(sys.argv))
    print('WORLD', open('/proc/self/limits').read())
    assert code.half(4) == 2
";

fn pytest() -> Bench {
    let files: [(&str, &[u8]); 3] = [
        ("pkg/__init__.py", b""),
        ("pkg/code.py", CODE.as_bytes()),
        ("tests/test_code.py", TESTS.as_bytes()),
    ];
    bench_of(&files, &pytest_machine(), None)
}

struct Both {
    warm: ScriptRun,
    plain: ScriptRun,
}

/// Runs the tests of some files plainly and in a warm process.
#[track_caller]
fn both(bench: &Bench, changes: &Changes, files: &[&str]) -> Both {
    let files: Vec<_> = files.iter().map(|file| path(file)).collect();
    let runner = bench.harness.runner();
    let (script, parser) = (runner.script(&files, &[]), runner.parser());
    let program = Program { script: &script, parser: &parser };
    let before = bench.harness.spent().warm;
    let warm = bench.harness.run_warm(changes, program, None).unwrap();
    assert_eq!(bench.harness.spent().warm, before + 1, "the run was not warm");
    let plain = bench.harness.run(changes, program, How::CHECK, true).unwrap();
    Both { warm, plain }
}

#[test]
fn thin() {
    let bench = pytest();
    bench.harness.baseline().unwrap();
    for round in 0..3 {
        let changes =
            bench.edit(&Changes::new(), "pkg/code.py", "x // 2", &format!("x // 2 + {round}"));
        let both = both(&bench, &changes, &["tests/test_code.py"]);
        if round < 4 {
            println!(
                "{}\n=====\n{}",
                String::from_utf8_lossy(&both.warm.log),
                String::from_utf8_lossy(&both.plain.log)
            );
        }
        println!(
            "warm {:?} {:?} plain {:?} {:?}",
            both.warm.cpu, both.warm.wall, both.plain.cpu, both.plain.wall
        );
        assert_eq!(both.warm.verdicts, both.plain.verdicts);
    }
}
