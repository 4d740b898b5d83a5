//! The loop: ask, act, tell; from the opening to an ending, or on from where one was interrupted.

use super::act::{act, shortened};
use super::diary::{Diary, Kind, Line, Taken, Who};
use super::tool::{Call, Fault, Submission, Tool};
use super::{
    Bill, Ending, Error, Limits, Played, Prompt, Scene, Seat, Spent, Stage, estimate, files,
    prompt, text_form,
};
use crate::model::{self, Chat, Finish, Message, Reply, Sampling, ToolCall, Usage};
use crate::sandbox::Cancel;
use crate::scaffold::Room;
use std::path::Path;
use std::sync::Arc;

/// Replies without a call before the first submission, of which the last ends the session.
const NUDGES: u32 = 3;
/// Longest reply that is read, bytes: beyond CWM's 65,536 tokens.
const LONGEST: usize = 512 << 10;
/// Tokens of a reply that a request is worth making for.
const LEAST: u64 = 64;

/// One session as it is asked for.
pub struct Sitting<'a> {
    pub who: &'a Who,
    /// The texts that the opening is made of, for its hash.
    pub prompts: &'a [Prompt],
    pub tools: &'a [Tool],
    pub scene: Scene<'a>,
    /// The task, given where the tree is.
    pub task: &'a dyn Fn(&Path) -> String,
    pub seed: u64,
}

/// What becomes of a submission.
pub enum Verdict {
    Kept {
        /// What is kept of it; the last one counts.
        kept: String,
        /// What the model is shown.
        echo: String,
        /// Nothing more is wanted.
        over: bool,
    },
    /// The reason, for the model: it may submit again.
    Refused(String),
}

/// Looks at a submission. Told to the model is only what the verdict says.
pub type Judge<'a> = &'a mut dyn FnMut(&mut Room, &Submission) -> Result<Verdict, Error>;

/// Plays a session to its end, or on to it. One that has ended is not played again.
pub fn play(
    stage: &Stage<'_>,
    seat: &Seat,
    sitting: &Sitting<'_>,
    judge: Judge<'_>,
) -> Result<Played, Error> {
    let cancel = stage.harness.cancel();
    let prompts = [sitting.prompts, &[prompt::SYSTEM, prompt::TOOLS]].concat();
    let hash = prompt::hash(&prompts);
    let id = sitting.who.id(seat.chat.model(), &hash, &stage.harness.base().id);
    let mut diary = Diary::new(stage.harness.store(), id, &sitting.scene.changes);
    let taken = diary.take()?;
    if let Some(played) = ended(seat, taken.as_ref(), &diary.id, &hash) {
        return Ok(played);
    }
    let _inside = seat.bounds.sessions.enter(cancel)?;
    let chat = match &seat.recorder {
        Some(recorder) => recorder(sitting.who.rollout(&diary.id)),
        None => seat.chat.clone(),
    };
    let mut talk = Talk {
        stage,
        seat,
        chat,
        sitting,
        diary,
        hash,
        limits: limits(seat),
        native: seat.chat.native_tools() && sitting.tools != [Tool::Files],
        room: None,
        changes: sitting.scene.changes.clone(),
        shell: sitting.scene.shell.clone(),
        lines: Vec::new(),
        submitted: None,
        cancel,
    };
    match taken {
        Some(taken) => {
            talk.lines = taken.lines;
            talk.native = taken.native;
            talk.submitted = taken.submitted;
            talk.changes = taken.changes;
            talk.shell = taken.shell;
        }
        None => talk.begin()?,
    }
    talk.go_on(judge)
}

/// A session that is over, from what was kept of it.
fn ended(seat: &Seat, taken: Option<&Taken>, id: &str, hash: &str) -> Option<Played> {
    let taken = taken?;
    let ending: Ending = serde_json::from_str(taken.ending.as_deref()?).ok()?;
    let submitted = taken.submitted.clone().filter(|_| ending.keeps());
    let account = bill(seat, &taken.lines, &ending, id, hash);
    Some(Played { ending, submitted, account })
}

fn bill(seat: &Seat, lines: &[Line], ending: &Ending, id: &str, hash: &str) -> Bill {
    let mut spent = Spent::default();
    for line in lines {
        spent.add(&line.spent);
    }
    Bill {
        model: seat.chat.model().to_owned(),
        sitting: id.to_owned(),
        earlier: Vec::new(),
        prompt: hash.to_owned(),
        ending: ending.word().to_owned(),
        turns: count(lines, Kind::Reply),
        malformed: count(lines, Kind::Correction),
        spent,
    }
}

fn count(lines: &[Line], kind: Kind) -> u32 {
    u32::try_from(lines.iter().filter(|line| line.kind == kind).count()).unwrap_or(u32::MAX)
}

/// Those of the seat, within the model's own context; a result takes a quarter of it at most.
fn limits(seat: &Seat) -> Limits {
    let context = seat.limits.context.min(seat.chat.context());
    let quarter = usize::try_from(context.saturating_mul(3) / 4).unwrap_or(usize::MAX);
    Limits { context, result: seat.limits.result.min(quarter).max(400), ..seat.limits }
}

struct Talk<'a> {
    stage: &'a Stage<'a>,
    seat: &'a Seat,
    chat: Arc<dyn Chat>,
    sitting: &'a Sitting<'a>,
    diary: Diary<'a>,
    hash: String,
    limits: Limits,
    native: bool,
    /// `None` until it is needed, and after it broke.
    room: Option<Room>,
    /// What a room begins with.
    changes: crate::tree::Changes,
    shell: Vec<u8>,
    lines: Vec<Line>,
    submitted: Option<String>,
    cancel: &'a Cancel,
}

/// What a reply comes to.
enum Turn {
    Call {
        call: Call,
        id: Option<String>,
        /// Ids of calls beside it, and whether there were such in text.
        unmade: Vec<String>,
        more: bool,
    },
    Fault {
        text: String,
        ids: Vec<String>,
    },
    Nothing,
}

impl Talk<'_> {
    /// The opening: the rules, and the task.
    fn begin(&mut self) -> Result<(), Error> {
        let root = self.enter()?.root().to_owned();
        let mut system = prompt::SYSTEM.filled(&[]);
        let mut offered = String::new();
        if self.native {
            offered = serde_json::to_string(&self.offered()).unwrap_or_default();
        } else if self.sitting.tools != [Tool::Files] {
            let tools: Vec<String> = self.sitting.tools.iter().map(|tool| tool.in_text()).collect();
            let form = prompt::TOOLS.filled(&[("tools", &tools.join("\n\n"))]);
            system = format!("{system}\n\n{form}");
        }
        if let Some(instructions) = &self.seat.instructions {
            system = format!("{system}\n\n{instructions}");
        }
        let task = (self.sitting.task)(&root);
        self.lines = [Message::system(system), Message::user(task)]
            .map(|message| Line::new(Kind::Opening, message))
            .to_vec();
        let about = (self.seat.chat.model(), &*self.hash, &*offered);
        self.diary.begin(self.sitting.who, about, &self.lines, &self.changes)
    }

    fn go_on(mut self, judge: Judge<'_>) -> Result<Played, Error> {
        let ending = loop {
            let replied = self.lines.last().is_some_and(|line| line.kind == Kind::Reply);
            let ending = if replied { self.react(&mut *judge)? } else { self.ask()? };
            if let Some(ending) = ending {
                break ending;
            }
        };
        self.diary.end(&ending)?;
        let Who { role, phase, attempt, .. } = self.sitting.who;
        let turns = count(&self.lines, Kind::Reply);
        tracing::info!(role = role.name(), phase, attempt, turns, %ending, "a sitting is over");
        let submitted = self.submitted.filter(|_| ending.keeps());
        let account = bill(self.seat, &self.lines, &ending, &self.diary.id, &self.hash);
        Ok(Played { ending, submitted, account })
    }

    fn offered(&self) -> Vec<model::Tool> {
        self.sitting.tools.iter().map(|tool| tool.offered()).collect()
    }

    /// One request, unless a limit is reached.
    fn ask(&mut self) -> Result<Option<Ending>, Error> {
        let limits = self.limits;
        if count(&self.lines, Kind::Correction) >= limits.malformed {
            return Ok(Some(Ending::Malformed(limits.malformed)));
        }
        if count(&self.lines, Kind::Nudge) >= NUDGES {
            return Ok(Some(Ending::Idle(NUDGES)));
        }
        if count(&self.lines, Kind::Reply) >= limits.turns {
            return Ok(Some(Ending::Turns(limits.turns)));
        }
        let prompt_tokens = self.context();
        let room = limits.context.saturating_sub(prompt_tokens);
        if room < LEAST {
            return Ok(Some(Ending::Context(limits.context)));
        }
        let most = u64::from(self.seat.sampling.max_tokens).min(room);
        let most_usage = Usage { prompt_tokens, completion_tokens: most, cached_tokens: None };
        let reservation = self.seat.bounds.meter.reserve(&most_usage, self.seat.price.as_ref())?;
        let messages: Vec<Message> =
            self.lines.iter().map(|line| sendable(&line.message, self.native)).collect();
        let tools = if self.native { self.offered() } else { Vec::new() };
        let sampling = Sampling {
            max_tokens: u32::try_from(most).unwrap_or(u32::MAX),
            seed: Some(self.seat.sampling.seed.unwrap_or(self.sitting.seed)),
            ..self.seat.sampling
        };
        let request = model::Request { messages: &messages, tools: &tools, sampling };
        let answer = self.chat.reply(&request, self.cancel);
        let reply = match answer {
            Ok(reply) => reply,
            Err(_) if self.cancel.is_cancelled() => {
                return Err(crate::harness::Error::Cancelled.into());
            }
            Err(model::Error::Empty { reply, .. }) => *reply,
            Err(model::Error::Filtered { .. }) => return Ok(Some(Ending::Filtered)),
            Err(model::Error::Oversized { .. }) => return Ok(Some(Ending::Oversized)),
            Err(error) if error.is_context_too_long() => {
                return Ok(Some(Ending::Context(limits.context)));
            }
            // In the middle of a session it is this conversation that cannot be gone on with.
            Err(model::Error::Rejected { said, .. }) if count(&self.lines, Kind::Reply) > 0 => {
                return Ok(Some(Ending::Rejected(said)));
            }
            Err(error) => return Err(Error::Model { role: self.sitting.who.role, error }),
        };
        self.keep(&reply, prompt_tokens)?;
        drop(reservation);
        Ok(None)
    }

    /// Keeps an answer, and counts what it took.
    fn keep(&mut self, reply: &Reply, estimated: u64) -> Result<(), Error> {
        let long = bytes(&reply.message);
        let usage = reply.usage.unwrap_or(Usage {
            prompt_tokens: estimated,
            completion_tokens: estimate(long),
            cached_tokens: None,
        });
        let spent = Spent {
            requests: 1,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            cached_tokens: usage.cached_tokens.unwrap_or(0),
            estimated: u64::from(reply.usage.is_none()),
            money: self.seat.price.map(|price| price.of(&usage)),
            seconds: reply.wall.as_secs_f64(),
        };
        let mut message = reply.message.clone();
        if long > LONGEST {
            message.content = shortened(&message.content, LONGEST / 4);
            message.tool_calls.clear();
            message.reasoning = None;
        }
        let finish = if long > LONGEST { Finish::Length } else { reply.finish.clone() };
        let line = Line { finish: Some(finish), spent, ..Line::new(Kind::Reply, message) };
        self.diary.reply(&line, reply)?;
        let who = self.sitting.who;
        self.seat.bounds.meter.spend((who.role, who.phase), &spent);
        self.lines.push(line);
        Ok(())
    }

    /// Tokens of the conversation: what the server counted last, and what was said since. Where it is full the
    /// session ends; whoever makes it shorter instead does so here, before it is asked for.
    fn context(&self) -> u64 {
        let of = |lines: &[Line]| -> u64 {
            lines.iter().map(|line| estimate(bytes(&line.message)) + 4).sum()
        };
        let counted = self.lines.iter().rposition(|line| {
            line.kind == Kind::Reply && line.spent.estimated == 0 && line.spent.prompt_tokens > 0
        });
        match counted {
            Some(at) => {
                let spent = &self.lines[at].spent;
                spent.prompt_tokens + spent.completion_tokens + of(&self.lines[at + 1..])
            }
            None if self.native => {
                let tools = serde_json::to_string(&self.offered()).unwrap_or_default();
                of(&self.lines) + estimate(tools.len())
            }
            None => of(&self.lines),
        }
    }

    /// Makes the last reply's call, or says what is wrong with it.
    fn react(&mut self, judge: Judge<'_>) -> Result<Option<Ending>, Error> {
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

    /// What a reply comes to.
    fn turn(&self, line: &Line) -> Turn {
        let message = &line.message;
        let cut = line.finish == Some(Finish::Length);
        let tools = self.sitting.tools;
        if tools == [Tool::Files] {
            return match files::find(&message.content) {
                Ok(submission) => Turn::Call {
                    call: Call::Submit(submission),
                    id: None,
                    unmade: Vec::new(),
                    more: false,
                },
                Err(reason) => Turn::Fault { text: reason, ids: Vec::new() },
            };
        }
        if let [first, rest @ ..] = message.tool_calls.as_slice() {
            if !self.native {
                let text = "Calls of that kind are not taken here: write them as text.".to_owned();
                return Turn::Fault { text, ids: Vec::new() };
            }
            let unmade = rest.iter().map(|call| call.id.clone()).collect();
            return match Tool::decode(first, tools) {
                Ok(call) => Turn::Call { call, id: Some(first.id.clone()), unmade, more: false },
                Err(fault) => Turn::Fault {
                    text: told(&fault, cut),
                    ids: message.tool_calls.iter().map(|call| call.id.clone()).collect(),
                },
            };
        }
        // Also a model that is offered tools may write a call as text.
        match text_form::find(&message.content, tools, cut) {
            Some(found) => match found.call {
                Ok(call) => Turn::Call { call, id: None, unmade: Vec::new(), more: found.more > 0 },
                Err(fault) => Turn::Fault { text: told(&fault, cut), ids: Vec::new() },
            },
            None if cut => Turn::Fault { text: CUT.to_owned(), ids: Vec::new() },
            None => Turn::Nothing,
        }
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
        let one = "Not made: one call a step.";
        lines.extend(unmade.into_iter().map(|id| result(Kind::Unmade, one, Some(id))));
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
        let one = "Not made: one call a step.";
        lines.extend(unmade.into_iter().map(|id| result(Kind::Unmade, one, Some(id))));
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
                let rest = rest
                    .iter()
                    .map(|id| result(Kind::Unmade, "Not made: one call a step.", Some(id.clone())));
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

    fn enter(&mut self) -> Result<&mut Room, Error> {
        let room = if let Some(room) = self.room.take() {
            room
        } else {
            let Scene { task, files, .. } = &self.sitting.scene;
            let (changes, shell) = (self.changes.clone(), self.shell.clone());
            let files = files.clone();
            self.stage.open(Scene { task: *task, changes, files, shell })?
        };
        Ok(self.room.insert(room))
    }

    /// From what was kept last.
    fn reopen(&mut self) -> Result<(), Error> {
        self.room = None;
        if let Some(taken) = self.diary.take()? {
            self.changes = taken.changes;
            self.shell = taken.shell;
        }
        Ok(())
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

const CUT: &str =
    "Your reply was cut off, since it was too long. Write less, and end it with one call.";

fn told(fault: &Fault, cut: bool) -> String {
    if cut { format!("{CUT} ({fault})") } else { format!("The call was not made: {fault}.") }
}

fn bytes(message: &Message) -> usize {
    let calls = message.tool_calls.iter().map(|call| call.name.len() + call.arguments.len() + 8);
    let thought = message.reasoning.as_ref().map_or(0, |reasoning| reasoning.text.len());
    message.content.len() + thought + calls.sum::<usize>()
}

/// A message that every server takes back: some refuse to read arguments that are no JSON, or a reply without
/// content.
fn sendable(message: &Message, native: bool) -> Message {
    let mut message = message.clone();
    if message.role != model::Role::Assistant {
        return message;
    }
    if !native {
        message.tool_calls.clear();
    }
    for call in &mut message.tool_calls {
        if !is_object(call) {
            "{}".clone_into(&mut call.arguments);
        }
    }
    if message.content.is_empty() && message.tool_calls.is_empty() {
        "(nothing)".clone_into(&mut message.content);
    }
    message
}

fn is_object(call: &ToolCall) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_cannot_read_is_not_sent_back() {
        let call = |arguments: &str| ToolCall {
            id: "1".to_owned(),
            name: "bash".to_owned(),
            arguments: arguments.to_owned(),
        };
        let mut message = Message::new(model::Role::Assistant, "");
        message.tool_calls = vec![call("ls"), call("[1]"), call(r#"{"command": "ls"}"#)];
        let sent = sendable(&message, true);
        let arguments: Vec<_> = sent.tool_calls.iter().map(|call| &*call.arguments).collect();
        assert_eq!(arguments, ["{}", "{}", r#"{"command": "ls"}"#]);
        let sent = sendable(&message, false);
        assert!(sent.tool_calls.is_empty() && sent.content == "(nothing)");
        assert_eq!(sendable(&Message::user(""), true).content, "");
    }
}
