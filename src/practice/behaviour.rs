//! The reversed weakening in words: which behaviour is broken, told by what the visible tests lack.

use super::clue::quoted;
use crate::diff::line_changes;
use crate::syntax::Languages;
use crate::text::lines;
use crate::tree::{Changes, Overlaid, Tree};

/// Something that the code is to do and does not: lines of tests that were taken out or weakened.
#[derive(
    Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Behaviour {
    /// The test file.
    pub file: String,
    /// The test; null where the language is not known, or the lines are of no test.
    pub test: Option<String>,
    /// Where the lines belong in the practice tree's file, from 1.
    pub line: u32,
    /// What the visible tests lack.
    pub missing: Vec<String>,
    /// What stands there instead; empty where the lines were taken out.
    pub instead: Vec<String>,
    /// One sentence.
    pub text: String,
}

/// `shown`: bug and weakening over the base; `strong`: the bug under the original tests.
pub fn behaviours(
    base: &dyn Tree,
    shown: &Changes,
    strong: &Changes,
    languages: &Languages,
) -> Vec<Behaviour> {
    let [weak, strong] = [shown, strong].map(|changes| Overlaid { base, changes });
    let mut told = Vec::new();
    for path in shown.paths() {
        let content = |tree: &Overlaid<'_>| {
            tree.read(path).map(|file| file.bytes.to_vec()).unwrap_or_default()
        };
        let (before, after) = (content(&weak), content(&strong));
        if before == after {
            continue;
        }
        let parsed = languages.for_path(path).map(|language| language.parse(after.clone()));
        let (old, new): (Vec<&[u8]>, Vec<&[u8]>) =
            (lines(&before).collect(), lines(&after).collect());
        for change in line_changes(&old, &new) {
            let start: usize = new[..change.new.start].iter().map(|line| line.len()).sum();
            let length: usize = new[change.new.clone()].iter().map(|line| line.len()).sum();
            let blanks =
                after[start..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let tests = parsed.as_ref().map(crate::syntax::Parsed::tests).unwrap_or_default();
            let at = start + blanks;
            // The innermost comes last.
            let test = tests.iter().rfind(|test| test.range.contains(&at));
            let whole = test
                .is_some_and(|test| start <= test.range.start && test.range.end <= start + length);
            let (missing, instead) =
                (quoted(&new[change.new.clone()]), quoted(&old[change.old.clone()]));
            told.push(Behaviour {
                file: path.as_str().to_owned(),
                test: test.map(|test| test.qualified.clone()),
                line: u32::try_from(change.old.start + 1).unwrap_or(u32::MAX),
                text: sentence(
                    path.as_str(),
                    test.map(|test| test.qualified.as_str()),
                    whole,
                    !instead.is_empty(),
                ),
                missing,
                instead,
            });
        }
    }
    told
}

fn sentence(file: &str, test: Option<&str>, whole: bool, replaced: bool) -> String {
    match (test, whole, replaced) {
        (Some(test), true, _) => {
            format!("what {test} in {file} checks is broken: the whole test was taken out")
        }
        (Some(test), false, true) => {
            format!("what {test} in {file} checks is broken: these lines were weakened")
        }
        (Some(test), false, false) => {
            format!("what {test} in {file} checks is broken: these lines were taken out")
        }
        (None, _, true) => format!("what {file} checks is broken: these lines were weakened"),
        (None, _, false) => format!("what {file} checks is broken: these lines were taken out"),
    }
}
