//! The report of our own drivers: one JSON object a test, then one with the number of those.

use super::NoReport;
use crate::verdict::{Outcome, Verdicts};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Test { test: String, outcome: Outcome },
    Stopped { stopped: String },
    End { end: u64 },
}

pub(super) fn read(block: &[&[u8]]) -> Result<Verdicts, NoReport> {
    let mut verdicts = Verdicts::default();
    let mut complete = false;
    let mut count = 0;
    for line in block.iter().filter(|line| !line.trim_ascii().is_empty()) {
        if complete {
            return Err(NoReport::Unreadable("it goes on after its end".into()));
        }
        match serde_json::from_slice(line) {
            Ok(Entry::Test { test, outcome }) if outcome != Outcome::Missing => {
                verdicts.add(test, outcome);
                count += 1;
            }
            Ok(Entry::Stopped { stopped }) => return Err(NoReport::Incomplete(stopped)),
            Ok(Entry::End { end }) => complete = end == count,
            Ok(Entry::Test { .. }) | Err(_) => {
                let line = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
                return Err(NoReport::Unreadable(line));
            }
        }
    }
    if complete {
        Ok(verdicts)
    } else {
        Err(NoReport::Incomplete("the test process died before its end".into()))
    }
}
