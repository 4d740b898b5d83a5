//! What a reader of a valid artifact should know: sources of chance, and tests that look at the code
//! instead of running it (SSR, appendix A: a dominant challenger makes failure random or keyed to the
//! original's text).

use crate::artifact::Artifact;

/// Text in an added line, and what it may be used for.
const SIGNS: [(&str, &str); 10] = [
    ("random", "chance"),
    ("urandom", "chance"),
    ("time.time", "the clock"),
    ("datetime.now", "the clock"),
    ("SystemTime::now", "the clock"),
    ("Instant::now", "the clock"),
    ("__file__", "its own source file"),
    ("inspect.getsource", "its own source"),
    ("include_str!", "its own source"),
    ("PYTEST_CURRENT_TEST", "which test is running"),
];

pub(super) fn of(artifact: &Artifact) -> Vec<String> {
    let mut flags = Vec::new();
    for (part, bytes) in
        [("bug_inject.diff", &artifact.bug_inject), ("test_weaken.diff", &artifact.test_weaken)]
    {
        let text = String::from_utf8_lossy(bytes);
        let added: Vec<&str> =
            text.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).collect();
        for (sign, meaning) in SIGNS {
            if added.iter().any(|line| line.contains(sign)) {
                flags.push(format!("{part} adds `{sign}`: the outcome may hang on {meaning}"));
            }
        }
    }
    flags
}
