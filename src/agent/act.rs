//! A call is made, and its result is told: as text, not longer than there is room for.

use super::tool::Call;
use super::{Error, Limits};
use crate::sandbox::{Cancel, End};
use crate::scaffold::{Ran, Room, Trouble, in_words, numbered};

/// Lines that `read` shows where nobody says how many.
const LINES: usize = 400;

/// What came of a call, for the model.
pub(super) struct Acted {
    pub(super) text: String,
    /// It cannot have changed the tree.
    pub(super) looked: bool,
}

/// `call` is no submission.
pub(super) fn act(
    room: &mut Room,
    call: &Call,
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Acted, Error> {
    let told = |outcome: Result<String, Trouble>, looked| Acted {
        text: shortened(&outcome.unwrap_or_else(|trouble| trouble.to_string()), limits.result),
        looked,
    };
    Ok(match call {
        Call::Bash { command } => {
            let ran = room.command(command, limits.command, cancel)?;
            told(ran.map(|ran| of_command(&ran, limits)), false)
        }
        Call::Read { path, from_line, lines } => {
            let (from, many) = (from_line.unwrap_or(1).max(1), lines.unwrap_or(LINES).max(1));
            let read = room.read_at(path, cancel)?;
            let shown = read.map(|(_, file)| {
                let wanted = from..=from.saturating_add(many - 1);
                let of = crate::text::lines(&file.bytes).count();
                match numbered(&file.bytes, wanted) {
                    (_, None) => format!("no such line: the file has {of}"),
                    (text, Some(shown)) if *shown.end() < of => {
                        format!("{text}[lines {} to {} of {of}]", shown.start(), shown.end())
                    }
                    (text, Some(_)) => text,
                }
            });
            told(shown, true)
        }
        Call::Edit { path, search, replace } => {
            let edited = room.edit_at(path, search, replace, cancel)?;
            told(edited.map(|edited| format!("edited:\n{}", edited.text)), false)
        }
        Call::Create { path, content } => {
            let made = room.create_at(path, content, cancel)?;
            told(made.map(|place| format!("made {place}, {} bytes", content.len())), false)
        }
        Call::Submit(_) => Acted { text: String::new(), looked: true },
    })
}

fn of_command(ran: &Ran, limits: &Limits) -> String {
    let mut text = shortened(&ran.output.text, limits.result.saturating_sub(200));
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let end = match ran.end {
        End::Exited(status) => format!("exit status {status}"),
        other => in_words(other, limits.command),
    };
    let shell = if ran.remembered { "" } else { "; the shell is as it was before the command" };
    format!("{text}[{end}{shell}]")
}

/// A text as it is, or its beginning and its end.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let (head, tail) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    format!("{}\n[{} bytes left out]\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_loses_its_middle_between_characters() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcdef", 4), "ab\n[2 bytes left out]\nef");
        assert_eq!(shortened("aéééb", 4), "a\n[6 bytes left out]\nb");
    }
}
