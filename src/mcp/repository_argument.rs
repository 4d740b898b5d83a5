//! How a tool's caller names a repository and says how its tests are run.

use crate::runner::Overrides;
use crate::session::{Error, Repository, time_limit};

/// Flattened into a tool's arguments, because flat schemas are what every client takes.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(super) struct RepositoryArguments {
    /// Path of the repository. Default: the server's working directory.
    #[serde(default)]
    #[schemars(with = "String")]
    repo: Option<String>,
    /// The test framework by name, such as pytest, cargo-test, jest or go-test. Default: the one that is found.
    #[serde(default)]
    #[schemars(with = "String")]
    framework: Option<String>,
    /// Run the tests with this shell command instead of the one that was found; needs `report`.
    #[serde(default)]
    #[schemars(with = "String")]
    test_command: Option<String>,
    /// The `JUnit` XML file that `test_command` writes, relative to the repository's root.
    #[serde(default)]
    #[schemars(with = "String")]
    report: Option<String>,
    /// Longest a run of the tests may take, seconds. Default: measured from the baseline.
    #[serde(default)]
    #[schemars(with = "f64")]
    timeout_seconds: Option<f64>,
}

impl RepositoryArguments {
    pub(super) fn repository(self) -> Result<Repository, Error> {
        Ok(Repository {
            dir: self.repo.map(Into::into),
            tests: Overrides {
                test_command: self.test_command,
                report: self.report,
                framework: self.framework,
                near: None,
            },
            time_limit: self.timeout_seconds.map(time_limit).transpose()?,
            ..Repository::default()
        })
    }
}
