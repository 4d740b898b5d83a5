//! The frameworks that come with the program: their data files, by language and name.

use super::spec::Spec;

macro_rules! embed {
    ($($path:literal),* $(,)?) => {
        /// Path below `grammars/`, content.
        const FILES: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../grammars/", $path)))),*];
    };
}

embed![
    "python/runners/pytest.toml",
    "python/runners/pytest.py",
    "python/runners/unittest.toml",
    "python/runners/unittest.py",
    "python/runners/reach.py",
    "python/runners/lines.py",
    "python/runners/screen.py",
    "python/runners/observe.py",
    "python/runners/describe.py",
    "python/runners/live.py",
    "python/runners/place.py",
    "python/runners/fork.py",
    "python/runners/server.py",
    "python/runners/canary_pytest.py",
    "python/runners/canary_unittest.py",
    "python/runners/python.sh",
    "python/runners/stdlib.txt",
    "javascript/runners/vitest.toml",
    "javascript/runners/jest.toml",
    "javascript/runners/mocha.toml",
    "javascript/runners/tap.toml",
    "javascript/runners/node-test.toml",
    "javascript/runners/common.toml",
    "javascript/runners/node.sh",
    "javascript/runners/support.cjs",
    "javascript/runners/reach.cjs",
    "javascript/runners/lines.cjs",
    "javascript/runners/observe.cjs",
    "javascript/runners/hook.cjs",
    "javascript/runners/screen.cjs",
    "javascript/runners/vitest.cjs",
    "javascript/runners/jest.cjs",
    "javascript/runners/mocha.cjs",
    "javascript/runners/tap.cjs",
    "javascript/runners/node_test.cjs",
    "javascript/runners/canary_expect.js",
    "javascript/runners/canary_vitest.js",
    "javascript/runners/canary_mocha.js",
    "javascript/runners/canary_tap.js",
    "javascript/runners/canary_node_test.js",
    "c/runners/ctest.toml",
    "c/runners/ctest.sh",
    "c/runners/reach.py",
    "c/runners/switch.py",
    "java/runners/java-junit.toml",
    "go/runners/go-test.toml",
    "go/runners/gotest.sh",
    "go/runners/packages.py",
    "go/runners/reach.py",
    "go/runners/lines.py",
    "go/runners/switch.py",
    "go/runners/canary_gotest.go",
    "rust/runners/cargo-test.toml",
    "rust/runners/cargo.sh",
    "rust/runners/canary_cargo.rs",
    "rust/runners/server.py",
    "rust/runners/switch.py",
    "rust/runners/switch.rs",
    "rust/runners/states.rs",
    "rust/runners/watch.py",
    "rust/runners/watch.rs",
];

/// A data file of a language's runners. Empty where there is none: the tests load every one that a
/// specification names.
pub(super) fn file(language: &str, name: &str) -> &'static str {
    let wanted = format!("{language}/runners/{name}");
    FILES.iter().find(|(path, _)| *path == wanted).map_or("", |(_, content)| content)
}

/// Every embedded specification, in the order above.
pub(super) fn specs() -> Vec<Spec> {
    FILES
        .iter()
        .filter(|(path, _)| {
            let path = std::path::Path::new(path);
            path.extension().is_some_and(|kind| kind == "toml") && !path.ends_with("common.toml")
        })
        .map(|(path, content)| {
            let language = path.split('/').next().unwrap_or_default();
            Spec::parse(content, &|name| file(language, name))
                .unwrap_or_else(|error| panic!("{path} is embedded and loads: {error}"))
        })
        .collect()
}
