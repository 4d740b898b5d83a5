//! Why the store cannot be opened, read or written, and what to do about it.

use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{} was made by a newer version of ssr-mcp (its schema is {found}, this one knows \
        {known}); update ssr-mcp or choose another state directory",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{} is another program's database; choose another state directory", path.display())]
    Foreign { path: PathBuf },
    #[error(
        "{} cannot be opened or written ({reason}); check the permissions of its directory or \
        choose another state directory",
        path.display()
    )]
    Denied { path: PathBuf, reason: String },
    #[error(
        "the disk is full at {}; free some space or choose a state directory on another disk, \
        then try again",
        path.display()
    )]
    DiskFull { path: PathBuf },
    #[error(
        "{} is damaged ({reason}); start again: the damaged file is moved aside and a new one is \
        made",
        path.display()
    )]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "{} was locked by another process for more than ten seconds; wait for the other ssr-mcp, \
        or end it, and try again",
        path.display()
    )]
    Busy { path: PathBuf },
    #[error(
        "{} holds a value that cannot be read ({source}), and is left as it is; move it away to begin anew, \
        or choose another state directory",
        path.display()
    )]
    Garbled { path: PathBuf, source: rusqlite::Error },
    #[error("{} cannot be used ({source}); try again, or choose another state directory", path.display())]
    Other { path: PathBuf, source: rusqlite::Error },
}

impl Error {
    pub(super) fn sql(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let reason = source.to_string();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, reason }
            }
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
                Self::Denied { path, reason }
            }
            None if is_of_a_value(&source) => Self::Garbled { path, source },
            _ => Self::Other { path, source },
        }
    }

    pub(super) fn file(path: &Path, source: &io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Denied { path, reason: source.to_string() },
        }
    }
}

/// Whether a row was read, and what stands in it is not what it should be.
fn is_of_a_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
    };
    matches!(
        error,
        FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..)
    )
}
