//! Which tier is chosen, and that the weaker ones hold what they say: all of these tests again in each.

use super::machine::again;
use super::*;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn all_again_in_tier_b() {
    again(Tier::B, None);
}

#[test]
fn all_again_in_tier_b_without_root() {
    again(Tier::B, Some(12_346));
}

#[test]
fn all_again_in_tier_c_without_root() {
    again(Tier::C, Some(12_347));
}

/// What is chosen where system calls are denied; they are denied to one thread and its children.
fn chosen(denied: &[i64], choice: &Choice) -> Result<Sandbox, String> {
    let scratch = TempDir::new().unwrap();
    let probe = || {
        machine::deny(denied);
        Sandbox::choose(&helper(), scratch.path(), choice).map_err(|error| error.to_string())
    };
    std::thread::scope(|scope| scope.spawn(probe).join().unwrap())
}

/// The tier that is found in each case, and the words of why not a better one, or of why none.
#[track_caller]
fn check(denied: &[i64], choice: &Choice, expect: Option<Tier>, words: &[&str]) {
    let found = chosen(denied, choice);
    let tier = found.as_ref().ok().map(Sandbox::tier);
    let told = match &found {
        Ok(sandbox) => format!("{:?}", sandbox.better()),
        Err(refusal) => refusal.clone(),
    };
    assert_eq!(tier, expect, "{told}");
    for word in words {
        assert!(told.contains(word), "{word} is not in {told}");
    }
}

/// Without namespaces: an ordinary user has tier C, root has nothing.
fn without_namespaces() -> Option<Tier> {
    (!rustix::process::geteuid().is_root()).then_some(Tier::C)
}

fn with_bubblewrap() -> Option<Choice> {
    let choice = Choice { only: None, path: path_list() };
    if choice.path.iter().any(|dir| dir.join("bwrap").exists()) {
        return Some(choice);
    }
    not_run("tier B: bubblewrap is not on this machine");
    None
}

#[test]
fn the_best_tier_that_works_is_chosen() {
    check(&[], &Choice::default(), Some(Tier::A), &["[]"]);
    let Some(choice) = with_bubblewrap() else { return };
    // Root's sources are staged for bubblewrap by the same call.
    let expect = if without_namespaces().is_some() { Some(Tier::B) } else { None };
    check(&[libc::SYS_open_tree], &choice, expect, &["open_tree", "Operation not permitted"]);
}

#[test]
fn without_namespaces_and_bubblewrap_it_is_the_third_tier_or_none() {
    let words = ["unshare(NEWUSER)", "bubblewrap is not on the PATH"];
    check(&[libc::SYS_unshare], &Choice::default(), without_namespaces(), &words);
    if let Some(choice) = with_bubblewrap() {
        let words = ["The native sandbox", "The sandbox in bubblewrap"];
        check(&[libc::SYS_mount], &choice, without_namespaces(), &words);
    }
}

#[test]
fn where_none_works_all_are_named_with_what_to_do() {
    let words = [
        "No sandbox works here",
        "tier A: Landlock is off",
        "tier B: bubblewrap is not on the PATH",
        "tier C: ",
        "apt install bubblewrap",
        "`lsm=` list",
    ];
    check(&[libc::SYS_landlock_create_ruleset], &Choice::default(), None, &words);
    let denied = [libc::SYS_unshare, libc::SYS_seccomp, libc::SYS_prctl];
    check(&denied, &Choice::default(), None, &["tier A: ", "tier B: ", "tier C: "]);
}

#[test]
fn a_tier_that_is_asked_for_is_had_or_nothing() {
    let only = |tier| Choice { only: Some(tier), path: path_list() };
    check(&[], &only(Tier::A), Some(Tier::A), &["[]"]);
    check(&[libc::SYS_unshare], &only(Tier::A), None, &["The native sandbox does not work here"]);
    check(&[], &only(Tier::C), without_namespaces(), &[]);
    let nowhere = Choice { only: Some(Tier::B), path: Vec::new() };
    check(&[], &nowhere, None, &["bubblewrap is not on the PATH"]);
    if with_bubblewrap().is_some() {
        check(&[], &only(Tier::B), Some(Tier::B), &["[]"]);
        check(&[libc::SYS_mount], &only(Tier::B), None, &["bubblewrap does not work here"]);
    }
}

/// A directory with a program of this name and content.
fn with_program(content: &str, mode: u32) -> (TempDir, Choice) {
    let dir = TempDir::new().unwrap();
    let program = dir.path().join("bwrap");
    fs::write(&program, content).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
    let choice = Choice { only: Some(Tier::B), path: vec![dir.path().into()] };
    (dir, choice)
}

#[test]
fn a_bubblewrap_that_is_old_or_has_rights_or_is_none_is_not_used() {
    let (_dir, old) = with_program("#!/bin/sh\necho bubblewrap 0.6.1\n", 0o755);
    check(&[], &old, None, &["no bubblewrap 0.8 or newer", "bubblewrap 0.6.1"]);
    let (_dir, other) = with_program("#!/bin/sh\necho hello\n", 0o755);
    check(&[], &other, None, &["no bubblewrap 0.8 or newer", "hello"]);
    let (_dir, set) = with_program("#!/bin/sh\necho bubblewrap 0.8.0\n", 0o4755);
    check(&[], &set, None, &["set-user-id", "chmod u-s"]);
    let (_dir, no_program) = with_program("bubblewrap 0.8.0", 0o644);
    check(&[], &no_program, None, &["is not on the PATH"]);
    let (_dir, liar) = with_program("#!/bin/sh\necho bubblewrap 0.8.0\n", 0o755);
    check(&[], &liar, None, &["bubblewrap does not work here"]);
}
