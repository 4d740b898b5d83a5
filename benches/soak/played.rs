//! One long run of the real binary, watched: memory, processes, files that stay, and what it told.

use crate::processes::{around, descendants, started};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run is, but for its rounds.
const PLAY: &str = "play . --seed 1 --attempts 2 --runs 4 --csv ../rounds.csv --json";
/// How long after its end something of a run may still be there.
const PATIENCE: Duration = Duration::from_secs(20);

/// A moment of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) rounds: u32,
    /// Of `play` itself, KiB: all that is resident, and of that what no file backs.
    pub(crate) resident: u64,
    pub(crate) own: u64,
    /// Resident of all that it has started, KiB.
    pub(crate) started: u64,
    pub(crate) processes: usize,
    pub(crate) handles: usize,
    /// The state directory, bytes and entries.
    pub(crate) state: u64,
    pub(crate) entries: u64,
    pub(crate) seconds: f64,
}

/// A whole run.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) samples: Vec<Sample>,
    pub(crate) valid: u32,
    /// The CSV file less what differs from run to run: the seconds and the run's name.
    pub(crate) csv: String,
    /// What stayed that should not: processes, files.
    pub(crate) left: Vec<String>,
}

/// Plays rounds on a copy of `repository` below `place`, which must be empty; a sample every so many.
pub(crate) fn play(
    binary: &Path,
    repository: &Path,
    place: &Path,
    rounds: u32,
    every: u32,
    each: &mut dyn FnMut(&Sample),
) -> Result<Played, String> {
    for dir in ["home", "tmp", "state", "repo"] {
        fs::create_dir_all(place.join(dir)).map_err(|error| error.to_string())?;
    }
    copy(repository, &place.join("repo")).map_err(|error| error.to_string())?;
    let mut child = command(binary, place)
        .args(PLAY.split(' '))
        .args(["--rounds", &rounds.to_string()])
        .stdout(Stdio::piped())
        .stderr(fs::File::create(place.join("stderr")).map_err(|error| error.to_string())?)
        .spawn()
        .map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let (mut samples, mut valid, mut last, mut known) = (Vec::new(), 0, 0, Vec::new());
    let told = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    for line in told.map_while(Result::ok) {
        let round: serde_json::Value =
            serde_json::from_str(&line).map_err(|error| format!("{line}: {error}"))?;
        valid += u32::from(round["valid"] == true);
        let number = round["round"].as_u64().and_then(|number| number.try_into().ok());
        let number: u32 = number.ok_or_else(|| format!("a line without a round: {line}"))?;
        if number == last {
            continue;
        }
        last = number;
        if number.is_multiple_of(every) {
            known.extend(descendants(child.id()));
            // After the last round the process may be gone already.
            let sample = sample(child.id(), place, number, begun);
            if sample.own > 0 {
                each(&sample);
                samples.push(sample);
            }
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let said = fs::read_to_string(place.join("stderr")).unwrap_or_default();
    if !status.success() || last != rounds {
        let end = said.lines().last().unwrap_or_default();
        return Err(format!("{status} after {last} of {rounds} rounds: {end}"));
    }
    let text = fs::read_to_string(place.join("rounds.csv")).map_err(|error| error.to_string())?;
    Ok(Played { samples, valid, csv: stable(&text), left: left(place, &known) })
}

fn command(binary: &Path, place: &Path) -> Command {
    let mut command = Command::new(binary);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let or = |name: &str, below: &str| std::env::var_os(name).unwrap_or(home.join(below).into());
    command
        .env_clear()
        .env("HOME", place.join("home"))
        .env("TMPDIR", place.join("tmp"))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("CARGO_HOME", or("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", or("RUSTUP_HOME", ".rustup"))
        .env("SSR_MCP_STATE_DIR", place.join("state"))
        .current_dir(place.join("repo"))
        .stdin(Stdio::null());
    command
}

fn sample(pid: u32, place: &Path, rounds: u32, begun: Instant) -> Sample {
    let below = descendants(pid);
    let (state, entries) = size(&place.join("state"));
    Sample {
        rounds,
        resident: memory(pid, "VmRSS:"),
        own: memory(pid, "RssAnon:"),
        started: below.iter().map(|(child, _)| memory(*child, "VmRSS:")).sum(),
        processes: below.len(),
        handles: fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count),
        state,
        entries,
        seconds: begun.elapsed().as_secs_f64(),
    }
}

/// A line of a process's status, KiB.
fn memory(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Bytes on disk and files below a directory; what has several names counts once.
fn size(dir: &Path) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    let (mut open, mut seen) = (vec![dir.to_owned()], BTreeMap::new());
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            seen.insert((meta.dev(), meta.ino()), meta.blocks() * 512);
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    (seen.values().sum(), seen.len() as u64)
}

/// Columns of the CSV file that are the same for the same seed.
fn stable(text: &str) -> String {
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let kept = |at: usize| !matches!(header.get(at), Some(&("seconds" | "run")));
    let line = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(at, _)| kept(*at));
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",") + "\n"
    };
    text.lines().map(line).collect()
}

/// What of a run is still there though it has ended.
fn left(place: &Path, known: &[(u32, String)]) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    let mut processes = Vec::new();
    while Instant::now() < deadline {
        processes = around(place);
        processes
            .extend(known.iter().filter(|(pid, at)| started(*pid).as_ref() == Some(at)).cloned());
        if processes.is_empty() {
            break;
        }
        std::thread::yield_now();
    }
    let mut left: Vec<String> = processes.iter().map(|(pid, _)| format!("process {pid}")).collect();
    let mut places = vec![place.join("tmp"), place.join("home"), place.join("state/scratch")];
    for entry in fs::read_dir(place.join("state")).into_iter().flatten().flatten() {
        places.push(entry.path().join("scratch"));
    }
    for place in places {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        left.extend(entries.map(|entry| entry.path().display().to_string()));
    }
    left
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (source, target) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if source.is_dir() {
            copy(&source, &target)?;
        } else {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
