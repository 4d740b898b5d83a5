//! Whether something can be made at a path, asked before long work would end with it.

use std::io;
use std::path::Path;

/// The nearest directory that exists above `path` must be one, and writable by this process.
pub(super) fn can_be_made(path: &Path) -> io::Result<()> {
    for above in path.ancestors().skip(1) {
        match above.metadata() {
            Ok(found) if found.is_dir() => {
                let may = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
                return rustix::fs::access(above, may).map_err(io::Error::from);
            }
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
