use intervals::Interval;

fn of(start: i64, end: i64) -> Interval {
    Interval::new(start, end).unwrap()
}

#[test]
fn an_interval_is_never_empty() {
    assert_eq!(Interval::new(3, 3), None);
    assert_eq!(Interval::new(4, 3), None);
    assert_eq!((of(3, 5).start(), of(3, 5).end()), (3, 5));
}

#[test]
fn the_end_does_not_belong() {
    let interval = of(-2, 3);
    assert!(interval.contains(-2));
    assert!(interval.contains(2));
    assert!(!interval.contains(3));
    assert!(!interval.contains(-3));
}

#[test]
fn sizes_do_not_overflow() {
    assert_eq!(of(-2, 3).size(), 5);
    assert_eq!(of(i64::MIN, i64::MAX).size(), u64::MAX);
}

#[test]
fn covering_needs_both_ends() {
    assert!(of(0, 5).covers(&of(0, 5)));
    assert!(of(0, 5).covers(&of(1, 4)));
    assert!(!of(0, 5).covers(&of(-1, 4)));
    assert!(!of(0, 5).covers(&of(1, 6)));
}

#[test]
fn overlaps_are_what_is_in_both() {
    assert_eq!(of(0, 5).overlap(&of(3, 9)), Some(of(3, 5)));
    assert_eq!(of(3, 9).overlap(&of(0, 5)), Some(of(3, 5)));
    assert_eq!(of(0, 5).overlap(&of(5, 9)), None);
    assert_eq!(of(0, 9).overlap(&of(2, 4)), Some(of(2, 4)));
}

#[test]
fn neighbours_touch() {
    assert!(of(0, 5).touches(&of(5, 9)));
    assert!(of(5, 9).touches(&of(0, 5)));
    assert!(of(0, 5).touches(&of(4, 9)));
    assert!(!of(0, 5).touches(&of(6, 9)));
    assert!(!of(6, 9).touches(&of(0, 5)));
}

#[test]
fn a_hull_covers_both() {
    assert_eq!(of(0, 2).hull(&of(7, 9)), of(0, 9));
    assert_eq!(of(7, 9).hull(&of(0, 8)), of(0, 9));
}

#[test]
fn taking_away_leaves_up_to_two_pieces() {
    assert_eq!(of(0, 9).without(&of(3, 5)), (Some(of(0, 3)), Some(of(5, 9))));
    assert_eq!(of(0, 9).without(&of(0, 5)), (None, Some(of(5, 9))));
    assert_eq!(of(0, 9).without(&of(5, 12)), (Some(of(0, 5)), None));
    assert_eq!(of(0, 9).without(&of(-1, 9)), (None, None));
    assert_eq!(of(0, 9).without(&of(9, 12)), (Some(of(0, 9)), None));
}

#[test]
fn shifts_stop_at_the_last_number() {
    assert_eq!(of(0, 9).shifted(-4), Some(of(-4, 5)));
    assert_eq!(of(0, i64::MAX).shifted(1), None);
    assert_eq!(of(i64::MIN, 0).shifted(-1), None);
}

#[test]
fn single_numbers_are_shown_alone() {
    assert_eq!(of(3, 4).to_string(), "3");
    assert_eq!(of(-3, 4).to_string(), "-3..4");
}
