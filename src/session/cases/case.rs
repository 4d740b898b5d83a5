//! Cases as they are written down: a folder of `case.json`, lines of the same, or lines
//! in the form of SWE-bench.

use crate::session::Error;
use crate::tree::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The largest file of cases, and the largest one that a case refers to.
const LARGEST: u64 = 256 << 20;

/// All cases, in their order.
pub(in crate::session) struct Cases {
    /// SHA-256 of all that they say: what an interrupted evaluation goes on by.
    pub(in crate::session) hash: String,
    pub(in crate::session) cases: Vec<Case>,
}

pub(in crate::session) struct Case {
    /// Unlike every other's.
    pub(in crate::session) id: String,
    /// Bugs of one package are not independent.
    pub(in crate::session) package: String,
    /// What is to be repaired; else what is wrong with what was written.
    pub(super) bug: Result<Bug, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bug {
    /// The five parts, over a tree that holds no bug.
    Artifact { base: Place, parts: Value },
    /// A tree that holds the bug, and what tells it apart from the original, where that is known.
    Broken { tree: Place, original: Option<Original>, tests: Tests },
    /// A commit that holds the bug; `patch` repairs it and `test_patch` adds the tests.
    Commit { repository: String, commit: String, patch: String, test_patch: String, tests: Tests },
}

/// A directory: below the one that is given for repositories, or beside the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Named(String),
    Beside(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Original {
    Tree(PathBuf),
    /// A diff against the broken tree.
    Fix(String),
}

/// What a case says of its tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tests {
    pub(super) files: Vec<String>,
    /// Original tests to weakened ones; empty: the solver sees the tests as they are.
    pub(super) weakening: String,
    /// Must fail with the bug and pass without it.
    pub(super) fail_to_pass: Vec<String>,
    /// Must pass with the bug and without it.
    pub(super) pass_to_pass: Vec<String>,
    pub(super) command: Option<String>,
    pub(super) report: Option<String>,
    pub(super) framework: Option<String>,
}

impl Cases {
    /// Reads a folder (each `case.json` in it or one level below, else its `cases.jsonl`), or a file of lines.
    pub(in crate::session) fn read(path: &Path) -> Result<Self, Error> {
        let mut lines: Vec<(PathBuf, String)> = Vec::new();
        let all = path.join("cases.jsonl");
        if path.is_dir() && !all.is_file() {
            let mut folders: Vec<PathBuf> = std::fs::read_dir(path)
                .map_err(|error| unreadable(path, &error))?
                .filter_map(|entry| Some(entry.ok()?.path()))
                .chain([path.to_path_buf()])
                .filter(|folder| folder.join("case.json").is_file())
                .collect();
            folders.sort();
            for folder in folders {
                let text = text(&folder.join("case.json"))?;
                lines.push((folder, text));
            }
        } else {
            let file = if path.is_dir() { all } else { path.to_path_buf() };
            let beside = file.parent().unwrap_or(Path::new(".")).to_path_buf();
            let text = text(&file)?;
            let filled = text.lines().filter(|line| !line.trim().is_empty());
            lines.extend(filled.map(|line| (beside.clone(), line.to_owned())));
        }
        if lines.is_empty() {
            return Err(Error::usage(format!(
                "there is no case in {}: it is a folder of folders with a case.json, or a file with one case a \
                 line",
                path.display()
            )));
        }
        let mut hash = Sha256::new();
        let mut cases = Vec::new();
        for (number, (beside, line)) in lines.into_iter().enumerate() {
            let case = Case::of(&line, &beside, number + 1, &mut hash);
            cases.push(case);
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = cases.iter().find(|case| !seen.insert(&case.id)) {
            return Err(Error::usage(format!(
                "two cases of {} have the id {:?}: give each its own",
                path.display(),
                twice.id
            )));
        }
        Ok(Self { hash: hex(&hash.finalize()), cases })
    }
}

impl Case {
    fn of(line: &str, beside: &Path, number: usize, hash: &mut Sha256) -> Self {
        hash.update((line.len() as u64).to_le_bytes());
        hash.update(line);
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => {
                let bug = Err(format!("it is no JSON: {error}"));
                return Self { id: format!("case {number}"), package: String::new(), bug };
            }
        };
        let named = string(&value, "id").or_else(|| string(&value, "instance_id"));
        let id = named.unwrap_or_else(|| match beside.file_name() {
            Some(name) if value.get("instance_id").is_none() => {
                format!("{} {number}", name.to_string_lossy())
            }
            _ => format!("case {number}"),
        });
        let bug = bug(&value, beside, hash);
        let package = ["package", "base", "repo", "tree"]
            .into_iter()
            .find_map(|name| string(&value, name))
            .unwrap_or_default();
        Self { id, package, bug }
    }
}

fn bug(value: &Value, beside: &Path, hash: &mut Sha256) -> Result<Bug, String> {
    if !value.is_object() {
        return Err("it is no JSON object".to_owned());
    }
    let tests = || -> Result<Tests, String> {
        Ok(Tests {
            files: strings(value, "test_files")?,
            weakening: string(value, "weakening").unwrap_or_default(),
            fail_to_pass: match strings(value, "FAIL_TO_PASS")? {
                none if none.is_empty() => strings(value, "failing")?,
                some => some,
            },
            pass_to_pass: strings(value, "PASS_TO_PASS")?,
            command: string(value, "test_command"),
            report: string(value, "report"),
            framework: string(value, "framework"),
        })
    };
    if value.get("instance_id").is_some() {
        let need = |name: &str| string(value, name).ok_or_else(|| format!("{name:?} is missing"));
        return Ok(Bug::Commit {
            repository: need("repo")?,
            commit: need("base_commit")?,
            patch: need("patch")?,
            test_patch: need("test_patch")?,
            tests: tests()?,
        });
    }
    if let Some(tree) = string(value, "tree") {
        let original = match (string(value, "original"), string(value, "fix")) {
            (Some(_), Some(_)) => return Err("it has both \"original\" and \"fix\"".to_owned()),
            (Some(original), None) => Some(Original::Tree(beside.join(plain(&original)?))),
            (None, fix) => fix.map(Original::Fix),
        };
        let tree = Place::Beside(beside.join(plain(&tree)?));
        return Ok(Bug::Broken { tree, original, tests: tests()? });
    }
    let Some(base) = string(value, "base") else {
        return Err(
            "it names no tree: give \"base\" with the five parts of an artifact, \"tree\", or an instance of \
             SWE-bench"
                .to_owned(),
        );
    };
    let mut parts = serde_json::Map::new();
    for part in crate::artifact::Part::ALL {
        let given = value.get(part.name());
        let content = match given.and_then(|given| given.get("file")).and_then(Value::as_str) {
            // A part that many cases have is a file of its own.
            Some(file) => {
                let path = beside.join(plain(file)?);
                let text = text(&path).map_err(|error| error.to_string())?;
                hash.update(&text);
                Value::String(text)
            }
            None => given.cloned().ok_or_else(|| format!("{:?} is missing", part.name()))?,
        };
        parts.insert(part.name().to_owned(), content);
    }
    Ok(Bug::Artifact { base: Place::Named(plain(&base)?), parts: Value::Object(parts) })
}

/// A path that leads nowhere but below where it begins.
fn plain(path: &str) -> Result<String, String> {
    let parts = || Path::new(path).components();
    let normal = parts().all(|part| matches!(part, std::path::Component::Normal(_)));
    if path.is_empty() || !normal {
        return Err(format!("{path:?} is refused: give a path below the case, without `..`"));
    }
    Ok(path.to_owned())
}

fn string(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

/// A list, or (as SWE-bench has it) a list written down in a string.
fn strings(value: &Value, name: &str) -> Result<Vec<String>, String> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => serde_json::from_str(text)
            .map_err(|_| format!("{name:?} is a string that holds no JSON list of names")),
        Some(list) => serde_json::from_value(list.clone())
            .map_err(|_| format!("{name:?} is no list of names")),
    }
}

fn text(path: &Path) -> Result<String, Error> {
    use std::io::Read as _;
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::usage(format!("{} has more than {LARGEST} bytes", path.display())));
    }
    String::from_utf8(bytes).map_err(|_| Error::usage(format!("{} is not UTF-8", path.display())))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::usage(format!("{} cannot be read ({error})", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Result<&str, &str>) {
        let case = Case::of(line, Path::new("/cases"), 3, &mut Sha256::new());
        match (case.bug, expect) {
            (Ok(bug), Ok(text)) => assert!(format!("{bug:?}").contains(text), "{bug:?}"),
            (Err(why), Err(text)) => assert!(why.contains(text), "{why}"),
            (bug, _) => panic!("{bug:?} is not {expect:?}"),
        }
    }

    #[test]
    fn forms_are_told_apart_by_what_they_name() {
        check(r#"{"tree": "a"}"#, Ok("Broken { tree: Beside(\"/cases/a\"), original: None"));
        check(r#"{"tree": "a", "original": "b"}"#, Ok("Tree(\"/cases/b\")"));
        let instance = r#"{"instance_id": "i", "repo": "o/n", "base_commit": "c", "patch": "p", "test_patch": "t",
            "FAIL_TO_PASS": "[\"x\"]", "PASS_TO_PASS": ["y"]}"#;
        check(instance, Ok("fail_to_pass: [\"x\"], pass_to_pass: [\"y\"]"));
        check(r#"{"base": "n", "bug_inject.diff": "d"}"#, Err("\"test_weaken.diff\" is missing"));
    }

    #[test]
    fn what_is_no_case_says_why() {
        check("{", Err("it is no JSON"));
        check("[]", Err("no JSON object"));
        check("{}", Err("it names no tree"));
        check(r#"{"tree": "/etc"}"#, Err("is refused"));
        check(r#"{"tree": "a/../.."}"#, Err("is refused"));
        check(r#"{"tree": "a", "fix": "f", "original": "o"}"#, Err("both"));
        check(r#"{"tree": "a", "failing": [1]}"#, Err("\"failing\" is no list of names"));
        check(r#"{"instance_id": "i"}"#, Err("\"repo\" is missing"));
    }
}
