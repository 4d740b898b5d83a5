//! Programs on the developer's `PATH`, seen through links and the small scripts of Python's packages.

use super::Machine;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The real program of a name. `in_package`: where a Python package of it keeps the program, below
/// `site-packages`. Else what stood on `PATH` under the name.
pub(super) fn program(
    machine: &Machine,
    name: &str,
    in_package: &str,
) -> Result<PathBuf, Vec<PathBuf>> {
    let mut seen = Vec::new();
    for directory in &machine.path {
        let program = directory.join(name);
        if !program.is_file() {
            continue;
        }
        let real = fs::canonicalize(&program).unwrap_or_else(|_| program.clone());
        if is_binary(&real) {
            return Ok(real);
        }
        match packaged(directory, in_package) {
            Some(real) => return Ok(real),
            None => seen.push(program),
        }
    }
    Err(seen)
}

fn is_binary(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

/// The program in a package that is installed beside the scripts in `bin`.
fn packaged(bin: &Path, in_package: &str) -> Option<PathBuf> {
    let mut libraries: Vec<PathBuf> =
        fs::read_dir(bin.parent()?.join("lib")).ok()?.flatten().map(|entry| entry.path()).collect();
    libraries.sort();
    let programs = libraries.iter().flat_map(|library| {
        ["site-packages", "dist-packages"].map(|site| library.join(site).join(in_package))
    });
    programs.filter_map(|path| fs::canonicalize(path).ok()).find(|path| is_binary(path))
}
