//! Near names, for a person who mistyped one.

/// Up to three of `known` that are nearest to `wanted`, nearest first; none that is far off. What
/// two names have in `last` counts nearly as much as the whole.
fn near<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
    last: fn(&str) -> &str,
) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let limit = wanted.chars().count() / 4 + 1;
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = distance(&wanted, &lower).min(distance(last(&wanted), last(&lower)) + 1);
            (distance <= limit).then_some((distance, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, name)| name).take(3).collect()
}

/// Near paths: by the whole or by the file's name without its extension.
pub(super) fn near_files<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    near(wanted, known, |path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    })
}

/// Near functions: by the qualified or the plain name.
pub(super) fn near_functions<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    near(wanted, known, |name| name.rsplit(['.', ':']).next().unwrap_or(name))
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
