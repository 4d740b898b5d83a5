//! Proposals as options of the policy: which features they have, and that training starts from the fixed order.

use super::{outcomes, path, surveyed};
use crate::policy::{Draws, Past, Player, Role, Sampling, Scope};
use crate::solver::features::Choices;
use crate::solver::ranking::{Learned, OPTIONS, Proposals, Ranked, Taste};
use crate::solver::search::Space as _;
use crate::solver::start_weights;
use crate::solver::survey::{Coverage, Failure, survey};
use crate::syntax::Languages;
use crate::tree::{Changes, File, RelPath};
use crate::verdict::TestId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

/// Loaded once: the queries take long to compile.
static LANGUAGES: LazyLock<Languages> = LazyLock::new(Languages::builtin);

/// `examples/ledger` with one line of it changed.
fn ledger(file: &str, right: &str, wrong: &str) -> Changes {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ledger");
    let mut tree = Changes::new();
    for folder in ["ledger", "tests"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("the example is there") {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = format!("{folder}/{name}");
            if Path::new(&name).extension().is_none_or(|extension| extension != "py") {
                continue;
            }
            let mut text = std::fs::read_to_string(root.join(&name)).unwrap();
            if name == file {
                assert_eq!(text.matches(right).count(), 1, "{right:?} must be there once");
                text = text.replacen(right, wrong, 1);
            }
            tree.write(path(&name), File::plain(text.into_bytes()));
        }
    }
    tree
}

const SHARE: &str = "tests/test_money.py::ShareTest::test_shares_round_half_away_from_zero";
const SPLIT: &str = "tests/test_money.py::ShareTest::test_splits_lose_no_cent";
const PARSE: &str = "tests/test_money.py::ParseTest::test_plain_amounts";
const LOG: &str = "Traceback (most recent call last):\n  File \"/work/ledger/money.py\", line 83, in share\n\
    AssertionError: Money(524, 'EUR') != Money(525, 'EUR')\n";

fn ledgers_survey(log: &str, coverage: Option<&Coverage>) -> Proposals {
    let tree = ledger("ledger/money.py", "(scaled + 50)", "(scaled - 50)");
    let tests: Vec<RelPath> =
        tree.paths().filter(|path| path.as_str().starts_with("tests/test_")).cloned().collect();
    assert!(tests.len() >= 6);
    let outcomes = outcomes(&[SHARE, SPLIT], &[PARSE]);
    let failure = Failure { outcomes: &outcomes, log: log.as_bytes(), coverage };
    survey(&tree, &LANGUAGES, &tests, &|_| true, &failure)
}

/// Nothing but what the tests' names tell; and all that there can be.
static SILENT: LazyLock<Proposals> = LazyLock::new(|| ledgers_survey("", None));
static TOLD: LazyLock<Proposals> = LazyLock::new(|| ledgers_survey(LOG, Some(&coverage())));

fn lines(ranges: &[std::ops::RangeInclusive<u32>]) -> BTreeMap<RelPath, BTreeSet<u32>> {
    BTreeMap::from([(path("ledger/money.py"), ranges.iter().cloned().flatten().collect())])
}

fn coverage() -> Coverage {
    BTreeMap::from([
        (SHARE.to_owned(), lines(&[17..=20, 79..=83])),
        (SPLIT.to_owned(), lines(&[17..=20, 79..=103])),
        (PARSE.to_owned(), lines(&[17..=45])),
    ])
}

fn set(ids: &[&str]) -> BTreeSet<TestId> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn chosen(proposals: &Proposals, open: &BTreeSet<TestId>, most: usize) -> Choices {
    proposals.choices(&[], open, &Past::default(), most)
}

fn learned(proposals: &Proposals, attempt: usize, open: &BTreeSet<TestId>) -> Vec<usize> {
    let (weights, past) = (start_weights(), Past::default());
    let player =
        Player { weights: &weights, past: &past, hash: "", sampling: Sampling::FirstGreedy };
    let first = &chosen(proposals, open, OPTIONS);
    Learned { proposals, first, player, seed: 5, attempt }.ranked(&[], open)
}

#[test]
fn the_first_greedy_order_of_the_policy_is_the_fixed_order_of_today() {
    let (weights, past) = (start_weights(), Past::default());
    for proposals in [&*SILENT, &*TOLD] {
        assert!(proposals.len() > 1000, "{}", proposals.len());
        let sampling = Sampling::FirstGreedy;
        let player = Player { weights: &weights, past: &past, hash: "", sampling };
        let first = &chosen(proposals, &set(&[SHARE, SPLIT]), OPTIONS);
        let greedy = Learned { proposals, first, player, seed: 5, attempt: 0 };
        let fixed = Ranked { proposals, taste: Taste::of(9, 0) };
        for (accepted, open) in [(vec![], set(&[SHARE, SPLIT])), (vec![3, 40], set(&[SPLIT]))] {
            let order = fixed.ranked(&accepted, &open);
            assert!(order.len() > 500, "{}", order.len());
            assert!(greedy.ranked(&accepted, &open) == order, "another order");
        }
    }
}

#[test]
fn attempts_behind_the_first_draw_by_their_seed() {
    let open = set(&[SHARE, SPLIT]);
    let drawn = learned(&TOLD, 1, &open);
    assert_eq!(drawn, learned(&TOLD, 1, &open));
    assert_ne!(drawn, learned(&TOLD, 2, &open));
    let all: BTreeSet<usize> = drawn.iter().copied().collect();
    let greedy: BTreeSet<usize> = learned(&TOLD, 0, &open).into_iter().collect();
    assert!(all == greedy && all.len() == drawn.len(), "every proposal once");
}

#[test]
fn proposals_beyond_the_foremost_follow_in_the_fixed_order() {
    let open = set(&[SHARE, SPLIT]);
    let fixed = Ranked { proposals: &TOLD, taste: Taste::of(9, 0) }.ranked(&[], &open);
    let (weights, past) = (start_weights(), Past::default());
    let first = chosen(&TOLD, &open, 50);
    assert_eq!((first.options.len(), first.rest.len()), (50, fixed.len() - 50));
    for (sampling, same) in [(Sampling::Greedy, true), (Sampling::All, false)] {
        let player = Player { weights: &weights, past: &past, hash: "", sampling };
        let space = Learned { proposals: &TOLD, first: &first, player, seed: 5, attempt: 0 };
        let order = space.ranked(&[], &open);
        assert_eq!(order[50..], fixed[50..]);
        assert_eq!(order[..50] == fixed[..50], same, "{sampling:?}");
        let all = |of: &[usize]| of.iter().copied().collect::<BTreeSet<usize>>();
        assert_eq!(all(&order[..50]), all(&fixed[..50]));
    }
}

#[test]
fn what_was_drawn_ends_with_the_last_that_was_run() {
    let open = set(&[SHARE, SPLIT]);
    let (weights, past) = (start_weights(), Past::default());
    let first = chosen(&TOLD, &open, OPTIONS);
    let player = Player { weights: &weights, past: &past, hash: "", sampling: Sampling::All };
    let space = Learned { proposals: &TOLD, first: &first, player, seed: 5, attempt: 2 };
    let order = space.ranked(&[], &open);
    // The third was not run: it did not parse, or was there before.
    let drawn = space.drawn(&[order[0], order[1], order[3]]).unwrap();
    let taken: Vec<usize> = drawn.taken.iter().map(|option| first.proposals[*option]).collect();
    assert_eq!(taken, order[..4]);
    let logits: Vec<f64> = weights
        .logits(Role::Solver, &first.options)
        .iter()
        .map(|logit| logit / drawn.temperature)
        .collect();
    assert_eq!(drawn.logs, Draws::new(&logits, &drawn.taken).unwrap().log_probabilities());
    assert!(space.drawn(&[]).unwrap().taken.is_empty(), "nothing was run");
}

/// The features of the proposal that turns the ledger back.
#[track_caller]
fn repairing(proposals: &Proposals, past: &Past) -> BTreeMap<String, f64> {
    let right = ledger("ledger/money.py", "(scaled + 50)", "(scaled + 50)");
    let choices = proposals.choices(&[], &set(&[SHARE, SPLIT]), past, usize::MAX);
    assert_eq!(choices.options.refused(), 0);
    let file = path("ledger/money.py");
    let repair = choices.proposals.iter().position(|number| {
        proposals
            .candidate(&[*number])
            .is_some_and(|changes| changes.get(&file) == right.get(&file))
    });
    let named = choices.options.named(repair.expect("the repair is proposed"));
    named.map(|(name, value)| (name.to_owned(), value)).collect()
}

#[track_caller]
fn has(features: &BTreeMap<String, f64>, wanted: &[&str]) {
    for name in wanted {
        assert!(features.contains_key(*name), "no {name} in {features:#?}");
    }
}

#[test]
fn a_repair_is_described_by_what_it_changes_and_by_what_the_tests_say_of_its_place() {
    let features = repairing(&TOLD, &Past::default());
    has(
        &features,
        &[
            "kind=operator",
            "change=->+",
            "kind*new=operator*+",
            "in=Binary.Operator",
            "expression=Binary",
            "statement=Assignment",
            "edits=1",
            "grown=none",
            "depth=2",
            "failing=all",
            "passing=none",
            "failing*passing=all*none",
            "function_in_tests",
            "kind*raised=operator*AssertionError",
        ],
    );
    assert!((features["past"]).abs() < 1e-12 && features["share.ln"] < 0.0);
    assert!(!features.contains_key("adds_name_of_tests"));
}

#[test]
fn the_log_is_as_near_as_the_place_that_it_names() {
    let tree = ledger("ledger/money.py", "(scaled + 50)", "(scaled - 50)");
    let file = tree.get(&path("ledger/money.py")).flatten().unwrap().clone();
    let text = String::from_utf8(file.bytes.to_vec()).unwrap();
    let line = text.lines().position(|line| line.contains("(scaled - 50)")).unwrap() + 1;
    let line = u32::try_from(line).unwrap();
    let mut proposals = ledgers_survey("", None);
    let places = [
        ("silent", None),
        ("line", Some(("ledger/money.py", line))),
        ("near", Some(("ledger/money.py", line + 2))),
        ("file", Some(("ledger/money.py", line - 40))),
        ("elsewhere", Some(("ledger/rules.py", line))),
    ];
    for (expect, place) in places {
        let hint = place.map(|(file, line)| ((path(file), line), 1));
        proposals.evidence.hints = hint.into_iter().collect();
        has(&repairing(&proposals, &Past::default()), &[&format!("log={expect}")]);
    }
}

#[test]
fn what_a_kind_did_before_is_a_feature() {
    let mut past = Past::default();
    past.note(Role::Solver, "operator", (40, 20));
    past.note(Role::Solver, "guard", (60, 0));
    let features = repairing(&SILENT, &past);
    assert!(features["past"] > 0.5, "{}", features["past"]);
}

#[test]
fn training_starts_with_two_weights_of_the_solver() {
    let weights = start_weights();
    assert_eq!(weights.len(), 2);
    assert!((weights.get(Scope::Own(Role::Solver), "suspicion.ln") - 2.0).abs() < f64::EPSILON);
    assert!((weights.get(Scope::Own(Role::Solver), "share.ln") - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_name_of_the_tests_is_told_from_another() {
    let code = "def area(width, height):\n    result = width * width\n    return result\n";
    let test = "from area import area\n\ndef test_it():\n    width, height = 2, 3\n    \
                assert area(width, height) == 6\n";
    let tests = "tests/test_it.py";
    let outcomes = outcomes(&["tests/test_it.py::test_it"], &[]);
    let files = [("area.py", code), (tests, test)];
    let proposals = surveyed(&files, &[tests], &outcomes, None);
    let open = outcomes.keys().cloned().collect();
    let choices = chosen(&proposals, &open, usize::MAX);
    let file = path("area.py");
    let described = |repaired: &str| -> BTreeSet<String> {
        let option = choices.proposals.iter().position(|number| {
            let changes = proposals.candidate(&[*number]);
            changes.is_some_and(|changes| {
                changes.get(&file).flatten().is_some_and(|it| &*it.bytes == repaired.as_bytes())
            })
        });
        let named = choices.options.named(option.expect("it is proposed"));
        named.map(|(name, _)| name.to_owned()).collect()
    };
    let right = described(&code.replacen("width * width", "width * height", 1));
    assert!(right.contains("adds_name_of_tests") && right.contains("revives_unused"), "{right:#?}");
    let other = described(&code.replacen("return result", "return width", 1));
    assert!(other.contains("adds_name_of_tests") && !other.contains("revives_unused"));
    assert!(other.contains("forgets_variable"), "{other:#?}");
}
