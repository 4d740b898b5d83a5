//! The house rules that the compiler does not keep. Each failure is one line that says what to do.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Floors from the ground up, modules from left to right. A module may use what stands before it
/// here, except that faces, the last floor, may not use each other.
const FLOORS: [&[&str]; 7] = [
    &["tree", "dice", "text", "diff", "verdict", "artifact", "reward", "chart"],
    &["syntax", "policy"],
    &["sandbox", "workspace", "runner", "store", "model", "harness"],
    &[
        "scaffold",
        "consistency",
        "grading",
        "agent",
        "injector",
        "solver",
        "wrong_book",
        "unnoticed",
        "practice",
        "episode",
    ],
    &["trainer"],
    &["config", "setup", "session", "wire"],
    &["mcp", "lsp", "cli"],
];

/// What only some files may name: a path's start, the name after it (`*`: any), the modules that may, or
/// single files of them.
const HOMES: [(&str, &[&str], &[&str]); 14] = [
    ("tree_sitter", &["*"], &["syntax"]),
    ("rusqlite::", &["*"], &["store"]),
    ("rmcp::", &["*"], &["mcp"]),
    ("git2::", &["*"], &["workspace"]),
    ("reqwest::", &["*"], &["model"]),
    ("skillratings::", &["*"], &["practice"]),
    ("tower_lsp::", &["*"], &["lsp"]),
    ("ropey::", &["*"], &["lsp"]),
    // A client's own command has to run outside of the sandbox: it changes the user's configuration.
    ("process::", &["Command"], &["sandbox", "setup/client_command"]),
    ("Command::", &["new"], &["sandbox", "setup/client_command"]),
    ("env::", &["var", "var_os", "vars", "vars_os", "set_var", "remove_var"], &["config", "main"]),
    ("env::", &["current_dir", "set_current_dir"], &["config", "main"]),
    // The sandbox is started again as its own helper and looks at how.
    ("env::", &["args", "args_os"], &["config", "main", "sandbox"]),
    // Freezing compares the times of files with now.
    ("SystemTime::", &["now"], &["config", "session", "main", "workspace"]),
];

const LONGEST: usize = 800;

/// One file under `src`.
struct Source {
    /// From the repository's root, `/`-separated.
    name: String,
    text: String,
    /// The text with comments and the contents of literals blanked.
    code: String,
    /// Names of the modules down to this one: `src/diff/tests.rs` is `diff`, `tests`.
    modules: Vec<String>,
}

impl Source {
    fn top(&self) -> &str {
        &self.modules[0]
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    find(&root().join("src"), &mut files);
    files.sort();
    assert!(files.len() > 10, "src was not found");
    files.iter().map(|file| source(file)).collect()
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn source(file: &Path) -> Source {
    let text = fs::read_to_string(file).expect("sources are UTF-8");
    let name = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    let modules = name.trim_start_matches("src/").trim_end_matches(".rs");
    let modules = modules.split('/').map(str::to_owned).collect();
    Source { code: code_of(&text), name, text, modules }
}

/// Blanks comments and the contents of string and character literals; keeps every newline.
fn code_of(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = at + literal(&bytes[at..], at.checked_sub(1).map(|before| bytes[before]));
        if end == at {
            code.push(char::from(bytes[at]));
            at += 1;
        } else {
            code.extend(bytes[at..end].iter().map(|byte| if *byte == b'\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    code
}

/// The length of the comment or literal at the start of `rest`; 0 where there is none.
fn literal(rest: &[u8], before: Option<u8>) -> usize {
    let until = |from: usize, end: &[u8]| {
        rest[from..]
            .windows(end.len())
            .position(|part| part == end)
            .map_or(rest.len(), |at| from + at + end.len())
    };
    if rest.starts_with(b"//") {
        return rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return until(2, b"*/");
    }
    if rest[0] == b'r' && !before.is_some_and(|byte| byte != b'b' && is_word(byte)) {
        let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
        if rest.get(1 + hashes) == Some(&b'"') {
            let end = [b"\"".as_slice(), &rest[1..=hashes]].concat();
            return until(2 + hashes, &end);
        }
    }
    match rest {
        [b'"', ..] => quoted(rest, b'"'),
        // A quote that starts no character is a lifetime's.
        [b'\'', b'\\', ..] => quoted(rest, b'\''),
        [b'\'', first, ..] if *first != b'\'' => {
            let length = std::str::from_utf8(&rest[1..rest.len().min(5)])
                .map_or_else(|error| error.valid_up_to(), str::len);
            let character =
                std::str::from_utf8(&rest[1..=length]).ok().and_then(|text| text.chars().next());
            let end = 1 + character.map_or(1, char::len_utf8);
            if rest.get(end) == Some(&b'\'') { end + 1 } else { 0 }
        }
        _ => 0,
    }
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Every name that follows `start` in the code, with its line: `a` and `b` for `start{a::x, b}`.
fn names_after(code: &str, start: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(start) {
        if at > 0 && is_word(code.as_bytes()[at - 1]) && is_word(start.as_bytes()[0]) {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let rest = code[at + start.len()..].trim_start();
        match rest.strip_prefix('{') {
            None => found.push((line, word(rest).to_owned())),
            Some(group) => found.extend(group_names(group).into_iter().map(|name| (line, name))),
        }
    }
    found
}

/// The first name of each member of a `use` group, up to its closing brace.
fn group_names(group: &str) -> Vec<String> {
    let (mut depth, mut start, mut names) = (0_usize, 0, Vec::new());
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b',' | b'}' if depth == 0 => {
                names.push(word(group[start..at].trim_start()).to_owned());
                start = at + 1;
                if byte == b'}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn word(text: &str) -> &str {
    let text = text.strip_prefix("r#").unwrap_or(text);
    &text[..text.bytes().take_while(|byte| is_word(*byte)).count()]
}

/// A module's floor and its place among all modules.
fn place(module: &str) -> Option<(usize, usize)> {
    let all = FLOORS
        .iter()
        .enumerate()
        .flat_map(|(floor, modules)| modules.iter().map(move |name| (floor, *name)));
    all.enumerate().find(|(_, (_, name))| *name == module).map(|(place, (floor, _))| (floor, place))
}

/// Whether code of a module may name another; what is not in the table is no module.
fn may_use(module: &str, other: &str) -> bool {
    let (Some((floor, at)), Some((other_floor, other))) = (place(module), place(other)) else {
        return true;
    };
    let both_faces = floor == FLOORS.len() - 1 && other_floor == floor;
    other == at || (other < at && !both_faces)
}

#[track_caller]
fn none(violations: &BTreeSet<String>) {
    let mut text = String::new();
    for violation in violations {
        writeln!(text, "{violation}").unwrap();
    }
    assert!(violations.is_empty(), "house rules are broken:\n{text}");
}

#[test]
fn modules_use_only_what_stands_below_them_or_to_their_left() {
    let mut violations = BTreeSet::new();
    for source in sources().iter().filter(|source| !matches!(source.top(), "lib" | "main")) {
        // As many `super::` as there are modules above lead to the crate's root.
        let to_root = "super::".repeat(source.modules.len());
        for start in ["crate::", &to_root] {
            for (line, used) in names_after(&source.code, start) {
                if !may_use(source.top(), &used) {
                    violations.insert(format!(
                        "{}:{line}: `{}` may not use `{used}`: move the code, or turn the use around \
                         (FLOORS in tests/it/tidy.rs has the order)",
                        source.name,
                        source.top(),
                    ));
                }
            }
        }
    }
    none(&violations);
}

#[test]
fn every_module_has_its_floor_its_declaration_and_its_place() {
    let sources = sources();
    let mut violations = BTreeSet::new();
    let declared = |source: &Source| -> Vec<String> {
        names_after(&source.code, "mod ").into_iter().map(|(_, name)| name).collect()
    };
    for source in &sources {
        let name = source.modules.last().unwrap();
        if source.modules.len() == 1
            && !matches!(name.as_str(), "lib" | "main")
            && place(name).is_none()
        {
            violations.insert(format!(
                "{}: `{name}` has no floor: add it to FLOORS in tests/it/tidy.rs, after every module it uses \
                 and before every module that uses it, and to the code map of ARCHITECTURE.md",
                source.name
            ));
        }
        let parent = match source.modules.split_last().unwrap() {
            (name, []) if matches!(name.as_str(), "lib" | "main") => continue,
            (_, []) => "src/lib.rs".to_owned(),
            (_, parents) => format!("src/{}.rs", parents.join("/")),
        };
        // `#[path = ".."]` declares a file under another name.
        let by_path = format!("{name}.rs\"");
        let is_declared = sources
            .iter()
            .filter(|file| file.name == parent)
            .any(|file| declared(file).contains(name) || file.text.contains(&by_path));
        if !is_declared {
            violations.insert(format!(
                "{}: it is not compiled: add `mod {name};` to {parent}",
                source.name
            ));
        }
    }
    let lib = sources.iter().find(|source| source.name == "src/lib.rs").expect("src/lib.rs");
    let places: Vec<_> = declared(lib).iter().filter_map(|name| place(name)).collect();
    if !places.is_sorted() {
        violations.insert(
            "src/lib.rs: list the modules in the order of FLOORS in tests/it/tidy.rs".to_owned(),
        );
    }
    none(&violations);
}

#[test]
fn every_file_says_what_it_owns_and_is_short() {
    let mut violations = BTreeSet::new();
    for source in sources() {
        if !source.text.starts_with("//! ") {
            violations
                .insert(format!("{}:1: start with `//! ` and what the file owns", source.name));
        }
        let lines = source.text.lines().count();
        if lines > LONGEST {
            violations
                .insert(format!("{}: {lines} lines: split it, {LONGEST} is the most", source.name));
        }
        if source.name.ends_with("/mod.rs") {
            violations
                .insert(format!("{}: name it after its folder, beside the folder", source.name));
        }
    }
    none(&violations);
}

#[test]
fn outside_things_have_one_home() {
    let mut violations = BTreeSet::new();
    for source in sources() {
        for (start, names, homes) in HOMES {
            if homes.contains(&source.top()) || homes.contains(&&*source.modules.join("/")) {
                continue;
            }
            for (line, name) in names_after(&source.code, start) {
                if names.contains(&"*") || names.contains(&name.as_str()) {
                    violations.insert(format!(
                        "{}:{line}: only `{}` may use `{start}{name}`: move this there or ask that module",
                        source.name,
                        homes.join("` and `"),
                    ));
                }
            }
        }
    }
    none(&violations);
}

#[test]
fn the_code_map_names_every_module() {
    let Ok(map) = fs::read_to_string(root().join("ARCHITECTURE.md")) else {
        eprintln!(
            "SKIPPED: there is no ARCHITECTURE.md yet; with it, every module must be in its code map"
        );
        return;
    };
    let mut violations = BTreeSet::new();
    for source in
        sources().iter().filter(|source| source.modules.len() == 1 && source.top() != "lib")
    {
        if ![format!("`{}`", source.top()), format!("`{}`", source.name)]
            .iter()
            .any(|name| map.contains(name))
        {
            violations.insert(format!("ARCHITECTURE.md: add `{}` to the code map", source.top()));
        }
    }
    none(&violations);
}

#[test]
fn nothing_is_left_for_later() {
    let mut violations = BTreeSet::new();
    for source in sources() {
        for (index, line) in source.text.lines().enumerate() {
            for mark in ["TODO", "FIXME", "XXX", "todo!(", "unimplemented!("] {
                if line.contains(mark) {
                    violations.insert(format!(
                        "{}:{}: `{}`: do it now, or say what holds today",
                        source.name,
                        index + 1,
                        mark.trim_end_matches('('),
                    ));
                }
            }
        }
    }
    none(&violations);
}

#[test]
fn the_reader_sees_names_and_not_comments_or_literals() {
    let text = "use crate::{tree::{Tree, File}, diff::{self}};\n// crate::a\nlet x = \"crate::b\\\" crate::c\";\n\
        /* crate::d\n */ r#\"crate::e \" crate::f\"#; '\"'; 'a; '\\''; 'é'; crate::session::run();\n\
        br\"crate::g\"; mycrate::h; $crate::mcp; pub(crate) use super::super::cli;";
    let names = names_after(&code_of(text), "crate::");
    let expect = [(1, "tree"), (1, "diff"), (5, "session"), (6, "mcp")];
    assert_eq!(names, expect.map(|(line, name)| (line, name.to_owned())));
    assert_eq!(names_after(&code_of(text), "super::super::"), [(6, "cli".to_owned())]);
}

#[test]
fn the_floors_forbid_up_right_and_from_face_to_face() {
    let cases = [
        ("diff", "tree", true),
        ("tree", "diff", false),
        ("diff", "diff", true),
        ("syntax", "reward", true),
        ("reward", "syntax", false),
        ("harness", "store", true),
        ("store", "harness", false),
        ("cli", "session", true),
        ("cli", "mcp", false),
        ("mcp", "cli", false),
        ("mcp", "mcp", true),
        ("diff", "not_a_module", true),
    ];
    for (user, used, expect) in cases {
        assert_eq!(may_use(user, used), expect, "{user} uses {used}");
    }
}
