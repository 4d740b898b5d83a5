//! A reply's call is made, or it is told why not; what came of it is kept, with the tree.

use super::super::act::act;
use super::super::diary::{Kind, Line};
use super::super::tool::{Call, Submission};
use super::super::{Ending, Error, Judge, Limits, Verdict, estimate};
use super::reading::Turn;
use super::{NUDGES, Talk, count};
use crate::model::{Finish, Message};

/// Of a call beside another one.
const ONE: &str = "Not made: one call a step.";

impl Talk<'_> {
    /// Makes the last reply's call, or says what is wrong with it.
    pub(super) fn react(&mut self, judge: Judge<'_>) -> Result<Option<Ending>, Error> {
        let Some(line) = self.lines.last().cloned() else { return Ok(None) };
        if line.finish == Some(Finish::ContentFilter) {
            return Ok(Some(Ending::Filtered));
        }
        match self.turn(&line) {
            Turn::Nothing if self.submitted.is_some() => Ok(Some(Ending::Submitted)),
            Turn::Nothing => {
                let text = self.without_a_call(&line);
                self.answer(Kind::Nudge, &text, &[]).map(|()| None)
            }
            Turn::Fault { text, ids } => self.answer(Kind::Correction, &text, &ids).map(|()| None),
            Turn::Call { call: Call::Submit(submission), id, unmade, more } => {
                self.submit(&submission, (id, unmade, more), judge)
            }
            Turn::Call { call, id, unmade, more } => self.make(&call, (id, unmade, more)),
        }
    }

    fn without_a_call(&self, line: &Line) -> String {
        let left = NUDGES - count(&self.lines, Kind::Nudge);
        let form =
            if self.native { "call a tool" } else { "write a call: <tool: NAME> … </tool>" };
        let empty = line.message.content.trim().is_empty();
        let what = if empty { "Your reply is empty" } else { "There is no call in your reply" };
        format!(
            "{what}, and nothing was submitted: nothing happens by itself. To go on, {form}; when the work is \
             done, submit. ({left} such replies are left.)"
        )
    }

    fn make(
        &mut self,
        call: &Call,
        (id, unmade, more): (Option<String>, Vec<String>, bool),
    ) -> Result<Option<Ending>, Error> {
        let (limits, cancel, seat) = (self.limits, self.cancel, self.seat);
        let acted = {
            let _turn = seat.bounds.commands.enter(cancel)?;
            act(self.enter()?, call, &limits, cancel)
        };
        let acted = match acted {
            Err(Error::Spoilt(reason)) => {
                // What was kept last is what the next room begins with.
                self.reopen()?;
                let text = format!(
                    "The sandbox could not go on ({reason}). It was opened anew: the tree is as it was before \
                     this call, and nothing outside of it is left."
                );
                return self.answer(Kind::Result, &text, id.as_slice()).map(|()| None);
            }
            acted => acted?,
        };
        let mut text = acted.text;
        if more {
            text.push_str("\n[only the first call was made: one a step]");
        }
        let mut lines = vec![result(Kind::Result, &self.noticed(&text), id)];
        lines.extend(unmade.into_iter().map(|id| result(Kind::Unmade, ONE, Some(id))));
        self.follow(lines, !acted.looked, None)?;
        Ok(None)
    }

    fn submit(
        &mut self,
        submission: &Submission,
        (id, unmade, _): (Option<String>, Vec<String>, bool),
        judge: Judge<'_>,
    ) -> Result<Option<Ending>, Error> {
        let verdict = match judge(self.enter()?, submission) {
            Err(Error::Spoilt(reason)) => {
                self.reopen()?;
                Verdict::Refused(format!("the sandbox could not go on ({reason}); submit again"))
            }
            verdict => verdict?,
        };
        let (kind, text, kept, over) = match verdict {
            Verdict::Kept { kept, echo, over } => (Kind::Submitted, echo, Some(kept), over),
            Verdict::Refused(reason) => {
                (Kind::Refused, format!("The submission is refused: {reason}"), None, false)
            }
        };
        let mut lines = vec![result(kind, &self.noticed(&text), id)];
        lines.extend(unmade.into_iter().map(|id| result(Kind::Unmade, ONE, Some(id))));
        if kept.is_some() {
            self.submitted.clone_from(&kept);
        }
        self.follow(lines, true, kept.as_deref())?;
        Ok(over.then_some(Ending::Submitted))
    }

    /// Says something of a reply whose call was not made. `ids`: the calls that wait for an answer.
    fn answer(&mut self, kind: Kind, text: &str, ids: &[String]) -> Result<(), Error> {
        let text = self.noticed(text);
        let lines = match ids {
            [] => vec![result(kind, &text, None)],
            [first, rest @ ..] => {
                let first = result(kind, &text, Some(first.clone()));
                let rest = rest.iter().map(|id| result(Kind::Unmade, ONE, Some(id.clone())));
                std::iter::once(first).chain(rest).collect()
            }
        };
        self.follow(lines, false, None)
    }

    fn follow(
        &mut self,
        lines: Vec<Line>,
        changed: bool,
        submitted: Option<&str>,
    ) -> Result<(), Error> {
        let room = if changed { self.room.as_mut() } else { None };
        match self.diary.follow(&lines, room, submitted) {
            // A tree that cannot be read any more: the next room begins with what was kept last.
            Err(Error::Spoilt(_)) => {
                self.reopen()?;
                self.diary.follow(&lines, None, submitted)?;
            }
            followed => followed?,
        }
        self.lines.extend(lines);
        Ok(())
    }

    /// With what is left.
    fn noticed(&self, text: &str) -> String {
        let turns = count(&self.lines, Kind::Reply);
        let Limits { turns: most, context, .. } = self.limits;
        let left = most.saturating_sub(turns);
        let used = self.context() + estimate(text.len());
        format!("{text}\n[turn {turns}; {left} left; about {used} of {context} tokens used]")
    }
}

/// What a call comes to, or what is said of a reply without one that could be made.
fn result(kind: Kind, text: &str, id: Option<String>) -> Line {
    let message = match id {
        Some(id) => Message::tool(id, text),
        None => Message::user(text),
    };
    Line::new(kind, message)
}
