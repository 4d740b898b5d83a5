//! Which of many failing tests are asked first. Most candidates change nothing, and a failing test is dear: what
//! repairs none of a few that are unlike each other is not asked for the rest.

use super::survey::Coverage;
use crate::tree::RelPath;
use crate::verdict::TestId;
use std::collections::BTreeSet;

/// So many are asked first; where no more than that fail, all are.
const FIRST: usize = 6;

/// Each as far as can be from those before it by the lines that they execute, the one that executes least first;
/// where nothing is known, spread over the list.
pub(super) fn of(failing: &BTreeSet<TestId>, coverage: Option<&Coverage>) -> Vec<TestId> {
    if failing.len() <= FIRST {
        return Vec::new();
    }
    let ids: Vec<&TestId> = failing.iter().collect();
    let lines: Vec<BTreeSet<(&RelPath, u32)>> = ids
        .iter()
        .map(|id| {
            let files = coverage.and_then(|coverage| coverage.get(*id)).into_iter().flatten();
            files.flat_map(|(path, lines)| lines.iter().map(move |line| (path, *line))).collect()
        })
        .collect();
    let known = |at: &usize| !lines[*at].is_empty();
    let Some(first) = (0..ids.len()).filter(known).min_by_key(|at| (lines[*at].len(), *at)) else {
        return (0..FIRST).map(|at| ids[at * ids.len() / FIRST].clone()).collect();
    };
    let mut taken = vec![first];
    // Of each: the distance to the nearest that is taken.
    let mut apart: Vec<f64> = lines.iter().map(|of| distance(of, &lines[first])).collect();
    while taken.len() < FIRST {
        let left = (0..ids.len()).filter(|at| !taken.contains(at));
        let Some(next) = left.max_by(|a, b| apart[*a].total_cmp(&apart[*b]).then(b.cmp(a))) else {
            break;
        };
        taken.push(next);
        for (at, of) in lines.iter().enumerate() {
            apart[at] = apart[at].min(distance(of, &lines[next]));
        }
    }
    taken.into_iter().map(|at| ids[at].clone()).collect()
}

/// 1 less the share of lines that both execute of those that either does.
#[allow(clippy::cast_precision_loss, reason = "nobody executes 2^52 lines")]
fn distance<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let both = a.intersection(b).count();
    let either = a.len() + b.len() - both;
    if either == 0 { 0.0 } else { 1.0 - both as f64 / either as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn failing(count: usize) -> BTreeSet<TestId> {
        (0..count).map(|at| format!("t::{at:02}")).collect()
    }

    #[test]
    fn few_are_all_asked() {
        assert!(of(&failing(FIRST), None).is_empty());
        assert_eq!(of(&failing(FIRST + 1), None).len(), FIRST);
    }

    #[test]
    fn the_unlike_come_first_and_the_leanest_before_all() {
        let path = RelPath::parse(b"a.py").unwrap();
        // Ninety that do the same, and two that do something else.
        let of_test = |(at, id): (usize, TestId)| {
            let lines: BTreeSet<u32> = match at {
                40 => (100..130).collect(),
                70 => (1..4).collect(),
                _ => (1..20).collect(),
            };
            (id, BTreeMap::from([(path.clone(), lines)]))
        };
        let coverage: Coverage = failing(92).into_iter().enumerate().map(of_test).collect();
        let sample = of(&failing(92), Some(&coverage));
        assert_eq!(sample[..3], ["t::70", "t::40", "t::00"]);
        assert_eq!(sample.iter().collect::<BTreeSet<_>>().len(), FIRST);
    }
}
