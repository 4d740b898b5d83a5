//! Turns a fork of the first process into a step's command.

use super::landlock::Ruleset;
use super::mounts::last_errno;
use super::view::HOME;
use super::{Limits, Step, helper, limits};
use rustix::fs::{Access, MemfdFlags, Mode, OFlags};
use rustix::pipe::PipeFlags;
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

/// The environment that a step gets where it does not say otherwise.
const DEFAULTS: &[(&str, &str)] = &[
    ("HOME", HOME),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("LOGNAME", "u"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("SHELL", "/bin/sh"),
    ("TMPDIR", "/tmp"),
    ("TZ", "UTC"),
    ("USER", "u"),
];

/// Everything that a command is started with, made before the fork.
pub(super) struct Command<'a> {
    pub(super) step: &'a Step,
    pub(super) root: &'a Path,
    pub(super) limits: &'a Limits,
    pub(super) ruleset: Ruleset,
    pub(super) filter: &'a [u8],
    /// Where the listener of a filter that asks is sent.
    pub(super) asking: Option<OwnedFd>,
    /// Processes that the limit counts and that are not the command's.
    pub(super) others: u64,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: Option<OwnedFd>,
    /// In place of the step's own bytes.
    pub(super) stdin: Option<OwnedFd>,
}

/// A child that has begun to become the command.
pub(super) struct Started {
    pub(super) child: Pid,
    /// Written by the child if it fails before the program runs; closed when the program runs.
    reason: File,
}

impl Started {
    /// Why the program never ran, if it did not. The child must be gone.
    pub(super) fn failure(mut self) -> Option<String> {
        let mut why = String::new();
        self.reason.read_to_string(&mut why).ok();
        (!why.is_empty()).then_some(why)
    }
}

impl Command<'_> {
    /// Forks; the child becomes the command, or says why not.
    pub(super) fn start(self) -> Result<Started, String> {
        let env = self.environment();
        let program = self.program(&env)?;
        let argv = c_strings(self.step.argv.iter().cloned())?;
        let envp = c_strings(env.iter().map(|(name, value)| {
            let mut both = name.clone();
            both.push("=");
            both.push(value);
            both
        }))?;
        let stdin = self.stdin()?;
        let (reason, write_reason) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map_err(|errno| format!("pipe: {errno}"))?;
        match helper::fork().map_err(|errno| format!("fork: {errno}"))? {
            None => {
                // A flaw of ours in the child must not look like an exit of the command.
                let become_it = || self.become_command(&program, &argv, &envp, &stdin);
                let why = std::panic::catch_unwind(AssertUnwindSafe(become_it))
                    .unwrap_or_else(|_| "the sandbox panicked".into());
                rustix::io::write(&write_reason, why.as_bytes()).ok();
                helper::finish(127)
            }
            Some(child) => Ok(Started { child, reason: reason.into() }),
        }
    }

    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut env: BTreeMap<OsString, OsString> = DEFAULTS
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)))
            .collect();
        env.insert("PWD".into(), self.cwd().into());
        env.extend(self.step.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        env
    }

    fn cwd(&self) -> PathBuf {
        if self.step.cwd.as_os_str().is_empty() {
            self.root.into()
        } else {
            self.root.join(&self.step.cwd)
        }
    }

    /// The program's path: as given if it has a slash, else the first executable file on `PATH`.
    fn program(&self, env: &BTreeMap<OsString, OsString>) -> Result<CString, String> {
        let name = self.step.argv.first().ok_or("the step names no program")?;
        let executable =
            |path: &Path| path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok();
        let found = if name.as_bytes().contains(&b'/') {
            Some(PathBuf::from(name))
        } else {
            let path = env.get(OsStr::new("PATH")).map(OsString::as_os_str).unwrap_or_default();
            std::env::split_paths(path).map(|dir| dir.join(name)).find(|path| executable(path))
        };
        let found = found.ok_or_else(|| "it is not on the PATH".to_owned())?;
        CString::new(found.into_os_string().into_vec()).map_err(|_| "its name holds a NUL".into())
    }

    fn stdin(&self) -> Result<OwnedFd, String> {
        if let Some(stdin) = &self.stdin {
            return stdin.try_clone().map_err(|error| format!("standard input: {error}"));
        }
        if self.step.stdin.is_empty() {
            return rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|errno| format!("/dev/null: {errno}"));
        }
        let file = rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)
            .map_err(|errno| format!("memfd: {errno}"))?;
        let mut file = File::from(file);
        let filled = std::io::Write::write_all(&mut file, &self.step.stdin)
            .and_then(|()| std::io::Seek::rewind(&mut file));
        filled.map_err(|error| format!("standard input: {error}"))?;
        Ok(file.into())
    }

    /// Only returns when the program could not be started, with the reason.
    fn become_command(
        self,
        program: &CString,
        argv: &[CString],
        envp: &[CString],
        stdin: &OwnedFd,
    ) -> String {
        match self.prepare(stdin) {
            Ok(()) => exec(program, argv, envp),
            Err(reason) => reason,
        }
    }

    fn prepare(self, stdin: &OwnedFd) -> Result<(), String> {
        let told = |what: &'static str| move |errno: rustix::io::Errno| format!("{what}: {errno}");
        rustix::process::setsid().map_err(told("setsid"))?;
        rustix::process::set_parent_process_death_signal(None).map_err(told("prctl"))?;
        rustix::process::umask(Mode::from_raw_mode(0o022));
        rustix::stdio::dup2_stdin(stdin).map_err(told("standard input"))?;
        rustix::stdio::dup2_stdout(&self.stdout).map_err(told("standard output"))?;
        let stderr = self.stderr.as_ref().map_or(self.stdout.as_fd(), |stderr| stderr.as_fd());
        rustix::stdio::dup2_stderr(stderr).map_err(told("standard error"))?;
        let cwd = self.cwd();
        rustix::process::chdir(&cwd)
            .map_err(|errno| format!("directory {}: {errno}", cwd.display()))?;
        // An ignored signal stays ignored through exec, and Rust ignores this one.
        helper::set_disposition(libc::SIGPIPE, libc::SIG_DFL);
        limits::apply(self.limits, self.others, self.step.deadline)?;
        close_on_exec()?;
        limits::confine(self.ruleset, self.filter, self.asking.as_ref())
    }
}

fn c_strings(items: impl Iterator<Item = OsString>) -> Result<Vec<CString>, String> {
    items
        .map(|item| {
            CString::new(item.into_vec())
                .map_err(|_| "an argument or variable holds a NUL".to_owned())
        })
        .collect()
}

/// A descriptor that some code forgot to mark does not reach the command.
fn close_on_exec() -> Result<(), String> {
    #[expect(unsafe_code, reason = "no library wraps close_range")]
    // SAFETY: this only marks descriptors; all of them stay open until exec.
    let marked =
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if marked == 0 { Ok(()) } else { Err(format!("close_range: {}", last_errno())) }
}

fn exec(program: &CString, argv: &[CString], envp: &[CString]) -> String {
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, envp) = (pointers(argv), pointers(envp));
    #[expect(unsafe_code, reason = "the standard library would fork again")]
    // SAFETY: all three are NUL-terminated and live across the call.
    unsafe {
        libc::execve(program.as_ptr(), argv.as_ptr(), envp.as_ptr());
    }
    last_errno().to_string()
}
