//! All languages: the built-in ones, and a user's laid over them.

use super::error::GrammarError;
use super::grammar::{Grammar, GrammarSource};
use super::language::Language;
use crate::tree::RelPath;
use std::collections::BTreeMap;
use tree_sitter_language::LanguageFn;

/// The grammar crates of this build, by the key that `grammar.toml` names them by.
const GRAMMARS: [(&str, LanguageFn); 12] = [
    ("c", tree_sitter_c::LANGUAGE),
    ("c-sharp", tree_sitter_c_sharp::LANGUAGE),
    ("cpp", tree_sitter_cpp::LANGUAGE),
    ("go", tree_sitter_go::LANGUAGE),
    ("java", tree_sitter_java::LANGUAGE),
    ("javascript", tree_sitter_javascript::LANGUAGE),
    ("php", tree_sitter_php::LANGUAGE_PHP),
    ("python", tree_sitter_python::LANGUAGE),
    ("ruby", tree_sitter_ruby::LANGUAGE),
    ("rust", tree_sitter_rust::LANGUAGE),
    ("tsx", tree_sitter_typescript::LANGUAGE_TSX),
    ("typescript", tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
];

/// The queries a folder may hold, without `.scm`.
const QUERIES: [&str; 4] = ["functions", "tests", "assertions", "sites"];

/// The files of one built-in folder: `grammar.toml`, then [`QUERIES`] in order.
struct Folder {
    name: &'static str,
    toml: &'static str,
    queries: [&'static str; 4],
}

macro_rules! folders {
    ($($name:literal),* $(,)?) => {
        [$(Folder {
            name: $name,
            toml: include_str!(concat!("../../grammars/", $name, "/grammar.toml")),
            queries: [
                include_str!(concat!("../../grammars/", $name, "/queries/functions.scm")),
                include_str!(concat!("../../grammars/", $name, "/queries/tests.scm")),
                include_str!(concat!("../../grammars/", $name, "/queries/assertions.scm")),
                include_str!(concat!("../../grammars/", $name, "/queries/sites.scm")),
            ],
        }),*]
    };
}

/// A folder that inherits comes after the one it inherits from.
const FOLDERS: &[Folder] = &folders![
    "python",
    "rust",
    "javascript",
    "typescript",
    "tsx",
    "go",
    "java",
    "c",
    "cpp",
    "ruby",
    "php",
    "csharp",
];

/// A query's text and the file that errors name.
#[derive(Clone, Debug)]
pub(super) struct QueryText {
    pub(super) file: String,
    pub(super) text: String,
}

/// A language before its queries are compiled.
#[derive(Clone, Debug, Default)]
struct Draft {
    file: String,
    toml: toml::Table,
    queries: Vec<QueryText>,
    from_user: bool,
}

#[derive(Clone)]
pub struct Languages {
    by_name: BTreeMap<String, Language>,
    by_extension: BTreeMap<String, String>,
}

impl Languages {
    /// Cheap: a language's queries are compiled when it first parses a file.
    pub fn builtin() -> Self {
        Self::from_sources(&[]).expect("the built-in grammars are tested")
    }

    /// The built-in languages with a user's folders laid over them, in order. A user's queries are
    /// compiled here, so that what is wrong with them is told here.
    pub fn from_sources(user: &[GrammarSource]) -> Result<Self, GrammarError> {
        let mut drafts = BTreeMap::new();
        for folder in FOLDERS {
            let source = GrammarSource {
                folder: format!("grammars/{}", folder.name),
                grammar_toml: Some(folder.toml.to_owned()),
                queries: QUERIES
                    .iter()
                    .zip(folder.queries)
                    .map(|(name, text)| ((*name).to_owned(), text.to_owned()))
                    .collect(),
            };
            add(&mut drafts, &source, false)?;
        }
        for source in user {
            add(&mut drafts, source, true)?;
        }
        let mut languages = Self { by_name: BTreeMap::new(), by_extension: BTreeMap::new() };
        for (name, draft) in drafts {
            let language = language(draft)?;
            for extension in language.extensions() {
                languages.by_extension.insert(extension.clone(), name.clone());
            }
            languages.by_name.insert(name, language);
        }
        Ok(languages)
    }

    /// These languages and no others; `Err` names the first that is not there.
    pub fn only(&self, names: &[String]) -> Result<Self, String> {
        let mut only = Self { by_name: BTreeMap::new(), by_extension: self.by_extension.clone() };
        for name in names {
            let language = self.by_name(name).ok_or_else(|| name.clone())?;
            only.by_name.insert(name.clone(), language.clone());
        }
        only.by_extension.retain(|_, name| names.contains(name));
        Ok(only)
    }

    /// Their names, for a sentence.
    pub fn names(&self) -> String {
        self.by_name.keys().map(String::as_str).collect::<Vec<_>>().join(" or ")
    }

    /// The language of a file, by its extension.
    pub fn for_path(&self, path: &RelPath) -> Option<&Language> {
        self.by_name(self.by_extension.get(path.extension())?)
    }

    pub fn by_name(&self, name: &str) -> Option<&Language> {
        self.by_name.get(name)
    }

    /// By name, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Language> {
        self.by_name.values()
    }
}

/// Adds a folder to the drafts: over the language of its name, or over the one it inherits from,
/// less the queries that it `replaces`.
fn add(
    drafts: &mut BTreeMap<String, Draft>,
    source: &GrammarSource,
    from_user: bool,
) -> Result<(), GrammarError> {
    let file = format!("{}/grammar.toml", source.folder);
    let text = source.grammar_toml.as_deref().unwrap_or_default();
    let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        GrammarError::Toml { file: file.clone(), message: error.to_string().trim_end().to_owned() }
    })?;
    let given = table.get("name").and_then(toml::Value::as_str);
    let name = given.or(source.folder.rsplit('/').next()).unwrap_or_default().to_owned();
    let inherits = table.remove("inherits");
    let dropped = table.remove("replaces");
    let base = match inherits.as_ref().and_then(toml::Value::as_str) {
        Some(parent) => Some(drafts.get(parent).cloned().ok_or_else(|| GrammarError::Toml {
            file: file.clone(),
            message: format!("`inherits` names the language `{parent}`, which is not there"),
        })?),
        None => drafts.get(&name).cloned(),
    };
    if base.is_none() && source.grammar_toml.is_none() {
        return Err(GrammarError::Missing { file });
    }
    let mut draft = base.unwrap_or_default();
    lay_over(&mut draft.toml, table);
    let mut queries: Vec<QueryText> = source
        .queries
        .iter()
        .map(|(query, text)| QueryText {
            file: format!("{}/queries/{query}.scm", source.folder),
            text: text.clone(),
        })
        .collect();
    let replaced = |query: &QueryText| {
        let names = dropped.iter().filter_map(toml::Value::as_array).flatten();
        let mut files = names.filter_map(|name| Some(format!("/{}.scm", name.as_str()?)));
        files.any(|file| query.file.ends_with(&file))
    };
    queries.extend(draft.queries.drain(..).filter(|query| !replaced(query)));
    drafts.insert(name, Draft { file, toml: draft.toml, queries, from_user });
    Ok(())
}

/// Tables are merged key by key; everything else is replaced.
fn lay_over(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => lay_over(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

fn language(draft: Draft) -> Result<Language, GrammarError> {
    let file = draft.file;
    let grammar: Grammar = draft.toml.try_into().map_err(|error: toml::de::Error| {
        GrammarError::Toml { file: file.clone(), message: error.to_string().trim_end().to_owned() }
    })?;
    let known = GRAMMARS.iter().find(|(key, _)| *key == grammar.parser);
    let Some((_, function)) = known else {
        let known: Vec<&str> = GRAMMARS.iter().map(|(key, _)| *key).collect();
        return Err(GrammarError::UnknownGrammar {
            file,
            grammar: grammar.parser,
            known: known.join(", "),
        });
    };
    let language = Language::new(grammar, *function, draft.queries, &file)?;
    if draft.from_user {
        language.compile()?;
    }
    Ok(language)
}
