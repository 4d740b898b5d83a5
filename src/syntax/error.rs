//! What is wrong with a grammar folder.

/// Why a grammar is refused. Each names the file, and the line where there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    #[error("{file}: {message}; correct the file or remove the folder")]
    Toml { file: String, message: String },
    #[error(
        "{file}, line {line}, column {column}: {message}; correct the query or remove the file"
    )]
    Query { file: String, line: usize, column: usize, message: String },
    #[error(
        "{file}: the grammar `{grammar}` is not built in (built in are {known}); set `grammar` to one of them"
    )]
    UnknownGrammar { file: String, grammar: String, known: String },
    #[error(
        "{file}, line {line}: the capture `@{capture}` is unknown; `grammars/README.md` lists them"
    )]
    UnknownCapture { file: String, line: usize, capture: String },
    #[error("{file}: the pattern `{pattern}` is not a valid path pattern: {message}")]
    Pattern { file: String, pattern: String, message: String },
    #[error("{file}: a new language needs this file; add it")]
    Missing { file: String },
}
