//! What encloses this process already: a container, a client's sandbox. It decides nothing: which tier
//! works is found by doing. It explains.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Variables that containers and clients' sandboxes set, and who does.
const VARIABLES: [(&str, &str); 6] = [
    ("container", "a container"),
    ("CODEX_SANDBOX", "Codex's sandbox"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex's sandbox"),
    ("SANDBOX_RUNTIME", "Claude Code's sandbox"),
    ("SANDBOX", "a sandbox such as Gemini CLI's"),
    ("SNAP", "a snap"),
];
const FILES: [(&str, &str); 3] = [
    (".dockerenv", "a container"),
    ("run/.containerenv", "a container"),
    (".flatpak-info", "a Flatpak"),
];
/// Parts of the first process's control group, as container engines name them.
const GROUPS: [&str; 5] = ["docker", "kubepods", "containerd", "libpod", "/lxc"];
/// Programs that enclose what they start. The kernel keeps 15 bytes of a name.
const PROGRAMS: [(&str, &str); 3] =
    [("bwrap", "bubblewrap"), ("codex-linux-san", "Codex's sandbox"), ("firejail", "firejail")];
/// More ancestors than any process has.
const ANCESTORS: usize = 64;

/// The names of the variables that are signs, to be read by whoever reads the environment.
pub fn names() -> impl Iterator<Item = &'static str> {
    VARIABLES.into_iter().map(|(name, _)| name)
}

/// One sentence a sign: what encloses this process, and how that was seen. `root` is `/`.
pub fn signs(root: &Path, variables: &BTreeMap<String, String>) -> Vec<String> {
    let mut signs = Vec::new();
    for (file, what) in FILES {
        if root.join(file).exists() {
            signs.push(format!("{what} (/{file} is there)"));
        }
    }
    for (name, what) in VARIABLES {
        if let Some(value) = variables.get(name) {
            signs.push(format!("{what} (the variable {name} is {value:?})"));
        }
    }
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let groups = text("proc/1/cgroup");
    if let Some(group) = GROUPS.into_iter().find(|group| groups.contains(group)) {
        let group = group.trim_start_matches('/');
        signs.push(format!("a container (the first process is in a control group of {group})"));
    }
    signs.extend(ancestors(root));
    let map = text("proc/self/uid_map");
    if !map.is_empty() && map.split_whitespace().ne(["0", "0", "4294967295"]) {
        signs.push("a user namespace (/proc/self/uid_map has not all users)".to_owned());
    }
    let status = text("proc/self/status");
    let has = |line: &str| status.lines().any(|of| of.split_whitespace().eq(line.split(' ')));
    if has("Seccomp: 2") {
        signs.push("a filter of system calls (seccomp, in /proc/self/status)".to_owned());
    }
    if has("NoNewPrivs: 1") {
        signs.push(
            "a process that may gain no rights (NoNewPrivs, in /proc/self/status)".to_owned(),
        );
    }
    signs
}

/// This process's parents, up to the first, that are known to enclose.
fn ancestors(root: &Path) -> Vec<String> {
    let mut signs = Vec::new();
    let mut process = "self".to_owned();
    for _ in 0..ANCESTORS {
        let Ok(stat) = fs::read_to_string(root.join("proc").join(&process).join("stat")) else {
            break;
        };
        // `pid (name) state parent …`; the name may hold anything.
        let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else { break };
        let name = stat.get(open + 1..close).unwrap_or_default();
        if let Some((_, what)) = PROGRAMS.iter().find(|(program, _)| *program == name) {
            signs.push(format!("{what} (a parent process is {name})"));
        }
        match stat[close + 1..].split_whitespace().nth(1) {
            Some(parent) if parent != "0" => parent.clone_into(&mut process),
            _ => break,
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::signs;
    use std::collections::BTreeMap;
    use std::fs;

    #[track_caller]
    fn check(files: &[(&str, &str)], variables: &[(&str, &str)], expect: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        for (file, content) in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let variables: BTreeMap<_, _> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let signs = signs(root.path(), &variables);
        let short: Vec<_> = signs.iter().map(|sign| sign.split(" (").next().unwrap()).collect();
        assert_eq!(short, expect, "{signs:?}");
    }

    #[test]
    fn a_bare_machine_has_no_signs() {
        check(
            &[
                ("proc/1/cgroup", "0::/init.scope\n"),
                ("proc/self/uid_map", "         0          0 4294967295\n"),
                ("proc/self/status", "Name:\tssr-mcp\nNoNewPrivs:\t0\nSeccomp:\t0\n"),
                ("proc/self/stat", "7 (ssr-mcp) R 1 7 7"),
                ("proc/1/stat", "1 (systemd) S 0 1 1"),
            ],
            &[],
            &[],
        );
    }

    #[test]
    fn containers_are_known_by_files_variables_and_control_groups() {
        check(&[(".dockerenv", "")], &[("container", "podman")], &["a container", "a container"]);
        check(&[("proc/1/cgroup", "0::/kubepods/pod1\n")], &[], &["a container"]);
    }

    #[test]
    fn enclosing_parents_are_found_whatever_their_names_hold() {
        check(
            &[
                ("proc/self/stat", "9 (a) b (ssr) R 8 9 9"),
                ("proc/8/stat", "8 (sh) S 7 8 8"),
                ("proc/7/stat", "7 (bwrap) S 0 7 7"),
            ],
            &[],
            &["bubblewrap"],
        );
        // A loop, which no kernel makes, ends.
        check(&[("proc/self/stat", "9 (a) R 9 9 9"), ("proc/9/stat", "9 (a) R 9 9 9")], &[], &[]);
    }

    #[test]
    fn filters_and_namespaces_are_seen() {
        check(
            &[
                ("proc/self/uid_map", "0 1000 1\n"),
                ("proc/self/status", "NoNewPrivs:\t1\nSeccomp:\t2\n"),
            ],
            &[("CODEX_SANDBOX", "seatbelt")],
            &[
                "Codex's sandbox",
                "a user namespace",
                "a filter of system calls",
                "a process that may gain no rights",
            ],
        );
    }
}
