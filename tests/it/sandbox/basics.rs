//! One command runs, and says what it should.

use super::*;
use ssr_mcp::sandbox::{Access, Collected, Error, Mount};
use ssr_mcp::tree::File;

#[test]
fn true_exits_with_zero_and_false_with_one() {
    let world = World::new(&[]);
    assert_eq!(world.run(&step(&["true"])).end, End::Exited(0));
    assert_eq!(world.run(&step(&["false"])).end, End::Exited(1));
    assert_eq!(sandbox().tier(), tier());
}

#[test]
fn a_command_works_in_the_tree_at_its_original_path() {
    let world = World::new(&[("a.txt", "hello")]);
    let out = world.sh("pwd; cat a.txt; echo x > b.txt; ls");
    if excepted("the tree is at another path than the original") {
        assert!(!out.starts_with("/srv/project"), "this is no exception any more: {out}");
    }
    assert_eq!(as_in_the_view(&out, ROOT), "/srv/project\nhelloa.txt\nb.txt\n");
}

#[test]
fn a_tree_can_be_shown_below_tmp_and_below_a_home() {
    for root in ["/tmp/some/where", "/home/somebody/code/x", "/root/x", "/work/x", "/var/lib/x"] {
        let mut world = World::new(&[("a", "1")]);
        world.view.root = root.into();
        let out = world.sh("pwd && cat a && touch b");
        assert_eq!(as_in_the_view(&out, root), format!("{root}\n1"), "at {root}");
    }
}

#[test]
fn a_view_that_would_hide_the_sandbox_itself_is_refused() {
    for root in ["/", "/tmp", "/proc/x", "/usr", "relative", "/a/../b"] {
        let mut world = World::new(&[]);
        world.view.root = root.into();
        assert!(matches!(sandbox().open(&world.view), Err(Error::View(_))), "{root} was taken");
    }
}

/// Its files could not be written over, which would look like a failing test.
#[test]
fn a_base_or_a_kept_directory_of_another_owner_is_refused() {
    let world = World::new(&[]);
    let mut other = World::new(&[]);
    other.view.layers = vec!["/usr/share".into()];
    let mut kept = World::new(&[]);
    kept.view.mounts.push(Mount {
        source: "/usr/share".into(),
        target: "/opt/kept".into(),
        access: Access::Persistent,
    });
    for view in [&other.view, &kept.view] {
        let refused = sandbox().open(view).unwrap_err().to_string();
        assert!(refused.contains("belongs to 0:0"), "{refused}");
    }
    drop(world.open());
}

#[test]
fn standard_input_environment_and_directory_come_from_the_step() {
    let world = World::new(&[("sub/x", "")]);
    let mut step = shell("cat; echo \"$A $HOME $PWD\"; pwd");
    step.stdin = b"in\xff\n".to_vec();
    step.env.insert("A".into(), "a b".into());
    step.cwd = "sub".into();
    let finished = world.run(&step);
    let (input, told) = finished.stdout.head.split_at(4);
    assert_eq!(input, b"in\xff\n");
    let told = as_in_the_view(&String::from_utf8_lossy(told), ROOT);
    assert_eq!(told, "a b /home/u /srv/project/sub\n/srv/project/sub\n");
}

#[test]
fn standard_output_and_error_are_apart_unless_merged() {
    let world = World::new(&[]);
    let mut step = shell("echo out; echo err >&2");
    step.merge_stderr = false;
    let finished = world.run(&step);
    assert_eq!((text(&finished.stdout), text(&finished.stderr)), ("out\n".into(), "err\n".into()));
    assert_eq!(world.sh("echo out; echo err >&2"), "out\nerr\n");
}

#[test]
fn a_death_by_signal_says_which() {
    let world = World::new(&[]);
    assert_eq!(world.run(&shell("kill -SEGV $$")).end, End::Signalled(11));
}

#[test]
fn a_program_that_is_not_there_is_an_error_and_no_outcome() {
    let world = World::new(&[("plain", "text"), ("a.sh", "#!/no/such/interpreter\n")]);
    for program in ["no-such-program", "/no/such/program", "./plain", ""] {
        let result = sandbox().run(&world.view, &step(&[program]), &Cancel::new());
        assert!(matches!(result, Err(Error::NotStarted { .. })), "{program}: {result:?}");
    }
}

#[test]
fn a_session_goes_on_after_a_program_that_did_not_start() {
    let world = World::new(&[]);
    let mut session = world.open();
    assert!(session.run(&step(&["no-such-program"]), &Cancel::new()).is_err());
    assert_eq!(session.run(&step(&["true"]), &Cancel::new()).unwrap().end, End::Exited(0));
}

#[test]
fn files_of_a_session_stay_between_steps_and_go_with_it() {
    let world = World::new(&[]);
    let mut session = world.open();
    for script in
        ["echo 1 > kept; echo 2 > /tmp/kept; echo 3 > ~/kept", "cat kept /tmp/kept ~/kept; ls"]
    {
        succeeded(&session.run(&shell(script), &Cancel::new()).unwrap());
    }
    let out = world.sh("ls . /tmp ~");
    assert_eq!(as_in_the_view(&out, ROOT), ".:\n\n/home/u:\n\n/tmp:\n");
    let inside = session.path_of(&path("a/b"));
    assert_eq!(as_in_the_view(inside.to_str().unwrap(), ROOT), "/srv/project/a/b");
}

#[test]
fn changes_of_the_view_and_of_a_step_are_laid_over_the_base() {
    let mut world = World::new(&[("a", "1"), ("b", "1"), ("old/only", "1")]);
    world.view.changes.write(path("a"), File::plain(*b"view"));
    world.view.changes.delete(path("old/only"));
    let mut session = world.open();
    let mut step = shell("cat a b new/x; test -x new/x; ls");
    step.changes.write(path("b"), File::plain(*b"step"));
    step.changes.write(path("new/x"), File { bytes: (*b"run").into(), executable: true });
    let out = succeeded(&session.run(&step, &Cancel::new()).unwrap());
    assert_eq!(out, "viewsteprun".to_owned() + "a\nb\nnew\n");
    assert_eq!(fs::read(world.base().join("a")).unwrap(), b"1");
}

#[test]
fn a_file_takes_the_place_of_a_directory_whose_files_go() {
    let mut world = World::new(&[("d/x", "1"), ("f", "1")]);
    world.view.changes.delete(path("d/x"));
    world.view.changes.write(path("d"), File::plain(*b"file"));
    world.view.changes.delete(path("f"));
    world.view.changes.write(path("f/y"), File::plain(*b"below"));
    assert_eq!(world.sh("cat d f/y"), "filebelow");
}

#[test]
fn a_changed_file_is_two_seconds_away_from_what_it_replaces() {
    let mut world = World::new(&[("a", "1")]);
    world.view.changes.write(path("a"), File::plain(*b"2"));
    let before = fs::metadata(world.base().join("a")).unwrap().modified().unwrap();
    let mut session = world.open();
    let mut last = before.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for _ in 0..2 {
        let mut step = shell("stat -c %Y a");
        step.changes.write(path("a"), File::plain(*b"3"));
        let out = succeeded(&session.run(&step, &Cancel::new()).unwrap());
        let now: u64 = out.trim().parse().unwrap();
        assert!(now >= last + 2, "{now} follows {last} too closely");
        last = now;
    }
}

#[test]
fn a_step_brings_files_below_tmp_and_takes_files_back() {
    let world = World::new(&[]);
    let mut step = shell("/tmp/in/x.sh > /tmp/out.txt");
    step.files.push(("/tmp/in/x.sh".into(), b"#!/bin/sh\nprintf 'a\\377'".to_vec(), 0o755));
    step.collect = vec!["/tmp/out.txt".into(), "/tmp/none".into()];
    let finished = world.run(&step);
    assert_eq!(finished.collected[Path::new("/tmp/out.txt")], Collected::File(b"a\xff".to_vec()));
    assert_eq!(finished.collected[Path::new("/tmp/none")], Collected::Missing);
}

#[test]
fn layers_lie_over_one_another() {
    let mut world = World::new(&[("a", "base"), ("b", "base")]);
    let top = World::new(&[("a", "top"), ("c", "top")]);
    world.view.layers.insert(0, top.base().into());
    assert_eq!(world.sh("cat a b c"), "topbasetop");
}

#[test]
fn mounts_are_read_only_or_scratch_or_kept() {
    let mut world = World::new(&[("inside/x", "")]);
    for (name, access, target) in [
        ("ro", Access::ReadOnly, "/opt/ro"),
        ("scratch", Access::Scratch, "/srv/project/inside"),
        ("kept", Access::Persistent, "/root/.cache/kept"),
    ] {
        let source = world.outside(name);
        fs::create_dir(&source).unwrap();
        fs::write(source.join("f"), name).unwrap();
        own(&source);
        world.view.mounts.push(Mount { source, target: target.into(), access });
    }
    let script = "cat /opt/ro/f inside/f /root/.cache/kept/f
        ! echo x 2>/dev/null > /opt/ro/f
        echo new > inside/f && echo new > inside/g && echo new > /root/.cache/kept/f && cat inside/g";
    assert_eq!(world.sh(script), "roscratchkeptnew\n");
    let read = |name: &str| fs::read_to_string(world.outside(name).join("f")).unwrap();
    assert_eq!([read("ro"), read("scratch"), read("kept")], ["ro", "scratch", "new\n"]);
}

/// A cache that root made can be read and written over by who is not root any more.
#[test]
fn a_private_cache_of_whoever_started_the_server_is_read_and_written_over() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut world = World::new(&[]);
    for (name, access) in [("ro", Access::ReadOnly), ("scratch", Access::Scratch)] {
        let source = world.outside(name);
        fs::create_dir_all(source.join("deep")).unwrap();
        fs::write(source.join("deep/f"), name).unwrap();
        fs::set_permissions(source.join("deep/f"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(0o700)).unwrap();
        world.view.mounts.push(Mount { source, target: Path::new("/opt").join(name), access });
    }
    let script = "cat /opt/ro/deep/f /opt/scratch/deep/f; cd /opt/scratch/deep; echo new > f; echo more > g; cat f g
        ! echo x 2>/dev/null > /opt/ro/deep/f";
    assert_eq!(world.sh(script), "roscratchnew\nmore\n");
    assert_eq!(fs::read_to_string(world.outside("scratch").join("deep/f")).unwrap(), "scratch");
}

#[test]
fn a_single_file_can_be_mounted() {
    let mut world = World::new(&[]);
    let source = world.outside("file");
    fs::write(&source, "content").unwrap();
    world.view.mounts.push(Mount {
        source,
        target: "/opt/x/file".into(),
        access: Access::ReadOnly,
    });
    assert_eq!(world.sh("cat /opt/x/file"), "content");
}

#[test]
fn a_source_below_a_private_directory_is_shown_when_started_as_root() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut world = World::new(&[]);
    let private = world.outside("private");
    fs::create_dir_all(private.join("tool")).unwrap();
    fs::write(private.join("tool/x"), "tool").unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    world.view.mounts.push(Mount {
        source: private.join("tool"),
        target: private.join("tool"),
        access: Access::ReadOnly,
    });
    let shown = private.join("tool/x");
    assert_eq!(world.sh(&format!("cat {}", shown.display())), "tool");
}

#[test]
fn processor_time_counts_what_children_used() {
    let world = World::new(&[]);
    let finished =
        world.run(&shell("(setsid bash -c 'for ((i=0;i<300000;i++)); do :; done'); true"));
    assert!(finished.cpu > Duration::from_millis(50), "{:?}", finished.cpu);
    assert!(finished.cpu < finished.wall * 4, "{:?} of {:?}", finished.cpu, finished.wall);
}
