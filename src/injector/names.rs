//! Near names, for a person who mistyped one.

/// Up to three of `known` that are nearest to `wanted`, nearest first; none that is far off.
pub(super) fn near<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let limit = wanted.chars().count() / 3 + 1;
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let inside = !wanted.is_empty() && (lower.contains(&wanted) || wanted.contains(&lower));
            let distance = last_part_distance(&wanted, &lower);
            (inside || distance <= limit).then_some((distance, name))
        })
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().map(|(_, name)| name).take(3).collect()
}

/// The smaller distance of the whole name and of its last part (a file's name, a method's name).
fn last_part_distance(wanted: &str, name: &str) -> usize {
    let last = |name: &str| name.rsplit(['/', '.', ':']).next().unwrap_or(name).to_owned();
    let stem = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let by_file = distance(
        &stem(wanted.rsplit('/').next().unwrap_or(wanted)),
        &stem(name.rsplit('/').next().unwrap_or(name)),
    );
    distance(wanted, name).min(if name.contains('/') || wanted.contains('/') {
        by_file + 1
    } else {
        distance(&last(wanted), &last(name)) + 1
    })
}

/// Levenshtein's.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, left) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (column, right) in other.iter().enumerate() {
            let substituted = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// `; near it: a, b` or nothing.
pub(super) fn hint(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) }
}
