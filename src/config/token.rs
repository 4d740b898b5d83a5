//! The token that clients of the HTTP server show.

use super::Error;
use std::fmt;
use std::path::Path;

pub(super) const VARIABLE: &str = "SSR_MCP_HTTP_TOKEN";
/// One that cannot be guessed.
const SHORTEST: usize = 16;
/// Longest file that is read for one.
const LONGEST: u64 = 4096;

/// A secret: no part of it is ever printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Whatever a variable holds; [`Token::checked`] says whether it can be used.
    pub(super) fn unchecked(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// `source` names where it comes from.
    pub(super) fn checked(self, source: &str) -> Result<Self, Error> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if self.0.len() >= SHORTEST && self.0.bytes().all(plain) {
            Ok(self)
        } else {
            Err(Error::Token(source.to_owned()))
        }
    }

    pub(super) fn of_file(path: &Path) -> Result<Self, Error> {
        use std::io::Read;
        let mut text = String::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(LONGEST).read_to_string(&mut text))
            .map_err(|error| Error::TokenFile {
                path: path.display().to_string(),
                reason: error.to_string(),
            })?;
        Self::unchecked(&text).checked(&path.display().to_string())
    }

    /// Whether this is it. Takes as long wherever the two differ.
    pub fn is(&self, given: &[u8]) -> bool {
        let token = self.0.as_bytes();
        let differing = given.iter().zip(token).fold(0, |seen, (a, b)| seen | (a ^ b));
        given.len() == token.len() && differing == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
