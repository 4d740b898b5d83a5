//! Environments that are made up, to options.

use super::{Config, Environment, Error, Flags};
use std::path::{Path, PathBuf};

fn config(flags: &Flags, variables: &[(&str, &str)]) -> Result<Config, Error> {
    Config::new(flags, &Environment::of("/work", variables.iter().copied()), 1, 2, 16 << 30)
}

#[track_caller]
fn check_state_root(flag: Option<&str>, variables: &[(&str, &str)], expect: &str) {
    let flags = Flags { state_dir: flag.map(PathBuf::from), ..Flags::default() };
    let root = config(&flags, variables).and_then(|config| config.state_root().map(Path::to_owned));
    let shown = root.map_or_else(|error| error.to_string(), |root| root.display().to_string());
    assert!(shown.starts_with(expect), "{shown:?} does not start with {expect:?}");
}

#[test]
fn the_state_root_is_the_flag_then_the_variable_then_xdg_then_home() {
    let home = ("HOME", "/nowhere/me");
    let xdg = ("XDG_STATE_HOME", "/nowhere/xdg");
    let own = ("SSR_MCP_STATE_DIR", "/own");
    check_state_root(Some("/flag"), &[home, xdg, own], "/flag");
    check_state_root(Some("flag"), &[home, xdg, own], "/work/flag");
    check_state_root(None, &[home, xdg, own], "/own");
    check_state_root(None, &[home, xdg], "/nowhere/xdg/ssr-mcp");
    check_state_root(None, &[home], "/nowhere/me/.local/state/ssr-mcp");
}

#[test]
fn an_empty_or_relative_xdg_directory_is_taken_for_unset() {
    let home = ("HOME", "/nowhere/me");
    check_state_root(None, &[home, ("XDG_STATE_HOME", "")], "/nowhere/me/.local/state/ssr-mcp");
    check_state_root(None, &[home, ("XDG_STATE_HOME", "x")], "/nowhere/me/.local/state/ssr-mcp");
}

#[test]
fn without_home_only_what_needs_it_fails() {
    check_state_root(None, &[], "HOME is not set");
    check_state_root(Some("/flag"), &[], "/flag");
    let config = config(&Flags::default(), &[]).expect("options come out without HOME");
    assert_eq!(config.machine().unwrap_err(), Error::NoHome);
}

#[test]
fn relative_and_empty_directories_of_path_are_dropped() {
    let config =
        config(&Flags::default(), &[("HOME", "/nowhere/me"), ("PATH", "/bin::.:/usr/bin")])
            .unwrap();
    assert_eq!(config.machine().unwrap().path, [Path::new("/bin"), Path::new("/usr/bin")]);
}

#[test]
fn grammar_folders_are_read_as_texts_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("ssr-mcp/grammars");
    std::fs::create_dir_all(folder.join("zig/queries")).unwrap();
    std::fs::create_dir_all(folder.join("ada")).unwrap();
    std::fs::write(folder.join("README"), "not a folder").unwrap();
    std::fs::write(folder.join("zig/grammar.toml"), "name = 'zig'").unwrap();
    std::fs::write(folder.join("zig/queries/tests.scm"), "(x)").unwrap();
    std::fs::write(folder.join("zig/queries/notes.txt"), "not a query").unwrap();
    let xdg = dir.path().to_str().unwrap();
    let read = config(&Flags::default(), &[("XDG_CONFIG_HOME", xdg)]).unwrap().grammars;
    let shown: Vec<_> = read
        .iter()
        .map(|source| (source.grammar_toml.as_deref(), source.queries.iter().collect::<Vec<_>>()))
        .collect();
    assert_eq!(
        shown,
        [(None, vec![]), (Some("name = 'zig'"), vec![(&"tests".to_owned(), &"(x)".to_owned())])]
    );
}

#[test]
fn a_grammar_file_that_is_not_text_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("ssr-mcp/grammars/zig");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("grammar.toml"), b"\xff").unwrap();
    let error = config(&Flags::default(), &[("XDG_CONFIG_HOME", dir.path().to_str().unwrap())]);
    assert!(error.unwrap_err().to_string().contains("zig/grammar.toml cannot be read"));
}

#[test]
fn the_clock_seed_survives_a_double() {
    assert!(super::seed_from_clock() < 1 << 32);
}

#[test]
fn runs_at_once_are_bounded_by_cores_and_by_memory() {
    let config = |cores, memory| {
        let environment = Environment::of("/work", [("HOME", "/home/me")]);
        Config::new(&Flags::default(), &environment, 1, cores, memory).unwrap()
    };
    assert_eq!(config(8, 64 << 30).parallel(4 << 30), 8);
    assert_eq!(config(8, 16 << 30).parallel(4 << 30), 4);
    assert_eq!(config(8, 1 << 30).parallel(4 << 30), 1);
    assert_eq!(config(0, 1 << 40).parallel(0), 1);
}

#[test]
fn a_token_is_the_file_s_then_the_variable_s_and_is_never_shown() {
    let secret = "0123456789abcdef-secret";
    let set = config(&Flags::default(), &[("SSR_MCP_HTTP_TOKEN", secret)]).unwrap();
    let token = set.http_token(None).unwrap().unwrap();
    assert!(token.is(secret.as_bytes()));
    assert!(!token.is(b"0123456789abcdef-secreT") && !token.is(b"") && !token.is(b"0123"));
    assert!(!format!("{set:?} {token:?}").contains("secret"));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "another-0123456789abcdef\n").unwrap();
    let token = set.http_token(Some(file.path())).unwrap().unwrap();
    assert!(token.is(b"another-0123456789abcdef"));
    assert_eq!(config(&Flags::default(), &[]).unwrap().http_token(None).unwrap(), None);
}

#[test]
fn a_token_that_can_be_guessed_or_sent_wrongly_is_refused() {
    for bad in ["short", "sixteen characters with spaces", "0123456789abcdef\u{e9}"] {
        let set = config(&Flags::default(), &[("SSR_MCP_HTTP_TOKEN", bad)]).unwrap();
        let refusal = set.http_token(None).unwrap_err().to_string();
        assert!(refusal.contains("SSR_MCP_HTTP_TOKEN") && !refusal.contains(bad), "{refusal}");
    }
    let none = config(&Flags::default(), &[]).unwrap();
    assert!(matches!(none.http_token(Some(Path::new("/nowhere"))), Err(Error::TokenFile { .. })));
}
