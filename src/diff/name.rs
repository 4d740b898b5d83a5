//! File names as headers spell them: quoting, and the prefixes `a/` and `b/`.

use super::refusal::HeaderFault;

/// The old and the new name, prefixes and all.
pub(super) type Names = (Vec<u8>, Vec<u8>);

/// Reads one name that fills `text`; in `---` and `+++` lines a tab ends it.
pub(super) fn whole(text: &[u8]) -> Result<Vec<u8>, HeaderFault> {
    if text.first() != Some(&b'"') {
        return Ok(text.split(|byte| *byte == b'\t').next().unwrap_or(text).to_vec());
    }
    let (name, rest) = quoted(text)?;
    if rest.is_empty() || rest[0] == b'\t' { Ok(name) } else { Err(HeaderFault::Quoting) }
}

/// Reads the two names of a `diff --git` line. `None` where they cannot be told apart: names with
/// spaces are not quoted, so only equal ones split in a single way.
pub(super) fn pair(text: &[u8]) -> Result<Option<Names>, HeaderFault> {
    if text.first() == Some(&b'"') {
        let (old, rest) = quoted(text)?;
        let rest = rest.strip_prefix(b" ").ok_or(HeaderFault::Quoting)?;
        return Ok(Some((old, whole(rest)?)));
    }
    if text.last() == Some(&b'"')
        && let Some(at) = text.windows(2).position(|two| two == b" \"")
    {
        return Ok(Some((text[..at].to_vec(), whole(&text[at + 1..])?)));
    }
    let middle = text.len() / 2;
    if text.len() % 2 == 1 && text[middle] == b' ' {
        let (old, new) = (&text[..middle], &text[middle + 1..]);
        let (old_name, new_name) = stripped(old, new);
        if old_name == new_name {
            return Ok(Some((old.to_vec(), new.to_vec())));
        }
    }
    let mut words = text.split(|byte| *byte == b' ');
    match (words.next(), words.next(), words.next()) {
        (Some(old), Some(new), None) => Ok(Some((old.to_vec(), new.to_vec()))),
        _ => Ok(None),
    }
}

/// Drops `a/` and `b/` where both names have them; `git diff -R` swaps the two.
pub(super) fn stripped<'n>(old: &'n [u8], new: &'n [u8]) -> (&'n [u8], &'n [u8]) {
    for (first, second) in [(b"a/", b"b/"), (b"b/", b"a/")] {
        if let (Some(old), Some(new)) = (old.strip_prefix(first), new.strip_prefix(second)) {
            return (old, new);
        }
    }
    (old, new)
}

/// Writes a name that fills the rest of its line, quoted where git needs it, or GNU patch, which
/// strips outer spaces. Bytes beyond ASCII stay as they are.
pub(super) fn write(out: &mut Vec<u8>, prefix: &str, name: &str) {
    let special = |byte: u8| byte.is_ascii_control() || byte == b'"' || byte == b'\\';
    if name.bytes().any(special) || name.trim_matches(' ') != name {
        write_quoted(out, prefix, name);
    } else {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(name.as_bytes());
    }
}

/// Writes a name of a `diff --git` line. GNU patch ends one at a space unless it is quoted.
pub(super) fn write_word(out: &mut Vec<u8>, prefix: &str, name: &str) {
    if name.contains(' ') { write_quoted(out, prefix, name) } else { write(out, prefix, name) }
}

fn write_quoted(out: &mut Vec<u8>, prefix: &str, name: &str) {
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            byte if byte.is_ascii_control() => {
                out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
            }
            byte => out.push(byte),
        }
    }
    out.push(b'"');
}

/// A C-style quoted name at the start of `text`, and what follows it.
fn quoted(text: &[u8]) -> Result<(Vec<u8>, &[u8]), HeaderFault> {
    let mut name = Vec::new();
    let mut rest = text.get(1..).unwrap_or_default();
    loop {
        let (byte, after) = rest.split_first().ok_or(HeaderFault::Quoting)?;
        rest = after;
        match byte {
            b'"' => return Ok((name, rest)),
            b'\\' => {
                let (byte, after) = escaped(rest).ok_or(HeaderFault::Quoting)?;
                name.push(byte);
                rest = after;
            }
            byte => name.push(*byte),
        }
    }
}

fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (first, rest) = text.split_first()?;
    let byte = match first {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'"' | b'\\' => *first,
        b'0'..=b'3' => {
            let digits = text.get(..3)?;
            let octal = std::str::from_utf8(digits).ok()?;
            return Some((u8::from_str_radix(octal, 8).ok()?, &text[3..]));
        }
        _ => return None,
    };
    Some((byte, rest))
}
