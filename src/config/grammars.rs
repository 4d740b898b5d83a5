//! Reads a user's folder of grammars: texts only, `syntax` decides what they mean.

use super::Error;
use crate::syntax::GrammarSource;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Largest grammar or query file, bytes; the largest built-in one is a few KB.
const LARGEST: u64 = 1 << 20;

/// One source for each directory below `dir`, by name. No folder at all is no grammar.
pub(super) fn read(dir: &Path) -> Result<Vec<GrammarSource>, Error> {
    let mut sources = Vec::new();
    for folder in entries(dir)? {
        if !folder.is_dir() {
            continue;
        }
        let mut queries = BTreeMap::new();
        for file in entries(&folder.join("queries"))? {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some(query) = name.strip_suffix(".scm") {
                queries.insert(query.to_owned(), text(&file)?);
            }
        }
        let toml = folder.join("grammar.toml");
        let grammar_toml = if toml.exists() { Some(text(&toml)?) } else { None };
        sources.push(GrammarSource { folder: folder.display().to_string(), grammar_toml, queries });
    }
    Ok(sources)
}

/// The directory's entries, sorted; none where there is no directory.
fn entries(dir: &Path) -> Result<Vec<std::path::PathBuf>, Error> {
    let listing = match fs::read_dir(dir) {
        Ok(listing) => listing,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(refused(dir, &error)),
    };
    let mut paths = Vec::new();
    for entry in listing {
        paths.push(entry.map_err(|error| refused(dir, &error))?.path());
    }
    paths.sort();
    Ok(paths)
}

fn text(path: &Path) -> Result<String, Error> {
    let size = fs::metadata(path).map_err(|error| refused(path, &error))?.len();
    if size > LARGEST {
        let reason = format!("it has {size} bytes, and at most {LARGEST} are read");
        return Err(Error::Grammar { path: path.display().to_string(), reason });
    }
    fs::read_to_string(path).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, error: &io::Error) -> Error {
    Error::Grammar { path: path.display().to_string(), reason: error.to_string() }
}
