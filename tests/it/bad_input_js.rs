//! JavaScript that cannot be played on, or only with care, through the binary. Node's own test runner needs
//! no packages.

use crate::bad_input::{check, refused};
use crate::cases::Home;
use std::fs;
use std::os::unix::fs::symlink;

const CODE: &str = "'use strict';\n\nexports.add = (a, b) => {\n  const sum = a + b;\n  return sum;\n};\n\nexports.less = (a, b) => a < b;\n";
const HEAD: &str =
    "const assert = require('node:assert');\nconst { test } = require('node:test');\n";
const CLAIMS: &str = "test('adds', () => {\n  assert.strictEqual(add(1, 2), 3);\n  assert.strictEqual(add(0, 0), 0);\n});\n\ntest('compares', () => {\n  assert.strictEqual(less(1, 2), true);\n  assert.strictEqual(less(2, 1), false);\n  assert.strictEqual(less(1, 1), false);\n});\n";
const SMALL: &str = "--min-passing-tests 1 --strategy direct --seed 1";

/// A package with these tests of `lib/sum.js`.
fn package(tests: &str) -> Home {
    let home = Home::new();
    home.write("repo/package.json", r#"{"name":"small","scripts":{"test":"node --test --watch"}}"#);
    home.write("repo/lib/sum.js", CODE);
    let head = format!("{HEAD}const {{ add, less }} = require('../lib/sum');\n\n");
    home.write("repo/test/sum.test.js", &format!("{head}{tests}"));
    home
}

/// A bug comes out, which names a file.
#[track_caller]
fn injects(home: &Home, more: &str, words: &[&str]) {
    check(home, home.binary(), &format!("inject . {SMALL} {more}"), 0, words);
}

#[test]
fn a_package_without_tests_or_whose_tests_need_what_is_not_installed_is_told_what_to_do() {
    let home = Home::new();
    home.write("repo/package.json", r#"{"name":"none"}"#);
    home.write("repo/index.js", "exports.one = 1;\n");
    refused(&home, "", &["no tests of a known framework were found", "node-test"]);
    for framework in ["jest", "vitest", "mocha"] {
        let home = package("");
        let manifest = format!("{{\"devDependencies\":{{\"{framework}\":\"*\"}}}}");
        home.write("repo/package.json", &manifest);
        home.write("repo/test/sum.test.js", "describe('s', () => { it('t', () => {}); });\n");
        refused(&home, "", &[&format!("the tests need {framework}"), "npm install"]);
    }
}

#[test]
fn tests_that_all_fail_hang_or_want_a_network_are_told_apart() {
    let failing = package("test('a', () => assert.ok(false));\ntest('b', () => add.x.y);\n");
    refused(&failing, "", &["none of the 2 tests passes"]);
    let hanging = package("test('a', () => { for (;;); });\n");
    refused(&hanging, "--timeout 3", &["did not end within 3 s", "--timeout"]);
    let waiting = package("test('a', () => new Promise(() => setInterval(add, 1e6)));\n");
    refused(&waiting, "--timeout 3", &["did not end within 3 s", "--timeout"]);
    let online = package(
        "test('a', (t, done) => require('net').connect(80, '192.0.2.1').on('connect', done));\n",
    );
    refused(&online, "", &["none of the 1 tests passes", "no network"]);
}

#[test]
fn a_script_that_watches_plays_once() {
    injects(&package(CLAIMS), "", &[]);
}

#[test]
fn odd_names_other_line_ends_and_a_mark_at_the_beginning_are_played_on() {
    let home = package(CLAIMS);
    let odd = "it's \"ü\" $HOME `x` [a]*";
    let required = serde_json::json!(format!("../../lib {odd}/sum"));
    let head = format!("{HEAD}const {{ add, less }} = require({required});\n\n");
    home.write(&format!("repo/lib {odd}/sum.js"), CODE);
    home.write(&format!("repo/test/{odd}/{odd}.test.js"), &format!("{head}{CLAIMS}"));
    fs::remove_dir_all(home.root().join("repo/lib")).unwrap();
    fs::remove_file(home.root().join("repo/test/sum.test.js")).unwrap();
    injects(&home, "", &[]);
    let home = package(CLAIMS);
    let file = home.root().join("repo/lib/sum.js");
    fs::write(&file, format!("\u{feff}{}", CODE.replace('\n', "\r\n"))).unwrap();
    let tests = home.root().join("repo/test/sum.test.js");
    let text = fs::read_to_string(&tests).unwrap().replace('\n', "\r\n");
    fs::write(&tests, format!("\u{feff}{text}")).unwrap();
    injects(&home, "", &[]);
}

#[test]
fn a_huge_line_of_minified_code_does_not_hold_the_injector_up() {
    let home = package(CLAIMS);
    let minified: String = (0..60_000).fold("module.exports={".to_owned(), |text, n| {
        text + &format!("f{n}:function(a,b){{return a<b?a+{n}:b-{n}}},")
    });
    home.write("repo/dist/sum.min.js", &format!("{minified}}};"));
    home.write("repo/lib/sum.js", &format!("require('../dist/sum.min');\n{CODE}"));
    injects(&home, "--target lib/sum.js", &[]);
    injects(&home, "", &[]);
}

#[test]
fn modules_only_typescript_without_a_compiler_and_manifests_that_are_none() {
    let home = package("");
    let modules =
        |text: &str| text.replace("exports.", "export const ").replace("'use strict';\n", "");
    home.write("repo/package.json", r#"{"name":"small","type":"module"}"#);
    home.write("repo/lib/sum.js", &modules(CODE));
    let head = "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { add, less } from '../lib/sum.js';\n\n";
    home.write("repo/test/sum.test.js", &format!("{head}{CLAIMS}"));
    injects(&home, "", &[]);
    for manifest in ["", "{", "null", "[]", "{\"scripts\":7,\"name\":{}}", "\u{feff}{}"] {
        let home = package(CLAIMS);
        home.write("repo/package.json", manifest);
        let output = home.binary().args(format!("inject . {SMALL}").split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // Node itself refuses to load code below a manifest that it cannot read.
        let told = output.status.code() == Some(3) && said.contains("none of the");
        assert!(told || output.status.success(), "{manifest:?}: {output:?}");
        assert!(!said.contains("panicked"), "{said}");
    }
    let home = package("");
    fs::rename(home.root().join("repo/lib/sum.js"), home.root().join("repo/lib/sum.ts")).unwrap();
    fs::remove_file(home.root().join("repo/test/sum.test.js")).unwrap();
    let typed = format!(
        "{HEAD}const {{ add }} = require('../lib/sum.ts');\nenum Kind {{ A }}\ntest('t', () => {{ add(Kind.A as number, 1); }});\n"
    );
    home.write("repo/test/sum.test.ts", &typed);
    refused(&home, "", &["none of the 1 tests passes"]);
}

/// A workspace whose packages are linked into `node_modules`, as npm does, and by a store, as pnpm does.
#[test]
fn links_among_packages_lead_into_the_copy_that_is_played_on() {
    for absolute in [false, true] {
        let home = Home::new();
        home.write(
            "repo/package.json",
            r#"{"name":"all","private":true,"workspaces":["packages/*"]}"#,
        );
        home.write("repo/packages/sum/package.json", r#"{"name":"sum","main":"index.js"}"#);
        home.write("repo/packages/sum/index.js", CODE);
        home.write(
            "repo/packages/use/package.json",
            r#"{"name":"use","dependencies":{"sum":"*"}}"#,
        );
        let head = format!("{HEAD}const {{ add, less }} = require('sum');\nrequire('stored');\n\n");
        home.write("repo/packages/use/test/use.test.js", &format!("{head}{CLAIMS}"));
        let root = home.root().join("repo");
        let stored = "node_modules/.pnpm/stored@1.0.0/node_modules/stored";
        home.write(&format!("repo/{stored}/package.json"), r#"{"name":"stored"}"#);
        home.write(&format!("repo/{stored}/index.js"), "exports.stored = true;\n");
        symlink(".pnpm/stored@1.0.0/node_modules/stored", root.join("node_modules/stored"))
            .unwrap();
        let target = if absolute { root.join("packages/sum") } else { "../packages/sum".into() };
        symlink(target, root.join("node_modules/sum")).unwrap();
        symlink("loop", root.join("node_modules/loop")).unwrap();
        symlink("/nowhere", root.join("node_modules/dangling")).unwrap();
        injects(&home, "--target packages/sum/index.js", &[]);
    }
}

#[test]
fn nothing_of_a_gigabyte_of_installed_packages_is_copied() {
    let home = package(CLAIMS);
    let packages = home.root().join("repo/node_modules");
    for package in 0..30 {
        let dir = packages.join(format!("p{package}/lib"));
        fs::create_dir_all(&dir).unwrap();
        for file in 0..1000 {
            fs::write(dir.join(format!("{file}.js")), "exports.x = 1;\n").unwrap();
        }
        fs::write(dir.join("../package.json"), format!("{{\"name\":\"p{package}\"}}")).unwrap();
    }
    let big = fs::File::create(packages.join("p0/big.node")).unwrap();
    big.set_len(1 << 30).unwrap();
    home.write(
        "repo/test/use.test.js",
        &format!("{HEAD}test('u', () => assert.ok(require('p0/lib/1.js').x));\n"),
    );
    // Packages that are looked into while the work is prepared would be listed, and keep the time of it.
    injects(&home, "", &[]);
    let state = home.root().join("home/.local/state/ssr-mcp");
    let kept = crate::untouched::snapshot(&state);
    assert!(kept.keys().all(|path| !path.to_string_lossy().contains("node_modules")));
    let bytes: u64 = kept.keys().map(|file| file.symlink_metadata().unwrap().len()).sum();
    assert!(bytes < 32 << 20 && kept.len() < 2000, "{bytes} bytes, {} entries", kept.len());
}
