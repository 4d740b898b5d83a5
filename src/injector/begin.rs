//! From a request to a search: the strategy that it comes to, and what that may edit.

use super::bench::Bench;
use super::code::{Code, Ground, is_called};
use super::history::Undoing;
use super::learned::{self, Choice, Fate, Tried};
use super::search::Search;
use super::{Counts, Injected, NotInjected, Request, Strategy, Target};
use crate::dice::Dice;
use crate::harness::{Error, Harness};
use crate::policy::Player;
use crate::syntax::Languages;
use crate::tree::{RelPath, Tree};
use crate::workspace::Wanted;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Where the mix comes to history and history to nothing, code is removed instead.
pub(super) fn search(
    harness: &Harness,
    languages: &Languages,
    request: &Request,
    known: &dyn Fn(&str) -> bool,
    player: Option<Player<'_>>,
) -> Result<Result<Injected, NotInjected>, Error> {
    let drawn = player.filter(|_| request.strategy == Strategy::Mixed).and_then(|player| {
        let mut dice = Dice::new(request.seed).fork("strategy by policy");
        learned::draw_strategy(&mut dice, request.history.is_some(), player)
    });
    let strategy = drawn.as_ref().map_or_else(|| request.sampled(), |(strategy, _)| *strategy);
    let mut found = search_by(strategy, harness, languages, request, known, player)?;
    let fate = if found.is_ok() { Fate::Bug } else { Fate::Nothing };
    if request.strategy == Strategy::Mixed && strategy == Strategy::History && found.is_err() {
        found = search_by(Strategy::Removal, harness, languages, request, known, player)?;
    }
    if let Some((_, drawn)) = drawn {
        let choices = vec![(Choice::Strategy, drawn)];
        let tried = match &mut found {
            Ok(injected) => &mut injected.tried,
            Err(none) => &mut none.tried,
        };
        tried.push(Tried { choices, kinds: Vec::new(), fate });
    }
    Ok(found)
}

fn search_by(
    strategy: Strategy,
    harness: &Harness,
    languages: &Languages,
    request: &Request,
    known: &dyn Fn(&str) -> bool,
    player: Option<Player<'_>>,
) -> Result<Result<Injected, NotInjected>, Error> {
    let none = |reason: String| {
        Ok(Err(NotInjected { reason, counts: Counts::default(), tried: Vec::new() }))
    };
    if !strategy.is_embedded() {
        return none(format!(
            "the strategy {} is for models; name one as the injector, or use another strategy",
            strategy.name()
        ));
    }
    let languages = match spoken(harness, languages) {
        Ok(languages) => languages,
        Err(reason) => return none(reason),
    };
    if request.target.is_some() && request.changed_files > 1 {
        return none(format!(
            "a target is one file, but {} changed files are asked for; leave one of the two out",
            request.changed_files
        ));
    }
    let bench = Bench::new(harness, request.passing_tests)?;
    let baseline = harness.baseline()?;
    let test_files = bench.test_files().clone();
    let ground = Ground {
        tree: harness.base(),
        languages: &languages,
        reach: &baseline.reach,
        entered: &baseline.entered,
        test_files: &test_files,
        sways: &|path| harness.runner().sways(path),
    };
    let code = match Code::survey(&ground, strategy, request.target.as_ref()) {
        Ok(code) => code,
        Err(reason) => return none(reason),
    };
    if code.files().len() < request.changed_files {
        return none(format!(
            "passing tests reach {} code files, fewer than the {} that a bug must change",
            code.files().len(),
            request.changed_files
        ));
    }
    let undoing = match (strategy, &request.history) {
        (Strategy::History, Some(history)) => Some(Undoing::new(history.clone(), &code)),
        (Strategy::History, None) => {
            return none("there is no history to undo; use another strategy".to_owned());
        }
        _ => None,
    };
    if undoing.as_ref().is_some_and(Undoing::is_empty) {
        return none(
            "no commit that was looked at changed the code that may be edited; use another strategy or \
             another target"
                .to_owned(),
        );
    }
    Search::new((bench, code), strategy, undoing, request, known, player).play()
}

/// The languages of the test runner.
pub(super) fn spoken(harness: &Harness, languages: &Languages) -> Result<Languages, String> {
    let unknown = |name| format!("there is no grammar for `{name}`, a language of the test runner");
    languages.only(harness.runner().languages()).map_err(unknown)
}

pub(super) fn wanted_history(
    harness: &Harness,
    languages: &Languages,
    target: Option<&Target>,
) -> Result<Wanted, Error> {
    let Ok(languages) = spoken(harness, languages) else { return Ok(Wanted::default()) };
    let baseline = harness.baseline()?;
    let tests: BTreeSet<RelPath> =
        harness.runner().test_files(harness.base()).into_iter().collect();
    let ground = Ground {
        tree: harness.base(),
        languages: &languages,
        reach: &baseline.reach,
        entered: &baseline.entered,
        test_files: &tests,
        sways: &|path| harness.runner().sways(path),
    };
    let mut code = ground.code_files();
    code.retain(|path| target.is_none_or(|target| target.file == *path));
    let lines = target.and_then(|target| asked_lines(harness.base(), &languages, target));
    Ok(Wanted { code, tests, lines })
}

/// The lines of the target: of its function, of the whole file where it names none.
fn asked_lines(
    tree: &dyn Tree,
    languages: &Languages,
    target: &Target,
) -> Option<(RelPath, RangeInclusive<u32>)> {
    let parsed = languages.for_path(&target.file)?.parse(tree.read(&target.file)?.bytes);
    let range = match &target.symbol {
        None => 0..parsed.source().len(),
        Some(symbol) => {
            let functions = parsed.functions();
            functions.iter().find(|function| is_called(function, symbol))?.range.clone()
        }
    };
    let lines = parsed.line_of(range.start)..=parsed.line_of(range.end.saturating_sub(1));
    Some((target.file.clone(), lines))
}
