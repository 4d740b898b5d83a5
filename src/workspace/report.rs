//! What a freeze took and left out: data for people and tests.

/// What freezing took, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FreezeReport {
    pub files: usize,
    pub links: usize,
    pub directories: usize,
    /// Content of all files together.
    pub bytes: u64,
    /// Files whose content was read to learn what it is.
    pub hashed: usize,
    /// Files whose content was written to the state directory.
    pub copied: usize,
    /// Whether the base was there already.
    pub reused: bool,
    /// Path (what is not UTF-8 as `%XX`) and why it is not in the base, sorted. Ignored files,
    /// caches and version control are not named.
    pub left_out: Vec<(String, String)>,
}
