//! Clients that others wrote, beside MCP Inspector: the Python SDK's, and a prober of every tool.
#![allow(clippy::disallowed_methods, reason = "the clients that others wrote are processes")]

use crate::cases::Home;
use crate::installed::pip;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// A program in the repository of `home`, the server's environment with it.
fn client(program: &Path, home: &Home) -> Command {
    let mut command = Command::new(program);
    command
        .env("HOME", home.root().join("home"))
        .env("TMPDIR", home.root().join("tmp"))
        .current_dir(home.root().join("repo"));
    command
}

#[test]
fn the_python_sdk_discovers_and_calls_in_both_eras() {
    let Some(sdk) = pip("python-sdk", &["mcp==2.3.0", "amagi-mcp-probe==0.1.0"]) else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_clients/python_sdk.py");
    let home = Home::new();
    home.copy_example("ledger");
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        for command in ["--stdio", "mcp"] {
            let output = client(&sdk.join("bin/python"), &home)
                .arg(&script)
                .args([mode, env!("CARGO_BIN_EXE_ssr-mcp"), command])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{mode}: {said}");
            let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(seen["version"], version, "{seen}");
            assert_eq!((&seen["server"], &seen["instructions"]), (&json!("ssr-mcp"), &json!(true)));
            let tools = seen["tools"].as_array().unwrap();
            assert!(tools.contains(&json!("inject_bug")), "{seen}");
            assert_eq!(seen["solve_rate"], 0.25, "{seen}");
            // What a model can correct is a result, what only a program can is an error.
            assert_eq!(seen["wrong_is_a_result"], true, "{seen}");
            assert_eq!(seen["status_is_a_result"], true, "{seen}");
            assert_eq!(seen["unknown_tool"], -32602, "{seen}");
        }
    }
}

#[test]
fn a_prober_of_every_tool_finds_no_crash_no_hang_and_no_schema_that_is_wrong() {
    let Some(sdk) = pip("python-sdk", &["mcp==2.3.0", "amagi-mcp-probe==0.1.0"]) else { return };
    let home = Home::new();
    for optional in [&[][..], &["--include-optional"]] {
        let output = client(&sdk.join("bin/amagi-mcp-probe"), &home)
            .args(["--format", "json"])
            .args(optional)
            .args(["--", env!("CARGO_BIN_EXE_ssr-mcp"), "mcp"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        let report: Value = serde_json::from_str(&text).unwrap();
        assert!(report.to_string().contains("inject_bug"), "{text}");
    }
}
