//! Edits of texts: what is put in, what stays, what is refused.

use super::client::{Client, Place, Scope};
use super::document::Document;
use super::entry::Entry;
use super::file::File;
use super::{Change, Error, Registered, registered, remove, snippet, write};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Ground {
    dir: TempDir,
    program: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("ssr-mcp");
        fs::write(&program, "").unwrap();
        Self { dir, program }
    }

    fn place(&self, client: Client) -> Place {
        Place { client, scope: Scope::User, path: self.dir.path().join("file") }
    }

    fn text(&self) -> String {
        let text = fs::read_to_string(self.dir.path().join("file")).unwrap_or_default();
        text.replace(self.dir.path().to_str().unwrap(), "$DIR")
    }
}

/// What a file becomes, what a second call makes of that, and what taking the entry out leaves.
#[track_caller]
fn check(client: Client, before: &str, with: &str, without: &str) {
    let ground = Ground::new();
    let place = ground.place(client);
    if !before.is_empty() {
        fs::write(&place.path, before).unwrap();
    }
    assert!(matches!(write(&place, &ground.program), Ok(Change::Made { .. })));
    assert_eq!(ground.text(), with);
    assert_eq!(write(&place, &ground.program), Ok(Change::None));
    assert_eq!(ground.text(), with);
    let command = ground.program.to_str().unwrap().to_owned();
    assert_eq!(registered(&place), Ok(vec![Registered { name: "ssr".to_owned(), command }]));
    assert!(matches!(remove(&place), Ok(Change::Made { .. })));
    assert_eq!(ground.text(), without);
    assert_eq!(remove(&place), Ok(Change::None));
}

#[track_caller]
fn check_refused(client: Client, before: &str, reason: &str) {
    let ground = Ground::new();
    let place = ground.place(client);
    fs::write(&place.path, before).unwrap();
    let error = write(&place, &ground.program).unwrap_err().to_string();
    assert!(error.contains(reason), "{error:?} does not contain {reason:?}");
    assert!(error.contains("nothing was changed"), "{error}");
    assert_eq!(ground.text(), before);
    let names: Vec<_> = fs::read_dir(ground.dir.path()).unwrap().collect();
    assert_eq!(names.len(), 2, "something was left beside the file: {names:?}");
}

#[test]
fn json_keeps_comments_and_layout() {
    check(
        Client::Zed,
        "// Mine.\n{\n\t\"theme\": \"One\", // dark\n\t\"context_servers\": {\n\t\t/* another */\n\t\t\"other\": {\"command\": \"x\"},\n\t},\n}\n",
        "// Mine.\n{\n\t\"theme\": \"One\", // dark\n\t\"context_servers\": {\n\t\t/* another */\n\t\t\"other\": {\"command\": \"x\"},\n\
         \t\t\"ssr\": {\n\t\t\t\"command\": \"$DIR/ssr-mcp\",\n\t\t\t\"args\": [\"mcp\"],\n\t\t\t\"source\": \"custom\",\n\t\t\t\"env\": {},\n\t\t},\n\t},\n}\n",
        "// Mine.\n{\n\t\"theme\": \"One\", // dark\n\t\"context_servers\": {\n\t\t/* another */\n\t\t\"other\": {\"command\": \"x\"},\n\t},\n}\n",
    );
}

#[test]
fn a_file_that_is_not_there_is_made() {
    check(
        Client::VsCode,
        "",
        "{\n  \"servers\": {\n    \"ssr\": {\n      \"type\": \"stdio\",\n      \"command\": \"$DIR/ssr-mcp\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
        "{\n  \"servers\": {}\n}\n",
    );
}

#[test]
fn toml_keeps_comments_order_and_line_endings() {
    let before = "# Mine.\r\nmodel = \"m\" # fast\r\n\r\n[mcp_servers.other]\r\ncommand = 'x'\r\n\r\n[tui]\r\na = 1\r\n";
    let ground = Ground::new();
    let place = ground.place(Client::Codex);
    fs::write(&place.path, before).unwrap();
    write(&place, &ground.program).unwrap();
    let text = ground.text();
    assert!(
        text.starts_with(
            "# Mine.\r\nmodel = \"m\" # fast\r\n\r\n[mcp_servers.other]\r\ncommand = 'x'\r\n"
        ),
        "{text}"
    );
    assert!(text.contains("\r\n[mcp_servers.ssr]\r\ncommand = \"$DIR/ssr-mcp\"\r\nargs = [\"mcp\"]\r\nstartup_timeout_sec = 20\r\n"), "{text}");
    assert!(
        text.contains("\r\n[tui]\r\na = 1\r\n") && !text.replace("\r\n", "").contains('\n'),
        "{text}"
    );
    remove(&place).unwrap();
    assert_eq!(ground.text(), before);
}

#[test]
fn yaml_keeps_comments_and_layout() {
    check(
        Client::Goose,
        "# Mine.\nGOOSE_MODEL: m # fast\nextensions:\n    # built in\n    developer:\n        enabled: true\n\n# Last.\nGOOSE_MODE: auto\n",
        "# Mine.\nGOOSE_MODEL: m # fast\nextensions:\n    # built in\n    developer:\n        enabled: true\n    ssr:\n      type: stdio\n      \
         cmd: $DIR/ssr-mcp\n      args: [\"mcp\"]\n      name: ssr\n      description: \"Self-play on your own repository\"\n      enabled: true\n      \
         envs: {}\n      timeout: 300\n\n# Last.\nGOOSE_MODE: auto\n",
        "# Mine.\nGOOSE_MODEL: m # fast\nextensions:\n    # built in\n    developer:\n        enabled: true\n\n# Last.\nGOOSE_MODE: auto\n",
    );
}

#[test]
fn yaml_without_extensions_gets_them() {
    let with = "extensions:\n  ssr:\n    type: stdio\n    cmd: $DIR/ssr-mcp\n    args: [\"mcp\"]\n    name: ssr\n    \
         description: \"Self-play on your own repository\"\n    enabled: true\n    envs: {}\n    timeout: 300\n";
    check(Client::Goose, "", with, "extensions: {}\n");
    check(Client::Goose, "a: 1", &format!("a: 1\n{with}"), "a: 1\nextensions: {}\n");
    check(
        Client::Goose,
        "extensions: {} # none\n",
        &with.replacen("extensions:", "extensions: # none", 1),
        "extensions: {}\n",
    );
}

#[test]
fn a_file_of_ours_alone_goes_with_its_entry() {
    check(
        Client::Continue,
        "",
        "name: ssr-mcp\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: ssr\n    command: $DIR/ssr-mcp\n    args: [\"mcp\"]\n",
        "",
    );
}

#[test]
fn another_path_is_changed_and_the_rest_of_the_entry_stays() {
    #[track_caller]
    fn check(client: Client, before: &str) {
        let ground = Ground::new();
        let place = ground.place(client);
        fs::write(&place.path, before).unwrap();
        write(&place, &ground.program).unwrap();
        assert_eq!(ground.text(), before.replace("/gone/ssr-mcp", "$DIR/ssr-mcp"));
        assert_eq!(write(&place, &ground.program), Ok(Change::None));
    }
    check(
        Client::Cline,
        "{\"mcpServers\": {\"ssr\": {\"timeout\": 900, \"transport\": {\"type\": \"stdio\", \"command\": \"/gone/ssr-mcp\", \"args\": [ \"mcp\" ], \"env\": {\"A\": \"b\"}}}}}\n",
    );
    check(
        Client::Codex,
        "[mcp_servers.ssr]\ncommand = \"/gone/ssr-mcp\" # mine\nargs = [ \"mcp\", ]\ntool_timeout_sec = 9\n\n[mcp_servers.ssr.tools.solve]\napproval_mode = \"approve\"\n",
    );
    check(
        Client::Codex,
        "mcp_servers = { ssr = { command = \"/gone/ssr-mcp\", args = [\"mcp\"], enabled = false } }\n",
    );
    check(
        Client::Goose,
        "extensions:\n  ssr:\n    type: stdio\n    enabled: false # not now\n    cmd: /gone/ssr-mcp # mine\n    args:\n    - mcp\n",
    );
    check(
        Client::Continue,
        "name: Mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: ssr\n    command: /gone/ssr-mcp # mine\n    args:\n      - mcp\n    type: stdio\n",
    );
}

#[test]
fn what_cannot_be_parsed_is_refused() {
    check_refused(Client::Cursor, "{\"a\": 1,, }", "not understood");
    check_refused(Client::Cursor, "{'mcpServers': {}}", "not understood");
    check_refused(Client::Cursor, "[1]", "not understood");
    check_refused(Client::Cursor, "{\"mcpServers\": []}", "\"mcpServers\" is not an object");
    check_refused(Client::Cursor, &"[".repeat(100_000), "not understood");
    check_refused(Client::Codex, "a = ", "not understood");
    check_refused(Client::Codex, "mcp_servers = 1\n", "mcp_servers is not a table");
    check_refused(Client::Codex, "a = 1\r\nb = 2\n", "line endings are mixed");
    check_refused(Client::Goose, "a: [", "not understood");
    check_refused(Client::Goose, "extensions: {a: {enabled: true}}\n", "not a block of lines");
    check_refused(Client::Goose, "\"extensions\":\n  a: {}\n", "more than the entry");
    check_refused(Client::Goose, "a: &x 1\nb: *x\n", "an anchor");
    check_refused(Client::Goose, "a: 1\n---\nb: 2\n", "several documents");
    check_refused(Client::Goose, "a: 1\na: 2\n", "stands twice");
    check_refused(Client::Goose, &format!("a: {}", "[".repeat(100_000)), "not understood");
    check_refused(
        Client::Continue,
        "name: x\nmcpServers:\n  - name: other\n    command: x\n",
        "more than the entry",
    );
}

#[test]
fn keys_that_stand_twice_are_refused() {
    let twice = "{\"mcpServers\": {}, \"mcpServers\": {\"b\": {\"command\": \"x\"}}}";
    check_refused(Client::Cursor, twice, "more than the entry");
}

#[test]
fn an_entry_that_starts_something_else_is_refused() {
    let foreign = "{\"mcpServers\": {\"ssr\": {\"command\": \"/usr/bin/server-side\"}}}";
    check_refused(Client::Gemini, foreign, "/usr/bin/server-side");
    check_refused(
        Client::Gemini,
        "{\"mcpServers\": {\"ssr\": {\"url\": \"https://x\"}}}",
        "something else",
    );
}

#[test]
fn an_entry_under_another_name_is_found() {
    let ground = Ground::new();
    let place = ground.place(Client::Zed);
    let text =
        "{\"context_servers\": {\"mine\": {\"command\": {\"path\": \"ssr-mcp\", \"args\": []}}}}";
    fs::write(&place.path, text).unwrap();
    let found = registered(&place).unwrap();
    assert_eq!(
        (found.len(), found[0].name.as_str(), found[0].command.as_str()),
        (1, "mine", "ssr-mcp")
    );
    assert!(found[0].exists(&[PathBuf::from("/nowhere"), ground.dir.path().to_owned()]));
    assert!(!found[0].exists(&[]));
}

#[test]
fn a_program_that_no_client_could_start_is_refused() {
    let ground = Ground::new();
    let place = ground.place(Client::Cursor);
    for program in ["/proc/self/exe", "/nowhere/ssr-mcp", "ssr-mcp"] {
        let error = write(&place, Path::new(program)).unwrap_err();
        assert_eq!(error, Error::NoProgram(program.to_owned()));
    }
    assert!(!place.path.exists());
}

#[test]
fn a_path_with_blanks_and_quotes_is_written_so_that_it_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join("a b's \"c\": #d\\e");
    fs::create_dir(&odd).unwrap();
    let program = odd.join("ssr-mcp");
    fs::write(&program, "").unwrap();
    for client in Client::ALL.into_iter().filter(|client| client.has_file()) {
        let place = Place { client, scope: Scope::User, path: dir.path().join(client.name()) };
        write(&place, &program).unwrap();
        let found = registered(&place).unwrap();
        assert_eq!(found[0].command, program.to_str().unwrap(), "{client}");
        assert_eq!(write(&place, &program), Ok(Change::None), "{client}");
    }
    let own = snippet(Client::Codex, None, &program).unwrap().command.unwrap();
    assert!(own.contains(r#"a b'\''s "c": #d\e/ssr-mcp' mcp"#), "{own}");
}

#[test]
fn what_is_printed_is_what_is_written() {
    for client in Client::ALL.into_iter().filter(|client| client.has_file()) {
        let ground = Ground::new();
        let place = ground.place(client);
        let printed = snippet(client, Some(&place), &ground.program).unwrap();
        fs::write(&place.path, printed.text).unwrap();
        assert_eq!(write(&place, &ground.program), Ok(Change::None), "{client}");
    }
}

#[test]
fn codex_takes_the_optional_lines_once_they_are_uncommented() {
    let ground = Ground::new();
    let printed = snippet(Client::Codex, None, &ground.program).unwrap();
    let optional = printed.optional.unwrap();
    let is_setting = |line: &&str| {
        let line = line.trim_start_matches("# ");
        line.starts_with('[') || line.split(" = ").count() == 2
    };
    let lines: Vec<_> =
        optional.lines().filter(is_setting).map(|line| line.trim_start_matches("# ")).collect();
    let read: toml::Table =
        toml::from_str(&format!("{}\n{}", printed.text, lines.join("\n"))).unwrap();
    let ssr = &read["mcp_servers"]["ssr"];
    assert_eq!(ssr["default_tools_approval_mode"].as_str(), Some("approve"));
    assert_eq!(ssr["tools"]["inject_bug"]["approval_mode"].as_str(), Some("approve"));
    assert_eq!(read["model_providers"]["taotoken"]["wire_api"].as_str(), Some("responses"));
}

#[test]
fn a_file_that_changed_since_it_was_read_is_left_alone() {
    let ground = Ground::new();
    let place = ground.place(Client::Cursor);
    fs::write(&place.path, "{}").unwrap();
    let file = File::read(&place.path).unwrap();
    let absent = File::read(&ground.dir.path().join("absent")).unwrap();
    fs::write(&place.path, "{\"theirs\": 1}").unwrap();
    fs::write(ground.dir.path().join("absent"), "theirs").unwrap();
    for file in [&file, &absent] {
        assert!(matches!(file.replace("ours"), Err(Error::Changed { .. })));
    }
    assert!(matches!(file.delete(), Err(Error::Changed { .. })));
    assert_eq!(ground.text(), "{\"theirs\": 1}");
    assert_eq!(fs::read_to_string(ground.dir.path().join("absent")).unwrap(), "theirs");
    let names = fs::read_dir(ground.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().contains("new-")));
}

/// Whatever a file holds: it is refused, or the edit reads back, is the last one needed, and has every
/// line of comment.
#[track_caller]
fn check_mangled(client: Client, seeds: &[&str], words: &[&str]) {
    let place = Place { client, scope: Scope::User, path: PathBuf::from("/file") };
    let entry = Entry::of(client, "/bin/ssr-mcp");
    let seeds: Vec<&[u8]> = seeds.iter().map(|seed| seed.as_bytes()).collect();
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let written = std::cell::Cell::new(0);
    crate::dice::mangled::check(&format!("setup-{client}"), &seeds, &words, &|input| {
        let Ok(text) = std::str::from_utf8(input) else { return };
        let Ok(document) = Document::of(&place, text) else { return };
        drop(document.without());
        let Ok(Some(new)) = document.with(&entry) else { return };
        written.set(written.get() + 1);
        let again = Document::of(&place, &new).unwrap();
        assert_eq!(again.with(&entry), Ok(None));
        assert!(again.ours().iter().any(|found| found.command == "/bin/ssr-mcp"));
        let comments = if client == Client::Zed { of_json } else { of_lines };
        assert_eq!(comments(&new), comments(text));
    });
    assert!(written.get() > 1000, "{client}: only {} files were edited", written.get());
}

/// Lines that are a comment.
fn of_lines(text: &str) -> Vec<String> {
    let lines = text.split(['\n', '\r']).filter(|line| line.trim().starts_with('#'));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// Comments of JSON: those to the end of a line, which a carriage return ends, too, and those between marks; what
/// looks like one in a string is none.
fn of_json(text: &str) -> Vec<String> {
    let (mut comments, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(['"', '/']) {
        rest = &rest[at..];
        let length = if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            inside.find("*/").map_or(rest.len(), |end| end + 4)
        } else if rest.starts_with('"') {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            rest = &rest[end.map_or(rest.len(), |end| end + 2)..];
            continue;
        } else {
            1
        };
        if length > 1 {
            comments.push(rest[..length].trim_end().to_owned());
        }
        rest = &rest[length..];
    }
    comments
}

#[test]
fn mangled_json_is_refused_or_edited_well() {
    check_mangled(
        Client::Zed,
        &[
            "// Mine.\n{\n  \"a\": [1, {}], // b\n  \"context_servers\": {\n    // c\n    \"x\": {\"command\": \"y\"},\n  },\n}\n",
            "{\"context_servers\": {\"ssr\": {\"command\": \"/a/ssr-mcp\", \"args\": []}}}",
        ],
        &[
            "\"context_servers\"",
            "\"ssr\"",
            "/*",
            "*/",
            "//",
            "\"",
            "\\",
            "{",
            "}",
            ",",
            ":",
            "\r\n",
            "null",
        ],
    );
}

#[test]
fn mangled_toml_is_refused_or_edited_well() {
    check_mangled(
        Client::Codex,
        &[
            "# Mine.\nmodel = \"m\" # b\n\n[mcp_servers.x]\ncommand = 'y'\n\n# c\n[[a.b]]\nc = 1979-05-27\n",
            "[mcp_servers]\nssr = { command = \"/a/ssr-mcp\" }\n",
            "mcp_servers.ssr.command = '/a/ssr-mcp'\n",
        ],
        &["mcp_servers", "ssr", "[", "]", "\"\"\"", "'", "=", ".", "{", "}", "#", "\r\n"],
    );
}

#[test]
fn mangled_yaml_is_refused_or_edited_well() {
    check_mangled(
        Client::Goose,
        &[
            "# Mine.\nA: b # c\nextensions:\n  # d\n  developer:\n    enabled: true\n\nB: |\n  x\n  # y\n",
            "extensions:\n  ssr:\n    type: stdio\n    cmd: /a/ssr-mcp\n    args: [\"mcp\"]\n",
        ],
        &[
            "extensions:",
            "ssr:",
            "  ",
            "- ",
            "|",
            ">",
            "\"",
            "'",
            "#",
            "{}",
            "&a",
            "*a",
            "---",
            "...",
            "\t",
            "\r\n",
            "? ",
        ],
    );
    check_mangled(
        Client::Continue,
        &[
            "# Mine.\nname: a\nmcpServers:\n  - name: ssr\n    command: /a/ssr-mcp # b\n    args: [mcp]\n",
        ],
        &["mcpServers:", "command: ", "name: ", "ssr", "- ", "|", "\"", "#", "{}", "---", "\r\n"],
    );
}
