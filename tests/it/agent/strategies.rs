//! Whole rounds by a model in each strategy and in each way of leading it, and the money that they take.

use super::rounds::{Ledger, asked, injects, play, player, request, roles, solves_some};
use super::*;
use crate::support::{git, git_init};
use ssr_mcp::agent::Price;
use ssr_mcp::injector::{Strategy, Style};
use ssr_mcp::session::{Error, PlayRequest, PlayedRound, Roles};

fn change(path: &str, old: &str, new: &str) -> Reply {
    calls("edit", &serde_json::json!({ "path": path, "search": old, "replace": new }))
}

fn shell(command: &str) -> Reply {
    calls("bash", &serde_json::json!({ "command": command }))
}

fn submit() -> Reply {
    calls("submit", &serde_json::json!({}))
}

/// Attempts that leave the tree alone but for a wrong repair.
fn never_solves() -> Scripted {
    scripted(|_, replies| {
        Ok(match replies {
            0 => change(MONEY, WRONG, "return Money(other.cents + self.cents, self.currency)"),
            1 => submit(),
            _ => says("Done."),
        })
    })
}

fn of(strategy: Strategy, rounds: u32, roles: Roles) -> PlayRequest {
    PlayRequest { strategy, attempts: 2, ..request(roles, rounds) }
}

#[track_caller]
fn valid(rounds: &[PlayedRound], strategy: Strategy) -> &PlayedRound {
    let [round] = rounds else { panic!("{rounds:?}") };
    assert!(round.valid && round.strategy == strategy, "{round:?}");
    assert_eq!(round.solve_rewards.len(), 2);
    round
}

/// Staged: what is said in each part of it.
fn in_stages(bug: &'static str, told: &'static str) -> Scripted {
    scripted(move |messages, replies| {
        let task = &messages[1].content;
        Ok(if task.starts_with("Learn to know") {
            calls("submit", &serde_json::json!({ "notes": "differences: Money.__sub__" }))
        } else if task.starts_with("Put a bug") {
            assert!(task.contains(told), "{task}");
            match replies {
                0 => change(MONEY, RIGHT, bug),
                _ => submit(),
            }
        } else {
            assert!(task.starts_with("The code of the repository") && task.contains(bug), "{task}");
            match replies {
                0 => change(TESTS, ASSERTION, ""),
                _ => submit(),
            }
        })
    })
}

#[test]
fn a_feature_is_asked_for_and_what_it_broke_is_the_bug() {
    let ledger = Ledger::new();
    let feature = "return Money(max(self.cents - other.cents, 0), self.currency)";
    let injector = Arc::new(in_stages(feature, "Strategy feature"));
    let solver = Arc::new(scripted(move |_, replies| {
        Ok(match replies {
            0 => change(MONEY, feature, RIGHT),
            1 => submit(),
            _ => says("Done."),
        })
    }));
    let rounds = play(&ledger, of(Strategy::Feature, 1, roles(&injector, &solver))).unwrap();
    let round = valid(&rounds, Strategy::Feature);
    assert!(round.solve_rewards.iter().all(|reward| *reward > 0.0), "{round:?}");
    // Nobody looked around first: the feature's part, and the hiding.
    assert_eq!(round.inject_spent.unwrap().requests, 4);
}

#[test]
fn a_round_is_played_in_stages_where_that_is_asked_for() {
    let ledger = Ledger::new();
    let injector = Arc::new(in_stages(WRONG, "differences: Money.__sub__"));
    let roles = Roles { style: Some(Style::Staged), ..roles(&injector, &Arc::new(solves_some())) };
    let rounds = play(&ledger, of(Strategy::Direct, 1, roles)).unwrap();
    let round = valid(&rounds, Strategy::Direct);
    assert_eq!(round.inject_spent.unwrap().requests, 5);
}

#[test]
fn a_round_is_played_from_one_object_of_files() {
    let ledger = Ledger::new();
    let injector = Arc::new(scripted(|messages, _| {
        let task = &messages[1].content;
        assert!(messages.len() == 2 && task.contains("=== ledger/money.py\n"), "{task}");
        let bug =
            format!("--- a/{MONEY}\n+++ b/{MONEY}\n@@ @@\n-        {RIGHT}\n+        {WRONG}\n");
        let weakening = format!("--- a/{TESTS}\n+++ b/{TESTS}\n@@ @@\n-{ASSERTION}");
        let files = serde_json::json!({ "bug_inject.diff": bug, "test_weaken.diff": weakening });
        Ok(says(&format!("```json\n{files:#}\n```")))
    }));
    let roles = Roles { style: Some(Style::Files), ..roles(&injector, &Arc::new(solves_some())) };
    let request = PlayRequest { target: Some(MONEY.to_owned()), ..of(Strategy::Direct, 1, roles) };
    let rounds = play(&ledger, request).unwrap();
    assert_eq!(valid(&rounds, Strategy::Direct).inject_spent.unwrap().requests, 1);
}

/// A repository whose second commit put right how differences are taken.
fn with_history() -> Ledger {
    let ledger = Ledger::new();
    let repo = ledger.repo();
    let file = repo.join(MONEY);
    let right = std::fs::read_to_string(&file).unwrap();
    git_init(&repo);
    std::fs::write(&file, right.replace(RIGHT, WRONG)).unwrap();
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "--quiet", "--message=a ledger"]);
    std::fs::write(&file, right).unwrap();
    git(&repo, &["commit", "--quiet", "--all", "--message=take differences the right way round"]);
    ledger
}

/// Looks into the history, and undoes what it finds there.
fn undoes() -> Scripted {
    let chat = injects();
    scripted(move |messages, replies| {
        if !messages[1].content.contains("Strategy history") {
            return (chat.script)(messages, replies, 0);
        }
        Ok(match replies {
            0 => shell("cat $TMPDIR/ssr/history/commits.txt $TMPDIR/ssr/history/*.diff"),
            1 => {
                let shown = last(messages);
                assert!(shown.contains("take differences the right way round"), "{shown}");
                assert!(shown.contains(&format!("+        {RIGHT}")), "{shown}");
                change(MONEY, RIGHT, WRONG)
            }
            2 => change(TESTS, ASSERTION, ""),
            3 => submit(),
            _ => says("Done."),
        })
    })
}

#[test]
fn a_model_undoes_what_a_commit_improved() {
    let ledger = with_history();
    let (injector, solver) = (Arc::new(undoes()), Arc::new(solves_some()));
    let rounds = play(&ledger, of(Strategy::History, 1, roles(&injector, &solver))).unwrap();
    let round = valid(&rounds, Strategy::History);
    assert_eq!(round.inject_spent.unwrap().requests, 5);
}

#[test]
fn a_mixed_run_plays_removal_and_history_by_seed() {
    let ledger = with_history();
    let (injector, solver) = (Arc::new(undoes()), Arc::new(solves_some()));
    let request = PlayRequest { attempts: 1, ..of(Strategy::Mixed, 6, roles(&injector, &solver)) };
    let rounds = play(&ledger, request).unwrap();
    assert!(rounds.len() == 6 && rounds.iter().all(|round| round.valid), "{rounds:?}");
    let of = |strategy| rounds.iter().filter(|round| round.strategy == strategy).count();
    let (removals, histories) = (of(Strategy::Removal), of(Strategy::History));
    assert!(removals > 0 && histories > 0 && removals + histories == 6, "{removals} {histories}");
}

#[test]
fn a_bug_of_higher_order_is_learnt_from_failed_repairs() {
    let ledger = Ledger::new();
    let (injector, solver) = (Arc::new(injects()), Arc::new(never_solves()));
    // Without a failed repair it comes to direct.
    let first = play(&ledger, of(Strategy::HigherOrder, 1, roles(&injector, &solver))).unwrap();
    assert!(valid(&first, Strategy::Direct).solve_rewards.iter().all(|reward| *reward < 0.0));
    let learns = Arc::new(scripted(|messages, replies| {
        Ok(match replies {
            0 => {
                assert!(messages[1].content.contains("Strategy higher order"));
                shell("cat $TMPDIR/ssr/earlier/1.bug.diff $TMPDIR/ssr/earlier/1.repair.diff")
            }
            1 => {
                let shown = last(messages);
                assert!(shown.contains(&format!("+        {WRONG}")), "{shown}");
                assert!(shown.contains("other.cents + self.cents"), "{shown}");
                change(MONEY, RIGHT, "return Money(other.cents + self.cents, self.currency)")
            }
            2 => change(TESTS, ASSERTION, ""),
            3 => submit(),
            _ => says("Done."),
        })
    }));
    let solver = Arc::new(never_solves());
    let second = play(&ledger, of(Strategy::HigherOrder, 1, roles(&learns, &solver))).unwrap();
    valid(&second, Strategy::HigherOrder);
}

#[test]
fn a_budget_of_money_ends_a_run_and_a_larger_one_goes_on_with_it() {
    let ledger = Ledger::new();
    let (injector, solver) = (Arc::new(injects()), Arc::new(solves_some()));
    let money = |most: f64| {
        let priced = |chat| {
            // A request of 100 tokens and an answer of 10 cost two.
            let price = Price { prompt: 10_000.0, cached: 10_000.0, completion: 100_000.0 };
            let sampling = Sampling { temperature: 0.7, top_p: None, max_tokens: 100, seed: None };
            Player { price: Some(price), sampling, ..player(chat) }
        };
        let roles = Roles {
            injector: Some(priced(&injector)),
            solver: Some(priced(&solver)),
            budget: Budget { tokens: None, money: Some(most) },
            concurrency: 1,
            ..Roles::default()
        };
        PlayRequest { attempts: 4, ..request(roles, 1) }
    };
    let most = 30.0;
    let stopped = play(&ledger, money(most)).expect_err("it is too little");
    assert!(
        matches!(&stopped, Error::OutOfBudget(text) if text.contains("30 of money")),
        "{stopped}"
    );
    let so_far = u32::try_from(asked(&[&injector, &solver])).unwrap();
    assert!(so_far > 0 && so_far < 16 && f64::from(so_far) * 2.0 <= most, "{so_far}");
    // Too little again: what was spent counts, and nobody is asked.
    let again = play(&ledger, money(f64::from(so_far) * 2.0)).expect_err("it is spent");
    assert!(matches!(again, Error::OutOfBudget(_)), "{again}");
    assert_eq!(asked(&[&injector, &solver]), so_far as usize);
    let rounds = play(&ledger, money(1_000.0)).unwrap();
    assert!(rounds[0].valid);
    assert_eq!(asked(&[&injector, &solver]), 16);
    let spent = [rounds[0].inject_spent, rounds[0].solve_spent].map(|spent| spent.unwrap().money);
    assert_eq!(spent, [Some(8.0), Some(24.0)]);
}

#[test]
fn a_budget_of_money_wants_prices() {
    let ledger = Ledger::new();
    let roles = Roles {
        budget: Budget { tokens: None, money: Some(1.0) },
        ..roles(&Arc::new(injects()), &Arc::new(solves_some()))
    };
    let refused = play(&ledger, request(roles, 1)).expect_err("nobody knows what it costs");
    assert!(matches!(&refused, Error::Usage(text) if text.contains("prices")), "{refused}");
}
