//! The cap on families, the diversity filter, the alarm on valid bugs.

use crate::diff::Patch;
use crate::reward::*;
use std::collections::BTreeMap;

#[test]
fn no_family_gets_more_than_its_share_once_there_are_enough_bugs() {
    let cap = FamilyCap { share: 0.25, after: 4 };
    let played =
        |own: usize, rest: usize| BTreeMap::from([("a".to_owned(), own), ("b".to_owned(), rest)]);
    assert_eq!(cap.admits(&played(3, 0), "a"), Admission::Admitted, "too few to tell");
    assert_eq!(cap.admits(&played(1, 6), "a"), Admission::Admitted, "2 of 8");
    assert_eq!(cap.admits(&played(2, 6), "a"), Admission::OverCap { share: 3.0 / 9.0 });
    assert_eq!(cap.admits(&played(2, 6), "new"), Admission::Admitted);
    let none = FamilyCap { share: 0.0, after: 0 };
    assert_eq!(none.admits(&BTreeMap::new(), "a"), Admission::OverCap { share: 1.0 });
}

#[test]
fn what_was_there_already_is_refused() {
    let bug = |added: &str| {
        let text = format!("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-0\n+{added}\n");
        Shingles::of(&Patch::parse(text.as_bytes()).unwrap())
    };
    let mut buffer = Buffer::new(8);
    assert_eq!(diverse(&buffer, &bug("a + b"), 0.95), Admission::Admitted);
    assert_eq!(diverse(&buffer, &bug("a + b"), 0.0), Admission::Admitted, "nothing is known yet");
    buffer.push(bug("a + b"));
    assert_eq!(diverse(&buffer, &bug("a  +  b"), 0.95), Admission::Known { similarity: 1.0 });
    assert_eq!(diverse(&buffer, &bug("a - b"), 0.95), Admission::Admitted);
}

fn noted(window: usize, outcomes: &[(bool, usize)]) -> Option<Alarm> {
    let mut rate = ValidRate::new(window, 0.2);
    for (valid, times) in outcomes {
        (0..*times).for_each(|_| rate.note(*valid));
    }
    rate.alarm()
}

#[test]
fn the_alarm_sounds_where_few_bugs_are_valid_or_far_fewer_than_before() {
    assert_eq!(noted(10, &[(false, 9)]), None, "too few to tell");
    assert_eq!(noted(10, &[(false, 9), (true, 1)]), Some(Alarm::Low { rate: 0.1 }));
    assert_eq!(noted(10, &[(false, 8), (true, 2)]), None);
    let falling = noted(10, &[(true, 9), (false, 1), (false, 6), (true, 4)]);
    assert_eq!(falling, Some(Alarm::Falling { rate: 0.4, before: 0.9 }));
    assert_eq!(noted(10, &[(true, 8), (false, 2), (false, 6), (true, 4)]), None);
    let recovered = noted(10, &[(false, 30), (true, 20)]);
    assert_eq!(recovered, None, "what is long past does not count");
}

#[test]
fn a_window_of_nothing_is_one_of_one() {
    assert_eq!(noted(0, &[]), None);
    assert_eq!(noted(0, &[(false, 1)]), Some(Alarm::Low { rate: 0.0 }));
}

#[test]
fn the_alarm_survives_being_kept() {
    let mut rate = ValidRate::default();
    (0..25).for_each(|at| rate.note(at % 7 == 0));
    let text = serde_json::to_string(&rate).unwrap();
    let kept: ValidRate = serde_json::from_str(&text).unwrap();
    assert_eq!((kept.alarm(), kept), (rate.alarm(), rate));
}
