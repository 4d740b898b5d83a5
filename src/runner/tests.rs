//! What the runner makes of trees and options, without running anything.

use super::*;
use crate::tree::{Changes, File};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn path(name: &str) -> RelPath {
    RelPath::parse(name.as_bytes()).unwrap()
}

/// A tree in memory.
fn tree(files: &[(&str, &str)]) -> Changes {
    files.iter().map(|(name, text)| (path(name), Some(File::plain(text.as_bytes())))).collect()
}

/// A machine with one system-like Python that has pytest, and a cargo with its rustup.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.file("opt/py/bin/python3.11", "\u{7f}ELF");
        place.link("opt/py/bin/python3", "python3.11");
        place.file("opt/py/lib/python3.11/site-packages/pytest/__init__.py", "");
        place.file("home/.rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin/cargo", "");
        place.file(
            "home/.rustup/settings.toml",
            "default_toolchain = \"stable-x86_64-unknown-linux-gnu\"\n",
        );
        place.file("home/.cargo/bin/rustup", "");
        place.link("home/.cargo/bin/cargo", "rustup");
        place.file("home/.cargo/registry/index", "");
        place.file("home/.cargo/credentials.toml", "secret");
        fs::create_dir_all(place.at("repo")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn link(&self, name: &str, target: &str) {
        symlink(target, self.at(name)).unwrap();
    }

    fn machine(&self) -> Machine {
        Machine {
            path: vec![self.at("home/.cargo/bin"), self.at("opt/py/bin"), self.at("opt/node/bin")],
            home: self.at("home"),
            ..Machine::default()
        }
    }

    fn detect(&self, files: &[(&str, &str)]) -> Result<Runner, Error> {
        Runner::detect(&tree(files), &self.at("repo"), &self.machine(), &Overrides::default())
    }
}

fn names(tools: &Tools) -> Vec<String> {
    tools.mounts.iter().map(|mount| mount.target.display().to_string()).collect()
}

#[test]
fn every_embedded_specification_names_files_that_exist() {
    let specs = embedded::specs();
    assert!(specs.len() >= 3);
    for spec in specs {
        let folder = spec.folder().to_owned();
        let file = |name: &str| embedded::file(&folder, name);
        // A command of the user's own has no template, no canary and no tools.
        if spec.name == "java-junit" {
            continue;
        }
        assert!(!file(&spec.script.template).is_empty(), "{}", spec.name);
        for name in [&spec.script.driver, &spec.shadows.module_list] {
            assert!(name.is_empty() || !file(name).is_empty(), "{}: {name}", spec.name);
        }
        // What CTest runs stands in the project's own lists: a new file is no test.
        let Some(canary) = spec.canary else {
            assert_eq!(spec.name, "ctest");
            continue;
        };
        assert!(
            !file(&canary.template).is_empty()
                && !canary.fails.is_empty()
                && !canary.passes.is_empty()
        );
    }
}

#[test]
fn a_runner_knows_its_own_scripts_byte_for_byte() {
    let plain = [("tests/test_a.py", "def test_a():\n    pass\n")];
    let runner = Place::new().detect(&plain).unwrap();
    let odd = "tests/test_a.py::test_\"é\nEND_OF_TESTS\n".to_owned();
    for chosen in [
        Chosen { files: vec![path("tests/test_a.py")], excluded: vec![] },
        Chosen { files: vec![path("b/test_é.py"), path("tests/test_a.py")], excluded: vec![odd] },
        Chosen { files: vec![], excluded: vec![] },
    ] {
        let script = runner.script(&chosen.files, &chosen.excluded);
        assert_eq!(runner.own_script(&script), Some(chosen));
    }
    let script = runner.script(&[path("tests/test_a.py")], &[]);
    let script = String::from_utf8(script).unwrap();
    for (old, new) in [
        ("set -u", "set -eu"),
        ("tests/test_a.py", "tests//test_a.py"),
        ("tests/test_a.py", "../test_a.py"),
        ("\"excluded\": []", "\"excluded\": [ ]"),
        ("</dev/null", "<&1"),
        ("\n", "\r\n"),
    ] {
        assert!(script.contains(old), "{old}");
        assert_eq!(runner.own_script(script.replacen(old, new, 1).as_bytes()), None, "{old}");
    }
    assert_eq!(runner.own_script(format!("{script}\n").as_bytes()), None);
    assert_eq!(runner.own_script(b""), None);
    let overrides = Overrides {
        test_command: Some("make test".into()),
        report: Some("report.xml".into()),
        ..Overrides::default()
    };
    let place = Place::new();
    let other =
        Runner::detect(&tree(&plain), &place.at("repo"), &place.machine(), &overrides).unwrap();
    assert_eq!(other.own_script(script.as_bytes()), None);
    assert!(other.server().is_none() && runner.server().is_some());
}

#[track_caller]
fn detects(files: &[(&str, &str)], framework: &str) {
    assert_eq!(Place::new().detect(files).unwrap().framework(), framework);
}

#[test]
fn the_framework_that_the_project_asks_for_wins_over_the_tests_shape() {
    let unittest = (
        "tests/test_a.py",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n",
    );
    let plain = ("tests/test_a.py", "def test_a():\n    pass\n");
    let rust = [("Cargo.toml", "[package]\nname = \"a\"\n"), ("tests/a.rs", "#[test] fn a() {}")];
    detects(&[unittest], "unittest");
    detects(&[plain], "pytest");
    detects(&[unittest, ("pytest.ini", "[pytest]\n")], "pytest");
    detects(&[unittest, ("pyproject.toml", "[project]\n[tool.pytest.ini_options]\n")], "pytest");
    detects(&[unittest, ("tests/conftest.py", "import pytest\n")], "pytest");
    detects(&rust, "cargo-test");
    // Python files without tests beside a crate with tests, and the other way round.
    detects(&[rust[0], rust[1], ("tools/x.py", "")], "cargo-test");
    detects(&[plain, rust[0], ("src/lib.rs", "")], "pytest");
}

const JS: &str = "const test = require('node:test');\ntest('a', () => {});\n";

#[test]
fn javascript_s_framework_is_the_one_that_the_package_asks_for() {
    let place = Place::new();
    place.file("opt/node/bin/node", "\u{7f}ELF");
    for (package, framework) in
        [("mocha", "mocha"), ("jest", "jest"), ("vitest", "vitest"), ("tape", "tap")]
    {
        place.file(&format!("repo/node_modules/{package}/package.json"), "{}");
        let manifest = format!("{{\n  \"devDependencies\": {{ \"{package}\": \"1\" }}\n}}\n");
        let test = "require('tape');\nit('a', () => {});\n";
        let files = [("package.json", manifest.as_str()), ("test/a.test.ts", test)];
        let runner = place.detect(&files).unwrap();
        assert_eq!(runner.framework(), framework);
        assert_eq!(runner.languages(), ["javascript", "typescript", "tsx"]);
        let target = place.at("repo/node_modules");
        assert!(runner.tools().mounts.iter().any(|mount| mount.target == target));
    }
    assert_eq!(place.detect(&[("a.js", JS)]).unwrap().framework(), "node-test");
}

#[test]
fn an_installed_copy_of_the_package_itself_is_hidden_unless_the_framework_needs_it() {
    let place = Place::new();
    place.file("opt/node/bin/node", "\u{7f}ELF");
    let needs = "{\"dependencies\":{\"tool\":\"1\"}}";
    place.file("repo/node_modules/mocha/package.json", needs);
    place.file("repo/node_modules/tool/package.json", "{\"dependencies\":{\"own\":\"1\"}}");
    place.file("repo/node_modules/tool/node_modules/own/package.json", "{}");
    place.file("repo/node_modules/own/package.json", "{}");
    place.file("repo/node_modules/other/node_modules/own/package.json", "{}");
    place.link("repo/node_modules/linked", "../packages/linked");
    let manifest = "{\"name\":\"own\",\"devDependencies\":{\"mocha\":\"1\"}}";
    let files = [("package.json", manifest), ("test/a.js", "it('a', () => {});\n")];
    let runner = place.detect(&files).unwrap();
    let hidden: Vec<_> = runner.tools().hidden.iter().map(|(path, _)| path.clone()).collect();
    let at = |name: &str| place.at(&format!("repo/node_modules/{name}"));
    assert_eq!(hidden, [at("other/node_modules/own"), at("own")]);
}

#[test]
fn the_package_of_a_target_decides_where_there_are_several() {
    let place = Place::new();
    place.file("opt/node/bin/node", "\u{7f}ELF");
    place.file("repo/node_modules/mocha/package.json", "{}");
    place.file("repo/node_modules/jest/package.json", "{}");
    let plain = "it('a', () => {});\n";
    let files = [
        ("py/pyproject.toml", "[project]\n"),
        ("py/tests/test_a.py", "def test_a():\n    pass\n"),
        ("js/one/package.json", "{\"devDependencies\":{\"mocha\":\"1\"}}"),
        ("js/one/test/a.js", plain),
        ("js/two/package.json", "{\"devDependencies\":{\"jest\":\"1\"}}"),
        ("js/two/lib/a.js", ""),
        ("js/two/test/a.test.js", plain),
    ];
    let near = |file: &str, only: bool| {
        let near = Some(Near { file: path(file), only });
        let overrides = Overrides { near, ..Overrides::default() };
        Runner::detect(&tree(&files), &place.at("repo"), &place.machine(), &overrides).unwrap()
    };
    let says = |runner: &Runner| {
        let tests = runner.test_files(&tree(&files));
        (runner.framework().to_owned(), runner.scope().to_owned(), tests.len())
    };
    assert_eq!(says(&near("js/two/lib/a.js", true)), ("jest".into(), "js/two".into(), 1));
    assert_eq!(says(&near("js/one/a.js", true)), ("mocha".into(), "js/one".into(), 1));
    assert_eq!(says(&near("py/a.py", true)), ("pytest".into(), "py".into(), 1));
    assert_eq!(says(&near("py/a.py", false)), ("pytest".into(), String::new(), 1));
    assert!(matches!(place.detect(&files), Err(Error::Ambiguous { .. })));
}

#[test]
fn what_cannot_be_run_says_what_to_do() {
    let place = Place::new();
    let plain = ("tests/test_a.py", "def test_a():\n    pass\n");
    let rust = [("Cargo.toml", "[package]\nname = \"a\"\n"), ("tests/a.rs", "#[test] fn a() {}")];
    let says = |error: Error, words: &str| assert!(error.to_string().contains(words), "{error}");
    says(place.detect(&[("a.py", "")]).unwrap_err(), "--test-command");
    says(place.detect(&[plain, rust[0], rust[1]]).unwrap_err(), "--framework");
    says(place.detect(&[rust[0], ("src/a.rs", "#[test] fn a() {}")]).unwrap_err(), "`tests/`");
    let overrides = Overrides { framework: Some("nose".into()), ..Overrides::default() };
    let unknown = Runner::detect(&tree(&[plain]), &place.at("repo"), &place.machine(), &overrides);
    says(
        unknown.unwrap_err(),
        "Known are pytest, unittest, vitest, jest, mocha, tap, node-test, ctest, go-test, cargo-test",
    );
    says(place.detect(&[("a.js", JS)]).unwrap_err(), "no Node.js was found");
    place.file("opt/node/bin/node", "#!/bin/sh\n");
    says(place.detect(&[("a.js", JS)]).unwrap_err(), "are not the program");
    place.file("opt/node/bin/node", "\u{7f}ELF");
    let jest =
        [("package.json", "{\"devDependencies\":{\"jest\":\"1\"}}"), ("a.test.js", "test('a');\n")];
    says(place.detect(&jest).unwrap_err(), "`npm install`");
    fs::remove_dir_all(place.at("opt/py/lib/python3.11/site-packages/pytest")).unwrap();
    let missing = place.detect(&[plain]).unwrap_err();
    says(
        missing,
        &format!("`{} -m pip install pytest`", place.at("opt/py/bin/python3.11").display()),
    );
    fs::remove_dir_all(place.at("opt")).unwrap();
    says(place.detect(&[plain]).unwrap_err(), "no Python 3 was found");
    fs::remove_dir_all(place.at("home/.rustup/toolchains")).unwrap();
    says(place.detect(&rust).unwrap_err(), "rustup toolchain install");
    fs::remove_dir_all(place.at("home/.cargo")).unwrap();
    says(place.detect(&rust).unwrap_err(), "no cargo was found");
}

#[test]
fn a_virtual_environment_comes_with_its_base_interpreter() {
    let place = Place::new();
    for name in ["repo/.venv", "active"] {
        place.file(
            &format!("{name}/pyvenv.cfg"),
            &format!("home = {}\n", place.at("opt/py/bin").display()),
        );
        place.file(&format!("{name}/lib/python3.11/site-packages/pytest.py"), "");
        place.file(&format!("{name}/bin/x"), "");
        symlink(place.at("opt/py/bin/python3"), place.at(&format!("{name}/bin/python"))).unwrap();
    }
    let plain = [("test_a.py", "def test_a():\n    pass\n")];
    let local = place.detect(&plain).unwrap();
    assert_eq!(local.python(), place.at("repo/.venv/bin/python"));
    let shown = names(local.tools());
    for wanted in ["repo/.venv", "opt/py"] {
        assert!(shown.contains(&place.at(wanted).display().to_string()), "{shown:?}");
    }
    let machine = Machine { virtual_env: Some(place.at("active")), ..place.machine() };
    let active =
        Runner::detect(&tree(&plain), &place.at("repo"), &machine, &Overrides::default()).unwrap();
    assert_eq!(active.python(), place.at("active/bin/python"));
    let path = active.tools().env[std::ffi::OsStr::new("PATH")].to_str().unwrap().to_owned();
    assert!(path.starts_with(place.at("active/bin").to_str().unwrap()), "{path}");
}

#[test]
fn a_shim_leads_to_the_version_that_pyenv_would_choose() {
    let place = Place::new();
    for version in ["3.9.2", "3.11.4", "3.11.10"] {
        place.file(&format!("pyenv/versions/{version}/bin/python3"), "\u{7f}ELF");
        place.file(&format!("pyenv/versions/{version}/lib/python3/site-packages/pytest.py"), "");
    }
    place.file("pyenv/shims/python3", "#!/usr/bin/env bash\n");
    place.file("pyenv/version", "3.9.2\n");
    let machine = Machine { path: vec![place.at("pyenv/shims")], ..place.machine() };
    let chosen = || {
        let files = tree(&[("test_a.py", "def test_a():\n    pass\n")]);
        Runner::detect(&files, &place.at("repo"), &machine, &Overrides::default())
    };
    assert_eq!(chosen().unwrap().python(), place.at("pyenv/versions/3.9.2/bin/python3"));
    place.file("repo/.python-version", "3.11\n");
    assert_eq!(chosen().unwrap().python(), place.at("pyenv/versions/3.11.10/bin/python3"));
    place.file("repo/.python-version", "2.7\n");
    assert!(chosen().unwrap_err().to_string().contains("are not the program"));
}

#[test]
fn no_mount_shows_the_home_directory_or_credentials() {
    let place = Place::new();
    place.file("home/bin/python3.12", "\u{7f}ELF");
    place.link("home/bin/python3", "python3.12");
    place.file("home/lib/python3.12/site-packages/pytest.py", "");
    place.file("home/lib/python3.12/site-packages/all.pth", place.at("home").to_str().unwrap());
    place.file("home/other/x", "");
    place.file(
        "home/lib/python3.12/site-packages/one.pth",
        place.at("home/other").to_str().unwrap(),
    );
    let machine = Machine {
        path: vec![place.at("home/bin"), place.at("home/.cargo/bin")],
        ..place.machine()
    };
    let files = [("Cargo.toml", "[package]\nname = \"a\"\n"), ("tests/a.rs", "#[test] fn a() {}")];
    for files in [&files[..], &[("test_a.py", "def test_a():\n    pass\n")]] {
        let runner =
            Runner::detect(&tree(files), &place.at("repo"), &machine, &Overrides::default())
                .unwrap();
        for mount in &runner.tools().mounts {
            assert!(!place.at("home").starts_with(&mount.source), "{mount:?}");
            assert!(
                !place.at("home/.cargo/credentials.toml").starts_with(&mount.source),
                "{mount:?}"
            );
        }
    }
}

#[test]
fn a_linked_directory_shows_neither_the_repository_nor_a_copy_of_its_packages() {
    let place = Place::new();
    let site = "opt/py/lib/python3.11/site-packages";
    for linked in ["repo/src", "clone/src", "finder/pkg", "other"] {
        place.file(&format!("{linked}/x.py"), "");
        let name = linked.replace('/', "_");
        place.file(&format!("{site}/{name}.pth"), place.at(linked).to_str().unwrap());
    }
    place.file(&format!("{site}/above.pth"), place.at("").to_str().unwrap());
    place.file("clone/src/pkg/__init__.py", "");
    place.file("other/.git/HEAD", "");
    let runner = place
        .detect(&[("src/pkg/__init__.py", ""), ("tests/test_a.py", "def test_a():\n    pass\n")])
        .unwrap();
    let tools = runner.tools();
    let shown = |name: &str| tools.mounts.iter().any(|mount| mount.target == place.at(name));
    assert!(shown("clone/src") && shown("other") && !shown("repo/src") && !shown(""));
    let hidden: Vec<_> = tools.hidden.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(hidden, ["clone/src/pkg", "finder/pkg", "other/.git"].map(|path| place.at(path)));
}

#[test]
fn plugins_are_named_one_by_one_less_those_that_shuffle() {
    let place = Place::new();
    let site = "opt/py/lib/python3.11/site-packages";
    place.file(&format!("{site}/a-1.dist-info/entry_points.txt"), "[console_scripts]\nx = y\n[pytest11]\nmock = pytest_mock\nrandomly = pytest_randomly\n[z]\nq = r\n");
    place.file(
        &format!("{site}/b-1.dist-info/entry_points.txt"),
        "[pytest11]\npytest_cov = pytest_cov.plugin\n",
    );
    let plugins = |files: &[(&str, &str)]| {
        let runner = place.detect(files).unwrap();
        runner.tools().env[std::ffi::OsStr::new("PYTEST_PLUGINS")].to_str().unwrap().to_owned()
    };
    let test = ("test_a.py", "def test_a():\n    pass\n");
    assert_eq!(plugins(&[test]), "pytest_mock");
    let settings = ("pytest.ini", "[pytest]\naddopts = --cov=pkg\n");
    assert_eq!(plugins(&[test, settings]), "pytest_cov.plugin,pytest_mock");
}

#[test]
fn files_that_sway_and_files_that_shadow_are_told() {
    let place = Place::new();
    let runner = place
        .detect(&[
            ("pkg/__init__.py", ""),
            ("pkg/code.py", ""),
            ("pkg/tests/test_b.py", "def test_b(): pass"),
            ("platform/x.py", ""),
            ("tests/__init__.py", ""),
            ("tests/test_a.py", "def test_a():\n    pass\n"),
            ("checks/test_c.py", "def test_c():\n    pass\n"),
        ])
        .unwrap();
    for name in [
        "conftest.py",
        "a/b/conftest.py",
        "pytest.ini",
        "setup.cfg",
        "pyproject.toml",
        "x.pth",
        "a-1.dist-info/METADATA",
        "tests/help.py",
        "tests/data/x.json",
        "pkg/tests/x.py",
        "sitecustomize.py",
    ] {
        assert!(runner.sways(&path(name)), "{name}");
    }
    for name in ["pkg/code.py", "checks/help.py", "test/x.py", "README.md", "pkg/conftest/x.py"] {
        assert!(!runner.sways(&path(name)), "{name}");
    }
    for name in [
        "pytest.py",
        "_pytest/__init__.py",
        "random.py",
        "src/json/__init__.py",
        "checks/random.py",
        "pkg/x.so",
        "x.pyc",
        "evil-0.dist-info/entry_points.txt",
        "unittest.py",
        "pkg/tests/types.py",
        "src/pkg/code.py",
        "checks/pkg/__init__.py",
    ] {
        assert!(runner.shadows(&path(name)), "{name}");
    }
    for name in
        ["pkg/random.py", "pkg/code.py", "platform/y.py", "new.py", "random.txt", "docs/json/x.md"]
    {
        assert!(!runner.shadows(&path(name)), "{name}");
    }
}

#[test]
fn rust_files_that_sway_are_told() {
    let runner = Place::new()
        .detect(&[
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            ("tests/a.rs", "#[test] fn a() {}"),
            ("tests/common/mod.rs", "// test"),
        ])
        .unwrap();
    assert_eq!(
        runner.test_files(&tree(&[
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            ("tests/a.rs", ""),
            ("tests/common/mod.rs", "")
        ])),
        [path("tests/a.rs")]
    );
    for name in [
        "build.rs",
        "Cargo.toml",
        "Cargo.lock",
        ".cargo/config.toml",
        "rust-toolchain.toml",
        "tests/common/mod.rs",
    ] {
        assert!(runner.sways(&path(name)), "{name}");
    }
    assert!(!runner.sways(&path("src/lib.rs")));
    assert!(
        runner.shadows(&path("crates/x/.cargo/config")) && !runner.shadows(&path("src/new.rs"))
    );
}

#[test]
fn a_script_quotes_what_a_shell_would_read() {
    let runner = Place::new()
        .detect(&[
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            ("tests/it's $(x).rs", "#[test] fn a() {}"),
        ])
        .unwrap();
    let script = runner.script(&[path("tests/it's $(x).rs")], &["tests/it's $(x).rs::b".into()]);
    let script = String::from_utf8(script).unwrap();
    assert!(script.contains(r"run '.' 'tests/it'\''s $(x).rs' --skip 'b'"), "{script}");
    assert!(!script.contains("\n@"), "every place is filled");
}

#[test]
fn what_manifests_and_settings_name_sways_and_shadows_too() {
    let place = Place::new();
    let manifest = "[package]\nname = \"a\"\nbuild = \"make/gen.rs\"\n\
                    [[test]]\nname = \"c\"\npath = \"checks/c.rs\"\n\
                    [[test]]\nname = \"s\"\npath = \"src/s.rs\"\n";
    let test = "#[test] fn a() {}";
    let files = [
        ("Cargo.toml", "[package]\nname = \"top\"\n"),
        ("a/Cargo.toml", manifest),
        ("a/checks/c.rs", test),
        ("a/src/s.rs", test),
    ];
    let rust = place.detect(&files).unwrap();
    for name in ["a/make/gen.rs", "a/checks/help.rs", "a/checks/deep/x.rs"] {
        assert!(rust.sways(&path(name)), "{name}");
    }
    for name in ["a/make/other.rs", "make/gen.rs", "a/src/lib.rs", "checks/help.rs"] {
        assert!(!rust.sways(&path(name)), "{name}");
    }
    let settings = "[tool.pytest.ini_options]\npythonpath = [\"app/code\", \".\"]\n";
    let python = place
        .detect(&[("pyproject.toml", settings), ("tests/test_a.py", "def test_a(): pass")])
        .unwrap();
    assert!(python.shadows(&path("app/code/random.py")));
    assert!(!python.shadows(&path("app/random.py")));
}

#[test]
fn a_cargo_script_of_ours_is_recognised_byte_for_byte() {
    let place = Place::new();
    let files = [
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("tests/it's.rs", "#[test] fn a() {}"),
        ("tests/b.rs", "#[test] fn b() {}"),
    ];
    let runner = place.detect(&files).unwrap();
    let test_files = [path("tests/b.rs"), path("tests/it's.rs")];
    let excluded = ["tests/b.rs::m::b".to_owned(), "tests/it's.rs::a".to_owned()];
    let script = runner.script(&test_files, &excluded);
    let chosen = runner.own_script(&script).unwrap();
    assert_eq!(chosen.files, test_files);
    assert_eq!(chosen.excluded, excluded);
    for (old, new) in
        [("set -u", "set -e"), ("--skip 'm::b'", "--skip 'm::b' 'c'"), ("\nshow\n", "\n")]
    {
        let text = String::from_utf8(script.clone()).unwrap();
        assert!(text.contains(old), "{old}");
        let changed = text.replacen(old, new, 1);
        assert_eq!(runner.own_script(changed.as_bytes()), None, "{old}");
    }
}

#[test]
fn settings_say_which_files_are_tests() {
    let text = "def test_a():\n    pass\n";
    let files = [
        ("checks/check_a.py", text),
        ("checks/test_b.py", text),
        ("other/check_c.py", text),
        ("x/test_d.py", text),
    ];
    let chosen = |name: &str, settings: &str| {
        let mut all = files.to_vec();
        all.push((name, settings));
        let runner = Place::new().detect(&all).unwrap();
        let names =
            runner.test_files(&tree(&all)).iter().map(ToString::to_string).collect::<Vec<_>>();
        names.join(" ")
    };
    assert_eq!(chosen("pytest.ini", "[pytest]\n"), "checks/test_b.py x/test_d.py");
    assert_eq!(
        chosen("pytest.ini", "[pytest]\npython_files =\n    check_*.py\n  # no\n    b.py\nx = y"),
        "checks/check_a.py other/check_c.py"
    );
    assert_eq!(
        chosen("tox.ini", "[tox]\ntestpaths = x\n[pytest]\ntestpaths = checks/ gone\n"),
        "checks/test_b.py"
    );
    assert_eq!(
        chosen("setup.cfg", "[tool:pytest]\ntestpaths = gone\n"),
        "checks/test_b.py x/test_d.py"
    );
    let toml = "[tool.pytest.ini_options]\npython_files = [\"check_*.py\", \"test_*.py\"]\ntestpaths = \"./checks\"\n";
    assert_eq!(chosen("pyproject.toml", toml), "checks/check_a.py checks/test_b.py");
}

#[test]
fn a_woven_file_brings_the_roots_of_its_package_and_its_tests_their_targets() {
    use super::{Piece, Purpose, Woven};
    let place = Place::new();
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n[package]\nname = \"top\"\n"),
        ("src/lib.rs", "mod x;"),
        ("src/x.rs", ""),
        ("tests/t.rs", "#[test] fn t() {}"),
        ("a/Cargo.toml", "[package]\nname = \"a\"\n[lib]\npath = \"code/root.rs\"\n"),
        ("a/code/root.rs", "mod y;"),
        ("a/code/y.rs", ""),
        ("a/src/bin/tool.rs", "fn main() {}"),
        ("a/src/bin/other/main.rs", "fn main() {}"),
        ("a/src/bin/other/part.rs", ""),
        ("a/tests/u.rs", "#[test] fn u() {}"),
    ];
    let runner = place.detect(&files).unwrap();
    let request = |file: &str, test: &str| -> Option<serde_json::Value> {
        let mut woven = Woven::default();
        woven.files.insert(path(file), vec![Piece { group: None, text: b"woven".to_vec() }]);
        let purpose = Purpose::Versions(vec![(1, Vec::new())]);
        let tests = [test.to_owned()];
        let second = std::time::Duration::from_secs(1);
        let program = runner.switched_program(&tree(&files), &woven, &purpose, &tests, second)?;
        let (_, text, _) =
            program.files.iter().find(|(path, ..)| path.ends_with("request.json")).unwrap();
        Some(serde_json::from_slice(text).unwrap())
    };
    let check = |file: &str, test: &str, roots: &[&str], builds: &serde_json::Value| {
        let request = request(file, test).unwrap();
        let written: Vec<&String> = request["files"].as_object().unwrap().keys().collect();
        assert_eq!(written, roots);
        assert_eq!(request["builds"], *builds);
    };
    let top = serde_json::json!({ ".": ["--test", "t"] });
    check("src/x.rs", "tests/t.rs::t", &["src/lib.rs", "src/x.rs"], &top);
    let a = serde_json::json!({ "a": ["--test", "u"] });
    let roots = ["a/code/root.rs", "a/code/y.rs", "a/src/bin/other/main.rs", "a/src/bin/tool.rs"];
    check("a/code/y.rs", "a/tests/u.rs::m::u", &roots, &a);
    assert!(request("src/x.rs", "nowhere/t.rs::t").is_none());
}

const GO: [(&str, &str); 4] = [
    ("go.mod", "// a module\nmodule example.org/Own/m/v2 // here\n\ngo 1.20\n"),
    ("a_test.go", "package m\n\nfunc TestA(t *testing.T) {}\n"),
    ("in/go.mod", "module \"example.org/in\"\n"),
    ("in/d e/b_test.go", "package d_test\n\nfunc ExampleB() {}\n"),
];

fn with_go(place: &Place) -> Machine {
    place.file("go/bin/go", "\u{7f}ELF");
    place.file("go/VERSION", "go1.27.3\n");
    place.file("go/src/fmt/print.go", "");
    let path = [vec![place.at("go/bin")], place.machine().path].concat();
    Machine { path, ..place.machine() }
}

#[test]
fn a_go_script_of_ours_is_recognised_byte_for_byte() {
    let place = Place::new();
    let machine = with_go(&place);
    let runner =
        Runner::detect(&tree(&GO), &place.at("repo"), &machine, &Overrides::default()).unwrap();
    assert_eq!((runner.framework(), runner.builds()), ("go-test", true));
    let files = runner.test_files(&tree(&GO));
    assert_eq!(files, [path("a_test.go"), path("in/d e/b_test.go")]);
    let excluded =
        vec!["a_test.go::TestA/it's".to_owned(), "in/d e/b_test.go::ExampleB".to_owned()];
    let script = runner.script(&files, &excluded);
    let text = String::from_utf8(script.clone()).unwrap();
    assert!(text.contains("run '.' './' 'a_test.go' -- 'TestA/it'\\''s'\n"), "{text}");
    assert!(text.contains("run 'in' './d e' 'in/d e/b_test.go' -- 'ExampleB'\n"), "{text}");
    assert_eq!(runner.own_script(&script), Some(Chosen { files, excluded }));
    let other = text.replace("-count=1", "-count=2");
    assert_eq!(runner.own_script(other.as_bytes()), None);
    for sways in ["go.mod", "x/go.sum", "go.work", "in/testdata/a.txt", "helper_test.go"] {
        assert!(runner.sways(&path(sways)), "{sways}");
    }
    assert!(!runner.sways(&path("in/code.go")) && !runner.shadows(&path("in/code.go")));
    assert!(runner.shadows(&path("vendor/x/y.go")) && runner.shadows(&path("in/asm.s")));
}

#[test]
fn go_reads_the_developers_modules_but_for_published_copies_of_the_repository() {
    let place = Place::new();
    let machine = with_go(&place);
    place.file("home/.config/go/env", &format!("GOPATH={}\n", place.at("elsewhere").display()));
    for kept in
        ["example.org/!own/m@v1.0.0", "example.org/!own/m/v2@v2.1.0", "example.org/other@v1.0.0"]
    {
        place.file(&format!("elsewhere/pkg/mod/{kept}/a.go"), "");
    }
    place.file("elsewhere/pkg/mod/cache/download/example.org/!own/m/@v/list", "");
    let runner =
        Runner::detect(&tree(&GO), &place.at("repo"), &machine, &Overrides::default()).unwrap();
    let tools = runner.tools();
    assert!(names(tools).contains(&"/home/u/go/pkg/mod".to_owned()), "{:?}", names(tools));
    assert_eq!(tools.env.get(std::ffi::OsStr::new("GOPROXY")), Some(&"off".into()));
    let hidden: Vec<_> = tools.hidden.iter().map(|(path, _)| path.display().to_string()).collect();
    assert_eq!(
        hidden,
        [
            "/home/u/go/pkg/mod/cache/download/example.org/!own/m",
            "/home/u/go/pkg/mod/example.org/!own/m/v2@v2.1.0",
            "/home/u/go/pkg/mod/example.org/!own/m@v1.0.0",
        ]
    );
}

#[test]
fn what_is_asked_of_cmake_is_read_back() {
    let lists = "option(X_BUILD_TESTS \"b\" OFF)\nOPTION( WITH_LATEST \"c\" )\noption(X_TESTING \"d\" ON)\n";
    let files = [("CMakeLists.txt", lists), ("tests/a b.c", "int main(void) {}")];
    let tree = tree(&files);
    let reader = Reader::new(&tree);
    let known = [path("tests/a b.c")];
    let project = cmake::Project::of(&reader, &known);
    let excluded = vec!["tests/a b.c::it's".to_owned()];
    let calls = project.calls(&known, &excluded);
    assert_eq!(
        calls,
        "configure '-DX_BUILD_TESTS=ON'\nrun 'tests/a b.c' -- 'tests/a b.c::it'\\''s'"
    );
    let chosen = Chosen { files: known.to_vec(), excluded };
    assert_eq!(cmake::chosen_by(&calls), Some(chosen));
}
