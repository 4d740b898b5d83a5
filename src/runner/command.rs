//! A test command of the user's own, with the `JUnit` XML file that it writes.

use super::{Error, Overrides, script};
use crate::tree::RelPath;
use crate::verdict::TestId;

const TEMPLATE: &str = include_str!("command.sh");

/// `--test-command` and `--report`.
#[derive(Clone, Debug)]
pub(super) struct Command {
    command: String,
    report: RelPath,
}

impl Command {
    /// `None` where the user gave neither.
    pub(super) fn of(overrides: &Overrides) -> Result<Option<Self>, Error> {
        match (&overrides.test_command, &overrides.report) {
            (None, None) => Ok(None),
            (Some(command), Some(report)) => {
                let report = RelPath::parse(report.trim_start_matches("./").as_bytes())
                    .map_err(|refusal| Error::BadReport { report: report.clone(), refusal })?;
                Ok(Some(Self { command: command.clone(), report }))
            }
            _ => Err(Error::HalfACommand),
        }
    }

    /// Runs the whole command: it chooses its tests itself. The reader leaves out what is excluded.
    pub(super) fn script(&self, excluded: &[TestId]) -> Vec<u8> {
        let line = |id: &TestId| format!("exclude {}\n", serde_json::Value::from(id.as_str()));
        let excluded: String = excluded.iter().map(line).collect();
        let places = [
            ("@REPORT@", script::quote(self.report.as_str())),
            ("@COMMAND@", script::quote(&self.command)),
            ("@EXCLUDED@", excluded.trim_end().to_owned()),
        ];
        let filled = TEMPLATE.lines().map(|line| {
            let place = places.iter().find(|(place, _)| line.contains(place));
            place.map_or_else(|| line.to_owned(), |(place, value)| line.replacen(place, value, 1))
        });
        (filled.collect::<Vec<_>>().join("\n") + "\n").into_bytes()
    }
}
