//! A submission as text, whatever its bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const TEXT: &str = "text:";
const BYTES: &str = "base64:";

pub fn text_of(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => format!("{TEXT}{text}"),
        Err(error) => format!("{BYTES}{}", STANDARD.encode(error.into_bytes())),
    }
}

/// What [`text_of`] made text of.
pub fn bytes_of(kept: &str) -> Vec<u8> {
    match kept.strip_prefix(BYTES) {
        Some(bytes) => STANDARD.decode(bytes).unwrap_or_default(),
        None => kept.strip_prefix(TEXT).unwrap_or(kept).as_bytes().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were() {
        for bytes in [&b"--- a\n"[..], b"base64:x", b"\xe9\n", b""] {
            assert_eq!(bytes_of(&text_of(bytes.to_vec())), bytes);
        }
    }
}
