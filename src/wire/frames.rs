//! Bytes to messages: a line each, or a body behind a `Content-Length` header. Pure; takes bytes in
//! pieces of any size.

use super::ids::IdScan;
use serde_json::Value;

/// How a message was delimited. Its answer is delimited in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Line,
    Header,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub framing: Framing,
    pub content: Content,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// Some bytes; whether they are JSON is not looked at.
    Message(Vec<u8>),
    Unreadable(Unreadable),
}

/// What was skipped, so that what follows can be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Longer than the limit; `id` where the message has one.
    TooLong { bytes: usize, id: Option<Value> },
    /// A header block that says no length.
    Header(&'static str),
}

const BOM: &[u8] = b"\xef\xbb\xbf";
/// Longest header block.
const LONGEST_HEADER: usize = 8 * 1024;
/// A buffer larger than this is given back once it is empty.
const KEPT: usize = 1024 * 1024;

enum State {
    /// Between messages.
    Start,
    Line,
    /// A header block, or a line that is no JSON.
    Head,
    Body(usize),
    /// The rest of a line that is too long.
    SkipLine(Skipped),
    /// The rest of a body that is too long.
    SkipBody(usize, Skipped),
    /// The rest of a header block that is too long.
    SkipHead,
}

/// What a look at what is held came to.
enum Step {
    Whole(Frame),
    /// Something was decided; look again.
    Again,
    /// More has to come first.
    More,
}

#[derive(Default)]
struct Skipped {
    bytes: usize,
    ids: IdScan,
}

impl Skipped {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.ids.take(bytes);
    }

    fn frame(&mut self, framing: Framing) -> Frame {
        let unreadable = Unreadable::TooLong { bytes: self.bytes, id: self.ids.id() };
        Frame { framing, content: Content::Unreadable(unreadable) }
    }
}

/// The decoder. Each message may be delimited in its own way.
pub struct Frames {
    held: Vec<u8>,
    /// Where in `held` the next message starts.
    at: usize,
    /// How far behind `at` was searched for an end in vain.
    seen: usize,
    state: State,
    limit: usize,
}

impl Frames {
    pub fn new(limit: usize) -> Self {
        Self { held: Vec::new(), at: 0, seen: 0, state: State::Start, limit }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.held.drain(..self.at);
        self.at = 0;
        if self.held.is_empty() && self.held.capacity() > KEPT {
            self.held = Vec::new();
        }
        self.held.extend_from_slice(bytes);
    }

    /// The next message that is whole.
    pub fn pop(&mut self) -> Option<Frame> {
        loop {
            match self.step() {
                Step::Whole(frame) => return Some(frame),
                Step::Again => {}
                Step::More => return None,
            }
        }
    }

    fn step(&mut self) -> Step {
        match &mut self.state {
            State::Start => self.start(),
            State::Line => self.line(),
            State::Head => self.head(),
            State::Body(length) => {
                let length = *length;
                if self.rest().len() < length {
                    return Step::More;
                }
                let body = self.cut(length);
                Step::Whole(message(Framing::Header, body))
            }
            State::SkipLine(skipped) => {
                let rest = &self.held[self.at..];
                let end = rest.iter().position(|byte| *byte == b'\n');
                let length = end.map_or(rest.len(), |end| end + 1);
                skipped.take(&rest[..end.unwrap_or(length)]);
                let frame = end.map(|_| skipped.frame(Framing::Line));
                self.skipped(length, frame)
            }
            State::SkipBody(left, skipped) => {
                let rest = &self.held[self.at..];
                let length = rest.len().min(*left);
                skipped.take(&rest[..length]);
                *left -= length;
                let frame = (*left == 0).then(|| skipped.frame(Framing::Header));
                self.skipped(length, frame)
            }
            State::SkipHead => self.skip_head(),
        }
    }

    /// What is left when nothing more comes: a last line may lack its end.
    pub fn end(&mut self) -> Option<Frame> {
        let length = self.rest().len();
        match &mut self.state {
            State::Line | State::Head if length > 0 => {
                let line = self.cut(length);
                Some(message(Framing::Line, line))
            }
            State::SkipLine(skipped) => {
                let frame = skipped.frame(Framing::Line);
                self.state = State::Start;
                Some(frame)
            }
            _ => None,
        }
    }

    fn rest(&self) -> &[u8] {
        &self.held[self.at..]
    }

    fn start(&mut self) -> Step {
        while let Some(first) = self.rest().first().copied() {
            if first.is_ascii_whitespace() {
                self.at += 1;
            } else if self.rest().starts_with(BOM) {
                self.at += BOM.len();
            } else if BOM.starts_with(self.rest()) {
                return Step::More;
            } else {
                let json = matches!(first, b'{' | b'[');
                self.state = if json { State::Line } else { State::Head };
                return Step::Again;
            }
        }
        Step::More
    }

    fn line(&mut self) -> Step {
        let Some(end) = self.newline(self.seen) else {
            self.seen = self.rest().len();
            if self.seen <= self.limit {
                return Step::More;
            }
            self.state = State::SkipLine(Skipped::default());
            return Step::Again;
        };
        if end > self.limit {
            self.state = State::SkipLine(Skipped::default());
            return Step::Again;
        }
        let mut line = self.cut(end + 1);
        line.truncate(end);
        Step::Whole(message(Framing::Line, line))
    }

    fn head(&mut self) -> Step {
        let too_long = self.rest().len() > LONGEST_HEADER;
        let Some(first) = self.newline(0) else {
            if too_long {
                self.state = State::SkipLine(Skipped::default());
                return Step::Again;
            }
            return Step::More;
        };
        if !is_header(&self.rest()[..first]) {
            self.state = State::Line;
            return Step::Again;
        }
        let block = self.block().filter(|(_, body)| *body <= LONGEST_HEADER);
        let Some((head, body)) = block else {
            if too_long {
                self.state = State::SkipHead;
                return Step::Whole(unreadable("a header block is longer than 8 KiB"));
            }
            return Step::More;
        };
        let length = length(&self.rest()[..head]);
        self.cut(body);
        match length {
            Err(why) => Step::Whole(unreadable(why)),
            Ok(length) if length > self.limit => {
                self.state = State::SkipBody(length, Skipped::default());
                Step::Again
            }
            Ok(length) => {
                self.state = State::Body(length);
                Step::Again
            }
        }
    }

    fn skip_head(&mut self) -> Step {
        let ends: [&[u8]; 2] = [b"\n\n", b"\n\r\n"];
        let first = ends.into_iter().filter_map(|end| {
            let at = self.rest().windows(end.len()).position(|part| part == end)?;
            Some(at + end.len())
        });
        if let Some(end) = first.min() {
            self.cut(end);
            return Step::Again;
        }
        // The last byte of an end may be still to come.
        self.at += self.rest().len().saturating_sub(2);
        Step::More
    }

    /// Where the lines of a header block end, and where its body starts.
    fn block(&self) -> Option<(usize, usize)> {
        let mut from = 0;
        while let Some(end) = self.newline(from) {
            if matches!(&self.rest()[from..end], b"" | b"\r") {
                return Some((from, end + 1));
            }
            from = end + 1;
        }
        None
    }

    fn newline(&self, from: usize) -> Option<usize> {
        let rest = self.rest().get(from..)?;
        rest.iter().position(|byte| *byte == b'\n').map(|at| from + at)
    }

    fn cut(&mut self, length: usize) -> Vec<u8> {
        let bytes = self.rest()[..length].to_vec();
        self.at += length;
        self.seen = 0;
        self.state = State::Start;
        bytes
    }

    fn skipped(&mut self, length: usize, frame: Option<Frame>) -> Step {
        self.at += length;
        self.seen = 0;
        let Some(frame) = frame else { return Step::More };
        self.state = State::Start;
        Step::Whole(frame)
    }
}

fn message(framing: Framing, bytes: Vec<u8>) -> Frame {
    Frame { framing, content: Content::Message(bytes) }
}

fn unreadable(why: &'static str) -> Frame {
    Frame { framing: Framing::Header, content: Content::Unreadable(Unreadable::Header(why)) }
}

fn is_header(line: &[u8]) -> bool {
    field(line).is_some_and(|(name, _)| {
        name.eq_ignore_ascii_case(b"content-length") || name.eq_ignore_ascii_case(b"content-type")
    })
}

fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

/// What a block's `Content-Length` says.
fn length(block: &[u8]) -> Result<usize, &'static str> {
    let mut found = None;
    for (name, value) in block.split(|byte| *byte == b'\n').filter_map(field) {
        if !name.eq_ignore_ascii_case(b"content-length") {
            continue;
        }
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let length = std::str::from_utf8(value).ok().filter(|_| digits);
        let length: usize =
            length.and_then(|text| text.parse().ok()).ok_or("Content-Length is no number")?;
        if found.is_some_and(|found| found != length) {
            return Err("a header block has two Content-Lengths that differ");
        }
        found = Some(length);
    }
    found.ok_or("a header block has no Content-Length")
}
