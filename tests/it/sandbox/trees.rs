//! What comes out of a sandbox: the change set of its tree, and files read back.

use super::*;
use ssr_mcp::sandbox::{ChangeSet, Collected, Error};
use ssr_mcp::tree::File;
use std::fmt::Write as _;

/// A change set as text: `W path content`, `X` if executable, `D path` if deleted, `? path kind` for the rest.
fn told(set: &ChangeSet) -> String {
    let mut out = String::new();
    for (path, file) in set.changes.iter() {
        match file {
            Some(File { bytes, executable }) => {
                let kind = if *executable { 'X' } else { 'W' };
                writeln!(out, "{kind} {path} {}", String::from_utf8_lossy(bytes)).unwrap();
            }
            None => writeln!(out, "D {path}").unwrap(),
        }
    }
    for (path, kind) in &set.others {
        writeln!(out, "? {path} {kind}").unwrap();
    }
    out
}

/// Runs `script` on a tree of `files`, each with its name as content, and compares the change set.
#[track_caller]
fn check(files: &[&str], script: &str, expect: &[&str]) {
    let files: Vec<_> = files.iter().map(|name| (*name, *name)).collect();
    let world = World::new(&files);
    let mut session = world.open();
    succeeded(&session.run(&shell(script), &Cancel::new()).unwrap());
    let got = told(&session.changes().unwrap());
    assert_eq!(got.lines().collect::<Vec<_>>(), expect, "after {script}");
}

#[test]
fn a_run_that_changes_nothing_has_no_changes() {
    check(&["a", "d/b"], "cat a; ls d; touch a; chmod 600 a; mkdir -p d/e", &[]);
}

#[test]
fn writes_and_deletions_are_changes() {
    check(
        &["a", "b", "d/c"],
        "printf 1 > a; rm b d/c; printf 2 > d/n; mkdir -p x/y; printf 3 > x/y/z",
        &["W a 1", "D b", "D d/c", "W d/n 2", "W x/y/z 3"],
    );
}

#[test]
fn the_executable_bit_is_a_change() {
    check(&["a"], "chmod +x a", &["X a a"]);
}

#[test]
fn a_removed_directory_is_the_deletion_of_its_files() {
    check(&["d/a", "d/e/b", "k"], "rm -r d", &["D d/a", "D d/e/b"]);
}

#[test]
fn a_directory_made_again_hides_what_was_in_it() {
    check(&["d/a", "d/b"], "rm -r d; mkdir d; printf new > d/b", &["D d/a", "W d/b new"]);
}

#[test]
fn a_renamed_directory_is_deletions_and_writes() {
    check(&["d/a", "d/e/b"], "mv d n", &["D d/a", "D d/e/b", "W n/a d/a", "W n/e/b d/e/b"]);
}

#[test]
fn files_and_directories_change_places() {
    check(
        &["f", "d/a", "d/b"],
        "rm f; mkdir f; printf 1 > f/x; rm -r d; printf 2 > d",
        &["W d 2", "D d/a", "D d/b", "D f", "W f/x 1"],
    );
}

#[test]
fn what_is_no_regular_file_is_named_and_not_read() {
    check(
        &["a", "b"],
        "ln -s /etc/passwd link; mkfifo fifo; rm a; ln -s b a; rm b; mkfifo b",
        &[
            "D a",
            "D b",
            "? a a symbolic link",
            "? b a FIFO",
            "? fifo a FIFO",
            "? link a symbolic link",
        ],
    );
}

#[test]
fn names_that_a_tree_cannot_have_are_named() {
    check(
        &[],
        "mkdir .git; for n in .git/config $'bad\\xff' $'tab\\tbed' ./-rf; do printf x > \"$n\"; done",
        &[
            "W -rf x",
            "? .git/config the path names a version-control directory or file (`.git` in any spelling)",
            "? bad\u{fffd} the path is not UTF-8",
            "? tab\tbed the path holds a NUL, a control character, a backslash or a colon",
        ],
    );
}

#[test]
fn files_without_rights_are_read_all_the_same() {
    check(
        &["a"],
        "printf 1 > a; chmod 000 a; mkdir d; printf 2 > d/b; chmod 000 d",
        &["W a 1", "W d/b 2"],
    );
}

#[test]
fn a_directory_too_deep_to_read_is_named_and_the_rest_is_read() {
    let world = World::new(&[]);
    let mut session = world.open();
    let deep = python(
        "import os
for i in range(3000):
    os.mkdir('d'); os.chdir('d')
open('f', 'w').close()",
    );
    succeeded(&session.run(&deep, &Cancel::new()).unwrap());
    succeeded(&session.run(&shell("printf 1 > a"), &Cancel::new()).unwrap());
    let set = session.changes().unwrap();
    assert!(set.others.iter().any(|(_, kind)| kind.starts_with("unreadable")), "{:?}", set.others);
    assert_eq!(set.changes.paths().collect::<Vec<_>>(), [&path("a")]);
}

#[test]
fn changes_across_layers_compare_with_what_was_seen() {
    let mut world = World::new(&[("a", "base"), ("b", "base")]);
    let top = World::new(&[("a", "top")]);
    world.view.layers.insert(0, top.base().into());
    world.view.changes.write(path("v"), File::plain(*b"view"));
    let mut session = world.open();
    succeeded(&session.run(&shell("printf base > b; printf base > a"), &Cancel::new()).unwrap());
    assert_eq!(told(&session.changes().unwrap()), "W a base\nW v view\n");
}

#[test]
fn a_place_made_for_a_mount_is_no_change() {
    let mut world = World::new(&[("a", "1")]);
    let source = world.outside("venv");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("x"), "").unwrap();
    own(&source);
    let access = ssr_mcp::sandbox::Access::Scratch;
    world.view.mounts.push(ssr_mcp::sandbox::Mount {
        source,
        target: "/srv/project/.venv".into(),
        access,
    });
    let mut session = world.open();
    succeeded(&session.run(&shell("echo x > .venv/y; rm .venv/x"), &Cancel::new()).unwrap());
    assert_eq!(told(&session.changes().unwrap()), "");
}

/// Files of others lie in repositories that were unpacked by root.
#[test]
fn a_file_of_another_owner_is_read_and_its_change_refused_inside() {
    if sandbox().owner().is_none() {
        not_run("only root can make a file of another owner");
        return;
    }
    let world = World::new(&[("a", "1"), ("b", "1")]);
    let refused = if tier() == Tier::A { "refused\nrefused\n" } else { "" };
    chown(world.base().join("a"), Some(4242), None).unwrap();
    chown(world.base().join("b"), None, Some(4242)).unwrap();
    let out = world.sh("cat a b; for f in a b; do (echo x > $f) 2>/dev/null || echo refused; done; rm -f a && echo x > a && cat a");
    assert_eq!(out, format!("11{refused}x\n"));
}

/// Runs a script that prepares `/tmp/out`, and reads it back.
#[track_caller]
fn check_collect(script: &str, path: &str, expect: &str) {
    let world = World::new(&[]);
    let mut step = shell(script);
    step.collect = vec![path.into()];
    step.collect_limit = 1000;
    let finished = world.run(&step);
    let got = match &finished.collected[Path::new(path)] {
        Collected::File(bytes) => format!("file {}", String::from_utf8_lossy(bytes)),
        Collected::Missing => "missing".into(),
        Collected::Refused(reason) => reason.clone(),
    };
    assert_eq!(got, expect, "after {script}");
}

#[test]
fn only_regular_files_are_read_back() {
    check_collect("printf x > /tmp/out", "/tmp/out", "file x");
    check_collect("printf x > /tmp/out; chmod 000 /tmp/out", "/tmp/out", "file x");
    check_collect("true", "/tmp/out", "missing");
    check_collect("ln -s /etc/passwd /tmp/out", "/tmp/out", "a symbolic link");
    check_collect("ln -s /etc /tmp/dir", "/tmp/dir/passwd", "a symbolic link");
    check_collect("ln -s /proc/1/root/etc/passwd /tmp/out", "/tmp/out", "a symbolic link");
    check_collect("mkfifo /tmp/out", "/tmp/out", "a FIFO");
    check_collect("mkdir /tmp/out", "/tmp/out", "a directory");
    check_collect(
        "truncate -s 200M /tmp/out",
        "/tmp/out",
        "larger than the limit: 209715200 bytes, 1000 allowed",
    );
    check_collect(
        "head -c 1001 /dev/zero > /tmp/out",
        "/tmp/out",
        "larger than the limit: 1001 bytes, 1000 allowed",
    );
    check_collect("printf x > out", "/srv/project/out", "file x");
}

#[test]
fn paths_that_leave_the_sandbox_are_refused_before_anything_runs() {
    let world = World::new(&[]);
    for path in ["relative", "/tmp/../etc/passwd"] {
        let mut step = shell("true");
        step.collect = vec![path.into()];
        assert!(sandbox().run(&world.view, &step, &Cancel::new()).is_err(), "{path} was taken");
    }
    let mut step = shell("true");
    step.cwd = "../..".into();
    assert!(sandbox().run(&world.view, &step, &Cancel::new()).is_err());
    let mut step = shell("true");
    step.files.push(("/srv/project/x".into(), Vec::new(), 0o644));
    assert!(sandbox().run(&world.view, &step, &Cancel::new()).is_err());
}

#[test]
fn a_tree_that_a_command_moved_away_is_not_used() {
    let mut world = World::new(&[("a", "true")]);
    world.view.root = "/tmp/some/where".into();
    let mut session = world.open();
    if tier() == Tier::C {
        let moved = "cd ..; mv tree other; mkdir tree2; ln -s tmp link";
        let finished = session.run(&shell(moved), &Cancel::new()).unwrap();
        assert_eq!(text(&finished.stdout).matches("Permission denied").count(), 3);
        assert_eq!(finished.end, End::Exited(1));
        return;
    }
    let swap =
        "cd /; mv /tmp/some /tmp/other; mkdir -p /tmp/some/where; echo fake > /tmp/some/where/a";
    succeeded(&session.run(&shell(swap), &Cancel::new()).unwrap());
    let result = session.run(&shell("cat a"), &Cancel::new());
    assert!(matches!(result, Err(Error::NotWritten { .. })), "{result:?}");
}

/// A daemon of an earlier command cannot swap what is written for what it likes.
#[test]
fn files_are_never_written_through_a_link_that_a_command_left() {
    let world = World::new(&[("a", "1"), ("d/x", "1")]);
    let mut session = world.open();
    let plant = "ln -s /srv/project/victim /tmp/in; ln -s ~ /tmp/dir; echo kept > victim; rm a; ln -s victim a; rm -r d; ln -s ~ d";
    succeeded(&session.run(&shell(plant), &Cancel::new()).unwrap());
    let mut good = shell("cat /tmp/in a victim; test ! -L a && test ! -L /tmp/in");
    good.files.push(("/tmp/in".into(), b"in ".to_vec(), 0o644));
    good.changes.write(path("a"), File::plain(*b"new "));
    assert_eq!(succeeded(&session.run(&good, &Cancel::new()).unwrap()), "in new kept\n");
    let mut through_link = shell("true");
    through_link.changes.write(path("d/x"), File::plain(*b"2"));
    assert!(session.run(&through_link, &Cancel::new()).is_err(), "written through a link");
    let mut through_link = shell("true");
    through_link.files.push(("/tmp/dir/x".into(), Vec::new(), 0o644));
    assert!(session.run(&through_link, &Cancel::new()).is_err(), "written through a link");
    assert_eq!(succeeded(&session.run(&shell("ls ~"), &Cancel::new()).unwrap()), "");
}
