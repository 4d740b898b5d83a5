#[test]
fn @a@() {
    let mut values = vec![@3@, @1@, @2@];
    values.sort_unstable();
    assert_eq!(values, [@1@, @2@, @3@]);
}

#[test]
fn @b@() {
    assert_eq!(std::hint::black_box(@4@), @5@);
}

#[test]
fn @c@() {
    assert!("@c@".parse::<u32>().is_ok());
}

#[test]
#[should_panic]
fn @d@() {
    assert_eq!("@8@".parse::<u32>(), Ok(@8@));
}

mod @f@ {
    #[test]
    fn @g@() {
        assert_ne!(Some(@9@), std::hint::black_box(Some(@9@)));
    }
}
