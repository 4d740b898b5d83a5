//! The `id` of a message that is too long to be read whole: found in passing, in constant memory.

use serde_json::Value;

/// Longest id that is worth giving back.
const LONGEST: usize = 256;

#[derive(Default)]
pub(super) struct IdScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// What was read of the key or value that stands in the outermost object.
    token: Vec<u8>,
    of_id: bool,
    found: Option<Value>,
}

impl IdScan {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// A number or a string.
    pub(super) fn id(&self) -> Option<Value> {
        self.found.clone()
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.token.clear();
            }
            b'}' | b']' => {
                self.value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.value(),
            b':' if self.depth == 1 => {
                self.of_id = self.token.trim_ascii() == b"\"id\"";
                self.token.clear();
            }
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < LONGEST {
            self.token.push(byte);
        }
    }

    fn value(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.of_id && self.found.is_none() {
            let value: Option<Value> = serde_json::from_slice(&self.token).ok();
            self.found = value.filter(|value| value.is_string() || value.is_number());
        }
        self.of_id = false;
        self.token.clear();
    }
}
