//! Bugs by a model, in each way of leading it.

use super::*;
use ssr_mcp::consistency::{self, Minima};
use ssr_mcp::injector::{self, Made, Strategy, Style, inject_by_model};

fn request(strategy: Strategy) -> injector::Request {
    injector::Request {
        strategy,
        seed: 5,
        target: None,
        changed_files: 1,
        failing_tests: 1,
        passing_tests: 5,
        candidates: 1,
        history: None,
    }
}

fn inject(bench: &Bench, seat: &Seat, style: Option<Style>, tells: bool) -> Made {
    let stage = Stage { harness: &bench.harness, workspace: &bench.workspace };
    let (who, lessons) = (who(), []);
    let by = injector::ByModel { stage, seat, who: &who, style, tells, lessons: &lessons };
    inject_by_model(&request(Strategy::Direct), &by, &|_| false).unwrap()
}

#[track_caller]
fn valid(bench: &Bench, made: &Made) {
    let injected = made.injected.as_ref().unwrap();
    let report =
        consistency::check(&bench.harness, &injected.artifact, &Minima::default()).unwrap();
    assert!(report.valid, "{:?}", report.checks.last());
}

fn change(path: &str, old: &str, new: &str) -> Reply {
    calls("edit", &serde_json::json!({ "path": path, "search": old, "replace": new }))
}

#[test]
fn a_small_context_is_led_through_stages_with_a_reset_between() {
    let bench = ledger();
    let script = |messages: &[Message], replies: usize| {
        let task = &messages[1].content;
        // Nothing of one conversation is in the next, but the notes.
        assert!(messages.len() < 12);
        Ok(if task.starts_with("Learn to know") {
            let notes = "money.py: Money.__sub__ is told by tests/test_money.py";
            calls("submit", &serde_json::json!({ "notes": notes }))
        } else if task.starts_with("Put a bug") {
            assert!(task.contains("Money.__sub__ is told by"), "{task}");
            match replies {
                0 => change(TESTS, ASSERTION, ""),
                1 => change(MONEY, RIGHT, WRONG),
                3 => {
                    assert!(last(messages).contains("is a test file"), "{}", last(messages));
                    let search = "        self.assertEqual(-Money(150), Money(-150))\n";
                    change(TESTS, search, &format!("{ASSERTION}{search}"))
                }
                _ => calls("submit", &serde_json::json!({})),
            }
        } else {
            assert!(task.starts_with("The code of the repository"), "{task}");
            assert!(task.contains("test_sums_and_differences") && task.contains(WRONG), "{task}");
            match replies {
                0 => change(MONEY, WRONG, "return Money(0)"),
                1 => change(TESTS, ASSERTION, ""),
                3 => {
                    assert!(last(messages).contains("code was changed"), "{}", last(messages));
                    change(MONEY, "return Money(0)", WRONG)
                }
                _ => calls("submit", &serde_json::json!({})),
            }
        })
    };
    let (seat, chat) = seat(Scripted { context: 30_000, ..scripted(script) });
    let made = inject(&bench, &seat, None, false);
    valid(&bench, &made);
    assert_eq!(u64::from(made.bill.turns), made.bill.spent.requests);
    assert_eq!(chat.asked.load(Ordering::SeqCst), 11);
}

fn files(bug: &str, weakening: &str) -> String {
    serde_json::json!({ "bug_inject.diff": bug, "test_weaken.diff": weakening }).to_string()
}

fn good() -> String {
    let bug = format!(
        "--- a/{MONEY}\n+++ b/{MONEY}\n@@ @@\n     def __sub__(self, other):\n         self._same(other)\n-        {RIGHT}\n+        {WRONG}\n"
    );
    let weakening = format!(
        "--- a/{TESTS}\n+++ b/{TESTS}\n@@ -29,3 +29,2 @@\n         self.assertEqual(Money(150) + Money(275), Money(425))\n-{ASSERTION}         self.assertEqual(-Money(150), Money(-150))\n"
    );
    files(&bug, &weakening)
}

#[test]
fn a_model_without_tools_answers_with_files_and_prose_is_sent_back() {
    let bench = ledger();
    let (seat, chat) = seat(scripted(|messages, replies| {
        Ok(match replies {
            0 => {
                assert!(messages[1].content.contains("=== ledger/"), "{}", messages[1].content);
                says("I would take a difference the wrong way round.")
            }
            1 => {
                assert!(last(messages).contains("holds no files"), "{}", last(messages));
                says(&files("--- a/nope\n+++ b/nope\n@@ @@\n-1\n+2\n", "x"))
            }
            2 => {
                assert!(last(messages).contains("no such file"), "{}", last(messages));
                says(&format!("Here:\n```json\n{}\n```", good()))
            }
            _ => panic!("nothing more is asked"),
        })
    }));
    let made = inject(&bench, &seat, Some(Style::Files), false);
    valid(&bench, &made);
    assert_eq!((made.bill.malformed, chat.asked.load(Ordering::SeqCst)), (1, 3));
}

#[test]
fn prose_alone_is_no_artifact_and_ends() {
    let bench = ledger();
    let (seat, chat) = seat(scripted(|_, _| Ok(says("A subtle bug would be nice."))));
    let made = inject(&bench, &seat, Some(Style::Files), false);
    let none = made.injected.expect_err("there are no files");
    assert!(none.reason.contains("8 replies could not be used"), "{none}");
    assert_eq!(chat.asked.load(Ordering::SeqCst), 8);
}

#[test]
fn a_failing_check_is_told_once() {
    let bench = ledger();
    let (seat, _) = seat(scripted(|messages, replies| {
        Ok(match replies {
            // A weakening that hides nothing.
            0 => change(MONEY, RIGHT, WRONG),
            1 => change(TESTS, "        self.assertTrue(Money(-1))\n", ""),
            2 | 4 => calls("submit", &serde_json::json!({})),
            3 => {
                assert!(
                    last(messages).contains("the check weakening failed"),
                    "{}",
                    last(messages)
                );
                change(TESTS, ASSERTION, "")
            }
            _ => panic!("nothing more is asked"),
        })
    }));
    let made = inject(&bench, &seat, Some(Style::Free), true);
    valid(&bench, &made);
    assert_eq!(made.bill.turns, 5);
}
