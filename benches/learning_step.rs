//! What an update costs, apart from the tests that it learns from: candidates scored a second beside what memory
//! gives, and one step of the trainer.
//!
//! `cargo bench --bench learning_step`. The options are made up, as many and as dense as those of a bug in a large
//! file: 4,000 options of 50 features, of some 3,000 distinct ones; 4 bugs with 8 attempts of 20 draws each.

#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints its figures, which are far below 2^52"
)]

use ssr_mcp::dice::Dice;
use ssr_mcp::policy::{self, Draws, Options, OptionsBuilder, Role, Scope, Weights};
use ssr_mcp::trainer::{Base, Baselines, Embedded, Group, Rollout, Rules, Trainer as _, step};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const OPTIONS: usize = 4000;
const FEATURES: usize = 50;
const DISTINCT: usize = 3000;
const BUGS: usize = 4;
const ATTEMPTS: usize = 8;
const DRAWS: usize = 20;
const TIMES: u32 = 20;

fn main() -> anyhow::Result<()> {
    let mut dice = Dice::new(7);
    let inputs: Vec<Arc<Options>> = (0..BUGS).map(|_| Arc::new(options(&mut dice))).collect();
    let mut weights = Weights::new();
    for feature in 0..DISTINCT {
        weights.set(Scope::Own(Role::Solver), &format!("feature {feature}"), dice.unit() - 0.5);
    }
    let scoring = median(|| {
        black_box(weights.logits(Role::Solver, &inputs[0]));
    });
    let scored = OPTIONS as f64 / scoring.as_secs_f64();
    println!("scored: {scored:.0} candidates a second ({scoring:?} for {OPTIONS})");
    // Each feature is a column of four bytes that is read once, and a weight that stays in the cache.
    let bytes = (OPTIONS * FEATURES * 4) as f64;
    let memory = bandwidth();
    println!(
        "floor: {:.1} GB/s of features read of {:.1} GB/s that memory gives to one core ({:.0} %)",
        bytes / scoring.as_secs_f64() / 1e9,
        memory / 1e9,
        100.0 * bytes / scoring.as_secs_f64() / memory
    );
    let drawing = median(|| {
        let logits = weights.logits(Role::Solver, &inputs[0]);
        black_box(policy::draw(&logits, 0.4, logits.len(), &mut dice));
    });
    println!("scored and ordered: {drawing:?}");
    let mut trainer = Embedded::create(Base { weights: weights.clone(), ..Base::default() })?;
    let mut baselines = Baselines::default();
    let mut walls = Vec::new();
    for _ in 0..TIMES {
        let groups = groups(&inputs, trainer.weights(), trainer.version(), &mut dice)?;
        let started = Instant::now();
        step(&mut trainer, groups, &Rules::default(), &mut baselines)?;
        walls.push(started.elapsed());
    }
    walls.sort();
    let wall = walls[walls.len() / 2];
    println!("update: {wall:?} for {BUGS} bugs of {ATTEMPTS} attempts of {DRAWS} draws");
    let saving = median(|| {
        black_box(trainer.save(&[].into()).map(|bytes| bytes.len())).ok();
    });
    println!("checkpoint: {saving:?}");
    Ok(())
}

fn options(dice: &mut Dice) -> Options {
    let mut out = OptionsBuilder::new();
    for _ in 0..OPTIONS {
        out.option();
        out.feature(&["feature 0"], dice.unit());
        for _ in 1..FEATURES {
            // Some features are on most options, most are on few.
            let rare = dice.unit().powi(4);
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "within 0..DISTINCT"
            )]
            let feature = (rare * DISTINCT as f64) as usize;
            out.flag(&["feature ", &feature.to_string()]);
        }
    }
    out.finish()
}

fn groups(
    inputs: &[Arc<Options>],
    weights: &Weights,
    version: u64,
    dice: &mut Dice,
) -> anyhow::Result<Vec<Group<Options>>> {
    let mut groups = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        let logits = weights.logits(Role::Solver, input);
        let mut rollouts = Vec::new();
        for attempt in 0..ATTEMPTS {
            let taken = policy::draw(&logits, 1.0, DRAWS, dice);
            let logs = Draws::new(&logits, &taken)?.log_probabilities();
            rollouts.push(Rollout {
                input: Arc::clone(input),
                taken,
                logs,
                temperature: 1.0,
                version,
                reward: attempt as f64 / ATTEMPTS as f64,
                success: attempt > 0,
                left_out: None,
            });
        }
        groups.push(Group { role: Role::Solver, subject: format!("bug {number}"), rollouts });
    }
    Ok(groups)
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut walls: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        })
        .collect();
    walls.sort();
    walls[walls.len() / 2]
}

/// Bytes a second that one core reads of what no cache holds.
fn bandwidth() -> f64 {
    let large = vec![1_u64; 32 << 20];
    let wall = median(|| {
        black_box(large.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word)));
    });
    (large.len() * 8) as f64 / wall.as_secs_f64()
}
