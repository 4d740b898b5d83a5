use intervals::sweep::{depth, levels, schedule};
use intervals::Interval;

fn of(pairs: &[(i64, i64)]) -> Vec<Interval> {
    pairs.iter().map(|(start, end)| Interval::new(*start, *end).unwrap()).collect()
}

fn shown(pairs: &[(i64, i64)]) -> String {
    let found = levels(&of(pairs));
    found.iter().map(|(interval, count)| format!("{interval}x{count}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn levels_count_what_covers() {
    assert_eq!(shown(&[(0, 4), (2, 6)]), "0..2x1 2..4x2 4..6x1");
    assert_eq!(shown(&[(0, 9), (2, 3), (2, 3)]), "0..2x1 2x3 3..9x1");
    assert_eq!(shown(&[]), "");
}

#[test]
fn levels_of_one_count_are_one_stretch() {
    assert_eq!(shown(&[(0, 2), (2, 4)]), "0..4x1");
    assert_eq!(shown(&[(0, 4), (0, 2), (2, 4)]), "0..4x2");
}

#[test]
fn what_is_not_covered_is_left_out() {
    assert_eq!(shown(&[(0, 2), (5, 7)]), "0..2x1 5..7x1");
}

#[test]
fn depth_is_the_highest_level() {
    assert_eq!(depth(&of(&[(0, 4), (2, 6), (3, 5)])), 3);
    assert_eq!(depth(&of(&[(0, 2), (2, 4)])), 1);
    assert_eq!(depth(&[]), 0);
}

#[test]
fn a_schedule_takes_as_many_as_it_can() {
    let chosen = schedule(&of(&[(0, 10), (1, 3), (3, 5), (4, 6), (6, 7)]));
    assert_eq!(chosen, of(&[(1, 3), (3, 5), (6, 7)]));
    assert_eq!(schedule(&of(&[(0, 5), (2, 5)])), of(&[(0, 5)]));
    assert!(schedule(&[]).is_empty());
}
