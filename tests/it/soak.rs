//! Seven rounds of the soak (`benches/soak`): nothing stays behind, and the same seed gives the same lines.

#[path = "../../benches/soak/played.rs"]
#[allow(
    clippy::disallowed_methods,
    dead_code,
    reason = "the binary is a process; the benchmark shows more of what was sampled"
)]
mod played;

use std::path::Path;

#[test]
fn rounds_leave_nothing_behind_and_come_out_the_same_again() {
    let play = |rounds| {
        let place = tempfile::TempDir::with_prefix("ssr-mcp-").unwrap();
        let real = place.path().canonicalize().unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ledger");
        let binary = Path::new(env!("CARGO_BIN_EXE_ssr-mcp"));
        let played = played::play(binary, &example, &real, rounds, 2, &mut |_| {}).unwrap();
        assert_eq!(played.left, [] as [&str; 0]);
        played
    };
    let (whole, part) = (play(7), play(3));
    assert_eq!(whole.samples.len(), 3, "{whole:?}");
    assert!(
        whole.csv.lines().count() > 7 && whole.csv.starts_with(&part.csv),
        "{whole:?} {part:?}"
    );
    assert!(whole.samples.iter().all(|sample| sample.own > 0 && sample.state > 0), "{whole:?}");
    // Every round opens the same files: handles do not add up. A warm process begins when it is first needed
    // and stays; it is three processes with its sandbox, and takes five handles.
    let handles = |at: usize| whole.samples[at].handles;
    let begun = whole.samples[2].processes.saturating_sub(whole.samples[0].processes).div_ceil(3);
    assert!(begun <= 6 && handles(2) <= handles(0) + 4 + 5 * begun, "{whole:?}");
}
