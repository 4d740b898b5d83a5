//! The report of `go test -json`: which tests stand in which file, and go's own events. Only listed names
//! count, so that a printed line cannot invent a test.

use super::NoReport;
use crate::verdict::{Outcome, Verdicts};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Package {
    /// The tests that its binary has, of those that were wanted.
    listed: BTreeSet<String>,
    /// Test to the file that it is written in.
    files: BTreeMap<String, String>,
    excluded: BTreeSet<String>,
    /// In the order of their ends. A subtest's name is behind its test's and a slash.
    ended: Vec<(String, Outcome)>,
    /// What go says of the whole package.
    passed: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    test: Option<String>,
}

pub(super) fn read(block: &[&[u8]]) -> Result<Verdicts, NoReport> {
    let mut verdicts = Verdicts::default();
    let mut open: Option<Package> = None;
    let mut complete = false;
    for line in block.iter().filter(|line| !line.is_empty()) {
        let unreadable = || NoReport::Unreadable(String::from_utf8_lossy(line).into_owned());
        let text = std::str::from_utf8(line).map_err(|_| unreadable())?;
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match (word, &mut open) {
            ("package" | "broken" | "end", _) => {
                if let Some(package) = open.take() {
                    package.close(&mut verdicts)?;
                }
                match word {
                    "package" => open = Some(Package::default()),
                    "broken" => verdicts.add(rest.to_owned(), Outcome::Error),
                    _ => complete = true,
                }
            }
            ("list", Some(package)) => {
                package.listed.insert(rest.to_owned());
            }
            ("test", Some(package)) => {
                let (name, file) = rest.split_once(' ').ok_or_else(unreadable)?;
                package.files.entry(name.to_owned()).or_insert_with(|| file.to_owned());
            }
            ("exclude", Some(package)) => {
                package.excluded.insert(rest.to_owned());
            }
            ("event", Some(package)) => {
                package.note(serde_json::from_str(rest).map_err(|_| unreadable())?);
            }
            _ => return Err(unreadable()),
        }
    }
    if complete { Ok(verdicts) } else { Err(NoReport::Incomplete("it has no last line".into())) }
}

impl Package {
    fn note(&mut self, Event { action, test }: Event) {
        let outcome = match action.as_str() {
            "pass" => Outcome::Passed,
            "fail" => Outcome::Failed,
            "skip" => Outcome::Skipped,
            _ => return,
        };
        match test {
            None => self.passed = Some(outcome != Outcome::Failed),
            Some(name) => self.ended.push((name, outcome)),
        }
    }

    fn close(self, verdicts: &mut Verdicts) -> Result<(), NoReport> {
        let incomplete = |reason: String| Err(NoReport::Incomplete(reason));
        let whole: BTreeSet<&str> = self.ended.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(name) = self.listed.iter().find(|name| !whole.contains(name.as_str())) {
            return incomplete(format!("{name:?} has no outcome"));
        }
        let failed = self.ended.iter().any(|(_, outcome)| *outcome == Outcome::Failed);
        if self.passed != Some(!failed) {
            return incomplete("what go says of a package is not what its tests say".into());
        }
        for (name, outcome) in self.ended {
            let test = name.split('/').next().unwrap_or_default();
            if let Some(file) = self.files.get(test)
                && self.listed.contains(test)
                && !self.excluded.contains(&name)
            {
                verdicts.add(format!("{file}::{name}"), outcome);
            }
        }
        Ok(())
    }
}
