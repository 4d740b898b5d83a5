//! What a page and its table say of rounds.

use super::{EvalLine, Point, ReportAnswer, RunReport, StepLine, page, quoted, swaps, table};

fn point(round: u32, injector: &str, solver: &str) -> Point {
    Point {
        round,
        inject_reward: Some(0.5),
        solve_reward: Some(-0.5),
        solve_rate: Some(0.25),
        valid: Some(1.0),
        novelty: Some(0.75),
        wrong_book_size: 3,
        injector: injector.to_owned(),
        solver: solver.to_owned(),
    }
}

fn run(points: Vec<Point>) -> RunReport {
    RunReport {
        run: Some("c0ffee".to_owned()),
        rounds: points.len(),
        bugs: points.len(),
        valid: points.len(),
        valid_rate: Some(1.0),
        inject_reward: Some(0.5),
        solve_reward: Some(-0.5),
        solve_rate: Some(0.25),
        best_solve_rate: Some(0.257),
        mixed: Some(0.5),
        novelty: Some(0.75),
        wrong_book_size: 3,
        histogram: [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4],
        role_swaps: swaps(&points),
        warnings: Vec::new(),
        points,
    }
}

fn answer(runs: Vec<RunReport>) -> ReportAnswer {
    let workspace = "/home/x/<script>alert(1)</script>&\"'".to_owned();
    ReportAnswer { workspace, runs, steps: Vec::new(), evals: Vec::new(), written: Vec::new() }
}

#[test]
fn an_empty_store_makes_a_page_that_says_so() {
    let html = page::of(&answer(Vec::new()));
    assert!(html.contains("Nothing was played here yet"), "{html}");
    assert!(!html.contains("<svg"), "{html}");
}

#[test]
fn names_of_a_repository_cannot_break_out_of_the_page() {
    let hostile = "\"><img src=x onerror=alert(1)>";
    let mut run = run(vec![point(1, hostile, hostile)]);
    run.run = Some(hostile.to_owned());
    run.warnings = vec![hostile.to_owned()];
    let mut other = run.clone();
    other.run = Some("</style><script>1".to_owned());
    let mut answer = answer(vec![run, other]);
    answer.evals = vec![EvalLine {
        policy: "<b>".to_owned(),
        case_set: "<i>".to_owned(),
        cases: 1,
        budget: 20,
        attempts: 1,
        rate: Some(0.5),
        low: Some(0.1),
        high: Some(0.9),
        runs_per_repair: None,
        curve: vec![(20, 0.5)],
    }];
    let html = page::of(&answer);
    for tag in ["<script", "<img", "<b>", "<i>", "</style><s"] {
        let own = if tag == "<b>" { html.replace("<figcaption><b>", "") } else { html.clone() };
        assert!(!own.contains(tag), "{tag} in {html}");
    }
    assert!(html.contains("&lt;script&gt;"), "{html}");
}

#[test]
fn training_steps_are_drawn_where_there_are_some() {
    let step = |step| StepLine {
        step,
        policy: "ab".to_owned(),
        solve_rate: Some(0.3),
        valid_rate: None,
        inject_reward: Some(-0.2),
        solve_reward: Some(-0.4),
        flat_share: Some(0.5),
        entropy: Some(7.5),
        best_solve_rate: Some(0.257),
    };
    let mut answer = answer(Vec::new());
    assert!(!page::of(&answer).contains("Training"));
    answer.steps = vec![step(1), step(2)];
    let html = page::of(&answer);
    assert!(html.contains("Training, 2 steps") && html.matches("<svg").count() == 3, "{html}");
}

#[test]
fn a_page_takes_nothing_from_outside() {
    let html = page::of(&answer(vec![run(vec![point(1, "a", "b"), point(2, "a", "b")])]));
    for outside in ["http://", "https://", "src=", "href=", "url(", "@import", "<script"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("prefers-color-scheme:dark"));
}

#[test]
fn a_role_swap_is_where_two_players_change_places() {
    let points = [
        point(1, "a", "b"),
        point(2, "a", "b"),
        point(3, "", ""),
        point(4, "b", "a"),
        point(5, "b", "a"),
        point(6, "a", "b"),
    ];
    assert_eq!(swaps(&points), [4, 6]);
    assert_eq!(swaps(&[point(1, "a", "a"), point(2, "a", "a")]), [] as [u32; 0]);
    let html = page::of(&answer(vec![run(points.to_vec())]));
    assert!(html.contains(">swap<"), "{html}");
}

#[test]
fn the_table_has_a_line_a_round_and_no_formula() {
    let csv = table(&[run(vec![point(1, "=1+1", "a,\"b\"")])]);
    let line =
        "c0ffee,1,0.500000,-0.500000,0.250000,1.000000,0.750000,3,'=1+1,\"a,\"\"b\"\"\",false";
    assert_eq!(csv.lines().nth(1), Some(line));
    assert_eq!(quoted("x\ny"), "xy");
}
