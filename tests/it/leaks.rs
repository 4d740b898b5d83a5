//! What a solver's code can find: nowhere in its sandbox does the original of a bugged file lie.

use crate::bench::{Bench, bench_at, bench_of, machine, pytest_machine, write_tree};
use crate::support::{git, git_init};
use ssr_mcp::harness::{How, Program};
use ssr_mcp::tree::Changes;
use std::time::Duration;

/// What the original says, and what the bug says in its place.
const ANSWER: &str = "quokka-7391-original";
const WRONG: &str = "wombat-0000-mistaken";

/// The search takes a while on a busy machine.
const LIMIT: Option<Duration> = Some(Duration::from_secs(90));

/// Prints every file that holds the answer, by whatever way it can be reached. The answer is spelt
/// backwards, so that the search does not find itself.
const SEARCH: &str = r#"python3 - <<'END'
import os
needle = b"@BACKWARDS@"[::-1]
seen = set()
def look(path):
    try:
        if os.path.isfile(path) and os.path.getsize(path) < 1 << 26:
            with open(path, "rb") as file:
                if needle in file.read():
                    print("found", path)
    except OSError:
        pass
def walk(top, skipped=()):
    for here, folders, files in os.walk(top):
        kept = []
        for folder in folders:
            path = os.path.join(here, folder)
            if path.startswith(skipped) or ".rustup" in path or "site-packages" in path:
                continue
            try:
                stat = os.stat(path)
            except OSError:
                continue
            if (stat.st_dev, stat.st_ino) not in seen:
                seen.add((stat.st_dev, stat.st_ino))
                kept.append(folder)
        folders[:] = kept
        for file in files:
            look(os.path.join(here, file))
SYSTEM = ("/proc", "/sys", "/dev/fd", "/usr", "/lib", "/bin", "/sbin")
walk("/", SYSTEM)
for word in set(open("/proc/self/mountinfo").read().replace("=", " ").replace(":", " ").replace(",", " ").split()):
    if word.startswith("/") and word != "/" and not word.startswith(SYSTEM):
        walk(word)
for process in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline", "mountinfo", "maps"):
        look("/proc/%s/%s" % (process, name))
    if int(process) == os.getpid():
        continue
    try:
        handles = os.listdir("/proc/%s/fd" % process)
    except OSError:
        handles = []
    for place in ["fd/" + handle for handle in handles]:
        path = "/proc/%s/%s" % (process, place)
        walk(path) if os.path.isdir(path) else None
    try:
        for folder in os.listdir("/proc/%s/root" % process):
            if "/" + folder not in SYSTEM:
                walk("/proc/%s/root/%s" % (process, folder))
    except OSError:
        pass
print("searched")
END
"#;

const PARSER: &[u8] = b"import json, sys\nlines = sys.stdin.read().split('\\n')\n\
    print(json.dumps({line: line == 'searched' for line in lines if line}))\n";

/// Where the answer is found on the original with the given changes.
fn places(bench: &Bench, changes: &Changes, how: How) -> Vec<String> {
    let backwards: String = ANSWER.chars().rev().collect();
    let script = SEARCH.replace("@BACKWARDS@", &backwards);
    let program = Program { script: script.as_bytes(), parser: PARSER };
    let run = bench.harness.run(changes, program, how, true).unwrap();
    let log = String::from_utf8_lossy(&run.log).into_owned();
    assert!(log.trim_end().ends_with("searched"), "{log}");
    log.lines().filter_map(|line| line.strip_prefix("found ")).map(str::to_owned).collect()
}

#[track_caller]
fn check(bench: &Bench, file: &str, cache: &str) {
    bench.harness.baseline().unwrap();
    let bug = bench.edit(&Changes::new(), file, ANSWER, WRONG);
    assert_eq!(places(bench, &bug, How::SOLVER), [] as [&str; 0]);
    // The search finds what is there: trusted runs are shown the caches of the original.
    let trusted = places(bench, &bug, How::CHECK);
    assert!(trusted.iter().any(|place| place.starts_with(cache)), "{trusted:?}");
    assert!(trusted.iter().all(|place| place.contains(cache)), "{trusted:?}");
}

#[test]
fn a_python_solver_finds_the_original_nowhere() {
    let code = format!("def say():\n    return '{ANSWER}'\n");
    let bench = bench_of(
        &[
            ("pkg/__init__.py", b""),
            ("pkg/code.py", code.as_bytes()),
            (
                "tests/test_code.py",
                b"from pkg.code import say\n\n\ndef test_say():\n    assert len(say()) == 20\n\n\n\
                  def test_a_copy(tmp_path, monkeypatch):\n    \
                  (tmp_path / 'copied.py').write_text(open('pkg/code.py').read())\n    \
                  monkeypatch.syspath_prepend(tmp_path)\n    import copied\n    assert copied.say()\n",
            ),
        ],
        &pytest_machine(),
        LIMIT,
    );
    check(&bench, "pkg/code.py", "/tmp/ssr/pycache/");
}

/// A virtual environment beside the repository with pytest and with `.pth` files that name directories.
fn environment(dir: &std::path::Path, linked: &[&std::path::Path]) -> std::path::PathBuf {
    let from = crate::fetch::pytest_venv();
    let packages = std::fs::read_dir(from.join("lib")).unwrap().next().unwrap().unwrap().path();
    let site = dir.join("env/lib").join(packages.file_name().unwrap()).join("site-packages");
    crate::bench::copy(&packages.join("site-packages"), &site);
    for (number, linked) in linked.iter().enumerate() {
        std::fs::write(site.join(format!("own{number}.pth")), linked.to_str().unwrap()).unwrap();
    }
    std::fs::create_dir_all(dir.join("env/bin")).unwrap();
    std::fs::copy(from.join("pyvenv.cfg"), dir.join("env/pyvenv.cfg")).unwrap();
    let python = from.join("bin/python").canonicalize().unwrap();
    std::os::unix::fs::symlink(python, dir.join("env/bin/python")).unwrap();
    dir.join("env")
}

#[test]
fn an_editable_install_of_the_repository_or_of_another_clone_shows_no_original() {
    let code = format!("def say():\n    return '{ANSWER}'\n");
    let test: &[u8] =
        b"from pkg.code import say\n\n\ndef test_say():\n    assert len(say()) == 20\n";
    let files = [
        ("src/pkg/__init__.py", b"" as &[u8]),
        ("src/pkg/code.py", code.as_bytes()),
        ("tests/test_code.py", test),
        ("pytest.ini", b"[pytest]\n"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let (root, clone) = (dir.path().join("repo"), dir.path().join("clone/src"));
    crate::bench::write_tree(&root, &files);
    crate::bench::write_tree(&dir.path().join("clone"), &files);
    crate::bench::write_tree(&clone, &[(".git/ORIG", code.as_bytes())]);
    let environment = environment(dir.path(), &[&root.join("src"), &clone]);
    let machine = ssr_mcp::runner::Machine { virtual_env: Some(environment), ..machine() };
    let bench = crate::bench::bench_at(dir, &root, &machine, LIMIT);
    check(&bench, "src/pkg/code.py", "/tmp/ssr/pycache/");
}

#[test]
fn a_rust_solver_finds_the_original_nowhere() {
    let code = format!("pub fn say() -> &'static str {{\n    \"{ANSWER}\"\n}}\n");
    let bench = bench_of(
        &[
            ("Cargo.toml", b"[package]\nname = \"speech\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nnear = { path = \"near\" }\n\n[workspace]\nexclude = [\"near\"]\n"),
            ("near/Cargo.toml", b"[package]\nname = \"near\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("near/src/lib.rs", code.as_bytes()),
            ("src/lib.rs", b"pub fn say() -> &'static str {\n    near::say()\n}\n"),
            (".cargo/config.toml", b"[build]\ntarget = \"x86_64-unknown-linux-gnu\"\n"),
            ("tests/say.rs", b"#[test]\nfn says() {\n    assert_eq!(speech::say().len(), 20);\n    let said = [speech::say(); 9].concat();\n    std::fs::write(concat!(env!(\"CARGO_TARGET_TMPDIR\"), \"/said\"), said).unwrap();\n}\n"),
        ],
        &machine(),
        LIMIT,
    );
    check(&bench, "near/src/lib.rs", "/tmp/ssr/target/");
}

#[test]
fn a_solver_finds_the_history_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    git_init(&root);
    // Objects as they are, so that a search of bytes would find them.
    git(&root, &["config", "core.compression", "0"]);
    let code = |said: &str| format!("def say():\n    return '{said}'\n");
    let test = "import unittest\nfrom code import say\n\n\nclass SayTest(unittest.TestCase):\n    \
                def test_say(self):\n        self.assertEqual(len(say()), 20)\n";
    for said in [ANSWER, "koala"] {
        write_tree(
            &root,
            &[
                ("speech.py", code(said).as_bytes()),
                (
                    "test_speech.py",
                    test.replace("code", "speech")
                        .replace("20", &said.len().to_string())
                        .as_bytes(),
                ),
            ],
        );
        git(&root, &["add", "--all"]);
        git(&root, &["commit", "--quiet", "--message", &format!("say {ANSWER} no more")]);
    }
    let bench = bench_at(dir, &root, &machine(), LIMIT);
    bench.harness.baseline().unwrap();
    let bug = bench.edit(&Changes::new(), "speech.py", "koala", "panda");
    assert_eq!(places(&bench, &bug, How::SOLVER), [] as [&str; 0]);
    assert_eq!(places(&bench, &bug, How::CHECK), [] as [&str; 0]);
}

/// A `node_modules` of its own with links to the packages of another, and with what tools keep there.
fn packages(root: &std::path::Path, installed: &std::path::Path, code: &str) {
    let own = root.join("node_modules");
    let link = |from: &std::path::Path, to: &std::path::Path, scopes: bool| {
        std::fs::create_dir_all(to).unwrap();
        let mut inner = Vec::new();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            match entry.file_name().as_encoded_bytes()[0] {
                b'.' => {}
                b'@' if scopes => inner.push(entry.file_name()),
                _ => {
                    std::os::unix::fs::symlink(entry.path(), to.join(entry.file_name())).unwrap();
                }
            }
        }
        inner
    };
    let from = installed.join("node_modules");
    for scope in link(&from, &own, true) {
        link(&from.join(&scope), &own.join(&scope), false);
    }
    let kept = [
        ".cache/babel-loader/1.json",
        ".vite/vitest/transformed.js",
        ".vite-temp/code.js",
        "speech/lib/code.js",
        ".pnpm/speech@1.0.0/node_modules/speech/lib/code.js",
    ];
    write_tree(&own, &kept.map(|name| (name, code.as_bytes())));
}

#[test]
fn a_javascript_solver_finds_the_original_nowhere() {
    let Some(installed) =
        crate::fetch::npm("frameworks", &["mocha@11", "jest@30", "vitest@3", "tape@5"])
    else {
        return crate::fetch::did_not_run("JavaScript's frameworks");
    };
    for (framework, cache) in [("jest", "/tmp/ssr/jest/"), ("vitest", "")] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("repo");
        let code = format!("export const say = () => '{ANSWER}';\n");
        let code =
            if framework == "jest" { code.replace("export const ", "exports.") } else { code };
        let head = match framework {
            "jest" => "const { say } = require('../lib/code');\n",
            _ => "import { expect, it } from 'vitest';\nimport { say } from '../lib/code.js';\n",
        };
        let test = format!("{head}it('says', () => {{ expect(say().length).toBe(20); }});\n");
        let manifest =
            format!("{{\"name\":\"speech\",\"devDependencies\":{{\"{framework}\":\"*\"}}}}");
        write_tree(
            &root,
            &[
                ("lib/code.js", code.as_bytes()),
                ("test/code.test.js", test.as_bytes()),
                ("package.json", manifest.as_bytes()),
            ],
        );
        packages(&root, &installed, &code);
        let bench = bench_at(dir, &root, &machine(), LIMIT);
        if cache.is_empty() {
            bench.harness.baseline().unwrap();
            let bug = bench.edit(&Changes::new(), "lib/code.js", ANSWER, WRONG);
            assert_eq!(places(&bench, &bug, How::SOLVER), [] as [&str; 0]);
        } else {
            check(&bench, "lib/code.js", cache);
        }
    }
}
