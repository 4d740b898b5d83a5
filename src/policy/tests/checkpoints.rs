//! Files of weights: whole, cut off, damaged, of another version.

use crate::dice::mangled;
use crate::policy::{Checkpoint, Refusal, Role, Scope, Weights};
use proptest::prelude::*;

fn sample() -> Checkpoint {
    let mut weights = Weights::new();
    weights.set(Scope::Shared, "template=Operator", 0.1 + 0.2);
    weights.set(Scope::Own(Role::Injector), "a\tb\nc\\d\r", -1e-300);
    weights.set(Scope::Own(Role::Solver), "", 1e9);
    let mut checkpoint = Checkpoint::default();
    checkpoint.tables.insert("weights".to_owned(), weights);
    checkpoint.tables.insert("start".to_owned(), Weights::new());
    checkpoint.facts.insert("trained on".to_owned(), "a package\twith a tab".to_owned());
    checkpoint
}

#[test]
fn a_checkpoint_reads_back_to_the_last_bit() {
    let bytes = sample().to_bytes();
    assert_eq!(Checkpoint::parse(&bytes), Ok(sample()));
    assert_eq!(Checkpoint::parse(&bytes).unwrap().to_bytes(), bytes);
    assert_eq!(Checkpoint::parse(&bytes).unwrap().hash(), sample().hash());
}

#[test]
fn the_format_is_fixed() {
    let mut checkpoint = sample();
    checkpoint.tables.remove("start");
    let text = String::from_utf8(checkpoint.to_bytes()).unwrap();
    let (head, body) = text.split_once('\n').unwrap();
    assert_eq!(
        body,
        "fact\ttrained on\ta package\\twith a tab\ntable\tweights\nshared\t0.30000000000000004\t\
         template=Operator\ninjector\t-1e-300\ta\\tb\\nc\\\\d\\r\nsolver\t1000000000.0\t\n"
    );
    assert_eq!(head, format!("ssr-mcp-policy 1 {} {}", body.len(), checkpoint.hash()));
}

#[test]
fn a_file_cut_off_anywhere_is_refused_by_name() {
    let bytes = sample().to_bytes();
    let head = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    for end in 0..bytes.len() {
        let refusal = Checkpoint::parse(&bytes[..end]).unwrap_err();
        let cut_off = if end <= head {
            refusal == Refusal::Headless
        } else {
            refusal == Refusal::Truncated { wanted: bytes.len() - head - 1, found: end - head - 1 }
        };
        assert!(cut_off, "{end}: {refusal}");
    }
}

#[test]
fn damage_is_refused_by_its_name() {
    #[track_caller]
    fn check(change: impl Fn(&mut Vec<u8>), expect: &Refusal) {
        let mut bytes = sample().to_bytes();
        change(&mut bytes);
        assert_eq!(Checkpoint::parse(&bytes).as_ref(), Err(expect));
    }
    check(|bytes| bytes[0] = b'S', &Refusal::Foreign);
    check(|bytes| *bytes = b"PK\x03\x04".to_vec(), &Refusal::Foreign);
    check(|bytes| bytes[15] = b'2', &Refusal::Version { found: 2 });
    check(|bytes| bytes.extend(b"\n"), &Refusal::Trailing(1));
    check(
        |bytes| {
            let last = bytes.len() - 4;
            bytes[last] ^= 1;
        },
        &Refusal::Hash,
    );
}

#[test]
fn content_that_means_nothing_is_refused_even_with_a_right_hash() {
    use crate::tree::hex;
    use sha2::{Digest as _, Sha256};
    let check = |body: &str| {
        let digest = hex(&Sha256::digest(body.as_bytes()));
        let text = format!("ssr-mcp-policy 1 {} {digest}\n{body}", body.len());
        let refusal = Checkpoint::parse(text.as_bytes()).unwrap_err();
        assert!(matches!(refusal, Refusal::Malformed { .. }), "{body:?}: {refusal}");
    };
    check("shared\t1\ta\n");
    check("table\tw\nshared\tNaN\ta\n");
    check("table\tw\nshared\tinf\ta\n");
    check("table\tw\nshared\t1e10\ta\n");
    check("table\tw\nshared\tone\ta\n");
    check("table\tw\nnobody\t1\ta\n");
    check("table\tw\nshared\t1\ta\tb\n");
    check("nothing\n");
}

#[test]
fn mangled_checkpoints_are_refused_or_read_and_never_panic() {
    let whole = sample().to_bytes();
    let words: [&[u8]; 5] = [b"\t", b"\n", b"ssr-mcp-policy 1 ", b"table\t", b"shared\t1\t"];
    mangled::check("checkpoint", &[&whole], &words, &|bytes| {
        if let Ok(read) = Checkpoint::parse(bytes) {
            assert_eq!(Checkpoint::parse(&read.to_bytes()), Ok(read));
        }
    });
}

proptest! {
    #[test]
    fn any_weight_and_name_survives(name in "\\PC*", other in any::<String>(), weight in -1e9..1e9_f64) {
        let mut weights = Weights::new();
        weights.set(Scope::Shared, &name, weight);
        weights.set(Scope::Own(Role::Solver), &other, weight / 3.0);
        let tables = [(other.clone(), weights)].into();
        let checkpoint = Checkpoint { tables, facts: [(name.clone(), other)].into() };
        prop_assert_eq!(Checkpoint::parse(&checkpoint.to_bytes()), Ok(checkpoint));
    }
}
