use super::listing::{escape, unescape};

#[test]
fn escaping_keeps_any_bytes() {
    let bytes: Vec<u8> = (0..=255).chain(*b"%41%").collect();
    assert_eq!(unescape(&escape(&bytes)), bytes);
    assert_eq!(escape(b"caf\xe9 100%"), "caf%E9 100%25");
}
