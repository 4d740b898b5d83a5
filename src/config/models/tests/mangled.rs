//! Files of settings that went wrong on the way: read or refused on one line, and a refusal repeats nothing of a file
//! that may be a link to anything.

use super::super::file::{self, Read};
use super::super::layers::{Layers, entries};
use super::super::{Problem, legacy, trust};
use crate::dice::mangled;
use std::path::Path;

const SECRET: &str = "sk-0123456789abcdef";

#[track_caller]
fn check(read: Result<Read, Problem>, path: &Path) {
    match read {
        Ok(read) => {
            for warning in &read.warnings {
                assert!(!warning.contains(char::is_control), "{warning:?}");
            }
            // No setting holds a key.
            for (name, _) in entries(&read.file) {
                let last = name.rsplit('.').next();
                assert!(!last.is_some_and(|last| ["key", "api_key", "token"].contains(&last)));
            }
            // A stranger's file: what it may not say is refused, and nothing of it gets further.
            let none = Layers::default();
            if trust::admit(&read, Path::new("/repo"), None, &none).is_ok() {
                let said = entries(&read.file);
                let places = |name: &str| name.starts_with("trust") || name.contains(".price_");
                assert!(!said.iter().any(|(name, _)| places(name)), "{said:?}");
            }
        }
        Err(problem) => {
            let text = problem.to_string();
            assert!(text.contains(&*path.to_string_lossy()) && !text.contains(SECRET), "{text}");
        }
    }
}

#[test]
fn a_mangled_file_of_settings_is_read_or_refused() {
    let seeds: [&[u8]; 3] = [
        b"provider = \"near\"\ntrust = [\"/repo\"]\n\n[providers.near]\nbase_url = \"http://127.0.0.1:8000\"\napi_key_env = \"K\"\ntimeout_seconds = 5\n\n[roles.solver]\nmodel = \"m@near\"\ntemperature = 0.5\nprice_input = 1.0\nprice_output = 2\n",
        b"[roles.injector]\nmodel = \"m\"\nmax_tokens = 100\ncontext = 5000\ntools = \"text\"\nsystem_prompt = '''a\nb'''\n[reward]\nalpha = 0.5\n",
        b"[providers.x]\napi_key = \"sk-0123456789abcdef\"\n",
    ];
    let words: [&[u8]; 14] = [
        b"[roles.solver]\n",
        b"[providers.\"a.b\"]\n",
        b"[[providers]]\n",
        b"model = ",
        b"key = \"sk-0123456789abcdef\"\n",
        b"token = 5\n",
        b"providers = 5\n",
        b"nan",
        b"99999999999999999999",
        b"\"\\u0000\"",
        b"'''",
        b"\r\n",
        b"\xef\xbb\xbf",
        b"#",
    ];
    let path = Path::new("/repo/ssr-mcp.toml");
    mangled::check("settings", &seeds, &words, &|input| {
        check(file::parsed(path, &String::from_utf8_lossy(input)), path);
    });
}

#[test]
fn a_mangled_file_of_the_scripts_is_read_or_refused() {
    let seeds: [&[u8]; 2] = [
        br#"{"base_url":"https://x/api","roles":{"injector":{"model":"m","system_prompt":"p","temperature":0.7},"solver":{"model":"n"}},"reward":{"inject_consistency_fail":-1.0,"inject_too_easy":-0.3,"solve_pass":1.0,"target_solve_rate":0.2}}"#,
        br#"{"roles":null,"api_key":"sk-0123456789abcdef"}"#,
    ];
    let words: [&[u8]; 9] = [
        b"\"roles\":{",
        b"\"reward\":{",
        b"\"temperature\":",
        b"\"sk-0123456789abcdef\"",
        b"1e999",
        b"null",
        b"[[[[",
        b"\\ud800",
        b"\xff",
    ];
    let path = Path::new("/repo/ssr_config.json");
    mangled::check("settings-legacy", &seeds, &words, &|input| {
        check(legacy::parsed(path, &String::from_utf8_lossy(input)), path);
    });
}

#[test]
fn a_key_that_holds_line_ends_and_orders_for_a_terminal_is_told_in_one_line() {
    let warnings = [
        legacy::parsed(Path::new("/r/a.json"), r#"{"a\n\u001b[2J": 1}"#).unwrap().warnings,
        file::parsed(Path::new("/r/a.toml"), "\"a\\n\\u001b[2J\" = 1\n").unwrap().warnings,
    ];
    for warning in warnings.concat() {
        assert!(warning.contains(r"a\n\u{1b}[2J is no setting"), "{warning:?}");
        assert!(!warning.contains(char::is_control), "{warning:?}");
    }
}

#[test]
fn a_value_of_the_wrong_type_is_not_repeated() {
    let path = Path::new("/repo/ssr-mcp.toml");
    for text in
        ["trust = \"sk-0123456789abcdef\"\n", "[roles.solver]\ntools = \"sk-0123456789abcdef\"\n"]
    {
        let problem = file::parsed(path, text).unwrap_err().to_string();
        assert!(problem.contains(": expected ") && !problem.contains("0123456789"), "{problem}");
    }
}
