//! `unnoticed`: edits that the tests execute and do not notice; found, kept, listed.

use super::inject::target;
use super::record::Record;
use super::{Error, Event, Job, Repository, Session};
use crate::store::TriedEdit;
use crate::unnoticed::{self, Counts, Tried, Unnoticed};
use std::collections::BTreeSet;

/// Unnoticed edits that one call looks for, and edits that it tries, where nobody says otherwise.
pub const DEFAULT_UNNOTICED: usize = 10;
pub const DEFAULT_EDITS: usize = 200;

#[derive(Clone, Debug)]
pub struct UnnoticedRequest {
    pub repository: Repository,
    /// `FILE` or `FILE:SYMBOL`, relative to the repository's root.
    pub target: Option<String>,
    /// The configuration's where `None`.
    pub seed: Option<u64>,
    /// Most unnoticed edits that are looked for, beside those that are known.
    pub limit: usize,
    /// Most edits that tests are run on.
    pub runs: usize,
}

/// An edit that no test notices.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct UnnoticedLine {
    #[serde(flatten)]
    pub edit: Unnoticed,
    /// Whether this call found it.
    pub new: bool,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct UnnoticedAnswer {
    /// Those that are known of the tree as it is, in the order in which they were found.
    pub edits: Vec<UnnoticedLine>,
    /// What became of the edits that this call drew; all zero where it only lists.
    pub counts: Counts,
    /// The seed that repeats this call on the same tree, with nothing known; null where it only lists.
    pub seed: Option<u64>,
    /// The content id of the tree.
    pub base: String,
    /// Unnoticed edits that are kept of other states of the repository.
    pub of_other_trees: u64,
    /// Why nothing was tried; null where something was.
    pub problem: Option<String>,
}

impl Session {
    pub fn unnoticed(
        &self,
        request: &UnnoticedRequest,
        job: &Job,
    ) -> Result<UnnoticedAnswer, Error> {
        let seed = request.seed.unwrap_or(self.config().seed);
        let target = target(request.target.as_deref())?;
        if request.limit == 0 || request.runs == 0 {
            let text = "there is nothing to do with a limit of 0 or with 0 runs; give at least 1";
            return Err(Error::usage(text));
        }
        let opened = self.open(&request.repository, job)?;
        let base = opened.harness.base().id.clone();
        let store = &opened.record.store;
        let known: BTreeSet<String> =
            store.tried_edits(&base).map_err(Error::harness)?.into_iter().collect();
        let wanted = unnoticed::Request { seed, target, limit: request.limit, runs: request.runs };
        job.step("trying edits that the tests execute");
        let mut found = BTreeSet::new();
        let mut keep = |tried: &[Tried]| {
            let rows: Vec<TriedEdit> = tried.iter().map(row).collect();
            store.record_edits(&base, &rows)?;
            for edit in tried.iter().filter_map(|tried| tried.unnoticed.as_ref()) {
                found.insert(edit.id.clone());
                job.tell(Event::Step(format!("unnoticed: {}", edit.summary)));
            }
            Ok(())
        };
        let is_known = |id: &str| known.contains(id);
        let searched =
            unnoticed::search(&opened.harness, &opened.languages, &wanted, &is_known, &mut keep)
                .map_err(|error| job.failed(error))?;
        let (counts, problem) = match searched {
            Ok(counts) => (counts, None),
            Err(problem) => (Counts::default(), Some(problem.to_string())),
        };
        Ok(UnnoticedAnswer {
            counts,
            seed: Some(seed),
            problem,
            ..listed(&opened.record, base, &found)?
        })
    }

    /// Those that are known of the tree as it is; nothing is run.
    pub fn known_unnoticed(&self, repository: &Repository) -> Result<UnnoticedAnswer, Error> {
        let workspace = self.workspace(repository)?;
        let base = workspace
            .freeze_unsaved(self.sandbox()?.owner(), &repository.unsaved)
            .map_err(Error::harness)?;
        listed(&Record::open(&workspace)?, base.id, &BTreeSet::new())
    }
}

fn row(tried: &Tried) -> TriedEdit {
    let json = |edit: &Unnoticed| serde_json::to_string(edit).unwrap_or_default();
    TriedEdit {
        edit: tried.id.clone(),
        outcome: tried.outcome.to_owned(),
        content: tried.unnoticed.as_ref().map(json),
    }
}

fn listed(
    record: &Record,
    base: String,
    found: &BTreeSet<String>,
) -> Result<UnnoticedAnswer, Error> {
    let rows = record.store.unnoticed_edits(&base).map_err(Error::harness)?;
    let all = record.store.count_unnoticed_edits().map_err(Error::harness)?;
    let of_other_trees = all.saturating_sub(rows.len() as u64);
    let read = rows.iter().filter_map(|row| serde_json::from_str::<Unnoticed>(row).ok());
    let edits = read.map(|edit| UnnoticedLine { new: found.contains(&edit.id), edit }).collect();
    let counts = Counts::default();
    Ok(UnnoticedAnswer { edits, counts, seed: None, base, of_other_trees, problem: None })
}
