//! The loop: ask, act, tell; from the opening to an ending, or on from where one was interrupted.

mod react;
mod reading;
mod sent;

use super::act::shortened;
use super::diary::{Diary, Kind, Line, Taken, Who};
use super::{
    Bill, Ending, Error, Judge, Limits, Played, Scene, Seat, Sitting, Spent, Stage, Tool, estimate,
    prompt,
};
use crate::dice::Dice;
use crate::model::{self, Chat, Finish, Message, Reply, Sampling, Usage};
use crate::sandbox::Cancel;
use crate::scaffold::Room;
use sent::{bytes, sendable};
use std::sync::Arc;

/// Replies without a call before the first submission, of which the last ends the session.
const NUDGES: u32 = 3;
/// Longest reply that is read, bytes: beyond CWM's 65,536 tokens.
const LONGEST: usize = 512 << 10;
/// Tokens of a reply that a request is worth making for.
const LEAST: u64 = 64;

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
    let id = sitting.who.id(seat.player.chat.model(), &hash, &stage.harness.base().id);
    let mut diary = Diary::new(stage.harness.store(), id, &sitting.scene.changes);
    let taken = diary.take()?;
    if let Some(played) = ended(seat, taken.as_ref(), &diary.id, &hash) {
        return Ok(played);
    }
    let _inside = seat.bounds.sessions.enter(cancel)?;
    let chat = match &seat.player.recorder {
        Some(recorder) => recorder(sitting.who.rollout(&diary.id)),
        None => seat.player.chat.clone(),
    };
    let mut talk = Talk {
        stage,
        seat,
        chat,
        sitting,
        diary,
        hash,
        limits: limits(seat),
        native: seat.player.chat.native_tools() && sitting.tools != [Tool::Files],
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
        model: seat.player.chat.model().to_owned(),
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

/// Another one for each reply: a server that is given one seed twice draws the same twice, and a model that is asked
/// again then says again, word for word, what was no use.
fn seed_of(seed: u64, replies: u32) -> u64 {
    match replies {
        0 => seed,
        // Small and not negative: what every server takes for a seed.
        _ => Dice::new(seed).fork(&format!("reply {replies}")).roll() >> 33,
    }
}

/// Those of the seat, within the model's own context; a result takes a quarter of it at most.
fn limits(seat: &Seat) -> Limits {
    let context = seat.context();
    let quarter = usize::try_from(context.saturating_mul(3) / 4).unwrap_or(usize::MAX);
    Limits {
        context,
        result: seat.player.limits.result.min(quarter).max(400),
        ..seat.player.limits
    }
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
        if let Some(instructions) = &self.seat.player.instructions {
            system = format!("{system}\n\n{instructions}");
        }
        let task = (self.sitting.task)(&root);
        self.lines = [Message::system(system), Message::user(task)]
            .map(|message| Line::new(Kind::Opening, message))
            .to_vec();
        let about = (self.seat.player.chat.model(), &*self.hash, &*offered);
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
        let replies = count(&self.lines, Kind::Reply);
        if replies >= limits.turns {
            return Ok(Some(Ending::Turns(limits.turns)));
        }
        let prompt_tokens = self.context();
        let room = limits.context.saturating_sub(prompt_tokens);
        if room < LEAST {
            return Ok(Some(Ending::Context(limits.context)));
        }
        let most = u64::from(self.seat.player.sampling.max_tokens).min(room);
        let most_usage = Usage { prompt_tokens, completion_tokens: most, cached_tokens: None };
        let reservation =
            self.seat.bounds.meter.reserve(&most_usage, self.seat.player.price.as_ref())?;
        let messages: Vec<Message> =
            self.lines.iter().map(|line| sendable(&line.message, self.native)).collect();
        let tools = if self.native { self.offered() } else { Vec::new() };
        let sampling = Sampling {
            max_tokens: u32::try_from(most).unwrap_or(u32::MAX),
            seed: Some(seed_of(
                self.seat.player.sampling.seed.unwrap_or(self.sitting.seed),
                replies,
            )),
            ..self.seat.player.sampling
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
            Err(model::Error::Rejected { said, .. }) if replies > 0 => {
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
            money: self.seat.player.price.map(|price| price.of(&usage)),
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

#[cfg(test)]
mod tests {
    use super::seed_of;
    use std::collections::BTreeSet;

    #[test]
    fn each_reply_of_a_sitting_is_drawn_by_a_seed_of_its_own() {
        let seeds: Vec<u64> = (0..100).map(|replies| seed_of(7, replies)).collect();
        assert_eq!(seeds[0], 7);
        assert_eq!(seeds.iter().collect::<BTreeSet<_>>().len(), 100);
        assert!(seeds.iter().all(|seed| *seed < 1 << 31));
        // As in the sitting that is taken up again.
        assert_eq!(seed_of(7, 3), seeds[3]);
        assert_ne!(seed_of(8, 3), seeds[3]);
    }
}
