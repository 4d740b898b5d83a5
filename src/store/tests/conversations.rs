//! Which conversations with models may go, and that nothing is left of them.

use super::store;
use crate::store::{Rollout, RolloutTurn, Run, RunState, StoredSitting};

#[test]
fn conversations_of_runs_that_are_over_may_go_and_no_others() {
    let (_dir, store) = store();
    let sitting = |id: &str, run: &str, begun: i64| StoredSitting {
        id: id.to_owned(),
        run: run.to_owned(),
        step: 1,
        item: 0,
        role: "solver".to_owned(),
        phase: "solve".to_owned(),
        attempt: 0,
        model: "m".to_owned(),
        artifact: None,
        prompt: String::new(),
        tools: String::new(),
        begun,
        ending: None,
        submitted: None,
        reward: None,
        shell: Vec::new(),
    };
    for (id, state) in
        [("open", None), ("over", Some(RunState::Finished)), ("left", Some(RunState::Left))]
    {
        let begun = Run {
            id: id.to_owned(),
            base: "base".to_owned(),
            settings: "{}".to_owned(),
            seed: 1,
            planned: None,
            deadline: None,
            next: 1,
            state: RunState::Open,
            begun: 1,
            waits: None,
        };
        store.begin_run(&begun).unwrap();
        if let Some(state) = state {
            store.end_run(id, state).unwrap();
        }
        store.begin_sitting(&sitting(&format!("of {id}"), id, 5), &[]).unwrap();
    }
    // Of calls, and of another program.
    store.begin_sitting(&sitting("early call", "solve-1", 8), &[]).unwrap();
    store.begin_sitting(&sitting("late call", "solve-2", 20), &[]).unwrap();
    let rollout = |id: &str, begun: i64| Rollout {
        id: id.to_owned(),
        task: String::new(),
        role: String::new(),
        group: String::new(),
        model: "m".to_owned(),
        weights_version: String::new(),
        server: String::new(),
        sampler: "{}".to_owned(),
        begun,
        reward: None,
        reward_parts: "{}".to_owned(),
        truncated: false,
    };
    let turn = RolloutTurn { reply: "12345".to_owned(), ..RolloutTurn::default() };
    for (id, begun) in [("of open", 5), ("of over", 5), ("early", 3), ("late", 30)] {
        store.add_rollout_turn(&rollout(id, begun), &turn).unwrap();
    }
    let spare = store.spare_conversations(10).unwrap();
    let ids: Vec<_> = spare.iter().map(|spare| (&*spare.id, spare.begun)).collect();
    assert_eq!(ids, [("early", 3), ("of left", 5), ("of over", 5), ("early call", 8)]);
    assert_eq!((spare[0].bytes, spare[1].bytes), (5, 0));
    for spare in &spare {
        store.forget_conversation(&spare.id).unwrap();
    }
    assert_eq!(store.spare_conversations(10).unwrap(), []);
    assert!(
        store.sitting("of over").unwrap().is_none() && store.rollout("of over").unwrap().is_none()
    );
    assert!(store.rollout_turns("of over").unwrap().is_empty());
    assert!(
        store.sitting("of open").unwrap().is_some() && store.rollout("of open").unwrap().is_some()
    );
    assert_eq!(store.rollouts(9).unwrap().len(), 2);
}
