//! Ratings: the golden numbers of Glickman's paper, and what is our own.

use crate::practice::rating::period;
use crate::practice::{Facts, Rating, first_of_bug, game, rested};
use skillratings::Outcomes::{DRAW, LOSS, WIN};

fn rating(rating: f64, deviation: f64) -> Rating {
    Rating { rating, deviation, ..Rating::default() }
}

#[test]
fn the_example_of_glickmans_paper_comes_out() {
    let games =
        [(rating(1400.0, 30.0), WIN), (rating(1550.0, 100.0), LOSS), (rating(1700.0, 300.0), LOSS)];
    let after = period(rating(1500.0, 200.0), &games);
    assert!((after.rating - 1464.06).abs() < 0.01, "{after:?}");
    assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
    assert!((after.volatility - 0.05999).abs() < 0.00001, "{after:?}");
}

#[test]
fn whole_scores_are_the_games_outcomes() {
    let (player, bug) = (rating(1500.0, 200.0), rating(1600.0, 120.0));
    for (score, outcome, other) in [(1.0, WIN, LOSS), (0.5, DRAW, DRAW), (0.0, LOSS, WIN)] {
        let (after, bug_after) = game(player, bug, score);
        assert_eq!(after, period(player, &[(bug, outcome)]), "{score}");
        assert_eq!(bug_after, period(bug, &[(player, other)]), "{score}");
    }
}

#[test]
fn each_hint_lowers_what_a_solved_round_gains() {
    let (player, bug) = (rating(1500.0, 200.0), rating(1500.0, 200.0));
    let gains: Vec<f64> =
        [1.0, 0.8, 0.6, 0.4, 0.25, 0.0].map(|score| game(player, bug, score).0.rating).to_vec();
    assert!(gains.windows(2).all(|pair| pair[0] > pair[1] + 1.0), "{gains:?}");
}

#[test]
fn a_bug_that_the_solver_fails_and_that_few_tests_see_is_harder() {
    let facts = |attempts, solved, failing_tests, changed_lines| Facts {
        attempts,
        solved,
        failing_tests,
        changed_lines,
        changed_files: 1,
    };
    let unknown = first_of_bug(&facts(0, 0, 1, 2));
    assert_eq!((unknown.rating, unknown.deviation), (1500.0, 350.0));
    let [failed, solved] = [facts(8, 0, 1, 2), facts(8, 8, 1, 2)].map(|facts| first_of_bug(&facts));
    assert!(failed.rating > 1850.0 && solved.rating < 1150.0, "{failed} {solved}");
    assert!(failed.deviation < 210.0, "{failed}");
    assert!(first_of_bug(&facts(0, 0, 8, 2)).rating < unknown.rating);
    assert!(first_of_bug(&facts(0, 0, 1, 16)).rating > unknown.rating);
}

#[test]
fn weeks_without_practice_make_a_rating_less_certain_and_no_other() {
    let week = 7 * 24 * 3600;
    let before = rating(1620.0, 60.0);
    assert_eq!(rested(before, week - 1), before);
    let after = rested(before, 10 * week);
    assert!(
        (after.rating - before.rating).abs() < f64::EPSILON && after.deviation > 65.0,
        "{after}"
    );
    assert!(rested(before, i64::MAX).deviation <= 350.0);
    assert_eq!(rested(before, -week), before);
}

#[test]
fn a_rating_is_shown_with_its_deviation() {
    assert_eq!(rating(1509.6, 180.2).to_string(), "1510 ± 180");
}
