//! How many candidate edits a CPU second gives on a directory.
//!
//! `cargo bench --bench candidates -- DIR [--verify]`. CPU time is this process's user and system time
//! over reading, parsing and enumerating. `--verify` then applies every candidate (outside of the
//! measured time) and counts, by kind, those that parse with more errors than the file had.

#![allow(clippy::print_stdout, reason = "a bench reports there")]

use ssr_mcp::syntax::{Language, Languages, structural};
use ssr_mcp::text::{Edit, apply_edits};
use ssr_mcp::tree::RelPath;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

struct Candidates {
    language: Language,
    source: Vec<u8>,
    all: Vec<(&'static str, Vec<Edit>)>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let Some(directory) = arguments.iter().find(|it| !it.starts_with("--")) else {
        println!("usage: cargo bench --bench candidates -- DIR [--verify]");
        return;
    };
    let languages = Languages::builtin();
    let mut files = Vec::new();
    collect(Path::new(directory), &mut files);
    let before = cpu();
    let mut unique = HashSet::new();
    let mut found = Vec::new();
    let mut bytes = 0;
    for path in files {
        let Ok(name) = RelPath::parse(path.file_name().unwrap_or_default().as_encoded_bytes())
        else {
            continue;
        };
        let Some(language) = languages.for_path(&name) else { continue };
        let Ok(source) = std::fs::read(&path) else { continue };
        bytes += source.len();
        let all = candidates(language, &source);
        for (_, edits) in &all {
            let mut hash = DefaultHasher::new();
            (&path, edits).hash(&mut hash);
            unique.insert(hash.finish());
        }
        found.push(Candidates { language: language.clone(), source, all });
    }
    let spent = cpu().saturating_sub(before).as_secs_f64();
    let total: usize = found.iter().map(|file| file.all.len()).sum();
    #[allow(clippy::cast_precision_loss, reason = "counts of candidates are far below 2^52")]
    let rate = unique.len() as f64 / spent;
    println!("files {}  bytes {bytes}  candidates {total}  unique {}", found.len(), unique.len());
    println!("cpu_seconds {spent:.3}  unique_per_cpu_second {rate:.0}");
    if arguments.iter().any(|it| it == "--verify") {
        verify(&found);
    }
}

fn candidates(language: &Language, source: &[u8]) -> Vec<(&'static str, Vec<Edit>)> {
    let parsed = language.parse(source);
    let mutations = structural::mutations(&parsed, language);
    let removals = structural::removals(&parsed, language);
    let mutations = mutations.into_iter().map(|it| (it.operator.name(), it.edits));
    mutations.chain(removals.into_iter().map(|it| (removal(it.what), it.edits))).collect()
}

fn removal(kind: structural::RemovalKind) -> &'static str {
    match kind {
        structural::RemovalKind::Body => "removal_body",
        structural::RemovalKind::Statements => "removal_statements",
        structural::RemovalKind::Branch => "removal_branch",
        structural::RemovalKind::Function => "removal_function",
    }
}

fn verify(found: &[Candidates]) {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in found {
        let before = file.language.syntax_errors(&file.source);
        // Every tenth: parsing them all takes minutes.
        for (kind, edits) in file.all.iter().step_by(10) {
            let applied = apply_edits(&file.source, edits).unwrap_or_default();
            let broken = applied == file.source || file.language.syntax_errors(&applied) > before;
            let count = counts.entry(kind).or_default();
            count.0 += 1;
            count.1 += usize::from(broken);
            if broken && std::env::args().any(|it| it == "--show") {
                println!("{kind}: {}", shown(file, edits));
            }
        }
    }
    for (kind, (total, broken)) in counts {
        println!("{kind:24} {total:6} checked {broken:5} with new syntax errors");
    }
}

fn shown(file: &Candidates, edits: &[Edit]) -> String {
    let one = |edit: &Edit| {
        let from = edit.range.start.saturating_sub(40);
        let to = (edit.range.end + 40).min(file.source.len());
        let old = String::from_utf8_lossy(&file.source[from..to]).into_owned();
        format!("{old:?} -> {:?}", String::from_utf8_lossy(&edit.replacement))
    };
    edits.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

/// User and system time of this process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|it| it.parse().ok()).unwrap_or_default();
    Duration::from_nanos(nanos)
}
