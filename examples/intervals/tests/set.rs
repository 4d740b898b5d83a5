use intervals::{Interval, IntervalSet};

fn set(pairs: &[(i64, i64)]) -> IntervalSet {
    pairs.iter().map(|(start, end)| Interval::new(*start, *end).unwrap()).collect()
}

fn of(start: i64, end: i64) -> Interval {
    Interval::new(start, end).unwrap()
}

#[test]
fn intervals_that_touch_become_one() {
    assert_eq!(set(&[(0, 2), (2, 4)]).to_string(), "0..4");
    assert_eq!(set(&[(4, 6), (0, 2)]).to_string(), "0..2, 4..6");
    assert_eq!(set(&[(0, 2), (4, 6), (1, 5)]).to_string(), "0..6");
    assert_eq!(set(&[(0, 9), (3, 4)]).to_string(), "0..9");
    assert_eq!(set(&[(0, 2), (8, 9), (4, 6), (2, 4)]).intervals().len(), 2);
}

#[test]
fn numbers_are_found() {
    let set = set(&[(0, 2), (4, 6)]);
    let found: Vec<i64> = (-2..9).filter(|number| set.contains(*number)).collect();
    assert_eq!(found, [0, 1, 4, 5]);
    assert!(!IntervalSet::new().contains(0));
}

#[test]
fn sizes_add_up() {
    assert_eq!(set(&[(0, 2), (4, 7)]).size(), 5);
    assert!(IntervalSet::new().is_empty());
    assert_eq!(IntervalSet::new().size(), 0);
    assert!(!set(&[(0, 1)]).is_empty());
}

#[test]
fn removal_cuts() {
    let mut cut = set(&[(0, 5), (7, 9)]);
    cut.remove(of(3, 8));
    assert_eq!(cut, set(&[(0, 3), (8, 9)]));
    cut.remove(of(1, 2));
    assert_eq!(cut.to_string(), "0, 2, 8");
    cut.remove(of(-9, 99));
    assert!(cut.is_empty());
}

#[test]
fn union_intersection_and_difference_agree_with_membership() {
    let (left, right) = (set(&[(0, 4), (6, 9), (12, 13)]), set(&[(2, 7), (8, 10), (12, 20)]));
    let (union, both, rest) = (left.union(&right), left.intersection(&right), left.difference(&right));
    for number in -1..22 {
        let (l, r) = (left.contains(number), right.contains(number));
        assert_eq!(union.contains(number), l || r, "{number}");
        assert_eq!(both.contains(number), l && r, "{number}");
        assert_eq!(rest.contains(number), l && !r, "{number}");
    }
    assert_eq!(both.to_string(), "2..4, 6, 8, 12");
    assert_eq!(rest.to_string(), "0..2, 7");
}

#[test]
fn gaps_lie_between() {
    assert_eq!(set(&[(0, 2), (4, 6), (9, 10)]).gaps(), set(&[(2, 4), (6, 9)]));
    assert!(set(&[(0, 2)]).gaps().is_empty());
    assert!(IntervalSet::new().gaps().is_empty());
}

#[test]
fn the_first_gap_is_long_enough() {
    let set = set(&[(2, 4), (5, 9), (12, 13)]);
    assert_eq!(set.first_gap(0, 2), Some(0));
    assert_eq!(set.first_gap(0, 3), Some(9));
    assert_eq!(set.first_gap(0, 4), Some(13));
    assert_eq!(set.first_gap(3, 1), Some(4));
    assert_eq!(set.first_gap(10, 2), Some(10));
    assert_eq!(set.first_gap(20, 5), Some(20));
    assert_eq!(IntervalSet::new().first_gap(i64::MAX, 1), None);
}
