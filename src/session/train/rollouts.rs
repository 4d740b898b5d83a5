//! What was drawn, with what it earned: groups to learn from.

use crate::episode::Round;
use crate::grading::Reason;
use crate::injector::{Choice, Fate};
use crate::policy::{Drawn, Options, Role};
use crate::reward::solver_by_runs;
use crate::solver::Attempt;
use crate::trainer::{Group, LeftOut, Rollout};
use std::collections::BTreeMap;

/// What was drawn for one bug: what is part of it earns what it earns, what no test noticed or what broke
/// everything what an `invalid` bug does. What became of the rest is not known. Choices of one sort are compared
/// with each other; a strategy's also beyond the strategy.
pub(super) fn edits(round: &Round, base: &str, invalid: f64, version: u64) -> Vec<Group<Options>> {
    let valid = round.is_valid();
    let mut groups: BTreeMap<String, Vec<Rollout<Options>>> = BTreeMap::new();
    for tried in &round.tried {
        let earned = match tried.fate {
            Fate::Bug => round.inject_reward.map(|reward| (reward, valid)),
            Fate::Nothing => Some((invalid, false)),
            Fate::Open => None,
        };
        let Some((reward, success)) = earned else { continue };
        for (choice, drawn) in &tried.choices {
            let subject = match choice {
                Choice::Strategy => format!("{base} strategy"),
                other => format!("{base} {} {}", round.strategy.name(), other.name()),
            };
            let rollout = Rollout { reward, success, ..rollout(drawn, version) };
            groups.entry(subject).or_default().push(rollout);
        }
    }
    let group = |(subject, rollouts)| Group { role: Role::Injector, subject, rollouts };
    groups.into_iter().map(group).collect()
}

/// The attempts at one bug, each of which could run so many candidates.
pub(super) fn attempted(
    id: &str,
    attempts: &[Attempt],
    runs: usize,
    version: u64,
) -> Group<Options> {
    let rollouts = attempts.iter().filter_map(|attempt| {
        let left_out = match attempt.reason {
            _ if cheats(attempt) => Some(LeftOut::Cheating),
            Reason::Unplayable(_) => Some(LeftOut::Infrastructure),
            _ => None,
        };
        Some(Rollout {
            reward: solver_by_runs(attempt.solved.then_some(attempt.runs), runs),
            success: attempt.solved,
            left_out,
            ..rollout(attempt.drawn.as_ref()?, version)
        })
    });
    Group { role: Role::Solver, subject: id.to_owned(), rollouts: rollouts.collect() }
}

fn rollout(drawn: &Drawn, version: u64) -> Rollout<Options> {
    Rollout {
        input: drawn.options.clone(),
        taken: drawn.taken.clone(),
        logs: drawn.logs.clone(),
        temperature: drawn.temperature,
        version,
        reward: 0.0,
        success: false,
        left_out: None,
    }
}

/// Whether not all rewards are the same.
pub(super) fn tells(group: &Group<Options>) -> bool {
    let mut rewards = group.rollouts.iter().map(|rollout| rollout.reward);
    let first = rewards.next();
    rewards.any(|reward| Some(reward) != first)
}

pub(super) fn cheats(attempt: &Attempt) -> bool {
    matches!(attempt.reason, Reason::Tampered(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::OptionsBuilder;
    use std::sync::Arc;

    fn attempt(solved: bool, runs: usize, reason: Reason) -> Attempt {
        let mut options = OptionsBuilder::new();
        options.option();
        let options = Arc::new(options.finish());
        let drawn = Drawn { options, taken: vec![0], logs: vec![0.0], temperature: 0.4 };
        Attempt {
            solved,
            reward: if solved { 1.0 } else { -1.0 },
            patch: String::new(),
            runs,
            reason,
            flags: Vec::new(),
            bill: None,
            drawn: Some(drawn),
            policy: None,
            kinds: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn an_early_repair_earns_more_than_a_late_one_and_none_nothing() {
        let attempts = [
            attempt(true, 1, Reason::Solved),
            attempt(true, 11, Reason::Solved),
            attempt(false, 20, Reason::NoPatch),
        ];
        let group = attempted("bug", &attempts, 20, 7);
        let rewards: Vec<f64> = group.rollouts.iter().map(|rollout| rollout.reward).collect();
        assert_eq!(rewards, [1.0, 0.75, 0.0]);
        assert!(group.rollouts.iter().all(|rollout| rollout.version == 7));
        assert!(tells(&group) && !tells(&attempted("bug", &attempts[2..], 20, 7)));
        assert!(!tells(&attempted("bug", &[], 20, 7)));
    }

    #[test]
    fn cheating_and_what_could_not_be_played_are_no_evidence() {
        let attempts = [
            attempt(false, 3, Reason::Tampered("it patches the runner".to_owned())),
            attempt(false, 0, Reason::Unplayable("it does not apply".to_owned())),
            attempt(false, 3, Reason::NoVerdict("it hangs".to_owned())),
        ];
        let group = attempted("bug", &attempts, 20, 0);
        let left: Vec<_> = group.rollouts.iter().map(|rollout| rollout.left_out).collect();
        assert_eq!(left, [Some(LeftOut::Cheating), Some(LeftOut::Infrastructure), None]);
    }

    #[test]
    fn an_attempt_of_the_fixed_order_is_no_rollout() {
        let fixed = Attempt { drawn: None, ..attempt(true, 1, Reason::Solved) };
        assert!(attempted("bug", &[fixed], 20, 0).rollouts.is_empty());
    }
}
