//! The CSV file of `play`: a header once, one whole line a round, safe to append to.

use super::{Error, PlayedRound};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const HEADER: &str = "step,inject_r,solve_r,solve_rate,wrong_book_size,\
                      strategy,artifact,valid,failed_check,seconds,seed";

/// An open CSV file. Lines of several processes do not mix: each is one write in append mode, under
/// the file's lock.
#[derive(Debug)]
pub struct CsvLog {
    file: File,
    path: PathBuf,
}

impl CsvLog {
    /// Opens or makes the file. A file with another header is refused, so that nobody's data is
    /// appended to.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| cannot(path, &error))?;
        let mut log = Self { file, path: path.to_owned() };
        let text = log.text().map_err(|error| cannot(path, &error))?;
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
    pub fn append(&mut self, round: &PlayedRound) -> Result<(), Error> {
        let written = self.file.lock().and_then(|()| self.append_locked(round));
        let unlocked = self.file.unlock();
        written.and(unlocked).map_err(|error| cannot(&self.path, &error))
    }

    fn append_locked(&mut self, round: &PlayedRound) -> io::Result<()> {
        let text = self.text()?;
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
        self.file.write_all(line.as_bytes())
    }

    fn text(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
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
