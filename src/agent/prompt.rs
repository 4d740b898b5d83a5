//! What players are told: texts under version control, filled in, and known by their hash.

use crate::tree::hex;
use sha2::{Digest, Sha256};

/// A text with places (`{{name}}`) to be filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub name: &'static str,
    text: &'static str,
}

macro_rules! prompts {
    ($($constant:ident $file:literal),* $(,)?) => {
        $(pub const $constant: Prompt =
            Prompt { name: $file, text: include_str!(concat!("prompts/", $file, ".md")) };)*

        #[cfg(test)]
        const ALL: &[Prompt] = &[$($constant),*];
    };
}

prompts! {
    SYSTEM "system",
    TOOLS "tools",
    SANDBOX "sandbox",
    SUITE "suite",
    SOLVER "solver",
    INJECTOR "injector",
    PARTS "parts",
    REWARDS "rewards",
    DIRECT "direct",
    REMOVAL "removal",
    HISTORY "history",
    HIGHER_ORDER "higher_order",
    FEATURE "feature",
    DISCOVER "discover",
    INJECT "inject",
    NOTES "notes",
    WEAKEN "weaken",
    FILES "files",
    FAILED_CHECK "failed_check",
}

impl Prompt {
    /// The text with its places filled in. What is put in is not looked into again: a place in it stays as it
    /// is.
    pub fn filled(&self, values: &[(&str, &str)]) -> String {
        let (mut filled, mut rest) = (String::new(), self.text.trim_end());
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            filled.push_str(before);
            let value = values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
            debug_assert!(value.is_some(), "{}: {name} is not given", self.name);
            filled.push_str(value.unwrap_or_default());
            rest = after;
        }
        filled + rest
    }
}

/// What tells these texts, as they are in this version, from all others.
pub fn hash(prompts: &[Prompt]) -> String {
    let mut hash = Sha256::new();
    for prompt in prompts {
        for part in [prompt.name, prompt.text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_in_once() {
        let prompt = Prompt { name: "x", text: "a {{one}} b {{two}}{{one}} {x}\n" };
        let filled = prompt.filled(&[("one", "{{two}}"), ("two", "2")]);
        assert_eq!(filled, "a {{two}} b 2{{two}} {x}");
    }

    #[test]
    fn every_text_is_whole() {
        for prompt in ALL {
            assert!(prompt.text.ends_with('\n') && prompt.text.len() > 2, "{}", prompt.name);
            let open = prompt.text.matches("{{").count();
            assert_eq!(open, prompt.text.matches("}}").count(), "{}", prompt.name);
        }
    }

    #[test]
    fn the_hash_tells_texts_and_their_order_apart() {
        assert_eq!(hash(&[SOLVER, SYSTEM]), hash(&[SOLVER, SYSTEM]));
        assert_ne!(hash(&[SOLVER, SYSTEM]), hash(&[SYSTEM, SOLVER]));
        assert_ne!(hash(&[SOLVER]), hash(&[SYSTEM]));
    }
}
