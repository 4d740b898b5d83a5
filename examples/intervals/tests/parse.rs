use intervals::IntervalSet;
use intervals::parse::{ParseError, Reason};

fn check(text: &str, shown: &str) {
    let set: IntervalSet = text.parse().unwrap();
    assert_eq!(set.to_string(), shown, "{text}");
    assert_eq!(shown.parse::<IntervalSet>().as_ref(), Ok(&set), "{text}");
}

fn refused(text: &str, part: usize, reason: Reason) {
    assert_eq!(text.parse::<IntervalSet>(), Err(ParseError { part, reason }), "{text}");
}

#[test]
fn numbers_and_ranges_are_read() {
    check("1..5, 7, -3..=-1", "-3..0, 1..5, 7");
    check(" 4 ,5", "4..6");
    check("2 .. 4", "2..4");
    check("", "");
    check("  ", "");
}

#[test]
fn what_touches_is_one() {
    check("1..=2,3", "1..4");
    check("5,4,3,2", "2..6");
}

#[test]
fn errors_name_the_part() {
    refused("1,,2", 2, Reason::Empty);
    refused("1,2,", 3, Reason::Empty);
    refused("1,x", 2, Reason::NotANumber);
    refused("+1", 1, Reason::NotANumber);
    refused("1..", 1, Reason::NotANumber);
    refused("-", 1, Reason::NotANumber);
    refused("1..2..3", 1, Reason::NotANumber);
    refused("3..3", 1, Reason::Backwards);
    refused("3..=2", 1, Reason::Backwards);
    refused("9223372036854775807", 1, Reason::TooLarge);
    refused("99999999999999999999", 1, Reason::TooLarge);
}

#[test]
fn errors_are_sentences() {
    let error = "1, 5..2".parse::<IntervalSet>().unwrap_err();
    assert_eq!(error.to_string(), "part 2 ends before it begins");
    let error = "x".parse::<IntervalSet>().unwrap_err();
    assert_eq!(error.to_string(), "part 1 is not a number or a range");
}
