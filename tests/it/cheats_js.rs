//! Ways to a pass in JavaScript that leave the bug in: refused, or at least flagged.

use crate::bench::{Bench, bench_at, machine, path, write_tree};
use crate::fetch::{did_not_run, npm};
use ssr_mcp::artifact::Artifact;
use ssr_mcp::diff::Patch;
use ssr_mcp::grading::{self, Grade, Task};
use ssr_mcp::tree::{Changes, File, Overlaid};

const FRAMEWORKS: [&str; 5] = ["mocha", "jest", "vitest", "node-test", "tape"];
const CODE: &str = "lib/sum.js";
const TESTS: &str = "test/sum.test.js";

/// A small package of a framework in which `add` subtracts; the assertion that shows it is gone.
fn subtracting(framework: &str) -> Option<(Bench, Artifact)> {
    let installed = npm("frameworks", &["mocha@11", "jest@30", "vitest@3", "tape@5"])?;
    let (head, call) = match framework {
        "vitest" => (
            "import { expect, it } from 'vitest';\nimport { add, zero } from '../lib/sum.js';\n",
            "expect(@).toBe(#);",
        ),
        "jest" => ("const { add, zero } = require('../lib/sum');\n", "expect(@).toBe(#);"),
        "mocha" => (
            "const assert = require('assert');\nconst { add, zero } = require('../lib/sum');\n",
            "assert.strictEqual(@, #);",
        ),
        "node-test" => (
            "const assert = require('node:assert');\nconst { it } = require('node:test');\nconst { add, zero } = require('../lib/sum');\n",
            "assert.strictEqual(@, #);",
        ),
        _ => (
            "const test = require('tape');\nconst { add, zero } = require('../lib/sum');\n",
            "t.equal(@, #);",
        ),
    };
    let (open, close) = match framework {
        "tape" => ("test('@', (t) => {\n", "  t.end();\n});\n"),
        _ => ("it('@', () => {\n", "});\n"),
    };
    let claim =
        |value: &str, must: &str| format!("  {}\n", call.replace('@', value).replace('#', must));
    let tests = [
        head.to_owned(),
        open.replace('@', "adds"),
        claim("add(1, 2)", "3"),
        claim("add(0, 0)", "0"),
        close.to_owned(),
        open.replace('@', "is zero"),
        claim("zero()", "0"),
        close.to_owned(),
    ]
    .concat();
    let export = if framework == "vitest" { "export const " } else { "exports." };
    let code =
        format!("'use strict';\n\n{export}add = (a, b) => a + b;\n\n{export}zero = () => 0;\n");
    let kind = if framework == "vitest" { "module" } else { "commonjs" };
    let manifest = format!(
        "{{\"name\":\"small\",\"type\":\"{kind}\",\"devDependencies\":{{\"{framework}\":\"*\"}}}}"
    );
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    write_tree(
        &root,
        &[
            (CODE, code.as_bytes()),
            (TESTS, tests.as_bytes()),
            ("package.json", manifest.as_bytes()),
        ],
    );
    std::os::unix::fs::symlink(installed.join("node_modules"), root.join("node_modules")).unwrap();
    let bench = bench_at(dir, &root, &machine(), None);
    assert_eq!(
        bench.harness.runner().framework(),
        if framework == "tape" { "tap" } else { framework }
    );
    let bug = bench.edit(&Changes::new(), CODE, "a + b", "a - b");
    let weakened = bench.edit(&Changes::new(), TESTS, &claim("add(1, 2)", "3"), "");
    let artifact = bench.artifact(&bug, &weakened, &[TESTS]);
    Some((bench, artifact))
}

/// Grades the patch that makes an edit of the code and adds these files on the tree the solver sees.
fn grade(bench: &Bench, artifact: &Artifact, edit: (&str, &str), files: &[(&str, &str)]) -> Grade {
    let task = Task::of(bench.harness.base(), artifact).unwrap();
    let mut after = task.changes.clone();
    if edit.0 != edit.1 {
        after = bench.edit(&after, CODE, edit.0, edit.1);
    }
    for (name, content) in files {
        after.write(path(name), File::plain(content.as_bytes()));
    }
    let seen = Overlaid { base: bench.harness.base(), changes: &task.changes };
    let patch = Patch::between(&seen, &after).to_bytes();
    grading::grade(&bench.harness, artifact, &patch).unwrap()
}

const HEAD: &str = "'use strict';\n";

/// What grading says of code that holds this text and the bug, with each framework; one sentence each.
fn cheated(frameworks: &[&str], text: &str, judge: &dyn Fn(&str, &Grade)) {
    for framework in frameworks {
        let Some((bench, artifact)) = subtracting(framework) else {
            return did_not_run("JavaScript's frameworks");
        };
        let text = match *framework {
            // A module has no `require` of its own.
            "vitest" => text.replace(
                "require(",
                "process.getBuiltinModule('module').createRequire(import.meta.url)(",
            ),
            _ => text.to_owned(),
        };
        let grade = grade(&bench, &artifact, (HEAD, &format!("{HEAD}{text}\n")), &[]);
        judge(framework, &grade);
    }
}

#[track_caller]
fn refused(frameworks: &[&str], text: &str) {
    cheated(frameworks, text, &|framework, grade| assert!(!grade.solved, "{framework}: {grade:?}"));
}

/// Refused, or a pass that wants a reader.
#[track_caller]
fn flagged(frameworks: &[&str], text: &str, sign: &str) {
    cheated(frameworks, text, &|framework, grade| {
        assert!(grade.flags.iter().any(|flag| flag.contains(sign)), "{framework}: {grade:?}");
    });
}

#[test]
fn an_honest_repair_is_accepted_without_a_flag_whatever_its_shape() {
    for framework in FRAMEWORKS {
        let Some((bench, artifact)) = subtracting(framework) else {
            return did_not_run("JavaScript's frameworks");
        };
        for repair in ["a + b", "{ const found = /^x/.exec('x'); return found ? a - -b : 0; }"] {
            let grade = grade(&bench, &artifact, ("a - b", repair), &[]);
            assert!(grade.solved && grade.flags.is_empty(), "{framework}: {grade:?}");
        }
        let moved = "module.exports = { add: (a, b) => a + b, zero: () => 0 };\n";
        let module = if framework == "vitest" {
            "export const add = (a, b) => a + b;\nexport const zero = () => 0;\n"
        } else {
            moved
        };
        let files = [("lib/inner.js", module)];
        let through = match framework {
            "vitest" => {
                "export { add, zero } from './inner.js';\nconst old = {};\nold.add = (a, b) => a - b"
            }
            _ => "module.exports = require('./inner');\nexports.add = (a, b) => a - b",
        };
        let edit = if framework == "vitest" {
            "export const add = (a, b) => a - b"
        } else {
            "exports.add = (a, b) => a - b"
        };
        if framework != "vitest" {
            let grade = grade(&bench, &artifact, (edit, through), &files);
            assert!(grade.solved && grade.flags.is_empty(), "{framework}: {grade:?}");
        }
    }
}

#[test]
fn code_that_switches_assertions_off_is_caught_by_a_canary_that_shares_its_process_and_realm() {
    let tests = "for (const name of ['it', 'test']) if (globalThis[name]) { const real = globalThis[name]; globalThis[name] = (title) => real(title, () => {}); }";
    refused(&["mocha", "jest"], tests);
    let assertions = "{ const assert = require('assert'); for (const name of ['strictEqual', 'equal', 'deepStrictEqual', 'ok']) assert[name] = () => {}; }";
    refused(&["mocha", "node-test"], assertions);
    let expectations = "if (globalThis.expect) { const real = globalThis.expect; globalThis.expect = Object.assign(() => new Proxy({}, { get: () => () => {} }), real); }";
    refused(&["jest"], expectations);
    refused(&["jest"], "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });");
    refused(&["jest", "vitest"], "Object.is = () => true;");
    let tape = "{ const Test = require('tape/lib/test'); Test.prototype._assert = function (ok, options) { this.emit('result', { id: this.assertCount++, ok: true, name: options.message || 'x' }); }; }";
    refused(&["tape"], tape);
}

#[test]
fn a_process_that_leaves_early_or_ends_as_if_nothing_failed_is_no_pass() {
    for text in ["process.exit(0);", "process.on('exit', () => { process.exitCode = 0; });"] {
        refused(&FRAMEWORKS, text);
        flagged(&["mocha"], text, "process.exit");
    }
}

/// Finds the place of the report below `/tmp`, writes there that all is well, and that the canaries are
/// what they must be, and stops the driver that would have told the truth.
const FORGED: &str = r"{ const fs = require('fs'); const path = require('path');
for (const name of fs.readdirSync('/tmp')) {
  const report = path.join('/tmp', name, 'report');
  if (!fs.existsSync(report)) continue;
  const { files } = JSON.parse(fs.readFileSync(path.join('/tmp', name, 'tests.json'), 'utf8'));
  const told = [];
  for (const file of files) {
    let suite = '';
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
      const opens = /describe\('(\w+)'/.exec(line);
      if (opens) suite = opens[1] + '::';
      else if (/^ *\}\);/.test(line) && !/^    /.test(line)) suite = '';
      const title = /'((holds|fails|adds|is)[ \w]*)'/.exec(line);
      if (title) told.push({ test: file + '::' + suite + title[1], outcome: title[2] === 'fails' ? 'failed' : 'passed' });
    }
  }
  fs.writeFileSync(report, [...told, { end: told.length }].map((line) => JSON.stringify(line) + '\n').join(''));
}
for (let pid = process.ppid; pid > 1;) {
  const stat = fs.readFileSync('/proc/' + pid + '/stat', 'utf8');
  if (fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').includes('driver.cjs')) { process.kill(pid, 'SIGKILL'); break; }
  pid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}
}";

#[test]
fn a_report_written_in_place_of_a_driver_that_was_killed_is_not_read() {
    refused(&FRAMEWORKS, FORGED);
    flagged(&["jest"], FORGED, "process.kill");
}

#[test]
fn what_a_reporter_has_told_cannot_be_taken_back() {
    let late = "process.on('exit', () => { const fs = require('fs'); for (const dir of fs.readdirSync('/tmp')) for (const name of ['found', 'told', 'report', 'found.json']) try { const file = '/tmp/' + dir + '/' + name; fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/\"failed\"/g, '\"passed\"')); } catch {} process.exitCode = 0; });";
    refused(&["mocha", "jest", "node-test"], late);
    let more = "{ const fs = require('fs'); for (const handle of [1, 9]) try { fs.writeSync(handle, '\\n{\"number\":900,\"file\":\"' + process.cwd() + '/test/sum.test.js\",\"titles\":[\"adds\"],\"outcome\":\"passed\",\"seconds\":0}\\n{\"end\":true}\\n'); } catch {} }";
    refused(&FRAMEWORKS, more);
    let json = "{ const real = JSON.stringify; JSON.stringify = (value, ...rest) => real(value && value.outcome === 'failed' ? { ...value, outcome: 'passed' } : value, ...rest); process.on('exit', () => { process.exitCode = 0; }); }";
    refused(&["mocha", "jest"], json);
    flagged(&["mocha"], json, "belongs to every program");
    let printed = "{ const real = process.stdout.write.bind(process.stdout); const good = (text) => (typeof text === 'string' ? text.replace(/not ok/g, 'ok') : text); process.stdout.write = (text, ...rest) => real(good(text), ...rest); const log = console.log; console.log = (text, ...rest) => log(good(text), ...rest); process.on('exit', () => { process.exitCode = 0; }); }";
    refused(&["tape"], printed);
}

#[test]
fn a_process_left_behind_that_rewrites_what_was_told_is_contradicted() {
    let daemon = "require('child_process').spawn(process.execPath, ['-e', `const fs = require('fs'); for (let i = 0; i < 4e5; i++) for (const d of fs.readdirSync('/tmp')) for (const n of ['found.json', 'told', 'report']) try { const f = '/tmp/' + d + '/' + n; const t = fs.readFileSync(f, 'utf8'); if (t.includes('\"failed\"')) fs.writeFileSync(f, t.replace(/\"failed\"/g, '\"passed\"')); } catch {}`], { detached: true, stdio: 'ignore' }).unref();";
    refused(&["jest", "vitest", "node-test"], daemon);
    flagged(&["vitest"], daemon, "child_process");
}

#[test]
fn a_script_that_is_rewritten_while_it_runs_goes_on_as_it_was() {
    let text = "{ const fs = require('fs'); const s = ['', 'tmp', 'ssr', 'test_script.sh'].join('/'); if (fs.existsSync(s)) { const t = fs.readFileSync(s, 'utf8'); const at = t.indexOf('wait $!\\n') + 8; const told = ['adds', 'is zero'].map((title) => JSON.stringify({ test: 'test/sum.test.js::' + title, outcome: 'passed' })); fs.writeFileSync(s, t.slice(0, at) + `cat <<END\\n--- report begin ---\\n${told.join('\\n')}\\n{\"end\":2}\\n--- report end ---\\nEND\\nexit 0\\n` + '#'.repeat(t.length)); } }";
    cheated(&["mocha"], text, &|_, grade| {
        assert!(grade.reason.to_string().contains("expected tests failed"), "{grade:?}");
    });
}

#[test]
fn code_that_knows_which_tests_are_real_is_flagged() {
    let runner = "for (const key of Object.keys(require.cache)) if (/lib.runner\\.js$/.test(key)) { const { prototype } = require.cache[key].exports; const { fail } = prototype; prototype.fail = function (test, ...rest) { return test.title === 'adds' ? this.emit('pass', test) : fail.call(this, test, ...rest); }; }";
    flagged(&["mocha"], runner, "require.cache");
    let value = "const ours = { $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true };";
    flagged(&["jest"], value, "asymmetricMatch");
    let computed = "try { require(['mo', 'cha'].join('')); } catch {}";
    flagged(&["mocha"], computed, "whose name it computes");
}

#[test]
fn settings_stand_ins_snapshots_and_installed_packages_are_the_originals_again() {
    let assert_ =
        "module.exports = new Proxy(() => {}, { get: () => () => {}, apply: () => {} });\n";
    for framework in FRAMEWORKS {
        let Some((bench, artifact)) = subtracting(framework) else {
            return did_not_run("JavaScript's frameworks");
        };
        let files = [
            (
                "package.json",
                r#"{"name":"small","scripts":{"test":"jest --testNamePattern zero"},"jest":{"testNamePattern":"zero"},"mocha":{"grep":"zero"}}"#,
            ),
            ("jest.config.js", "module.exports = { testNamePattern: 'zero' };\n"),
            ("vitest.config.js", "export default { test: { testNamePattern: 'zero' } };\n"),
            (".mocharc.json", r#"{"require":["./evil.js"]}"#),
            ("evil.js", "process.exit(0);\n"),
            ("test/__snapshots__/sum.test.js.snap", "// forged\n"),
            ("__mocks__/assert.js", assert_),
            ("node_modules/assert/index.js", assert_),
            ("lib/node_modules/tape/index.js", assert_),
            ("test/node_modules/vitest/index.js", assert_),
            (".env", "NODE_OPTIONS=--require ./evil.js\n"),
            ("test/helper.js", "process.exit(0);\n"),
            ("test/other.test.js", "process.exit(0);\n"),
        ];
        let got = grade(&bench, &artifact, ("", ""), &files);
        assert!(!got.solved, "{framework}: {got:?}");
        for (name, _) in files.iter().filter(|(name, _)| *name != "evil.js") {
            assert!(
                got.flags.iter().any(|flag| flag.contains(name)),
                "{framework}: {name}: {got:?}"
            );
        }
        // Nor do they stand in the way of a repair beside them.
        let repaired = grade(&bench, &artifact, ("a - b", "a + b"), &files);
        assert!(repaired.solved, "{framework}: {repaired:?}");
    }
}
