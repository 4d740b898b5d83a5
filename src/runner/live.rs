//! A program that has loaded a bug's tests, and tries candidate repairs in forks of itself.

use super::instrument::{Asked, Trial, contents};
use super::server::{PLACE, Server};
use super::spec::ToolKind;
use super::{Runner, embedded};
use crate::tree::{Changes, RelPath};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What came of some candidates, in their order, up to the first that passes every test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveReply {
    /// Whether this is the first reply: the tests are loaded, and the one trial is of the tree as it is.
    pub ready: bool,
    /// `None`: the candidate does not fit into what is loaded, and must be screened from the beginning.
    pub trials: Vec<Option<Trial>>,
    /// User and system time since the last reply.
    pub cpu: Duration,
    /// Whether the last one left something behind: the program must not be asked again.
    pub dirty: bool,
}

impl Runner {
    /// For these tests, all of them in `test_files`. `each`: the time limit of one candidate. `None` where the
    /// framework has no such program.
    pub fn live_program(
        &self,
        tests: &[crate::verdict::TestId],
        test_files: &[RelPath],
        each: Duration,
    ) -> Option<Server> {
        let spec = &self.0.spec;
        let program = embedded::file(spec.folder(), "live.py");
        let driver = embedded::file(spec.folder(), &spec.script.driver);
        if self.0.command.is_some()
            || spec.tools == ToolKind::Node
            || program.is_empty()
            || driver.is_empty()
        {
            return None;
        }
        let files: Vec<&str> = test_files.iter().map(RelPath::as_str).collect();
        let request = json!({ "tests": tests, "files": files, "seconds": each.as_secs_f64() });
        let parts = [
            ("live.py", program.to_owned()),
            ("ssr_driver.py", driver.to_owned()),
            ("ssr_fork.py", embedded::file("python", "fork.py").to_owned()),
            ("ssr_place.py", embedded::file("python", "place.py").to_owned()),
            ("ssr_screen.py", embedded::file("python", "screen.py").to_owned()),
            ("request.json", request.to_string()),
        ];
        let at = |name: &str| Path::new(PLACE).join(name);
        let files = parts.into_iter().map(|(name, text)| (at(name), text.into(), 0o644)).collect();
        let argv = vec![
            self.python().as_os_str().to_owned(),
            at("live.py").into(),
            at("request.json").into(),
        ];
        Some(Server { argv, env: BTreeMap::new(), files })
    }

    /// One line, without its end.
    pub fn live_request(&self, candidates: &[Changes], asked: &Asked<'_>) -> Vec<u8> {
        let request = json!({ "candidates": contents(candidates), "first": asked.first, "stages": asked.stages });
        request.to_string().into_bytes()
    }

    /// Reads a reply; `None` where the line is none.
    pub fn read_live(&self, line: &[u8]) -> Option<LiveReply> {
        #[derive(Deserialize)]
        struct Reply {
            #[serde(default)]
            ready: bool,
            trials: Vec<Option<Trial>>,
            cpu: f64,
            dirty: Vec<String>,
        }
        let reply: Reply = serde_json::from_slice(line).ok()?;
        if let Some(path) = reply.dirty.first() {
            tracing::debug!(path, "a candidate left something behind");
        }
        let cpu = Duration::try_from_secs_f64(reply.cpu).ok()?;
        let dirty = !reply.dirty.is_empty();
        Some(LiveReply { ready: reply.ready, trials: reply.trials, cpu, dirty })
    }
}
