//! Real packages of the npm registry, played whole: semver 5.0.3 (tap), fraction.js 5.3.4 (mocha, titles
//! made at run time), hashids 2.3.0 (TypeScript, vitest). Where they cannot be had, these tests say
//! loudly that they did not run.

use crate::bench::{Bench, bench_at, copy, machine};
use crate::fetch::{did_not_run, npm, npm_package};
use ssr_mcp::consistency::Minima;
use ssr_mcp::episode::{self, Rules};
use ssr_mcp::injector::{self, Strategy};
use ssr_mcp::reward::Scheme;
use ssr_mcp::solver;
use ssr_mcp::syntax::Languages;
use std::path::Path;

/// The unpacked package with these packages installed beside it, with another manifest where one is
/// given, less the files that `left_out` names.
fn open(
    package: &Path,
    installed: &Path,
    manifest: Option<&str>,
    left_out: &dyn Fn(&str) -> bool,
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    copy(package, &root);
    if let Some(manifest) = manifest {
        std::fs::write(root.join("package.json"), manifest).unwrap();
    }
    for entry in walk(&root) {
        if left_out(entry.strip_prefix(&root).unwrap().to_str().unwrap()) {
            std::fs::remove_file(entry).unwrap();
        }
    }
    std::os::unix::fs::symlink(installed.join("node_modules"), root.join("node_modules")).unwrap();
    bench_at(dir, &root, &machine(), None)
}

fn walk(root: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found
}

/// One round: the bug must be valid, and its attempts must have ended with a grade.
#[track_caller]
fn plays(bench: &Bench, strategy: Strategy, seed: u64, framework: &str, passing: usize) {
    let baseline = bench.harness.baseline().unwrap();
    assert_eq!(bench.harness.runner().framework(), framework);
    assert!(baseline.passing.len() >= passing, "{} of {passing}", baseline.passing.len());
    let minima = Minima::default();
    let rules = Rules {
        injector: injector::Request {
            strategy,
            seed,
            target: None,
            changed_files: minima.changed_files,
            failing_tests: minima.failing_tests,
            passing_tests: minima.passing_tests.min(passing),
            candidates: 40,
            history: None,
        },
        solver: solver::Request { attempts: 1, seed, runs: Some(8), parallel: 1 },
        minima,
        scheme: Scheme::default(),
    };
    let languages = Languages::builtin();
    let round = episode::play(&bench.harness, &languages, &rules, &|_| false, &|_| {}).unwrap();
    let report = round.report.as_ref().unwrap_or_else(|| panic!("no bug: {}", round.summary));
    assert!(report.valid, "{}: {report:#?}", round.summary);
    eprintln!("{}: solve rate {:?}", round.summary, round.solve_rate);
    assert!(round.solve_rate.is_some());
}

#[test]
fn semver_of_npm_gives_a_validated_bug() {
    let source = npm_package("semver", "5.0.3").zip(npm("semver-5.0.3", &["tap@1.3.4"]));
    let Some((source, installed)) = source else { return did_not_run("semver of npm") };
    let bench = open(&source, &installed, None, &|_| false);
    plays(&bench, Strategy::Direct, 1, "tap", 20);
}

#[test]
fn fraction_js_gives_a_validated_bug_though_its_titles_are_computed() {
    let source = npm_package("fraction.js", "5.3.4").zip(npm("fraction", &["mocha@11"]));
    let Some((source, installed)) = source else { return did_not_run("fraction.js") };
    let bench = open(&source, &installed, None, &|_| false);
    plays(&bench, Strategy::Removal, 2, "mocha", 290);
}

#[test]
fn hashids_in_typescript_gives_a_validated_bug() {
    let source = npm_package("hashids", "2.3.0").zip(npm("hashids", &["vitest@3"]));
    let Some((source, installed)) = source else { return did_not_run("hashids") };
    let kept = ["min-length", "encode-types", "default-params-hex"];
    let left_out = |path: &str| {
        path.starts_with("src/tests") && !kept.iter().any(|name| path.contains(name))
            || ["cjs/", "esm/", "dist/"].iter().any(|built| path.starts_with(built))
    };
    // The published package lacks the settings that its tests were run with.
    let manifest = r#"{"name":"hashids","scripts":{"test":"vitest run --globals"},"devDependencies":{"vitest":"3"}}"#;
    let bench = open(&source, &installed, Some(manifest), &left_out);
    plays(&bench, Strategy::Direct, 1, "vitest", 5);
}
