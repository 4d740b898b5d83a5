//! A process that has the test framework loaded and runs chosen tests in forks of itself: the program,
//! its requests and replies.

use super::{Chosen, Runner, embedded};
use crate::tree::{Changes, RelPath};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the server lies inside.
pub(super) const PLACE: &str = "/tmp/ssr/server";

/// To be run from the tree's root, with the environment of the runner's tools and its own on top. One
/// request a line, one reply a line; the first reply, to no request, says that it is ready.
#[derive(Clone, Debug)]
pub struct Server {
    pub argv: Vec<OsString>,
    pub env: BTreeMap<OsString, OsString>,
    /// Files to be written first: absolute path inside (below `/tmp`), content, mode.
    pub files: Vec<(PathBuf, Vec<u8>, u32)>,
}

/// What came of one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Served {
    /// What the script would have printed; `None` where nothing was run.
    pub log: Option<Vec<u8>>,
    pub timed_out: bool,
    /// User and system time since the last reply.
    pub cpu: Duration,
    /// Paths that are not as they were before the run: the server must not be asked again.
    pub dirty: Vec<String>,
    /// Why the changes could not be laid out. The server is gone.
    pub unfit: Option<String>,
}

impl Runner {
    /// `None` where the framework has none.
    pub fn server(&self) -> Option<Server> {
        let spec = &self.0.spec;
        let program = embedded::file(spec.folder(), "server.py");
        if self.0.command.is_some() || program.is_empty() {
            return None;
        }
        let parts = [
            ("server.py", program),
            ("ssr_driver.py", embedded::file(spec.folder(), &spec.script.driver)),
            ("ssr_fork.py", embedded::file("python", "fork.py")),
            ("ssr_place.py", embedded::file("python", "place.py")),
        ];
        let at = |name: &str| Path::new(PLACE).join(name);
        let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
        let files = parts.map(|(name, text)| (at(name), text.into(), 0o644)).collect();
        let python = self.python().as_os_str().to_owned();
        let check = ["--check-hash-based-pycs", "always"].map(OsString::from);
        let mut argv = vec![python.clone()];
        argv.extend(check);
        argv.push(at("server.py").into());
        // What the shell adds that runs the script, where the server takes its place.
        let shell = [("SHLVL".into(), "0".into()), ("_".into(), python)];
        let env = if self.builds() { BTreeMap::new() } else { shell.into() };
        Some(Server { argv, env, files })
    }

    /// Whether a run with this file changed is one that a server must not make: the process itself may
    /// have read it, or it decides how tests are set up.
    pub fn sets_up(&self, path: &RelPath) -> bool {
        self.0.spec.sways.files.hit(path.as_str()) || self.shadows(path)
    }

    /// Asks the server to run tests on the tree with `changes` laid over it. One line, without its end.
    /// `state`: which of the versions that are woven into the tree.
    pub fn server_request(
        &self,
        changes: &Changes,
        chosen: &Chosen,
        state: Option<usize>,
        limit: Duration,
    ) -> Vec<u8> {
        let content: BTreeMap<&str, Option<String>> = changes
            .iter()
            .map(|(path, file)| {
                (path.as_str(), file.map(|file| BASE64_STANDARD.encode(&file.bytes)))
            })
            .collect();
        let executable: Vec<&str> = changes
            .iter()
            .filter(|(_, file)| file.is_some_and(|file| file.executable))
            .map(|(path, _)| path.as_str())
            .collect();
        let files: Vec<&str> = chosen.files.iter().map(RelPath::as_str).collect();
        let mut request = json!({
            "changes": content,
            "executable": executable,
            "files": files,
            "excluded": chosen.excluded,
            "framework": self.framework(),
            "seconds": limit.as_secs_f64(),
        });
        if self.builds() {
            let script = self.script(&chosen.files, &chosen.excluded);
            request["script"] = BASE64_STANDARD.encode(script).into();
            request["state"] = state.map(|state| state.to_string()).into();
        }
        request.to_string().into_bytes()
    }

    /// Reads a reply; `None` where the line is none.
    pub fn read_served(&self, line: &[u8]) -> Option<Served> {
        #[derive(Deserialize)]
        #[serde(default)]
        #[derive(Default)]
        struct Reply {
            ready: bool,
            log: Option<String>,
            timed_out: bool,
            cpu: f64,
            dirty: Vec<String>,
            unfit: Option<String>,
        }
        let reply: Reply = serde_json::from_slice(line).ok()?;
        let log = reply.log.map(|log| BASE64_STANDARD.decode(log)).transpose().ok()?;
        let cpu = Duration::try_from_secs_f64(reply.cpu).ok()?;
        (reply.ready || log.is_some() || reply.unfit.is_some()).then_some(Served {
            log,
            timed_out: reply.timed_out,
            cpu,
            dirty: reply.dirty,
            unfit: reply.unfit,
        })
    }
}
