//! `practice check`: the person's repair, judged as anybody's.

use super::finish::ended;
use super::round::player_rating;
use super::show::{RatingLine, left_out};
use super::{PERSON, PracticeRef};
use crate::diff::Patch;
use crate::grading;
use crate::practice::End;
use crate::reward;
use crate::sandbox::Tier;
use crate::session::grade::code;
use crate::session::record::now;
use crate::session::{Error, Job, Session};
use crate::solver;
use crate::tree::Overlaid;

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct PracticeCheckAnswer {
    pub practice: String,
    pub solved: bool,
    /// Why, in one sentence.
    pub reason: String,
    /// The reason as one word, for machines.
    pub code: String,
    /// What looked suspicious without being proof.
    pub flags: Vec<String>,
    /// Changed files that were set back before the tests ran, and why: a solver may not touch them.
    pub restored: Vec<String>,
    /// What in the tree is no part of the repair, and why.
    pub left_out: Vec<String>,
    /// What was judged, a git diff against the tree as it was laid out.
    pub patch: String,
    /// From 0 to 1; null while it is not solved.
    pub score: Option<f64>,
    /// Whether the ratings count it: the first round at a bug does.
    pub rated: bool,
    /// The person's.
    pub rating: RatingLine,
    pub rating_before: RatingLine,
    /// Seconds since it was begun, and those without pauses.
    pub seconds: i64,
    pub active_seconds: i64,
    /// What to do next.
    pub next: String,
    /// The tier of isolation; null where nothing ran.
    #[schemars(with = "Option<String>")]
    pub sandbox: Option<Tier>,
}

impl Session {
    pub fn practice_check(
        &self,
        practice: &PracticeRef,
        job: &Job,
    ) -> Result<PracticeCheckAnswer, Error> {
        let mut round = self.round(practice)?;
        round.refuse_over()?;
        let opened = round.open(self, job)?;
        let harness = &opened.harness;
        let base = harness.base();
        let task = round.task(base)?;
        let edited = round.edited(base, &task, "check")?;
        let before = RatingLine::from(&player_rating(&round.record, PERSON)?);
        let shown = Overlaid { base, changes: &task.changes };
        let patch = Patch::between(&shown, &edited.changes).to_bytes();
        let (seconds, active_seconds) = round.time()?;
        let mut answer = PracticeCheckAnswer {
            practice: round.row.id.clone(),
            solved: false,
            reason: "nothing was changed in the practice tree".to_owned(),
            code: "no_patch".to_owned(),
            flags: Vec::new(),
            restored: Vec::new(),
            left_out: left_out(&edited),
            patch: String::from_utf8_lossy(&patch).into_owned(),
            score: None,
            rated: false,
            rating: before.clone(),
            rating_before: before,
            seconds,
            active_seconds,
            next: format!("edit the files in {}, then check again", round.tree().display()),
            sandbox: None,
        };
        if patch.is_empty() {
            return Ok(answer);
        }
        job.step("grading the repair");
        let grade =
            grading::grade(harness, &round.artifact, &patch).map_err(|error| job.failed(error))?;
        if job.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let restored = edited.changes.paths().filter_map(|path| {
            let why = grading::restored(harness, &round.artifact, path)?;
            Some(format!("{path}: {why}"))
        });
        answer.restored = restored.collect();
        answer.solved = grade.solved;
        answer.reason = grade.reason.to_string();
        code(&grade.reason).clone_into(&mut answer.code);
        answer.flags.clone_from(&grade.flags);
        answer.sandbox = Some(harness.tier());
        let attempt = solver::Attempt {
            solved: grade.solved,
            reward: reward::solver(grade.solved),
            patch: answer.patch.clone(),
            runs: 0,
            reason: grade.reason,
            flags: grade.flags,
            bill: None,
            drawn: None,
            policy: None,
            kinds: std::collections::BTreeMap::new(),
        };
        let made = std::slice::from_ref(&attempt);
        opened.record.keep_attempts(harness, &round.artifact, made, Some(PERSON))?;
        opened.record.store.record_check(&round.row.id, now()).map_err(Error::harness)?;
        if grade.solved {
            let end = End::Solved { hints: round.row.hints };
            let game = ended(&mut round, end)?;
            answer.score = Some(game.score);
            answer.rated = game.rated;
            (answer.seconds, answer.active_seconds) = round.time()?;
            answer.rating = RatingLine::from(&player_rating(&round.record, PERSON)?);
            "practice reveal explains the bug; practice next begins another"
                .clone_into(&mut answer.next);
        } else {
            "look again, take a hint (practice hint), or give up (practice give-up)"
                .clone_into(&mut answer.next);
        }
        Ok(answer)
    }
}
