//! Pieces of freezing that need no repository.

use super::error::Error;
use super::files::{Stamp, read_steady};
use super::known::Known;
use super::listing::{Entry, Listing, escape, unescape};
use super::skip::never;
use proptest::prelude::*;

const SECOND: i64 = 1_000_000_000;

#[test]
fn escaping_keeps_any_bytes() {
    let bytes: Vec<u8> = (0..=255).chain(*b"%41%").collect();
    assert_eq!(unescape(&escape(&bytes)), bytes);
    assert_eq!(escape(b"caf\xe9 100%"), "caf%E9 100%25");
}

proptest! {
    #[test]
    fn unescaping_undoes_escaping(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        prop_assert_eq!(unescape(&escape(&bytes)), bytes);
    }
}

fn file(sha256: &str, executable: bool) -> Entry {
    Entry::File { sha256: sha256.to_owned(), size: 1, executable }
}

#[test]
fn listings_that_differ_in_anything_have_different_ids() {
    let listing = |entries: &[(&[u8], Entry)]| {
        Listing(entries.iter().map(|(path, entry)| (path.to_vec(), entry.clone())).collect())
    };
    let all = [
        listing(&[]),
        listing(&[(b"a", file("1", false))]),
        listing(&[(b"a", file("1", true))]),
        listing(&[(b"a", file("2", false))]),
        listing(&[(b"b", file("1", false))]),
        listing(&[(b"a", Entry::Link("1".to_owned()))]),
        listing(&[(b"a", Entry::Directory)]),
        listing(&[(b"a", Entry::Directory), (b"a/\xff", file("1", false))]),
    ];
    let ids: std::collections::BTreeSet<_> = all.iter().map(Listing::id).collect();
    assert_eq!(ids.len(), all.len());
    for listing in all {
        assert_eq!(Listing::from_json(&listing.to_json()), Some(listing));
    }
}

fn stamp(modified: i64, changed: i64) -> Stamp {
    Stamp { size: 3, modified, changed, device: 1, inode: 2, executable: false }
}

#[test]
fn a_file_written_just_before_it_was_read_is_not_trusted() {
    let state = tempfile::tempdir().unwrap();
    let mut known = Known::load(state.path());
    let mut check = |modified, changed, at, trusted: bool| {
        known.learn(b"a", stamp(modified, changed), "digest", at);
        assert_eq!(known.digest(b"a", stamp(modified, changed)).is_some(), trusted);
    };
    check(10 * SECOND, 10 * SECOND, 12 * SECOND, true);
    check(10 * SECOND, 10 * SECOND, 12 * SECOND - 1, false);
    // The time of modification can be set at will, the time of change cannot.
    check(SECOND, 10 * SECOND, 11 * SECOND, false);
    check(99 * SECOND, 10 * SECOND, 20 * SECOND, false);
}

#[test]
fn the_listing_cache_is_kept_between_processes() {
    let state = tempfile::tempdir().unwrap();
    let mut known = Known::load(state.path());
    known.learn(b"\xff", stamp(0, 0), "digest", 9 * SECOND);
    known.learn(b"gone", stamp(0, 0), "digest", 9 * SECOND);
    known.retain(|path| path != b"gone");
    known.save().unwrap();
    let known = Known::load(state.path());
    assert_eq!(known.digest(b"\xff", stamp(0, 0)), Some("digest"));
    assert_eq!(known.digest(b"\xff", stamp(0, 1)), None);
    assert_eq!(known.digest(b"gone", stamp(0, 0)), None);
}

#[test]
fn a_file_that_changes_or_vanishes_before_it_is_read_is_no_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, "one").unwrap();
    let seen = Stamp::of(&path.metadata().unwrap());
    assert_eq!(read_steady(&path, seen).unwrap(), b"one");
    std::fs::write(&path, "longer").unwrap();
    assert!(matches!(read_steady(&path, seen), Err(Error::Changing { .. })));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(read_steady(&path, seen), Err(Error::Changing { .. })));
}

#[test]
fn names_that_can_hold_an_original_are_never_copied() {
    let copied: [&[u8]; 8] =
        [b".gitignore", b".github", b"git", b"a.py", b"original", b"#", b"swp", b".swift"];
    let left_out: [&[u8]; 9] = [
        b".git",
        b".GIT",
        b".hg",
        b"__pycache__",
        b"a.pyc",
        b"a.py~",
        b".#a.py",
        b"#a.py#",
        b".a.py.swo",
    ];
    assert!(!copied.into_iter().any(never));
    assert!(left_out.into_iter().all(never));
}
