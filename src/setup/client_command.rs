//! Runs a client's own command: the one place besides the sandbox that starts a process.
//!
//! It is the user's own program, by its name on the user's search path, started because the user asked for
//! this client to be written; it has to run outside of the sandbox, since its work is to change the
//! user's configuration. Nothing of a repository is started by it: directories of the search path within
//! the project are passed over. It gets the variables that say where its files are and none else, so that
//! no key of ours or of a model's reaches it; it gets a time limit, nothing to read, and no child of it
//! stays. What it says is a message for the user; what it did is read from the client's file.

use super::own_command::OwnCommand;
use crate::config::ClientCommands;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Clients take seconds to start, and some ask their servers home whether there is news.
const LIMIT: Duration = Duration::from_mins(1);
/// Bytes that are kept of what it says.
const KEPT: u64 = 16 * 1024;
/// Characters of that which the user is shown.
const SHOWN: usize = 300;

/// The program, where it is installed.
pub(super) fn find(command: &OwnCommand, surroundings: &ClientCommands) -> Option<PathBuf> {
    let ClientCommands { path, project, .. } = surroundings;
    let outside = path.iter().filter(|dir| !dir.starts_with(project));
    outside.map(|dir| dir.join(command.program)).find(|program| is_program(program, project))
}

/// A link that leads into the project is of the project.
fn is_program(program: &Path, project: &Path) -> bool {
    let runs = |file: &std::fs::Metadata| file.is_file() && file.permissions().mode() & 0o111 != 0;
    program.metadata().is_ok_and(|file| runs(&file))
        && program.canonicalize().is_ok_and(|real| !real.starts_with(project))
}

/// Runs it to its end; why it did not work, in words, where it did not.
pub(super) fn run(
    program: &Path,
    command: &OwnCommand,
    surroundings: &ClientCommands,
) -> Result<(), String> {
    run_within(program, command, surroundings, LIMIT)
}

#[expect(clippy::disallowed_methods, reason = "the user's own program, at the user's word")]
fn run_within(
    program: &Path,
    command: &OwnCommand,
    surroundings: &ClientCommands,
    limit: Duration,
) -> Result<(), String> {
    let mut child = Command::new(program)
        .args(&command.arguments)
        .env_clear()
        .envs(&surroundings.variables)
        .current_dir(&surroundings.project)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("it cannot be started ({error})"))?;
    let said = [
        child.stdout.take().map(|pipe| kept(Box::new(pipe))),
        child.stderr.take().map(|pipe| kept(Box::new(pipe))),
    ];
    let ended = ends(&child, limit);
    // Also after its end: what it left behind holds the pipes, and is nobody's.
    end_group(&child);
    let status = child.wait().map_err(|error| format!("it cannot be waited for ({error})"))?;
    if !ended {
        return Err(format!("it did not end in {} s", limit.as_secs()));
    }
    if status.success() {
        return Ok(());
    }
    let said = said.into_iter().flatten().filter_map(|said| said.recv_timeout(limit).ok());
    Err(format!("it ended with {status}{}", shown(&said.collect::<Vec<_>>().concat())))
}

/// Waits for its end without taking its status, so that its group keeps its number.
fn ends(child: &Child, limit: Duration) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return false };
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let waited = waitid(WaitId::Pid(pid), options).is_ok();
        // Nobody is left to hear of one that took too long.
        sender.send(waited).unwrap_or_default();
    });
    ended.recv_timeout(limit).unwrap_or(false)
}

fn end_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(Err(error)) = pid.map(|pid| kill_process_group(pid, Signal::KILL)) {
        tracing::debug!("a client's command left no group: {error}");
    }
}

/// Reads to the end, and keeps the beginning.
fn kept(mut pipe: Box<dyn Read + Send>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, said) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.by_ref().take(KEPT).read_to_end(&mut bytes);
        let rest = read.and_then(|_| std::io::copy(&mut pipe, &mut std::io::sink()));
        if let Err(error) = rest {
            tracing::debug!("a client's command cannot be read: {error}");
        }
        sender.send(bytes).unwrap_or_default();
    });
    said
}

/// In one line, without what a terminal would take for a command.
fn shown(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain: String = words.chars().filter(|letter| !letter.is_control()).take(SHOWN).collect();
    if plain.is_empty() { plain } else { format!(" and said: {plain}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    /// Runs a script as a client.
    fn outcome(script: &str, limit: Duration) -> Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("client");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o700)).unwrap();
        let command = OwnCommand { program: "client", arguments: vec!["add".to_owned()] };
        let surroundings = ClientCommands {
            path: vec![dir.path().to_owned()],
            variables: [("PATH".into(), "/usr/bin:/bin".into())].into(),
            project: "/".into(),
        };
        run_within(&program, &command, &surroundings, limit)
    }

    #[test]
    fn what_it_says_is_told_where_it_fails() {
        assert_eq!(outcome("test \"$1\" = add", LIMIT), Ok(()));
        let failed = outcome("echo one; printf 'two\\033[1m\\n' >&2; exit 3", LIMIT).unwrap_err();
        assert_eq!(failed, "it ended with exit status: 3 and said: one two[1m");
        let long = outcome("yes 2>/dev/null | head -c 3000000; exit 1", LIMIT).unwrap_err();
        assert!(long.len() < 400, "{long}");
    }

    #[test]
    fn it_is_ended_at_its_limit_with_all_that_it_started() {
        let hung = outcome("sleep 1000 & sleep 1000", Duration::from_millis(300)).unwrap_err();
        assert!(hung.starts_with("it did not end"), "{hung}");
        // Whatever holds the pipes does not hold us up.
        assert_eq!(outcome("sleep 1000 &", LIMIT), Ok(()));
    }

    #[test]
    fn it_gets_no_variable_but_those_that_were_given_and_nothing_to_read() {
        let script = "test \"$(env | grep -vc -e '^PATH=' -e '^PWD=' -e '^SHLVL=' -e '^_=' -e '^OLDPWD=')\" = 0 \
                      && test -z \"$(cat)\"";
        assert_eq!(outcome(script, LIMIT), Ok(()));
    }

    #[test]
    fn a_program_of_the_project_is_not_the_user_s() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (inside, outside) = (root.join("project/bin"), root.join("bin"));
        for dir in [&inside, &outside] {
            fs::create_dir_all(dir).unwrap();
        }
        let program = inside.join("client");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink(&program, outside.join("client")).unwrap();
        let command = OwnCommand { program: "client", arguments: Vec::new() };
        let mut surroundings = ClientCommands {
            path: vec![inside.clone(), outside.clone()],
            variables: std::collections::BTreeMap::new(),
            project: root.join("project"),
        };
        assert_eq!(find(&command, &surroundings), None);
        surroundings.project = root.join("elsewhere");
        assert_eq!(find(&command, &surroundings), Some(program));
    }
}
