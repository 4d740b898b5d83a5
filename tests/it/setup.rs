//! `setup` and what `doctor` says of clients: real files in a home directory of the test's own.

use crate::cases::Home;
use crate::support;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

const BINARY: &str = env!("CARGO_BIN_EXE_ssr-mcp");

/// Every client with a file, where it is, and what a user may have there.
const CLIENTS: [(&str, &str, &str); 9] = [
    ("claude-code", "home/.claude.json", "{\n  \"numStartups\": 3,\n  \"mcpServers\": {}\n}\n"),
    (
        "codex",
        "home/.codex/config.toml",
        "# Mine.\nmodel = \"m\" # fast\n\n[tui]\n# Quiet.\nnotifications = false\n",
    ),
    (
        "cline",
        "home/.cline/data/settings/cline_mcp_settings.json",
        "{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"timeout\": 60 } } }",
    ),
    (
        "vscode",
        "home/.config/Code/User/mcp.json",
        "{\n\t// Mine.\n\t\"servers\": {\n\t\t\"a\": { \"url\": \"http://a\" },\n\t},\n\t\"inputs\": []\n}\n",
    ),
    ("cursor", "home/.cursor/mcp.json", "{}"),
    ("gemini", "home/.gemini/settings.json", "{\n  // Dark.\n  \"ui\": { \"theme\": \"x\" }\n}\n"),
    (
        "zed",
        "home/.config/zed/settings.json",
        "// Zed settings\n//\n{\n  \"vim_mode\": true, // yes\n}\n",
    ),
    ("continue", "home/.continue/mcpServers/ssr-mcp.yaml", ""),
    (
        "goose",
        "home/.config/goose/config.yaml",
        "# Mine.\nGOOSE_MODE: auto\nextensions:\n  developer:\n    enabled: true # always\n    type: builtin\n",
    ),
];

fn run(home: &Home, arguments: &str) -> Output {
    home.binary().args(arguments.split_whitespace()).output().unwrap()
}

#[track_caller]
fn done(home: &Home, arguments: &str) -> String {
    let output = run(home, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn refused(home: &Home, arguments: &str, code: i32, reason: &str) {
    let output = run(home, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {output:?}");
    assert!(text.contains(reason), "{arguments}: {text:?} does not contain {reason:?}");
}

fn answer(home: &Home, arguments: &str) -> Value {
    serde_json::from_slice(&run(home, &format!("{arguments} --json")).stdout).unwrap()
}

/// Everything below the root, with its bytes.
fn files(home: &Home) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut folders) = (Vec::new(), vec![home.root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.push((entry.path(), fs::read(entry.path()).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}

fn beside(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap().map(Result::unwrap);
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_client_is_written_once_checked_and_taken_out_again() {
    for (client, file, before) in CLIENTS {
        let home = Home::new();
        if !before.is_empty() {
            home.write(file, before);
        }
        let path = home.root().join(file);
        let untouched = files(&home);
        assert!(done(&home, &format!("setup {client}")).contains(path.to_str().unwrap()));
        assert_eq!(run(&home, &format!("setup {client} --check")).status.code(), Some(1));
        assert_eq!(files(&home), untouched, "{client}: printing and checking write nothing");

        done(&home, &format!("setup {client} --write"));
        let with = fs::read_to_string(&path).unwrap();
        assert!(with.contains(BINARY), "{client}: {with}");
        for line in before.lines().filter(|line| line.contains("//") || line.contains('#')) {
            assert!(with.contains(line), "{client}: {line:?} is gone:\n{with}");
        }
        done(&home, &format!("setup {client} --check"));
        let once = files(&home);
        let backups = once.len() - untouched.len();
        assert_eq!(backups, 1, "{client}: one file more, a backup or the file itself");

        let again = done(&home, &format!("setup {client} --write"));
        assert!(again.starts_with("nothing to change"), "{client}: {again}");
        assert_eq!(files(&home), once, "{client}: a second time changes nothing");

        done(&home, &format!("setup {client} --remove"));
        assert_eq!(run(&home, &format!("setup {client} --check")).status.code(), Some(1));
        let left = fs::read_to_string(&path).unwrap_or_default();
        assert!(!left.contains("ssr-mcp"), "{client}: {left}");
        for line in before.lines().filter(|line| line.contains("//") || line.contains('#')) {
            assert!(left.contains(line), "{client}: {line:?} is gone:\n{left}");
        }
        let absent = done(&home, &format!("setup {client} --remove"));
        assert!(absent.starts_with("nothing to remove"), "{client}: {absent}");
    }
}

#[test]
fn a_project_has_files_of_its_own() {
    for (client, file) in [
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("vscode", ".vscode/mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("zed", ".zed/settings.json"),
        ("continue", ".continue/mcpServers/ssr-mcp.yaml"),
    ] {
        let home = Home::new();
        done(&home, &format!("setup {client} --scope project --write"));
        let written = files(&home);
        assert_eq!(written.len(), 1, "{client}: {written:?}");
        assert_eq!(written[0].0, home.root().join("repo").join(file));
        done(&home, &format!("setup {client} --scope project --check"));
        assert_eq!(run(&home, &format!("setup {client} --check")).status.code(), Some(1));
    }
}

#[test]
fn variables_of_clients_move_their_files() {
    let home = Home::new();
    for (client, variable, file) in [
        ("codex", "CODEX_HOME", "config.toml"),
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", ""),
        ("cline", "CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
        ("cline", "CLINE_DIR", "data/settings/cline_mcp_settings.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
        ("continue", "CONTINUE_GLOBAL_DIR", "mcpServers/ssr-mcp.yaml"),
    ] {
        let elsewhere = home.root().join(variable);
        let output = home
            .binary()
            .env(variable, &elsewhere)
            .args(["setup", client, "--write"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{client}: {output:?}");
        let path = if file.is_empty() { elsewhere } else { elsewhere.join(file) };
        assert!(path.is_file(), "{variable}");
    }
    assert_eq!(beside(&home.root().join("home/x")), [""; 0]);
}

#[test]
fn what_is_not_understood_is_left_alone() {
    let home = Home::new();
    home.write("home/.cursor/mcp.json", "{ \"mcpServers\": { oops");
    home.write("home/.codex/config.toml", "model = \n");
    home.write("home/.config/goose/config.yaml", "extensions: [\n");
    home.write("home/.config/zed/settings.json", "{}");
    fs::write(home.root().join("home/.config/zed/settings.json"), b"{\"a\": \"\xff\"}").unwrap();
    fs::create_dir_all(home.root().join("home/.gemini/settings.json")).unwrap();
    let before = files(&home);
    for action in ["--write", "--remove", "--check"] {
        refused(&home, &format!("setup cursor {action}"), 2, "not understood");
        refused(&home, &format!("setup codex {action}"), 2, "not understood");
        refused(&home, &format!("setup goose {action}"), 2, "not understood");
        refused(&home, &format!("setup zed {action}"), 3, "it is not UTF-8");
        refused(&home, &format!("setup gemini {action}"), 3, "not a regular file");
    }
    assert_eq!(files(&home), before);
}

#[test]
fn a_link_is_followed_and_stays_a_link() {
    let home = Home::new();
    home.write("home/dotfiles/mcp.json", "{}\n");
    fs::create_dir(home.root().join("home/.cursor")).unwrap();
    let link = home.root().join("home/.cursor/mcp.json");
    symlink("../dotfiles/mcp.json", &link).unwrap();
    done(&home, "setup cursor --write");
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("../dotfiles/mcp.json"));
    let target = home.root().join("home/dotfiles/mcp.json");
    assert!(fs::read_to_string(&target).unwrap().contains(BINARY));
    assert_eq!(beside(&link), ["mcp.json"]);
    assert_eq!(beside(&target), ["mcp.json", "mcp.json.before-ssr-mcp"]);

    fs::remove_file(&target).unwrap();
    refused(&home, "setup cursor --write", 3, "a link to a file that is not there");
}

#[test]
fn mode_and_owner_stay_and_the_backup_is_no_more_open() {
    let home = Home::new();
    home.write("home/.claude.json", "{\"oauthAccount\": \"secret\"}\n");
    let path = home.root().join("home/.claude.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let owner =
        if path.metadata().unwrap().uid() == 0 { 1234 } else { path.metadata().unwrap().uid() };
    std::os::unix::fs::chown(&path, Some(owner), None).unwrap();
    done(&home, "setup claude-code --write");
    for name in [".claude.json", ".claude.json.before-ssr-mcp"] {
        let metadata = home.root().join("home").join(name).metadata().unwrap();
        assert_eq!((metadata.mode() & 0o7777, metadata.uid()), (0o600, owner), "{name}");
    }
}

#[test]
fn a_backup_is_never_written_over() {
    let home = Home::new();
    home.write("home/.cursor/mcp.json", "{ \"a\": 1 }\n");
    home.write("home/.cursor/mcp.json.before-ssr-mcp", "older\n");
    let first = answer(&home, "setup cursor --write");
    assert!(first["backup"].as_str().unwrap().ends_with("mcp.json.before-ssr-mcp.1"), "{first}");
    let read =
        |name: &str| fs::read_to_string(home.root().join("home/.cursor").join(name)).unwrap();
    assert_eq!(read("mcp.json.before-ssr-mcp"), "older\n");
    assert_eq!(read("mcp.json.before-ssr-mcp.1"), "{ \"a\": 1 }\n");
}

#[test]
fn a_directory_that_cannot_be_written_is_told() {
    if !support::without_privileges("setup::a_directory_that_cannot_be_written_is_told") {
        return;
    }
    let home = Home::new();
    home.write("home/.cursor/mcp.json", "{}\n");
    let folder = home.root().join("home/.cursor");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let before = files(&home);
    refused(&home, "setup cursor --write", 3, "cannot be written (Permission denied");
    assert_eq!(files(&home), before);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_program_that_is_gone_is_told_and_written_anew() {
    let home = Home::new();
    let entry =
        "{\"mcpServers\": {\"ssr\": {\"command\": \"/gone/ssr-mcp\", \"args\": [\"mcp\"]}}}\n";
    home.write("home/.gemini/settings.json", entry);
    let output = run(&home, "setup gemini --check");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("/gone/ssr-mcp, which is not there"));
    let doctor = answer(&home, "doctor");
    assert_eq!(doctor["clients"][0]["exists"], false, "{doctor}");
    done(&home, "setup gemini --write");
    let now = fs::read_to_string(home.root().join("home/.gemini/settings.json")).unwrap();
    assert_eq!(now, entry.replace("/gone/ssr-mcp", BINARY));
}

#[test]
fn without_home_only_projects_can_be_set_up() {
    let home = Home::new();
    let run =
        |arguments: &[&str]| home.binary().env_remove("HOME").args(arguments).output().unwrap();
    let output = run(&["setup", "cursor", "--write"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("HOME is not set"), "{output:?}");
    assert!(run(&["setup", "cursor", "--scope", "project", "--write"]).status.success());
}

#[test]
fn doctor_names_the_clients_and_what_encloses_it() {
    let home = Home::new();
    assert_eq!(answer(&home, "doctor")["clients"], serde_json::json!([]));
    done(&home, "setup codex --write");
    done(&home, "setup zed --scope project --write");
    home.write("home/.cursor/mcp.json", "{ oops");
    let before = files(&home);
    let output =
        home.binary().env("container", "podman").args(["doctor", "--json"]).output().unwrap();
    let doctor: Value = serde_json::from_slice(&output.stdout).unwrap();
    let clients = doctor["clients"].as_array().unwrap();
    let row = |at: usize, key: &str| clients[at][key].clone();
    assert_eq!(clients.len(), 3, "{doctor}");
    assert_eq!((row(0, "client"), row(0, "scope")), ("codex".into(), "user".into()));
    assert_eq!((row(0, "command"), row(0, "exists")), (BINARY.into(), true.into()));
    assert!(row(1, "problem").as_str().unwrap().contains("not understood"), "{doctor}");
    assert_eq!((row(2, "client"), row(2, "scope")), ("zed".into(), "project".into()));
    let signs = doctor["surroundings"]["signs"].as_array().unwrap();
    assert!(signs.iter().any(|sign| sign.as_str().unwrap().contains("podman")), "{doctor}");
    assert!(doctor["surroundings"]["meaning"].is_string(), "{doctor}");
    let text = String::from_utf8(run(&home, "doctor").stdout).unwrap();
    assert!(text.contains("✓ codex (user) starts "), "{text}");
    assert!(text.contains("✗ cursor (user): "), "{text}");
    let after: Vec<_> = files(&home);
    let state = home.root().join("home/.local");
    let others =
        after.into_iter().filter(|(path, _)| !path.starts_with(&state)).collect::<Vec<_>>();
    assert_eq!(others, before, "doctor writes to the state directory only");
}

#[test]
fn the_plugin_of_claude_code_says_what_is_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/claude-code");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let json = |name: &str| serde_json::from_str::<Value>(&text(name)).unwrap();
    let plugin = json(".claude-plugin/plugin.json");
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    assert!(plugin.get("lspServers").is_none() && !folder.join(".lsp.json").exists());
    assert_eq!(json(".mcp.json")["mcpServers"]["ssr"]["args"], serde_json::json!(["mcp"]));
    let icon = fs::read(folder.join(plugin["icon"].as_str().unwrap())).unwrap();
    assert!(icon.starts_with(b"\x89PNG"));
    let size = |at: usize| u32::from_be_bytes(icon[at..at + 4].try_into().unwrap());
    assert_eq!((size(16), size(20)), (512, 512));
    assert!(text("README.md").split_whitespace().count() >= 40);
    // Whatever looks like a tool in what a model is told is one.
    let server =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mcp/tools.txt"));
    let server = server.unwrap();
    for name in ["commands/inject.md", "commands/solve.md", "skills/self-play/SKILL.md"] {
        for word in text(name).split('`').skip(1).step_by(2).filter(|word| word.contains('_')) {
            assert!(
                server.contains(&format!("\"name\": \"{word}\"")),
                "{name}: there is no tool {word}"
            );
        }
    }
}

/// Puts a program of a client's name on the path of [`with_programs`].
fn install(home: &Home, name: &str, script: &str) {
    home.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    let program = home.root().join("bin").join(name);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// With keys in the environment that are nobody's business.
fn with_programs(home: &Home, arguments: &str) -> Output {
    let path = format!("{}:/usr/bin:/bin", home.root().join("bin").display());
    let mut command = home.binary();
    command.env("PATH", path).env("TAOTOKEN_API_KEY", "secret").env("SSR_MCP_HTTP_TOKEN", "secret");
    command.args(arguments.split_whitespace()).output().unwrap()
}

/// What Gemini's own command writes: `mcp add -s SCOPE NAME COMMAND ARGUMENT`.
const GEMINI: &str = r#"
test "$1 $2 $3 $4 $5 $7" = "mcp add -s user ssr mcp" || exit 9
env | grep -q secret && exit 8
printf '{ "theirs": true, "mcpServers": { "ssr": { "command": "%s", "args": ["mcp"] } } }' "$6" \
    > "$HOME/.gemini/settings.json""#;

#[test]
fn a_client_s_own_command_adds_a_new_entry() {
    let home = Home::new();
    home.write("home/.gemini/settings.json", "{ \"mine\": true }");
    install(&home, "gemini", GEMINI);
    let output = with_programs(&home, "setup gemini --write --json");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["outcome"], &answer["via"]), (&"written".into(), &"command".into()));
    let path = home.root().join("home/.gemini/settings.json");
    let written = fs::read_to_string(&path).unwrap();
    assert!(written.contains("theirs") && written.contains(BINARY), "{written}");
    let backup = fs::read_to_string(answer["backup"].as_str().unwrap()).unwrap();
    assert_eq!(backup, "{ \"mine\": true }");
    // A second time nothing is started, and nothing changes.
    install(&home, "gemini", "exit 1");
    let before = files(&home);
    let again = with_programs(&home, "setup gemini --write");
    assert!(String::from_utf8_lossy(&again.stdout).starts_with("nothing to change"), "{again:?}");
    assert_eq!(files(&home), before);
    assert!(with_programs(&home, "setup gemini --check").status.success());
}

#[test]
fn what_a_client_s_command_cannot_say_is_added_behind_it() {
    let home = Home::new();
    home.write("home/.codex/config.toml", "# Mine.\n");
    let script = "printf '\\n[mcp_servers.ssr]\\ncommand = \"%s\"\\nargs = [\"mcp\"]\\n' \"$5\" \
                  >> \"$HOME/.codex/config.toml\"";
    install(&home, "codex", script);
    let output = with_programs(&home, "setup codex --write");
    assert!(output.status.success(), "{output:?}");
    let path = home.root().join("home/.codex/config.toml");
    let written = fs::read_to_string(&path).unwrap();
    assert!(written.starts_with("# Mine.\n") && written.contains(BINARY), "{written}");
    assert!(
        written.contains("tool_timeout_sec = 300") && written.contains("env_vars"),
        "{written}"
    );
    assert_eq!(beside(&path), ["config.toml", "config.toml.before-ssr-mcp"]);
}

#[test]
fn a_command_that_fails_or_does_something_else_is_told_and_the_file_is_written() {
    for (script, reason) in [
        ("echo no login; exit 3", "exit status: 3 and said: no login"),
        ("exit 0", "does not name this server as it should"),
        (
            "echo '{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}' > $HOME/.gemini/settings.json",
            "does not name this server as it should",
        ),
    ] {
        let home = Home::new();
        home.write("home/.gemini/settings.json", "{}");
        install(&home, "gemini", script);
        let output = with_programs(&home, "setup gemini --write --json");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&answer["outcome"], &answer["via"]), (&"written".into(), &"file".into()));
        assert!(answer["notes"][0].as_str().unwrap().contains(reason), "{script}: {answer}");
        let written = fs::read_to_string(home.root().join("home/.gemini/settings.json")).unwrap();
        assert!(written.contains(BINARY), "{written}");
        // Asked for alone, it is refused.
        let home = Home::new();
        home.write("home/.gemini/settings.json", "{}");
        install(&home, "gemini", script);
        let output = with_programs(&home, "setup gemini --write --via command");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(reason), "{output:?}");
    }
}

#[test]
fn nothing_of_a_client_is_started_unless_it_is_asked_for() {
    let home = Home::new();
    home.write("home/.gemini/settings.json", "{}");
    for name in ["gemini", "code", "cursor"] {
        install(&home, name, "touch \"$HOME/started\"");
    }
    for arguments in [
        "setup gemini",
        "setup gemini --check",
        "setup gemini --remove",
        "setup gemini --write --via file",
        "setup gemini --remove",
        "setup vscode --write",
        "setup cursor --write",
        "doctor",
    ] {
        with_programs(&home, arguments);
        assert!(!home.root().join("home/started").exists(), "{arguments}");
    }
    refused(&home, "setup goose --write --via command", 2, "no command of its own");
    refused(&home, "setup codex --write --via command", 2, "`codex` is not on the PATH");
    // What lies in the project is not the user's program.
    home.write("repo/node_modules/.bin/gemini", "#!/bin/sh\ntouch \"$HOME/started\"\n");
    let program = home.root().join("repo/node_modules/.bin/gemini");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = home.binary();
    command.env("PATH", program.parent().unwrap());
    let output = command.args(["setup", "gemini", "--write"]).output().unwrap();
    assert!(output.status.success() && !home.root().join("home/started").exists(), "{output:?}");
}

#[test]
fn doctor_speaks_to_the_server_in_both_eras() {
    let home = Home::new();
    let doctor = answer(&home, "doctor");
    let checks = doctor["protocol"].as_array().unwrap();
    let revisions: Vec<&Value> = checks.iter().map(|check| &check["revision"]).collect();
    assert_eq!(revisions, ["2026-07-28", "2025-11-25"]);
    for check in checks {
        assert_eq!((&check["passed"], &check["problem"]), (&true.into(), &Value::Null), "{check}");
        assert!(check["tools"].as_u64().unwrap() > 10, "{check}");
    }
    let text = String::from_utf8(run(&home, "doctor").stdout).unwrap();
    assert!(
        text.contains("✓ MCP 2026-07-28 spoken, ") && text.contains("✓ MCP 2025-11-25"),
        "{text}"
    );
}
