//! From the titles that a test's id ends with to where the test is written: titles are free text, and
//! may be made at run time.

use super::locate::{Place, TestFile};
use crate::syntax::Test;

/// How well a title in the source says what an id ends with; of two that say it equally well, none does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Any title: it is computed.
    Computed,
    /// By what stands between its placeholders.
    Pattern(usize),
    Whole(usize),
}

/// The test of an id `path::title::title`; `None` where no file has that path, or where several tests
/// could have that title.
pub(super) fn locate(id: &str, files: &[TestFile]) -> Option<Place> {
    let mut best: Option<(Fit, Place)> = None;
    let mut tied = false;
    for (file, test_file) in files.iter().enumerate() {
        let rest =
            id.strip_prefix(test_file.path.as_str()).and_then(|rest| rest.strip_prefix("::"));
        let Some(rest) = rest.map(plain) else { continue };
        // A test that is a function has a name, no title.
        let titled = |(_, test): &(usize, &Test)| test.function.is_none();
        for (test, found) in test_file.parsed.tests().iter().enumerate().filter(titled) {
            let Some(fit) = fit(&rest, &found.name, &found.qualified) else { continue };
            match best {
                Some((top, _)) if fit < top => {}
                Some((top, _)) if fit == top => tied = true,
                _ => {
                    best = Some((fit, Place { file, test: Some(test) }));
                    tied = false;
                }
            }
        }
    }
    best.filter(|_| !tied).map(|(_, place)| place)
}

fn fit(rest: &str, name: &str, qualified: &str) -> Option<Fit> {
    if name.is_empty() {
        return Some(Fit::Computed);
    }
    let name = plain(name);
    let ends = |title: &str| rest == title || rest.ends_with(&format!("::{title}"));
    if ends(&name) {
        let scopes = plain(qualified);
        let scopes = scopes.strip_suffix(&name).unwrap_or_default().trim_end_matches(['.', ' ']);
        // Titles of suites around it tell two tests of one title apart.
        let around = rest.strip_suffix(&name).unwrap_or_default().replace("::", ".");
        let shared = !scopes.is_empty() && around.trim_end_matches('.').ends_with(scopes);
        return Some(Fit::Whole(if shared { scopes.len() } else { 0 }));
    }
    let pieces = pieces(&name)?;
    let length = pieces.iter().map(String::len).sum();
    let title_starts = std::iter::once(0).chain(rest.match_indices("::").map(|(at, _)| at + 2));
    let mut titles = title_starts.map(|start| &rest[start..]);
    titles.any(|title| follows(title, &pieces)).then_some(Fit::Pattern(length))
}

/// Escapes and white space as they come out in a report: one space, none at the ends.
fn plain(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title.chars();
    while let Some(next) = rest.next() {
        match (next, next == '\\') {
            (_, true) => match rest.next() {
                Some('n' | 'r' | 't') => text.push(' '),
                Some(escaped) => text.push(escaped),
                None => {}
            },
            (next, _) => text.push(next),
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What stands between a title's placeholders, `${expression}` and `%s`; `None` where it has none.
fn pieces(name: &str) -> Option<Vec<String>> {
    let mut pieces = vec![String::new()];
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let inserted = rest.strip_prefix("${").and_then(|inner| Some(inner.find('}')? + 3));
        let printed = rest.strip_prefix('%').and_then(|inner| {
            let kind = inner.chars().next()?;
            matches!(kind, 's' | 'd' | 'i' | 'f' | 'j' | 'o' | 'O' | 'p' | '#' | 'c').then_some(2)
        });
        if let Some(length) = inserted.or(printed) {
            pieces.push(String::new());
            rest = &rest[length..];
        } else {
            pieces.last_mut()?.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    (pieces.len() > 1).then_some(pieces)
}

/// Whether a title begins with the first piece, ends with the last, and has the others in between.
fn follows(title: &str, pieces: &[String]) -> bool {
    let (Some((first, others)), Some(last)) = (pieces.split_first(), pieces.last()) else {
        return false;
    };
    let Some(mut rest) = title.strip_prefix(first.as_str()) else { return false };
    for piece in &others[..others.len().saturating_sub(1)] {
        let Some(at) = rest.find(piece.as_str()) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::locate::open;
    use super::super::tests::{only, path, tree};
    use super::*;

    const SOURCE: &str = "describe('add', () => {\n  it('adds', () => { expect(1).toBe(1); });\n  it(`adds ${a} to ${b}`, () => { expect(1).toBe(1); });\n  it.each([1])('doubles %d', (n) => { expect(n).toBe(1); });\n});\ndescribe('sub', () => {\n  it('adds', () => { expect(2).toBe(2); });\n});\ntest('\\nspaced  (out) [x]', () => { expect(1).toBe(1); });\n";

    #[track_caller]
    fn check(source: &str, id: &str, expect: Option<usize>) {
        let tree = tree(&[("test/a.test.js", source)]);
        let files = open(&tree, &only("javascript"), &[path("test/a.test.js")]);
        assert_eq!(locate(id, &files).and_then(|place| place.test), expect, "{id}");
    }

    #[test]
    fn a_title_is_found_in_its_suite() {
        check(SOURCE, "test/a.test.js::add::adds", Some(0));
        check(SOURCE, "test/a.test.js::sub::adds", Some(3));
        check(SOURCE, "test/a.test.js::spaced (out) [x]", Some(4));
        check(SOURCE, "test/b.test.js::add::adds", None);
    }

    #[test]
    fn a_title_with_placeholders_is_found_by_what_stands_between_them() {
        check(SOURCE, "test/a.test.js::add::adds 1 to 2", Some(1));
        check(SOURCE, "test/a.test.js::add::doubles 7", Some(2));
        check(SOURCE, "test/a.test.js::add::halves 7", None);
    }

    #[test]
    fn a_computed_title_stands_for_all_that_nothing_else_says() {
        let one = "for (const row of rows) {\n  it(row.label, () => {\n    expect(row.x).toBe(1);\n  });\n}\nit('own', () => { expect(1).toBe(1); });\n";
        check(one, "test/a.test.js::whatever :: it is", Some(0));
        check(one, "test/a.test.js::own", Some(1));
        let two = format!("{one}it(String(other), () => {{ expect(2).toBe(2); }});\n");
        check(&two, "test/a.test.js::whatever", None);
    }
}
