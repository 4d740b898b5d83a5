//! The CSV file of `play`: a header once, one whole line a round, safe to append to.

use super::{Error, PlayedRound, place};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const HEADER: &str = "step,inject_r,solve_r,solve_rate,wrong_book_size,\
                      strategy,artifact,valid,failed_check,seconds,seed";

/// A CSV file to append to. Lines of several processes do not mix: each is one write in append mode,
/// under the file's lock.
#[derive(Debug)]
pub struct CsvLog {
    path: PathBuf,
}

impl CsvLog {
    /// Refuses now what could not be written later: a file with another header (nobody's data is
    /// appended to), one that may not be written, or a place that cannot hold it. A file that is not
    /// there is made with its first line, so that a game that never begins leaves none.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let log = Self { path: path.to_owned() };
        let file = OpenOptions::new().read(true).append(true).open(path);
        let mut file = match file {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                place::can_be_made(path).map_err(|error| cannot(path, &error))?;
                return Ok(log);
            }
            other => other.map_err(|error| cannot(path, &error))?,
        };
        let text = text_of(&mut file).map_err(|error| cannot(path, &error))?;
        let first = text.lines().next().unwrap_or(HEADER);
        if first == HEADER || (HEADER.starts_with(first) && !text.contains('\n')) {
            return Ok(log);
        }
        Err(Error::usage(format!(
            "{} begins with {first:?} and is no file of `play --csv`; name another file",
            path.display()
        )))
    }

    /// Appends a round as the next step: the number of lines that are complete steps, plus one.
    pub fn append(&self, round: &PlayedRound) -> Result<(), Error> {
        let options = OpenOptions::new().read(true).append(true).create(true).open(&self.path);
        // Closing the file gives the lock back.
        options
            .and_then(|mut file| file.lock().and_then(|()| append_locked(&mut file, round)))
            .map_err(|error| cannot(&self.path, &error))
    }
}

fn append_locked(file: &mut File, round: &PlayedRound) -> io::Result<()> {
    let text = text_of(file)?;
    let mut line = String::new();
    if text.is_empty() {
        line = format!("{HEADER}\n");
    } else if !text.contains('\n') {
        // A crash left part of the header: its rest completes it.
        line = format!("{}\n", HEADER.strip_prefix(text.as_str()).unwrap_or_default());
    } else if !text.ends_with('\n') {
        line.push('\n');
    }
    line.push_str(&row(next_step(&text), round));
    file.write_all(line.as_bytes())
}

fn text_of(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One more than the largest step there is.
fn next_step(text: &str) -> u64 {
    let step = |line: &str| line.split(',').next().and_then(|step| step.parse::<u64>().ok());
    text.lines().filter_map(step).max().map_or(1, |last| last.saturating_add(1))
}

/// No value holds a comma, a quote or a line break: numbers, words and hexadecimal ids.
fn row(step: u64, round: &PlayedRound) -> String {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let failed_check = round.failed_check.map(super::name).unwrap_or_default();
    format!(
        "{step},{},{},{},{},{},{},{},{failed_check},{:.3},{}\n",
        round.inject_reward,
        number(round.mean_solve_reward()),
        number(round.solve_rate),
        round.wrong_book_size,
        super::name(round.strategy),
        round.artifact.as_deref().unwrap_or_default(),
        round.valid,
        round.seconds,
        round.seed,
    )
}

fn cannot(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!(
        "the CSV file {} cannot be written ({error}); name another with --csv",
        path.display()
    ))
}
