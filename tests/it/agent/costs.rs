//! What a step costs beside the model and the tools.

use super::*;
use std::time::Instant;

#[test]
fn steps_that_call_for_nothing_end_with_the_turns_and_say_what_they_took() {
    const STEPS: u32 = 120;
    let bench = ledger();
    let (seat, _) = seat(scripted(|_, _| Ok(writes("bash", r#"{"command": 5}"#))));
    let limits = Limits { turns: STEPS, malformed: STEPS + 1, ..Limits::default() };
    let limited = |limits| Seat {
        player: Player { limits, ..seat.player.clone() },
        bounds: seat.bounds.clone(),
    };
    solve(&bench, &limited(Limits { turns: 1, ..limits }), 1);
    let seat = limited(limits);
    let who = Who { step: 2, ..who() };
    let stage = Stage { harness: &bench.harness, workspace: &bench.workspace };
    let by = ByModel { stage, seat: &seat, who: &who, hidden: 0.0 };
    let request = solver::Request { attempts: 1, seed: 7, runs: None, parallel: 1 };
    let artifact = bug(&bench);
    let begun = Instant::now();
    let attempt = solve_by_model(&artifact, &request, &by).unwrap().remove(0);
    let step = begun.elapsed() / STEPS;
    assert_eq!((&*bill(&attempt).ending, bill(&attempt).turns), ("turns", STEPS));
    eprintln!("a step that calls for nothing: {step:?}, its share of an opened sandbox included");
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn many_attempts_at_once_take_little_memory() {
    const MANY: usize = 40;
    let bench = ledger();
    let most = Arc::new(AtomicUsize::new(0));
    let (there, peak) = (AtomicUsize::new(0), most.clone());
    let (seat, chat) = seat(scripted(move |_, replies| {
        Ok(match replies {
            0 => edit(),
            1 => {
                // All of them are in the midst of their sessions here.
                there.fetch_add(1, Ordering::SeqCst);
                let deadline = Instant::now() + Duration::from_mins(5);
                while there.load(Ordering::SeqCst) < MANY && Instant::now() < deadline {
                    std::thread::park_timeout(Duration::from_millis(20));
                }
                peak.fetch_max(usize::try_from(resident()).unwrap(), Ordering::SeqCst);
                calls("submit", &serde_json::json!({}))
            }
            _ => says("Done."),
        })
    }));
    let bounds = Bounds {
        meter: Meter::new(Budget::default()),
        sessions: Gate::new(MANY),
        commands: Gate::new(2),
    };
    let seat = Seat { bounds: Arc::new(bounds), ..seat };
    let artifact = bug(&bench);
    bench.harness.baseline().unwrap();
    let before = resident();
    let stage = Stage { harness: &bench.harness, workspace: &bench.workspace };
    let by = ByModel { stage, seat: &seat, who: &who(), hidden: 0.0 };
    let request = solver::Request { attempts: MANY, seed: 7, runs: None, parallel: MANY };
    let begun = Instant::now();
    let attempts = solve_by_model(&artifact, &request, &by).unwrap();
    assert!(attempts.len() == MANY && attempts.iter().all(|attempt| attempt.solved));
    assert_eq!(chat.asked.load(Ordering::SeqCst), 3 * MANY);
    let each = (most.load(Ordering::SeqCst) as u64).saturating_sub(before) / MANY as u64;
    eprintln!("{MANY} attempts at once: {} KiB each, {:?}", each >> 10, begun.elapsed());
    assert!(each < 5 << 20, "{each}");
}
