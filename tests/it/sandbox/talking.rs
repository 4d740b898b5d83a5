//! A command that is asked line by line.

use super::ending::{DAEMON, HOLD, Locked};
use super::*;
use ssr_mcp::sandbox::{Conversation, Error, Reply};

const LONG: Duration = Duration::from_secs(20);

fn talk(world: &World, step: &Step) -> Conversation {
    world.open().converse(step).unwrap()
}

fn ask(conversation: &mut Conversation, line: &str) -> Reply {
    conversation.ask(line.as_bytes(), LONG, &Cancel::new()).unwrap()
}

#[track_caller]
fn check_answer(conversation: &mut Conversation, line: &str, expect: &str) {
    assert_eq!(ask(conversation, line), Reply::Line(expect.into()), "to {line:?}");
}

#[track_caller]
fn check_over(reply: Result<Reply, Error>, expect: End) {
    match reply.unwrap() {
        Reply::Over { end, .. } => assert_eq!(end, expect),
        Reply::Line(line) => panic!("it said {:?}", String::from_utf8_lossy(&line)),
    }
}

#[test]
fn a_command_answers_line_by_line_and_keeps_its_state() {
    let world = World::new(&[]);
    let script =
        "echo hello; n=0; while read -r line; do n=$((n + 1)); echo \"$n $line\"; done; exit 3";
    let mut conversation = talk(&world, &shell(script));
    check_answer(&mut conversation, "", "hello");
    check_answer(&mut conversation, "one", "1 one");
    check_answer(&mut conversation, "two", "2 two");
}

#[test]
fn long_lines_pass_both_ways() {
    let world = World::new(&[]);
    let mut conversation = talk(
        &world,
        &python("import sys\nfor line in sys.stdin: print(line.strip() * 2, flush=True)"),
    );
    let line = "x".repeat(3 << 20);
    check_answer(&mut conversation, &line, &line.repeat(2));
    check_answer(&mut conversation, "y", "yy");
}

#[test]
fn two_lines_at_once_are_two_answers() {
    let world = World::new(&[]);
    let mut conversation = talk(&world, &shell("printf 'a\\nb\\n'; read -r line; echo c"));
    for expect in ["a", "b"] {
        check_answer(&mut conversation, "", expect);
    }
    check_answer(&mut conversation, "go", "c");
}

#[test]
fn the_end_of_the_command_ends_the_conversation() {
    let world = World::new(&[]);
    let mut conversation = talk(&world, &shell("read -r line; exit 3"));
    check_over(conversation.ask(b"go", LONG, &Cancel::new()), End::Exited(3));
    let after = conversation.ask(b"still there?", LONG, &Cancel::new());
    assert!(matches!(after, Err(Error::Lost(_))), "{after:?}");
}

#[test]
fn silence_ends_the_command_and_tells_what_it_took() {
    let world = World::new(&[]);
    let mut conversation = talk(&world, &shell("echo on; while :; do :; done"));
    check_answer(&mut conversation, "", "on");
    let reply = conversation.ask(b"go", Duration::from_millis(600), &Cancel::new()).unwrap();
    let Reply::Over { end: End::TimedOut, cpu } = reply else { panic!("{reply:?}") };
    assert!(cpu > Duration::from_millis(20), "{cpu:?}");
}

#[test]
fn a_cancelled_question_ends_the_command() {
    let world = World::new(&[]);
    let mut conversation = talk(&world, &shell("sleep 1000"));
    let cancel = Cancel::new();
    cancel.cancel();
    check_over(conversation.ask(b"go", LONG, &cancel), End::Cancelled);
}

#[test]
fn an_answer_without_end_is_cut() {
    let mut world = World::new(&[]);
    world.view.limits.output = 1 << 20;
    let mut conversation = talk(&world, &shell("while :; do printf xxxxxxxxxxxxxxxx; done"));
    check_over(conversation.ask(b"go", LONG, &Cancel::new()), End::OutputLimit);
}

#[test]
fn a_command_that_closes_its_output_is_ended() {
    let world = World::new(&[]);
    let mut conversation = talk(&world, &shell("exec >/dev/null 2>&1; sleep 1000"));
    let reply = conversation.ask(b"go", LONG, &Cancel::new()).unwrap();
    assert!(matches!(reply, Reply::Over { .. }), "{reply:?}");
}

#[test]
fn the_deadline_and_the_memory_limit_hold_in_a_conversation() {
    let mut world = World::new(&[]);
    let mut step = shell("echo on; sleep 1000");
    step.deadline = Duration::from_millis(300);
    let mut conversation = talk(&world, &step);
    check_answer(&mut conversation, "", "on");
    check_over(conversation.ask(b"go", LONG, &Cancel::new()), End::TimedOut);
    world.view.limits.memory = 200 << 20;
    let eater = "import os\nfor n in range(4):\n  if os.fork() == 0:\n    x = b'x' * (100 << 20)\n    while True: pass\nos.wait()";
    let mut conversation = talk(&world, &python(eater));
    check_over(conversation.ask(b"go", LONG, &Cancel::new()), End::OutOfMemory);
}

#[test]
fn a_dropped_conversation_leaves_no_process() {
    let locked = Locked::new();
    let mut conversation = talk(&locked.world, &shell(&format!("{HOLD}; {DAEMON}; cat")));
    check_answer(&mut conversation, "", "held");
    check_answer(&mut conversation, "again", "again");
    assert!(locked.is_held());
    drop(conversation);
    locked.assert_released();
}

#[test]
fn a_program_that_is_not_there_cannot_be_asked() {
    let world = World::new(&[]);
    let mut conversation = talk(&world, &step(&["/nowhere"]));
    let reply = conversation.ask(b"", LONG, &Cancel::new());
    assert!(matches!(reply, Err(Error::NotStarted { .. })), "{reply:?}");
}
