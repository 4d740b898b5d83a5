//! Code actions: what can be done here, from the text and the store alone.

use super::bugs::{Mark, Standing};
use super::commands::Do;
use super::document::Document;
use super::edits::Shown;
use super::outline::Place;
use super::profile::Profile;
use super::proposed::{self, Proposed};
use super::shared::Shared;
use super::state::{Home, Known, KnownBug};
use super::tests_of;
use super::types::{
    CodeAction, CodeActionDisabled, CodeActionKind, CodeActionParams, CodeActionResponse, Command,
    WorkspaceEdit,
};
use crate::injector::Strategy;
use crate::session::PracticeAnswer;
use crate::tree::RelPath;
use serde_json::json;
use std::collections::BTreeMap;

pub(super) const KINDS: [&str; 9] = [
    "refactor.rewrite.selfplay.inject",
    "refactor.rewrite.selfplay.bug",
    "refactor.rewrite.selfplay.practise",
    "refactor.rewrite.selfplay.train",
    "quickfix.selfplay.solve",
    "quickfix.selfplay.repair",
    "quickfix.selfplay.test",
    "refactor.rewrite.selfplay.unnoticed",
    "refactor.rewrite.selfplay.run",
];
const INJECT: &str = KINDS[0];
const BUG: &str = KINDS[1];
const PRACTISE: &str = KINDS[2];
const TRAIN: &str = KINDS[3];
const SOLVE: &str = KINDS[4];
const REPAIR: &str = KINDS[5];
const TEST: &str = KINDS[6];
// No quick fixes: editors put those first, and take the first unasked.
const UNNOTICED: &str = KINDS[7];
const RUN: &str = KINDS[8];

/// Bugs that one place offers actions for, the latest.
const MOST: usize = 5;

pub(super) async fn code_actions(
    shared: &Shared,
    params: CodeActionParams,
) -> Option<Vec<CodeActionResponse>> {
    let (path, document) = shared.document(&params.text_document.uri).await?;
    let (home, known, documents, profile) = {
        let state = shared.state();
        let home = state.home(&path)?;
        let (known, documents) = (state.known(&home.folder), state.documents_in(&home.folder));
        (home, known, documents, state.profile.clone())
    };
    let (first, last) =
        (params.range.start.line, params.range.end.line.max(params.range.start.line));
    let here = Here {
        home: &home,
        document: &document,
        known: &known,
        documents: &documents,
        profile: &profile,
        first,
        last,
    };
    let wanted = params.context.only;
    let asked = |kind: &str| {
        wanted.as_ref().is_none_or(|wanted| {
            wanted.iter().any(|only| is_within(kind, &String::from(only.clone())))
        })
    };
    let offers = here.offers().into_iter().filter(|offer| asked(offer.kind));
    Some(offers.filter_map(|offer| offer.action(&profile)).collect())
}

/// `refactor.rewrite` asks for `refactor.rewrite.selfplay`, too, and the empty kind for everything.
fn is_within(kind: &str, wanted: &str) -> bool {
    wanted.is_empty()
        || kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

struct Offer {
    title: String,
    kind: &'static str,
    what: What,
}

enum What {
    Do(Do),
    /// With the command that asks the client for the same.
    Edit(WorkspaceEdit, Do),
    /// Why it cannot be done.
    Not(String),
}

impl Offer {
    /// As the client takes it; `None`: it takes no such thing.
    fn action(self, profile: &Profile) -> Option<CodeActionResponse> {
        let title = format!("Self-play: {}", self.title);
        if !profile.action_literals {
            let (What::Do(command) | What::Edit(_, command)) = self.what else { return None };
            return Some(CodeActionResponse::Command(command.named(title)));
        }
        let mut action = CodeAction {
            title: title.clone(),
            kind: Some(CodeActionKind::from(self.kind.to_owned())),
            ..CodeAction::default()
        };
        match self.what {
            What::Do(command) => action.command = Some(command.named(title)),
            What::Edit(edit, _) => action.edit = Some(edit),
            What::Not(reason) if profile.disabled_actions => {
                action.disabled = Some(CodeActionDisabled { reason });
            }
            What::Not(_) => return None,
        }
        Some(CodeActionResponse::CodeAction(action))
    }
}

/// The place that actions are asked for.
struct Here<'a> {
    home: &'a Home,
    document: &'a Document,
    known: &'a Known,
    documents: &'a BTreeMap<RelPath, Document>,
    profile: &'a Profile,
    first: u32,
    last: u32,
}

impl Here<'_> {
    fn offers(&self) -> Vec<Offer> {
        let Some(reading) = &self.document.reading else { return Vec::new() };
        if let Some(round) = &self.known.practice {
            return self.of_round(round);
        }
        let outline = &reading.outline;
        let mut offers = Vec::new();
        let marked: Vec<(&Mark, &KnownBug)> = self.marked(outline.function_at(self.first));
        for (mark, known) in &marked {
            self.of_bug(mark.standing, known, &mut offers);
        }
        if let Some(test) = outline.test_at(self.first) {
            let seen: Vec<&str> = marked.iter().map(|(mark, _)| mark.id.as_str()).collect();
            self.of_test(test, &seen, &mut offers);
        }
        self.of_unnoticed(&mut offers);
        let known_language = !outline.functions.is_empty() || !outline.tests.is_empty();
        if known_language && !outline.test_file {
            self.injections(outline.function_at(self.first), &mut offers);
        }
        if known_language {
            let folder = json!({ "folder": self.home.folder });
            let train = Do::new("train", folder.clone());
            offers.push(Offer {
                title: "take a training step".into(),
                kind: TRAIN,
                what: What::Do(train),
            });
        }
        offers
    }

    /// In a practice tree only what belongs to its round.
    fn of_round(&self, round: &PracticeAnswer) -> Vec<Offer> {
        let commands: &[(&str, &'static str)] = if round.state == "open" {
            &[
                ("check my fix", "practiceCheck"),
                ("run the tests of what is broken", "practiceRun"),
                ("hint", "practiceHint"),
                ("give up", "practiceGiveUp"),
                ("set the embedded solver on the same bug", "practiceRace"),
            ]
        } else {
            &[("reveal the bug", "practiceReveal")]
        };
        let argument = json!({ "folder": self.home.folder, "practice": round.practice });
        let offer = |(title, name): &(&str, &'static str)| Offer {
            title: (*title).to_owned(),
            kind: PRACTISE,
            what: What::Do(Do::new(name, argument.clone())),
        };
        commands.iter().map(offer).collect()
    }

    /// Bugs in the lines asked for, or else in the function around them.
    fn marked(&self, function: Option<&Place>) -> Vec<(&Mark, &KnownBug)> {
        let Some(reading) = &self.document.reading else { return Vec::new() };
        let (first, last) = match function {
            Some(place) => (place.first.min(self.first), place.last.max(self.last)),
            None => (self.first, self.last),
        };
        let found = reading.marks.bugs_at(first, last);
        let mut found: Vec<(&Mark, &KnownBug)> =
            found.filter_map(|mark| Some((mark, self.known.bug(&mark.id)?))).collect();
        // What is in the text comes first.
        found.sort_by_key(|(mark, _)| mark.standing != Standing::Made);
        found.truncate(MOST);
        found
    }

    fn of_bug(&self, standing: Standing, known: &KnownBug, offers: &mut Vec<Offer>) {
        let id = short(&known.bug.artifact);
        let mut offer = |title: String, kind, what| offers.push(Offer { title, kind, what });
        match standing {
            Standing::Fits => {
                if let Some(what) = self.edit(known, Proposed::Bug) {
                    offer(format!("put bug {id} into the open files"), BUG, what);
                }
            }
            Standing::Made => {
                if let Some(repair) = self.edit(known, Proposed::Repair) {
                    offer(format!("apply the repair of bug {id}"), REPAIR, repair);
                }
                if let Some(what) = self.edit(known, Proposed::Original) {
                    offer(format!("take bug {id} out again"), BUG, what);
                }
            }
        }
        self.common(known, offers);
    }

    fn common(&self, known: &KnownBug, offers: &mut Vec<Offer>) {
        let id = short(&known.bug.artifact);
        let mut offer = |title: String, kind, command: &'static str, more: serde_json::Value| {
            let mut argument =
                json!({ "folder": self.home.folder, "artifact": known.bug.artifact });
            if let (Some(argument), Some(more)) = (argument.as_object_mut(), more.as_object()) {
                argument.extend(more.clone());
            }
            offers.push(Offer { title, kind, what: What::Do(Do::new(command, argument)) });
        };
        offer(format!("solve bug {id} from its reversed weakened test"), SOLVE, "solve", json!({}));
        offer(format!("practise on bug {id}"), PRACTISE, "practise", json!({}));
        for (part, words) in [
            ("bug", "show bug"),
            ("weakening", "show the weakening of bug"),
            ("reversed", "show the reversed weakened test of bug"),
        ] {
            offer(format!("{words} {id}"), BUG, "show", json!({ "part": part }));
        }
        offer(format!("run the parser of bug {id} on the last log"), BUG, "runParser", json!({}));
        offer(format!("score the reward of bug {id}"), BUG, "score", json!({}));
    }

    /// Bugs that the test notices, and those whose weakening changes it.
    fn of_test(&self, test: &Place, seen: &[&str], offers: &mut Vec<Offer>) {
        let Some(reading) = &self.document.reading else { return };
        let notices = |known: &&KnownBug| {
            known
                .bug
                .failing
                .iter()
                .any(|id| tests_of::place(id, &self.home.file, &reading.outline) == Some(test))
        };
        let fresh = |known: &&KnownBug| !seen.contains(&known.bug.artifact.as_str());
        for known in self.known.bugs.iter().filter(fresh).filter(notices).take(MOST) {
            self.common(known, offers);
        }
        let run =
            json!({ "folder": self.home.folder, "file": self.home.file, "test": test.qualified });
        let title = format!("run {} with its file's tests", test.name);
        offers.push(Offer { title, kind: RUN, what: What::Do(Do::new("runTest", run)) });
    }

    fn of_unnoticed(&self, offers: &mut Vec<Offer>) {
        let Some(reading) = &self.document.reading else { return };
        let here = |mark: &&Mark| mark.first <= self.last && self.first <= mark.last;
        for mark in reading.marks.unnoticed.iter().filter(here).take(MOST) {
            let argument = json!({ "folder": self.home.folder, "edit": mark.id });
            let title =
                "write the test that is missing: show the edit that no test noticed".to_owned();
            let what = What::Do(Do::new("missingTest", argument));
            offers.push(Offer { title, kind: TEST, what });
        }
    }

    fn injections(&self, function: Option<&Place>, offers: &mut Vec<Offer>) {
        let mut offer = |title: String, kind, command, argument| {
            offers.push(Offer { title, kind, what: What::Do(Do::new(command, argument)) });
        };
        let (folder, file) = (&self.home.folder, &self.home.file);
        if let Some(place) = function {
            let name = &place.qualified;
            let target = format!("{file}:{name}");
            offer(
                format!("inject a bug into {name}"),
                INJECT,
                "inject",
                json!({ "folder": folder, "target": target }),
            );
            for strategy in [Strategy::Direct, Strategy::Removal, Strategy::History] {
                let word = crate::session::name(strategy);
                offer(
                    format!("inject a bug into {name} ({word})"),
                    INJECT,
                    "inject",
                    json!({ "folder": folder, "target": target, "strategy": word }),
                );
            }
            offer(
                format!("practise here: a new bug in {name}"),
                PRACTISE,
                "practise",
                json!({ "folder": folder, "target": target }),
            );
        }
        offer(
            "inject a bug into this file".to_owned(),
            INJECT,
            "inject",
            json!({ "folder": folder, "target": file }),
        );
        offer(
            "inject a bug into this workspace".to_owned(),
            INJECT,
            "inject",
            json!({ "folder": folder }),
        );
        offer(
            "find edits of this file that no test notices".to_owned(),
            UNNOTICED,
            "unnoticed",
            json!({ "folder": folder, "target": file }),
        );
    }

    /// `None` where there is no such edit; one that does not fit what is shown says why.
    fn edit(&self, known: &KnownBug, wanted: Proposed) -> Option<What> {
        let shown = Shown { folder: &self.home.folder, documents: self.documents };
        let argument = json!({
            "folder": self.home.folder, "artifact": known.bug.artifact, "edit": wanted.name()
        });
        Some(match proposed::edit(&shown, &wanted.patch(known)?, self.profile) {
            Ok(edit) => What::Edit(edit, Do::new("apply", argument)),
            Err(why) => What::Not(why),
        })
    }
}

impl Do {
    fn named(self, title: String) -> Command {
        Command { title, command: self.name, arguments: Some(vec![self.argument]), tooltip: None }
    }
}

/// An artifact's id as people are shown it.
pub(super) fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
