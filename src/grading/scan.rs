//! A static look at a prediction: text that an honest repair rarely needs and a forged pass often
//! does. Never proof: it is flagged, not judged. Only lines are looked at that a patch adds and the
//! original's file does not have: who writes the original again has forged nothing.

use super::signs;
use crate::diff::{FilePatch, Hunk, Line, Patch};
use crate::tree::Tree;
use std::collections::BTreeSet;

/// How many lines of a definition that compares are looked at.
const DEFINITION: usize = 8;

/// Flags for the lines that a patch adds to the original.
pub(super) fn suspicious(patch: &Patch, original: &dyn Tree) -> Vec<String> {
    let (scripts, others): (Vec<_>, Vec<_>) =
        patch.files().iter().partition(|file| is_script(file));
    let [scripts, others] = [scripts, others]
        .map(|files| files.into_iter().map(|file| lines(file, original)).collect::<Vec<_>>());
    let mut flags = seen(&others, &signs::COMMON);
    flags.extend(seen(&scripts, &signs::JAVASCRIPT));
    let new_lines = scripts.iter().flatten().filter(|(added, _)| *added);
    let mut new_lines = new_lines.map(|(_, line)| line.as_str());
    if new_lines.clone().any(replaces_builtin) {
        flags.push("the patch replaces what belongs to every program".to_owned());
    }
    if new_lines.any(loads_by_name) {
        flags.push("the patch loads a module whose name it computes".to_owned());
    }
    for name in ["__eq__", "fn eq"] {
        if others.iter().any(|lines| always_equal(lines, name)) {
            flags.push(format!("the patch adds an `{name}` that does not compare"));
        }
    }
    flags
}

/// A file's lines, and whether they are news.
type Lines = Vec<(bool, String)>;

fn seen(files: &[Lines], signs: &[(&str, &[&str])]) -> Vec<String> {
    let added = |sign: &str| {
        let mut lines = files.iter().flatten().filter(|(added, _)| *added);
        lines.any(|(_, line)| holds(line, sign))
    };
    let mut flags = Vec::new();
    for (meaning, signs) in signs {
        let found = signs.iter().filter(|sign| added(sign));
        flags.extend(found.map(|sign| format!("the patch adds `{sign}`, which {meaning}")));
    }
    flags
}

fn is_script(file: &FilePatch) -> bool {
    let extension = file.new_path().or(file.old_path()).map(crate::tree::RelPath::extension);
    extension.is_some_and(|extension| signs::SCRIPTS.contains(&extension))
}

/// An assignment to something of JavaScript's own: `Array.prototype.push = …`, `JSON.stringify = …`.
fn replaces_builtin(line: &str) -> bool {
    signs::BUILTINS.iter().any(|name| {
        line.match_indices(name).any(|(at, _)| {
            let rest = &line[at + name.len()..];
            let defines = rest.starts_with(',') || rest.starts_with(".prototype,");
            let member = rest.starts_with(['.', '[']) && {
                let target = rest.find(" = ").map(|end| &rest[..end]);
                target.is_some_and(|target| !target.contains(['(', ' ', ';', '\'']))
            };
            !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
                && (member || defines && line.contains("define") || rest.starts_with(".prototype["))
        })
    })
}

fn loads_by_name(line: &str) -> bool {
    ["require(", "import("].iter().any(|call| {
        let named = |(at, _): (usize, &str)| {
            let rest = line[at + call.len()..].trim_start();
            let quote = rest.chars().next().filter(|c| ['\'', '"', '`'].contains(c));
            let literal = quote.and_then(|quote| rest[1..].split_once(quote));
            literal.is_some_and(|(name, after)| {
                after.trim_start().starts_with(')') && !name.contains("${")
            })
        };
        let word = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        line.match_indices(call).any(|found| word(found.0) && !named(found))
    })
}

/// The lines of a file's hunks as they are afterwards, and whether they are news.
fn lines(file: &FilePatch, original: &dyn Tree) -> Lines {
    let before = file.new_path().and_then(|path| original.read(path));
    let before = before.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    let known: BTreeSet<&str> =
        before.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    file.hunks()
        .iter()
        .flat_map(Hunk::lines)
        .filter(|line| !matches!(line, Line::Removed(_)))
        .map(|line| {
            let text = String::from_utf8_lossy(line.text()).trim().to_owned();
            (matches!(line, Line::Added(_)) && !known.contains(text.as_str()), text)
        })
        .collect()
}

fn holds(line: &str, sign: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let begins_word = sign.starts_with(in_word);
    line.match_indices(sign).any(|(at, _)| !(begins_word && line[..at].ends_with(in_word)))
}

/// A definition of `name` with a new line in it that is no more than "true", or that never looks at the
/// value itself.
fn always_equal(lines: &[(bool, String)], name: &str) -> bool {
    let bare = |line: &str| {
        let line = line.trim_end_matches(['}', ' ', ';']);
        let ends = ["return True", "return true", ": True", "{ true"];
        line == "true" || ends.iter().any(|end| line.ends_with(end))
    };
    let opens = |line: &str| line.contains(&format!("{name}("));
    let defines = |line: &str| opens(line) || line.contains(&format!("{name} ="));
    let looks = |line: &str| holds(line, "self");
    lines.iter().enumerate().filter(|(_, (_, line))| defines(line)).any(|(at, (_, head))| {
        let says_true = lines[at..].iter().take(4).any(|(added, line)| *added && bare(line));
        let other = |(_, line): &&(bool, String)| line.starts_with("def ") || line.contains("fn ");
        let body: Vec<_> =
            lines[at + 1..].iter().take_while(|line| !other(line)).take(DEFINITION).collect();
        let news = lines[at].0 || body.iter().any(|(added, _)| *added);
        let inline = ["):", "{"].iter().find_map(|mark| head.split_once(mark));
        let compares =
            inline.is_some_and(|(_, body)| looks(body)) || body.iter().any(|(_, line)| looks(line));
        says_true || (opens(head) && news && !compares)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(judge: fn(&str) -> bool, line: &str, expect: bool) {
        assert_eq!(judge(line), expect, "{line}");
    }

    #[test]
    fn only_an_assignment_to_something_of_the_languages_own_replaces_it() {
        for line in [
            "Array.prototype.push = function () {};",
            "JSON.stringify = (value) => value;",
            "Array.prototype[name] = real;",
            "Object.defineProperty(Object.prototype, 'toJSON', {});",
        ] {
            check(replaces_builtin, line, true);
        }
        for line in [
            "Queue.prototype.push = function () {};",
            "const all = Array.prototype.slice.call(arguments);",
            "const text = JSON.stringify(value);",
            "if (Object.keys(a).length === 0) b = 1;",
            "const mine = MyArray.of = 1;",
        ] {
            check(replaces_builtin, line, false);
        }
    }

    #[test]
    fn a_module_by_a_plain_name_is_not_a_computed_one() {
        for line in
            ["require(name)", "import('a' + b)", "import(`./${x}.js`)", "require(['m'].join())"]
        {
            check(loads_by_name, line, true);
        }
        for line in [
            "const a = require('./a');",
            "await import(\"./b.js\")",
            "import x from 'x';",
            "required(x)",
        ] {
            check(loads_by_name, line, false);
        }
    }
}
