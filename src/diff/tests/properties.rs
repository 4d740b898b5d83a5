//! The algebra of patches, on arbitrary byte trees.

use super::*;
use crate::tree::{File, Overlaid};
use proptest::prelude::*;

/// Few distinct lines, so that contexts repeat, every kind of line end, and lines that look like
/// parts of a patch.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"a\n".to_vec()),
        Just(b"b\r\n".to_vec()),
        Just(b"-- c\n".to_vec()),
        Just(b"++ d\n".to_vec()),
        Just(b"@@ -1 +1 @@\n".to_vec()),
        Just(b"\\ No newline at end of file\n".to_vec()),
        Just(b"\xef\xbb\xbfbom\n".to_vec()),
        Just(b"caf\xe9\n".to_vec()),
        proptest::collection::vec(1u8..=255, 0..6),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// A text and a variation of it, or another text.
fn pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let edited = (bytes(), bytes(), 0usize..60, 0usize..60).prop_map(|(old, insert, from, len)| {
        let from = from.min(old.len());
        let to = (from + len).min(old.len());
        let new = [&old[..from], &insert, &old[to..]].concat();
        (old, new)
    });
    prop_oneof![edited, (bytes(), bytes())]
}

fn file() -> impl Strategy<Value = (Option<File>, Option<File>)> {
    let side = (any::<bool>(), 0..4u8);
    (pair(), side.clone(), side).prop_map(|((old, new), (old_x, old_gone), (new_x, new_gone))| {
        let make = |bytes: Vec<u8>, executable, gone: u8| {
            (gone > 0).then(|| File { bytes: bytes.into(), executable })
        };
        (make(old, old_x, old_gone), make(new, new_x, new_gone))
    })
}

/// A base tree and changes to it. The names cannot stand in each other's way.
fn trees() -> impl Strategy<Value = (Changes, Changes)> {
    const NAMES: [&str; 6] =
        ["a.py", "src/b c.py", "caf\u{e9}/\"q\".rs", "a/x", "b/x", " lead and trail "];
    proptest::collection::vec((file(), any::<bool>()), NAMES.len()).prop_map(|files| {
        let (mut base, mut changes) = (Changes::new(), Changes::new());
        for (name, ((old, new), changed)) in NAMES.into_iter().zip(files) {
            if let Some(old) = old {
                base.write(path(name), old);
            }
            match (changed, new) {
                (false, _) => {}
                (true, Some(new)) => changes.write(path(name), new),
                (true, None) => changes.delete(path(name)),
            }
        }
        (base, changes)
    })
}

fn overlaid(base: &Changes, changes: &Changes) -> Changes {
    let all = Overlaid { base, changes };
    all.paths().into_iter().map(|path| (path.clone(), all.read(&path))).collect()
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_made_patch_gives_the_changes_back((base, changes) in trees()) {
        let patch = Patch::between(&base, &changes);
        let read = Patch::parse(&patch.to_bytes()).expect("our own patch parses");
        prop_assert_eq!(&read, &patch);
        prop_assert_eq!(read.apply(&base).expect("it applies"), changes.against(&base));
    }

    #[test]
    fn applying_then_undoing_restores_the_tree((base, changes) in trees()) {
        let patch = Patch::between(&base, &changes);
        let after = overlaid(&base, &patch.apply(&base).expect("it applies"));
        let undone = patch.reversed().apply(&after).expect("it undoes");
        prop_assert_eq!(overlaid(&after, &undone), overlaid(&base, &Changes::new()));
    }

    #[test]
    fn reversing_twice_changes_nothing((base, changes) in trees()) {
        let patch = Patch::between(&base, &changes);
        prop_assert_eq!(patch.reversed().reversed(), patch.clone());
        prop_assert_eq!(Patch::parse(&patch.reversed().to_bytes()), Ok(patch.reversed()));
    }

    #[test]
    fn hunks_are_right_however_little_is_compared((old, new) in pair(), most in 0..12usize) {
        let x = path("x");
        let kind = Kind::Modified { path: x.clone(), modes: None };
        let file = FilePatch { kind, hunks: make::hunks(&old, &new, most) };
        let patch = Patch { files: vec![file] };
        let base: Changes = [(x.clone(), Some(File::plain(old)))].into_iter().collect();
        let after = patch.apply(&base).expect("it applies").read(&x).expect("it is written");
        prop_assert_eq!(&*after.bytes, &new[..]);
        if !patch.files[0].hunks.is_empty() {
            prop_assert_eq!(Patch::parse(&patch.to_bytes()), Ok(patch));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(patch) = Patch::parse(&bytes) {
            prop_assert!(patch.is_empty());
        }
    }

    #[test]
    fn a_damaged_patch_is_refused_or_reads_back_the_same(
        (base, changes) in trees(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let mut bytes = Patch::between(&base, &changes).to_bytes();
        for (at, byte, what) in damage {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(at),
            }
        }
        if let Ok(patch) = Patch::parse(&bytes) {
            for path in patch.paths() {
                prop_assert_eq!(RelPath::parse(path.as_str().as_bytes()), Ok(path.clone()));
            }
            prop_assert_eq!(Patch::parse(&patch.to_bytes()), Ok(patch.clone()));
            prop_assert_eq!(patch.reversed().reversed(), patch.clone());
            prop_assert_eq!(Patch::parse(&patch.reversed().to_bytes()), Ok(patch.reversed()));
            // Must not panic; whether it fits is up to the damage.
            let _outcome = patch.apply(&base);
        }
    }
}
