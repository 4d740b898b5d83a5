//! `inject`: one bug, made and checked.

use super::open::Opened;
use super::record::{self, Origin, copy_out};
use super::warnings::{Warning, differs};
use super::{CANDIDATES, CheckAnswer, Error, Event, Job, Repository, Session, folder};
use crate::consistency::{self, Audited, Minima};
use crate::injector::{self, Counts, Strategy, Target, Undone};
use crate::policy::Sampling;
use crate::tree::RelPath;
use crate::workspace::History;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct InjectRequest {
    pub repository: Repository,
    pub strategy: Strategy,
    /// `FILE` or `FILE:SYMBOL`, relative to the repository's root.
    pub target: Option<String>,
    /// The configuration's where `None`.
    pub seed: Option<u64>,
    /// A checkpoint, or `start`; what was trained in the workspace where `None`.
    pub policy: Option<String>,
    /// Where to write the artifact; `None`: beneath the state directory only.
    pub out: Option<PathBuf>,
    pub minima: Minima,
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct InjectAnswer {
    /// The artifact's content id; null if no bug came out.
    pub artifact: Option<String>,
    /// The strategy that made it: direct, removal or history.
    #[schemars(with = "String")]
    pub strategy: Strategy,
    /// Whether every check passed.
    pub valid: bool,
    /// Whether it was checked by plain runs of the whole suite, too: true, false, or differs where these
    /// said something else than the fast ways, and were believed.
    #[schemars(with = "String")]
    pub audited: Audited,
    /// What a person may want to know of it.
    pub warnings: Vec<Warning>,
    /// What the checks said; null if no bug came out.
    pub report: Option<CheckAnswer>,
    /// The folder with the artifact's five parts; null if no bug came out.
    pub out: Option<String>,
    /// The bug in one line, or why there is none.
    pub summary: String,
    /// The seed that repeats this injection on the same tree.
    pub seed: u64,
    /// What became of the candidates.
    #[schemars(with = "std::collections::BTreeMap<String, usize>")]
    pub counts: Counts,
    /// The commits that the bug undoes; null where it undoes none.
    pub origin: Option<Undone>,
}

impl Session {
    pub fn inject(&self, request: &InjectRequest, job: &Job) -> Result<InjectAnswer, Error> {
        let seed = request.seed.unwrap_or(self.config().seed);
        let minima = request.minima;
        let target = target(request.target.as_deref())?;
        let out = request.out.as_ref().map(|out| self.config().cwd.join(out));
        if let Some(out) = &out {
            folder::refuse_inside(out, &self.workspace(&request.repository)?.root)?;
            folder::refuse_early(out, request.seed.is_some())?;
        }
        self.refuse_without_history(request.strategy, &request.repository)?;
        let opened = self.open_for(target.as_ref(), &request.repository, job)?;
        let history = opened.history(request.strategy, seed, target.as_ref(), job)?;
        let wanted = injection(request.strategy, seed, target, minima, history);
        job.step("looking for a bug");
        let known = |digest: &str| opened.record.known(digest);
        let policy = self.policy(request.policy.as_deref(), &opened.workspace)?;
        // Its likeliest edit would be the same one every time.
        let player = policy.as_ref().map(|policy| policy.player(Sampling::All));
        let Opened { harness, languages, .. } = &opened;
        let injected = injector::inject_as(harness, languages, &wanted, &known, player)
            .map_err(|error| job.failed(error))?;
        let injected = match injected {
            Ok(injected) => injected,
            Err(none) => {
                return Ok(InjectAnswer {
                    artifact: None,
                    strategy: request.strategy,
                    valid: false,
                    audited: Audited::No,
                    warnings: Vec::new(),
                    report: None,
                    out: None,
                    summary: none.reason,
                    seed,
                    counts: none.counts,
                    origin: None,
                });
            }
        };
        job.tell(Event::Injected { summary: injected.summary.clone() });
        job.tell(Event::Checking);
        let report =
            consistency::check_injected(&opened.harness, &injected.artifact, &minima, seed)
                .map_err(|error| job.failed(error))?;
        job.tell(Event::Checked { valid: report.valid });
        let origin = Origin {
            strategy: injected.strategy,
            seed,
            base: &opened.harness.base().id,
            tree_digest: &injected.tree_digest,
            report: &report,
            parent: None,
        };
        let kept = opened.record.keep(&injected.artifact, &origin)?;
        let id = injected.artifact.id();
        let mut warnings = Vec::new();
        if let Some(difference) = record::difference(&opened.harness, &id, &report) {
            opened.record.store.record_difference(&difference).map_err(Error::harness)?;
            warnings.push(differs(&difference, opened.record.counts()?.valid));
        }
        if let Some(out) = &out {
            copy_out(&injected.artifact, out)?;
        }
        let folder = out.unwrap_or(kept);
        Ok(InjectAnswer {
            artifact: Some(id.clone()),
            strategy: injected.strategy,
            valid: report.valid,
            audited: report.audited,
            warnings,
            report: Some(CheckAnswer::of(id, report)),
            out: Some(folder.display().to_string()),
            summary: injected.summary,
            seed,
            counts: injected.counts,
            origin: injected.origin,
        })
    }
}

pub(super) fn injection(
    strategy: Strategy,
    seed: u64,
    target: Option<Target>,
    minima: Minima,
    history: Option<Arc<History>>,
) -> injector::Request {
    injector::Request {
        strategy,
        seed,
        target,
        changed_files: minima.changed_files,
        failing_tests: minima.failing_tests,
        passing_tests: minima.passing_tests,
        candidates: CANDIDATES,
        history,
    }
}

/// Reads `FILE` or `FILE:SYMBOL`. A path of a tree holds no colon, so the first one ends the file;
/// a symbol may hold more (`Type::method`).
pub(super) fn target(text: Option<&str>) -> Result<Option<Target>, Error> {
    let Some(text) = text else { return Ok(None) };
    let (file, symbol) = match text.split_once(':') {
        Some((file, symbol)) => (file, Some(symbol)),
        None => (text, None),
    };
    let file = RelPath::parse(file.as_bytes()).map_err(|refusal| {
        Error::usage(format!(
            "the target {text:?} names no file of the repository: {refusal}; give FILE or \
             FILE:SYMBOL, relative to the repository's root"
        ))
    })?;
    if symbol == Some("") {
        return Err(Error::usage(format!("the target {text:?} names no symbol after its colon")));
    }
    Ok(Some(Target { file, symbol: symbol.map(str::to_owned) }))
}
