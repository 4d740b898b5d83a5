//! What a project's own settings say about where its tests are.

use super::detect::Reader;
use super::spec::{Globs, Settings};
use crate::tree::RelPath;

/// Empty where the project says nothing.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub names: Option<Globs>,
    /// Directories that modules are imported from.
    pub roots: Vec<String>,
    /// Directories or files; at least one of them exists.
    places: Vec<String>,
}

impl Said {
    pub(super) fn looks_at(&self, path: &RelPath) -> bool {
        self.places.is_empty() || self.places.iter().any(|place| inside(path, place))
    }
}

/// Reads the first section that exists. What cannot be read counts as not said: the framework itself
/// will complain.
pub(super) fn read(settings: &Settings, reader: &Reader<'_>) -> Said {
    let find = |(file, section): &(String, String)| {
        let path = RelPath::parse(file.as_bytes()).ok().filter(|path| reader.has(path.as_str()))?;
        let text = String::from_utf8_lossy(&reader.bytes(&path)).into_owned();
        let toml = path.extension() == "toml";
        let get = |key: &str| {
            if toml { toml_words(&text, section, key) } else { ini_words(&text, section, key) }
        };
        Some([&settings.names, &settings.directories, &settings.roots].map(|key| get(key)))
    };
    let found = settings.sections.iter().find_map(|section| {
        let [names, places, roots] = find(section)?;
        Some((names?, places?, roots?))
    });
    let Some((names, places, roots)) = found else {
        return Said::default();
    };
    let plain = |place: &String| {
        let place = place.trim_start_matches("./").trim_end_matches('/');
        if place == "." { String::new() } else { place.to_owned() }
    };
    let roots = roots.iter().map(plain).collect();
    let pattern = |name: &String| format!("**/{}", name.trim_start_matches("*/"));
    let names: Vec<_> = names.iter().map(pattern).collect();
    let mut places: Vec<_> = places
        .iter()
        .map(|place| place.trim_start_matches("./").trim_end_matches('/').to_owned())
        .filter(|place| reader.paths().iter().any(|path| inside(path, place)))
        .collect();
    if places.iter().any(|place| place == ".") {
        places.clear();
    }
    let names = if names.is_empty() { None } else { Globs::try_from(names).ok() };
    Said { names, roots, places }
}

fn inside(path: &RelPath, place: &str) -> bool {
    let rest = path.as_str().strip_prefix(place);
    place == "." || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The words of a key: a string or a list. `None` where there is no such section.
fn toml_words(text: &str, section: &str, key: &str) -> Option<Vec<String>> {
    let table: toml::Table = text.parse().ok()?;
    let mut value = toml::Value::Table(table);
    for part in section.split('.') {
        value = value.get(part)?.clone();
    }
    let words = match value.get(key) {
        Some(toml::Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(toml::Value::Array(items)) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    Some(words)
}

/// The words of a key with its indented further lines. `None` where there is no such section.
fn ini_words(text: &str, section: &str, key: &str) -> Option<Vec<String>> {
    let header = format!("[{section}]");
    let mut lines = text.lines().skip_while(|line| line.trim_end() != header);
    lines.next()?;
    let mut words = Vec::new();
    let mut within = false;
    for line in lines.take_while(|line| !line.starts_with('[')) {
        let is_comment = line.trim_start().starts_with(['#', ';']);
        if is_comment || line.trim().is_empty() {
            continue;
        }
        let value = if line.starts_with([' ', '\t']) {
            line
        } else {
            let (name, value) = line.split_once(['=', ':']).unwrap_or((line, ""));
            within = name.trim() == key;
            value
        };
        if within {
            words.extend(value.split_whitespace().map(str::to_owned));
        }
    }
    Some(words)
}
