//! Calls as text, for models whose servers take no tools: `<tool: name>`, arguments, `</tool>`.

use super::tool::{Call, Fault, Submission, Tool, named};

const SEARCH: &str = "<<<<<<< SEARCH";
const MIDDLE: &str = "=======";
const REPLACE: &str = ">>>>>>> REPLACE";
const CLOSE: &str = "</tool>";

/// What a text holds of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The first one.
    pub(super) call: Result<Call, Fault>,
    /// Those after it.
    pub(super) more: usize,
}

/// The first call of a text; `None` where there is none. `cut`: the model was cut short.
pub(super) fn find(text: &str, tools: &[Tool], cut: bool) -> Option<Found> {
    let mut openings = openings(text);
    let (name, body) = openings.next()?;
    let call = match ended(body) {
        Some(body) => decode(name, body, tools),
        // A server that stops at `</tool>` does not send it.
        None if !cut => decode(name, body, tools),
        None => Err(Fault::Open { tool: name.chars().take(100).collect() }),
    };
    Some(Found { call, more: openings.count() })
}

/// The name of each opening line, and what follows it.
fn openings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        at += line.len();
        let name = line.trim().strip_prefix("<tool:")?.strip_suffix('>')?;
        Some((name.trim(), &text[at..]))
    })
}

/// The body up to its closing line.
fn ended(body: &str) -> Option<&str> {
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if line.trim() == CLOSE {
            return Some(&body[..at]);
        }
        at += line.len();
        // At the end of a line it closes, too: `echo x </tool>`.
        if let Some(rest) = line.trim_end().strip_suffix(CLOSE) {
            return Some(&body[..at - line.len() + rest.len()]);
        }
    }
    None
}

fn decode(name: &str, body: &str, tools: &[Tool]) -> Result<Call, Fault> {
    let tool = named(name, tools)?;
    let one_line = |body: &str| body.trim_matches('\n').to_owned();
    Ok(match tool {
        Tool::Bash => match one_line(body) {
            command if command.trim().is_empty() => {
                return Err(tool.refused("the command is empty"));
            }
            command => Call::Bash { command },
        },
        Tool::Read => {
            let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
            let path = lines.next().ok_or_else(|| tool.refused("there is no path"))?;
            let (from_line, lines) = match lines.next() {
                None => (None, None),
                Some(text) => {
                    range(text).map(|(first, many)| (Some(first), many)).ok_or_else(|| {
                        tool.refused("the second line is no range of lines such as 10-60")
                    })?
                }
            };
            Call::Read { path: path.to_owned(), from_line, lines }
        }
        Tool::Edit => edit(body).ok_or_else(|| {
            tool.refused(format!(
                "it is not a path and one block between lines {SEARCH}, {MIDDLE} and {REPLACE}"
            ))
        })?,
        Tool::Create => {
            let body = body.trim_start_matches('\n');
            let (path, content) = body.split_once('\n').unwrap_or((body, ""));
            if path.trim().is_empty() {
                return Err(tool.refused("there is no path"));
            }
            Call::Create { path: path.trim().to_owned(), content: content.to_owned() }
        }
        Tool::SubmitFix => {
            let patch = (!body.trim().is_empty()).then(|| body.to_owned());
            Call::Submit(Submission { patch, ..Submission::default() })
        }
        Tool::SubmitNotes => {
            let notes = Some(body.trim().to_owned());
            Call::Submit(tool.own(Submission { notes, ..Submission::default() })?)
        }
        Tool::SubmitBug | Tool::SubmitTree | Tool::Files => Call::Submit(Submission::default()),
    })
}

/// `10-60`, or `10`: the first line, and how many.
fn range(text: &str) -> Option<(usize, Option<usize>)> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let Some((first, last)) = text.split_once('-') else { return Some((number(text)?, None)) };
    let (first, last) = (number(first)?, number(last)?);
    let many = last.checked_sub(first)?.saturating_add(1);
    Some((first, Some(many)))
}

fn edit(body: &str) -> Option<Call> {
    let (path, rest) = body.trim_start_matches('\n').split_once('\n')?;
    let (_, rest) = after_line(rest, SEARCH)?;
    let (search, rest) = after_line(rest, MIDDLE)?;
    let (replace, rest) = after_line(rest, REPLACE)?;
    if path.trim().is_empty() || after_line(rest, SEARCH).is_some() {
        return None;
    }
    // The last line's end belongs to the mark after it.
    let text = |block: &str| block.strip_suffix('\n').unwrap_or(block).to_owned();
    Some(Call::Edit { path: path.trim().to_owned(), search: text(search), replace: text(replace) })
}

/// What stands before the line `mark`, and after it.
fn after_line<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == mark {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [Tool; 5] = [Tool::Bash, Tool::Read, Tool::Edit, Tool::Create, Tool::SubmitFix];

    #[track_caller]
    fn check(text: &str, expect: Option<Result<Call, &str>>) {
        let got = find(text, &TOOLS, false).map(|found| found.call);
        match (got, expect) {
            (Some(Ok(got)), Some(Ok(expect))) => assert_eq!(got, expect),
            (Some(Err(got)), Some(Err(expect))) => {
                assert!(got.to_string().contains(expect), "{got}");
            }
            (None, None) => {}
            (got, expect) => panic!("{got:?} is not {expect:?}"),
        }
    }

    fn bash(command: &str) -> Call {
        Call::Bash { command: command.to_owned() }
    }

    #[test]
    fn a_call_stands_between_its_lines() {
        check("I look.\n<tool: bash>\nls -l\n</tool>\n", Some(Ok(bash("ls -l"))));
        check("<tool:bash>\ncd a\nls\n</tool>", Some(Ok(bash("cd a\nls"))));
        check("```\n<tool: bash>\nls\n</tool>\n```", Some(Ok(bash("ls"))));
        check("<tool: bash>\nls </tool>", Some(Ok(bash("ls "))));
        check("There is nothing to do.", None);
        check("the tag <tool: bash> within a line", None);
    }

    #[test]
    fn a_call_that_the_server_cut_at_its_end_is_whole() {
        check("<tool: bash>\nls\n", Some(Ok(bash("ls"))));
        let cut = find("<tool: bash>\nls", &TOOLS, true).expect("there is one");
        assert_eq!(cut.call, Err(Fault::Open { tool: "bash".to_owned() }));
    }

    #[test]
    fn an_edit_keeps_its_white_space() {
        let text = "<tool: edit>\nsrc/a.py\n<<<<<<< SEARCH\n    a\n\n=======\n\tb\n>>>>>>> REPLACE\n</tool>";
        let expect = Call::Edit {
            path: "src/a.py".to_owned(),
            search: "    a\n".to_owned(),
            replace: "\tb".to_owned(),
        };
        check(text, Some(Ok(expect)));
        let empty = "<tool: edit>\na\n<<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE\n</tool>";
        let expect =
            Call::Edit { path: "a".to_owned(), search: "x".to_owned(), replace: String::new() };
        check(empty, Some(Ok(expect)));
        check("<tool: edit>\na\nx\n</tool>", Some(Err("one block between")));
    }

    #[test]
    fn files_are_made_and_read() {
        let made = Call::Create { path: "a.py".to_owned(), content: "x = 1\n\n".to_owned() };
        check("<tool: create>\na.py\nx = 1\n\n</tool>", Some(Ok(made)));
        let read = Call::Read { path: "a".to_owned(), from_line: Some(3), lines: Some(2) };
        check("<tool: read>\na\n3-4\n</tool>", Some(Ok(read)));
        check("<tool: read>\na\n4-3\n</tool>", Some(Err("no range")));
        check("<tool: read>\n</tool>", Some(Err("no path")));
        check("<tool: sing>\n</tool>", Some(Err("there is no tool \"sing\"")));
    }

    #[test]
    fn the_first_call_counts_and_the_others_are_counted() {
        let text = "<tool: bash>\nls\n</tool>\n<tool: submit>\n</tool>\n";
        let found = find(text, &TOOLS, false).expect("there are two");
        assert_eq!((found.call, found.more), (Ok(Call::Bash { command: "ls".to_owned() }), 1));
    }

    #[test]
    fn no_text_is_too_mangled_to_be_read() {
        let seeds: [&[u8]; 3] = [
            b"I look.\n<tool: bash>\nls -l\n</tool>\n",
            b"<tool: edit>\na.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n</tool>",
            b"<tool: read>\na\n3-4\n</tool>\n<tool: submit>\n--- a/x\n</tool>",
        ];
        let words: [&[u8]; 7] = [
            b"<tool:",
            b"</tool>",
            b"<tool: create>\n",
            b"<<<<<<< SEARCH\n",
            b"=======\n",
            b"99999999999999999999-",
            b"\r\n",
        ];
        crate::dice::mangled::check("calls", &seeds, &words, &|input| {
            let text = String::from_utf8_lossy(input);
            for cut in [false, true] {
                let found = find(&text, &TOOLS, cut);
                assert_eq!(found.is_some(), openings(&text).next().is_some());
            }
        });
    }

    #[test]
    fn a_fix_may_be_given_as_a_diff() {
        let text = "<tool: submit>\n--- a/x\n+++ b/x\n</tool>";
        let patch = Some("--- a/x\n+++ b/x\n".to_owned());
        check(text, Some(Ok(Call::Submit(Submission { patch, ..Submission::default() }))));
    }
}
