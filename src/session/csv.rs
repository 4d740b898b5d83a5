//! The CSV file of `play`: a header once, one whole line a bug, safe to append to.

use super::played::{Detail, mean};
use super::{Error, place};
use crate::agent::Spent;
use crate::store::Kept;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const HEADER: &str = "step,inject_r,solve_r,solve_rate,wrong_book_size,\
                      strategy,artifact,valid,failed_check,audited,seconds,seed,\
                      injector,solver,inject_tokens,solve_tokens,inject_seconds,solve_seconds,cost,reasons,\
                      kind,order,run,round,item";

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

    /// Appends those of a run's bugs that are not in the file yet, each as the next step: the largest
    /// step there is, plus one. A line is known by run, round and item, so that none is lost or doubled
    /// whenever the process before ended.
    pub fn sync(&self, bugs: &[Kept]) -> Result<(), Error> {
        let options = OpenOptions::new().read(true).append(true).create(true).open(&self.path);
        // Closing the file gives the lock back.
        options
            .and_then(|mut file| file.lock().and_then(|()| sync_locked(&mut file, bugs)))
            .map_err(|error| cannot(&self.path, &error))
    }
}

/// All of these rounds as such a file holds them, steps from 1.
pub(super) fn table(bugs: &[Kept]) -> String {
    let mut text = format!("{HEADER}\n");
    for (at, bug) in bugs.iter().enumerate() {
        writeln!(text, "{}{}", at + 1, row(bug)).unwrap_or_default();
    }
    text
}

fn sync_locked(file: &mut File, bugs: &[Kept]) -> io::Result<()> {
    let rows: Vec<String> = bugs.iter().map(row).collect();
    let mut text = text_of(file)?;
    let whole = text.len() - torn(&text, &rows).len();
    let mut added = String::new();
    if whole < text.len() {
        text.truncate(whole);
        file.set_len(whole as u64)?;
    }
    if text.is_empty() {
        added = format!("{HEADER}\n");
    } else if !text.contains('\n') {
        // A crash left part of the header: its rest completes it.
        added = format!("{}\n", HEADER.strip_prefix(text.as_str()).unwrap_or_default());
    } else if !text.ends_with('\n') {
        added.push('\n');
    }
    let there: BTreeSet<&str> = text.lines().filter_map(key).collect();
    let mut step = next_step(&text);
    for row in rows.iter().filter(|row| key(row).is_some_and(|key| !there.contains(key))) {
        writeln!(added, "{step}{row}").unwrap_or_default();
        step = step.saturating_add(1);
    }
    file.write_all(added.as_bytes())
}

/// The end of a text that a crash cut short within one of the rows, which is then written anew; empty
/// where the text ends otherwise.
fn torn<'a>(text: &'a str, rows: &[String]) -> &'a str {
    let Some((_, last)) = text.rsplit_once('\n') else { return "" };
    let digits = last.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &last[digits..];
    if digits > 0 && rows.iter().any(|row| row.starts_with(rest)) { last } else { "" }
}

/// The columns that tell which bug a line is about: the last three.
fn key(line: &str) -> Option<&str> {
    let mut commas = line.rmatch_indices(',').map(|(at, _)| at);
    commas.nth(2).map(|at| &line[at..])
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

/// All but the step. No value holds a comma, a quote or a line break: numbers, words and hexadecimal
/// ids.
fn row(kept: &Kept) -> String {
    let Kept { round, wrong_book_size, .. } = kept;
    let detail = Detail::of(round);
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    format!(
        ",{},{},{},{wrong_book_size},{},{},{},{},{},{:.3},{},{},{},{},{},{},{}",
        number(round.inject_reward),
        number(mean(&round.solver_rewards)),
        number(round.solve_rate),
        round.strategy,
        round.artifact.as_deref().unwrap_or_default(),
        detail.valid,
        detail.failed_check.as_deref().unwrap_or_default(),
        super::name(detail.audited),
        round.seconds,
        round.seed,
        models(&detail),
        round.kind,
        round.bug_order,
        round.run.as_deref().unwrap_or_default(),
        round.step,
        round.item + 1,
    )
}

/// Who played, what models took, and how the attempts ended.
fn models(detail: &Detail) -> String {
    let Detail { inject_spent, solve_spent, .. } = detail;
    let tokens = |spent: &Option<Spent>| spent.map(|s| s.tokens().to_string()).unwrap_or_default();
    let seconds =
        |spent: &Option<Spent>| spent.map(|s| format!("{:.3}", s.seconds)).unwrap_or_default();
    let mut both = inject_spent.unwrap_or_default();
    both.add(&solve_spent.unwrap_or_default());
    let cost = both.money.map(|money| money.to_string()).unwrap_or_default();
    let reasons: Vec<String> =
        detail.reasons.iter().map(|(reason, times)| format!("{reason}:{times}")).collect();
    [
        plain(&detail.injector),
        plain(&detail.solver),
        tokens(inject_spent),
        tokens(solve_spent),
        seconds(inject_spent),
        seconds(solve_spent),
        cost,
        reasons.join(";"),
    ]
    .join(",")
}

/// A model's name without what means something in such a file.
fn plain(name: &str) -> String {
    let odd = |c: char| c == ',' || c == '"' || c.is_control();
    name.chars().map(|c| if odd(c) { '_' } else { c }).collect()
}

fn cannot(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!(
        "the CSV file {} cannot be written ({error}); name another with --csv",
        path.display()
    ))
}
