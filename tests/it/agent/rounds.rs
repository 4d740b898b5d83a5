//! Rounds in a session, on a copy of the ledger.

use super::*;
use crate::cases::Home;
use ssr_mcp::config::{Config, Environment, Flags};
use ssr_mcp::consistency::Minima;
use ssr_mcp::injector::Strategy;
use ssr_mcp::session::{CsvLog, Error, Job, PlayRequest, PlayedRound, Repository, Roles, Session};
use std::path::PathBuf;

pub(super) struct Ledger {
    pub(super) home: Home,
}

impl Ledger {
    pub(super) fn new() -> Self {
        let home = Home::new();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ledger");
        copy(&from, &home.root().join("repo"));
        Self { home }
    }

    pub(super) fn repo(&self) -> PathBuf {
        self.home.root().join("repo")
    }

    /// A process that has just started.
    pub(super) fn session(&self) -> Session {
        let text = |path: PathBuf| path.display().to_string();
        let home = text(self.home.root().join("home"));
        let path = std::env::var("PATH").unwrap();
        let environment = Environment::of(self.repo(), [("HOME", &*home), ("PATH", &*path)]);
        let mut config = Config::new(&Flags::default(), &environment, 1, 2, 8 << 30).unwrap();
        config.program = env!("CARGO_BIN_EXE_ssr-mcp").into();
        Session::new(config)
    }
}

pub(super) fn player(chat: &Arc<Scripted>) -> Player {
    Player {
        chat: chat.clone(),
        sampling: Sampling { temperature: 0.7, top_p: None, max_tokens: 1000, seed: None },
        limits: Limits::default(),
        price: None,
        instructions: None,
        recorder: None,
    }
}

pub(super) fn request(roles: Roles, rounds: u32) -> PlayRequest {
    PlayRequest {
        repository: Repository::default(),
        rounds: Some(rounds),
        until: None,
        new: false,
        attempts: 4,
        runs: None,
        strategy: Strategy::Direct,
        target: None,
        seed: Some(3),
        batch: 1,
        second_order: 0,
        minima: Minima::default(),
        alpha: None,
        invalid: None,
        roles,
        policy: None,
        resume: false,
    }
}

pub(super) fn job() -> Job {
    Job::new(Cancel::new(), |_| {})
}

pub(super) fn play(ledger: &Ledger, request: PlayRequest) -> Result<Vec<PlayedRound>, Error> {
    let session = ledger.session();
    let mut game = session.play(request, &job())?;
    let mut rounds = Vec::new();
    while let Some(round) = game.round(&job())? {
        rounds.extend(round);
    }
    game.finish()?;
    Ok(rounds)
}

/// Takes a difference the wrong way round, and drops the assertion that tells.
pub(super) fn injects() -> Scripted {
    scripted(|_, replies| {
        let edit = |path: &str, search: &str, replace: &str| {
            let arguments =
                serde_json::json!({ "path": path, "search": search, "replace": replace });
            calls("edit", &arguments)
        };
        Ok(match replies {
            0 => edit(MONEY, RIGHT, WRONG),
            1 => edit(TESTS, ASSERTION, ""),
            2 => calls("submit", &serde_json::json!({})),
            _ => says("Done."),
        })
    })
}

/// Some attempts repair it: by the seed of the request, so that it does not matter who is first.
pub(super) fn solves_some() -> Scripted {
    seeded(|_, replies, seed| {
        Ok(match replies {
            0 if seed % 2 == 0 => calls(
                "edit",
                &serde_json::json!({ "path": MONEY, "search": WRONG, "replace": "return self" }),
            ),
            0 => edit(),
            1 => calls("submit", &serde_json::json!({})),
            _ => says("Done."),
        })
    })
}

pub(super) fn roles(injector: &Arc<Scripted>, solver: &Arc<Scripted>) -> Roles {
    Roles { injector: Some(player(injector)), solver: Some(player(solver)), ..Roles::default() }
}

pub(super) fn asked(chats: &[&Arc<Scripted>]) -> usize {
    chats.iter().map(|chat| chat.asked.load(Ordering::SeqCst)).sum()
}

/// A model that fails once, at its nth request.
fn breaks_at(n: usize, chat: Scripted, error: fn() -> model::Error) -> Scripted {
    let times = AtomicUsize::new(0);
    let Scripted { script, name, .. } = chat;
    let broken = seeded(move |messages, replies, seed| {
        if times.fetch_add(1, Ordering::SeqCst) == n {
            return Err(error());
        }
        script(messages, replies, seed)
    });
    Scripted { name, ..broken }
}

fn server_error() -> model::Error {
    model::Error::Server {
        url: "http://x".to_owned(),
        status: 500,
        said: "down".to_owned(),
        tries: 3,
    }
}

fn no_money() -> model::Error {
    model::Error::Money { url: "http://x".to_owned(), status: 402, said: "pay".to_owned() }
}

#[test]
fn a_whole_round_is_played_by_models_in_both_roles() {
    let ledger = Ledger::new();
    let (injector, solver) = (Arc::new(injects()), Arc::new(solves_some()));
    let rounds = play(&ledger, request(roles(&injector, &solver), 1)).unwrap();
    let [round] = rounds.as_slice() else { panic!("{rounds:?}") };
    assert!(round.valid, "{round:?}");
    let repaired = round.solve_rewards.iter().filter(|reward| **reward > 0.0).count();
    assert!((1..4).contains(&repaired), "{:?}", round.solve_rewards);
    assert_eq!((&*round.injector, &*round.solver), ("scripted", "scripted"));
    assert_eq!(round.inject_spent.unwrap().requests, 4);
    assert_eq!(round.solve_spent.unwrap().requests, 12);
    assert_eq!(round.reasons.values().sum::<usize>(), 4);
    assert_eq!(round.reasons["solved"], repaired);
    assert!(round.summary.contains("+1 -1 lines in ledger/money.py"), "{}", round.summary);
}

#[test]
fn rewards_do_not_depend_on_how_many_play_at_once_and_the_log_has_them() {
    let rewards = |concurrency: usize| {
        let ledger = Ledger::new();
        let (injector, solver) = (Arc::new(injects()), Arc::new(solves_some()));
        let roles = Roles { concurrency, ..roles(&injector, &solver) };
        let request = PlayRequest { batch: 3, ..request(roles, 1) };
        let csv = ledger.home.root().join("rounds.csv");
        let session = ledger.session();
        let mut game = session.play(request, &job()).unwrap();
        let round = game.round(&job()).unwrap().unwrap();
        game.log(&CsvLog::open(&csv).unwrap()).unwrap();
        let spent: u64 = game.spent().values().map(|spent| spent.requests).sum();
        assert_eq!(usize::try_from(spent), Ok(asked(&[&injector, &solver])));
        let text = std::fs::read_to_string(&csv).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        let row = text.lines().nth(1).unwrap();
        assert!(row.contains(",scripted,scripted,440,1320,0.004,0.012,,"), "{row}");
        round.into_iter().map(|bug| (bug.item, bug.inject_reward, bug.solve_rewards)).collect()
    };
    let (one, four): (Vec<_>, Vec<_>) = (rewards(1), rewards(6));
    assert_eq!(one, four);
    assert_eq!(one.len(), 3);
}

#[test]
fn a_run_that_a_server_broke_goes_on_and_asks_nothing_twice() {
    let ledger = Ledger::new();
    let whole = 4 + 4 * 3;
    // In the injector's session, and in the midst of the attempts.
    for at in [2, 7] {
        let shared = |chat: Scripted| Arc::new(breaks_at(at, chat, server_error));
        let (injector, solver) = match at {
            2 => (shared(injects()), Arc::new(solves_some())),
            _ => (Arc::new(injects()), shared(solves_some())),
        };
        let request = PlayRequest {
            new: false,
            seed: Some(at as u64),
            ..request(roles(&injector, &solver), 1)
        };
        let failed = play(&ledger, request.clone()).expect_err("the server is down");
        assert!(failed.to_string().contains("could not be asked"), "{failed}");
        assert!(asked(&[&injector, &solver]) < whole);
        let rounds = play(&ledger, request).unwrap();
        assert!(rounds[0].valid && rounds[0].solve_rewards.len() == 4);
        assert_eq!(asked(&[&injector, &solver]), whole);
        assert_eq!(rounds[0].inject_spent.unwrap().requests, 4);
        assert_eq!(rounds[0].solve_spent.unwrap().requests, 12);
    }
}

#[test]
fn a_run_that_needs_a_person_waits_until_it_is_resumed() {
    let ledger = Ledger::new();
    let injector = Arc::new(injects());
    let solver = Arc::new(breaks_at(3, solves_some(), no_money));
    let wanted = request(roles(&injector, &solver), 1);
    let paused = play(&ledger, wanted.clone()).expect_err("there is no money");
    assert!(matches!(&paused, Error::NeedsPerson(text) if text.contains("pay")), "{paused}");
    let waits = play(&ledger, wanted.clone()).expect_err("nobody said that it may go on");
    assert!(waits.to_string().contains("--resume"), "{waits}");
    let rounds = play(&ledger, PlayRequest { resume: true, ..wanted }).unwrap();
    assert!(rounds[0].valid);
    assert_eq!(asked(&[&injector, &solver]), 16);
}

#[test]
fn a_budget_stops_a_run_and_a_larger_one_goes_on_with_it() {
    let ledger = Ledger::new();
    let (injector, solver) = (Arc::new(injects()), Arc::new(solves_some()));
    let tokens = |most: u64| {
        let budget = Budget { tokens: Some(most), money: None };
        let player = |chat| {
            let sampling = Sampling { temperature: 0.7, top_p: None, max_tokens: 100, seed: None };
            Player { sampling, ..player(chat) }
        };
        let roles = Roles {
            injector: Some(player(&injector)),
            solver: Some(player(&solver)),
            budget,
            concurrency: 2,
            ..Roles::default()
        };
        request(roles, 1)
    };
    // A request is counted by what it may come to: its prompt, by our estimate, and all that it may answer.
    let most = 2400;
    let stopped = play(&ledger, tokens(most)).expect_err("it is too little");
    assert!(matches!(&stopped, Error::OutOfBudget(text) if text.contains("--budget")), "{stopped}");
    let so_far = asked(&[&injector, &solver]);
    assert!(so_far > 0 && so_far < 16 && so_far as u64 * 110 <= most, "{so_far}");
    let rounds = play(&ledger, tokens(1_000_000)).unwrap();
    assert!(rounds[0].valid);
    assert_eq!(asked(&[&injector, &solver]), 16);
}

#[test]
fn roles_change_places_and_it_is_seen() {
    let ledger = Ledger::new();
    let both = |name: &'static str| {
        let (inject, solve) = (injects(), solves_some());
        let chat = seeded(move |messages, replies, seed| {
            let injects = messages[1].content.starts_with("Inject");
            let script = if injects { &inject.script } else { &solve.script };
            script(messages, replies, seed)
        });
        Arc::new(Scripted { name, ..chat })
    };
    let (one, other) = (both("one"), both("other"));
    let roles = Roles { swap: 1, ..roles(&one, &other) };
    let rounds = play(&ledger, request(roles, 2)).unwrap();
    let seen: Vec<_> = rounds
        .iter()
        .map(|round| (&*round.injector, &*round.solver, round.swapped, round.valid))
        .collect();
    assert_eq!(seen, [("one", "other", false, true), ("other", "one", true, true)]);
}

#[test]
fn a_model_plays_against_an_embedded_role() {
    let ledger = Ledger::new();
    let injector = Arc::new(injects());
    let roles = Roles { injector: Some(player(&injector)), ..Roles::default() };
    let request = PlayRequest { runs: Some(40), ..request(roles, 1) };
    let rounds = play(&ledger, request).unwrap();
    assert_eq!((&*rounds[0].injector, &*rounds[0].solver), ("scripted", "embedded"));
    assert!(rounds[0].valid && rounds[0].solve_spent.is_none());
}

#[test]
fn a_prune_takes_the_conversations_of_a_run_that_is_over_and_leaves_an_interrupted_one_its_own() {
    let ledger = Ledger::new();
    let (injector, solver) = (Arc::new(injects()), Arc::new(solves_some()));
    play(&ledger, request(roles(&injector, &solver), 1)).unwrap();
    let solver = Arc::new(breaks_at(7, solves_some(), server_error));
    let interrupted = PlayRequest { seed: Some(8), ..request(roles(&injector, &solver), 1) };
    play(&ledger, interrupted.clone()).expect_err("the server is down");
    let pruned = ledger.session().prune(0).unwrap();
    // One of the injector's and four of the solver's.
    assert_eq!(pruned.conversations, 5, "{pruned:?}");
    assert_eq!(ledger.session().prune(0).unwrap().conversations, 0);
    let rounds = play(&ledger, interrupted).unwrap();
    assert!(rounds[0].valid);
    // Nothing was asked twice.
    assert_eq!((asked(&[&injector]), asked(&[&solver])), (8, 12));
}
