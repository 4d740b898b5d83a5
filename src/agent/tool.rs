//! The tools that a model is offered, and its calls of them: what it wrote, read strictly.

use crate::model::{self, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};

/// One of our tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Bash,
    Read,
    Edit,
    Create,
    /// By a solver: the fix.
    SubmitFix,
    /// By an injector: the artifact, whose last three parts it may give.
    SubmitBug,
    /// What is in the tree, and nothing beside.
    SubmitTree,
    /// Notes alone.
    SubmitNotes,
    /// No call at all: the reply itself is an artifact, as JSON. Stands alone.
    Files,
}

/// A call that can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Bash { command: String },
    Read { path: String, from_line: Option<usize>, lines: Option<usize> },
    Edit { path: String, search: String, replace: String },
    Create { path: String, content: String },
    Submit(Submission),
}

/// What a player submits beside its tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Submission {
    /// A diff against the tree that was shown, in place of what was changed in it.
    #[serde(default)]
    pub patch: Option<String>,
    #[serde(default)]
    pub test_script: Option<String>,
    #[serde(default)]
    pub test_parser: Option<String>,
    #[serde(default)]
    pub test_files: Option<Vec<String>>,
    #[serde(default)]
    pub notes: Option<String>,
    /// The two diffs of an artifact that is given as files.
    #[serde(skip)]
    pub bug: Option<String>,
    #[serde(skip)]
    pub weakening: Option<String>,
}

/// Why a call cannot be made, for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("there is no tool {name:?}; there are {known}")]
    NoTool { name: String, known: String },
    #[error("the arguments of {tool} cannot be read ({reason}); give {wanted}")]
    Arguments { tool: &'static str, reason: String, wanted: &'static str },
    #[error("the call of {tool} does not end; end it with a line </tool>")]
    Open { tool: String },
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Create => "create",
            Self::SubmitFix | Self::SubmitBug | Self::SubmitTree | Self::SubmitNotes => "submit",
            Self::Files => "files",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Bash => {
                "Run a bash command in the tree. Directory, variables and functions last until the next one."
            }
            Self::Read => "Show lines of a file, with their numbers.",
            Self::Edit => {
                "Replace text in a file. The search text must occur exactly once, copied with its indentation."
            }
            Self::Create => "Make a new file in a directory that exists.",
            Self::SubmitFix => {
                "Submit the fix: what you changed in the tree, or the unified diff that you give as patch."
            }
            Self::SubmitBug => {
                "Submit the bug and its weakening: what you changed in the tree. The other parts are made for \
                 you unless you give them."
            }
            Self::SubmitTree => "Submit what you changed in the tree.",
            Self::SubmitNotes => "Submit your notes.",
            Self::Files => "Answer with the files.",
        }
    }

    /// The arguments, for people and models.
    fn wanted(self) -> &'static str {
        match self {
            Self::Bash => "command, a string",
            Self::Read => "path, a string, and if you like from_line and lines, numbers",
            Self::Edit => "path, search and replace, strings",
            Self::Create => "path and content, strings",
            Self::SubmitFix => "nothing, or patch, a string",
            Self::SubmitBug => {
                "nothing, or test_script and test_parser, strings, and test_files, a list of strings"
            }
            Self::SubmitTree | Self::Files => "nothing",
            Self::SubmitNotes => "notes, a string",
        }
    }

    fn properties(self) -> (Value, &'static [&'static str]) {
        let text = |about: &str| json!({ "type": "string", "description": about });
        let number = |about: &str| json!({ "type": "integer", "minimum": 1, "description": about });
        match self {
            Self::Bash => (json!({ "command": text("The command") }), &["command"]),
            Self::Read => (
                json!({
                    "path": text("The file, relative to the tree's root"),
                    "from_line": number("The first line, from 1"),
                    "lines": number("How many lines"),
                }),
                &["path"],
            ),
            Self::Edit => (
                json!({
                    "path": text("The file, relative to the tree's root"),
                    "search": text("The text to be replaced"),
                    "replace": text("The text in its place"),
                }),
                &["path", "search", "replace"],
            ),
            Self::Create => (
                json!({
                    "path": text("The file, relative to the tree's root"),
                    "content": text("Its whole content"),
                }),
                &["path", "content"],
            ),
            Self::SubmitFix => (json!({ "patch": text("A unified diff against the tree") }), &[]),
            Self::SubmitBug => (
                json!({
                    "test_script": text("A bash script that runs the chosen tests"),
                    "test_parser": text("A Python program that reads the script's log"),
                    "test_files": { "type": "array", "items": { "type": "string" } },
                }),
                &[],
            ),
            Self::SubmitTree | Self::Files => (json!({}), &[]),
            Self::SubmitNotes => (json!({ "notes": text("The notes") }), &["notes"]),
        }
    }

    /// For a server that takes tools.
    pub fn offered(self) -> model::Tool {
        let (properties, required) = self.properties();
        model::Tool {
            name: self.name().to_owned(),
            description: self.description().to_owned(),
            parameters: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
        }
    }

    /// For a model that writes its calls as text.
    pub fn in_text(self) -> String {
        let example = match self {
            Self::Bash => "<tool: bash>\npython3 -m pytest -q tests/test_x.py\n</tool>",
            Self::Read => "<tool: read>\nsrc/x.py\n10-60\n</tool>",
            Self::Edit => {
                "<tool: edit>\nsrc/x.py\n<<<<<<< SEARCH\n    return a\n=======\n    return b\n>>>>>>> REPLACE\n</tool>"
            }
            Self::Create => "<tool: create>\nsrc/y.py\ndef f():\n    return 1\n</tool>",
            Self::SubmitNotes => "<tool: submit>\nThe notes.\n</tool>",
            _ => "<tool: submit>\n</tool>",
        };
        format!("{} {}\n\n{example}", self.name(), lower(self.description()))
    }

    /// Reads a native call.
    pub fn decode(call: &ToolCall, tools: &[Self]) -> Result<Call, Fault> {
        let tool = named(&call.name, tools)?;
        let text = call.arguments.trim();
        let text = if text.is_empty() { "{}" } else { text };
        tool.call(text)
    }

    fn call(self, text: &str) -> Result<Call, Fault> {
        fn read<'t, T: Deserialize<'t>>(tool: Tool, text: &'t str) -> Result<T, Fault> {
            serde_json::from_str(text).map_err(|error| tool.refused(error))
        }
        #[derive(Deserialize)]
        struct Bash {
            command: String,
        }
        #[derive(Deserialize)]
        struct Read {
            path: String,
            from_line: Option<usize>,
            lines: Option<usize>,
        }
        #[derive(Deserialize)]
        struct Edit {
            path: String,
            search: String,
            replace: String,
        }
        #[derive(Deserialize)]
        struct Create {
            path: String,
            content: String,
        }
        Ok(match self {
            Self::Bash => Call::Bash { command: read::<Bash>(self, text)?.command },
            Self::Read => {
                let Read { path, from_line, lines } = read(self, text)?;
                Call::Read { path, from_line, lines }
            }
            Self::Edit => {
                let Edit { path, search, replace } = read(self, text)?;
                Call::Edit { path, search, replace }
            }
            Self::Create => {
                let Create { path, content } = read(self, text)?;
                Call::Create { path, content }
            }
            _ => {
                let submission: Submission = read(self, text)?;
                Call::Submit(self.own(submission)?)
            }
        })
    }

    /// A submission with nothing but what is this one's.
    pub(super) fn own(self, given: Submission) -> Result<Submission, Fault> {
        let Submission { patch, test_script, test_parser, test_files, notes, .. } = given;
        let none = Submission::default();
        Ok(match self {
            Self::SubmitFix => Submission { patch, ..none },
            Self::SubmitBug => Submission { test_script, test_parser, test_files, ..none },
            Self::SubmitNotes => match notes {
                Some(notes) if !notes.trim().is_empty() => {
                    Submission { notes: Some(notes), ..none }
                }
                _ => return Err(self.refused("there are no notes")),
            },
            _ => none,
        })
    }

    pub(super) fn refused(self, reason: impl std::fmt::Display) -> Fault {
        let mut reason = reason.to_string();
        // The parser quotes what it found.
        reason.truncate(reason.floor_char_boundary(300));
        Fault::Arguments { tool: self.name(), reason, wanted: self.wanted() }
    }
}

pub(super) fn named(name: &str, tools: &[Tool]) -> Result<Tool, Fault> {
    let found = tools.iter().copied().find(|tool| tool.name() == name.trim());
    found.ok_or_else(|| {
        let known: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let name = name.chars().take(100).collect();
        Fault::NoTool { name, known: known.join(", ") }
    })
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_lowercase().collect::<String>()).unwrap_or_default();
    format!("({})", first + letters.as_str().trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [Tool; 5] = [Tool::Bash, Tool::Read, Tool::Edit, Tool::Create, Tool::SubmitFix];

    #[track_caller]
    fn check(name: &str, arguments: &str, expect: Result<Call, &str>) {
        let call =
            ToolCall { id: "1".to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
        match (Tool::decode(&call, &TOOLS), expect) {
            (Ok(got), Ok(expect)) => assert_eq!(got, expect),
            (Err(got), Err(expect)) => assert!(got.to_string().contains(expect), "{got}"),
            (got, expect) => panic!("{got:?} is not {expect:?}"),
        }
    }

    #[test]
    fn calls_are_read_by_their_schema() {
        check("bash", r#"{"command": "ls"}"#, Ok(Call::Bash { command: "ls".to_owned() }));
        let read = Call::Read { path: "a".to_owned(), from_line: Some(3), lines: None };
        check("read", r#"{"path": "a", "from_line": 3}"#, Ok(read));
        check("submit", "", Ok(Call::Submit(Submission::default())));
        let fix = Submission { patch: Some("diff".to_owned()), ..Submission::default() };
        check("submit", r#"{"patch": "diff"}"#, Ok(Call::Submit(fix)));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_what_is_wanted() {
        check("bash", r#"{"command": 5}"#, Err("give command, a string"));
        check("bash", r#"{"command": ["ls"]}"#, Err("invalid type: sequence"));
        check("bash", "ls -l", Err("cannot be read"));
        check("bash", "", Err("missing field `command`"));
        check("edit", r#"{"path": "a", "search": "b"}"#, Err("missing field `replace`"));
        check("read", r#"{"path": "a", "lines": -1}"#, Err("give path, a string"));
        check("python", "{}", Err("there are bash, read, edit, create, submit"));
        check(&"x".repeat(9000), "{}", Err("there is no tool"));
    }

    #[test]
    fn a_submission_holds_nothing_of_another_role() {
        let given = Submission {
            patch: Some("p".to_owned()),
            test_script: Some("s".to_owned()),
            notes: Some("n".to_owned()),
            ..Submission::default()
        };
        let own = |tool: Tool| tool.own(given.clone()).expect("it has what it needs");
        assert_eq!(own(Tool::SubmitFix).test_script, None);
        assert_eq!(own(Tool::SubmitBug).patch, None);
        assert_eq!(own(Tool::SubmitTree), Submission::default());
        assert_eq!(own(Tool::SubmitNotes).notes.as_deref(), Some("n"));
        assert!(Tool::SubmitNotes.own(Submission::default()).is_err());
    }

    #[test]
    fn every_tool_is_offered_by_a_schema() {
        for tool in TOOLS {
            let offered = tool.offered();
            assert_eq!(offered.parameters["type"], "object");
            assert!(!offered.description.is_empty() && tool.in_text().contains("</tool>"));
        }
    }
}
