//! Finds the interpreter and packages that the developer uses for a repository, by reading files.

use super::{Error, Machine, Tools};
use crate::sandbox::{Access, Mount};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Directories that every sandbox shows.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"];

/// An interpreter and where it imports from.
#[derive(Clone, Debug)]
pub(super) struct Python {
    /// What to run: absolute, inside the virtual environment where there is one.
    pub program: PathBuf,
    /// Directories of installed packages that exist.
    pub site: Vec<PathBuf>,
    /// `~/.local`, where packages of the user count too.
    user_base: Option<PathBuf>,
    environment: Option<PathBuf>,
    /// Directories elsewhere that `.pth` files and editable installs name.
    pub linked: Vec<PathBuf>,
    mounts: BTreeMap<PathBuf, PathBuf>,
}

/// The active virtual environment, else one at the root, else the first real interpreter on `PATH`.
pub(super) fn find(root: &Path, machine: &Machine) -> Result<Python, Error> {
    let environments = machine.virtual_env.iter().cloned();
    let local = [".venv", "venv", "env"].map(|name| root.join(name));
    for environment in environments.chain(local) {
        if environment.join("pyvenv.cfg").is_file() {
            for name in ["python", "python3"] {
                let program = environment.join("bin").join(name);
                if program.exists() {
                    return Ok(Python::in_environment(program, environment, root, machine));
                }
            }
        }
    }
    let mut seen = Vec::new();
    for name in ["python3", "python"] {
        for directory in &machine.path {
            let program = directory.join(name);
            if !program.is_file() {
                continue;
            }
            match real_interpreter(&program, root) {
                Some(program) => return Ok(Python::plain(program, root, machine)),
                None => seen.push(program),
            }
        }
    }
    Err(Error::NoPython { seen })
}

impl Python {
    fn in_environment(
        program: PathBuf,
        environment: PathBuf,
        root: &Path,
        machine: &Machine,
    ) -> Self {
        let settings = fs::read_to_string(environment.join("pyvenv.cfg")).unwrap_or_default();
        let setting = |name: &str| {
            settings.lines().find_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == name).then(|| value.trim().to_owned())
            })
        };
        let mut mounts = mounts_of(&program, &machine.home);
        mounts.insert(environment.clone(), environment.clone());
        let mut site = packages_below(&environment, None);
        if let Some(home) = setting("home") {
            let base = Path::new(&home).join("python3");
            mounts.extend(mounts_of(&base, &machine.home));
            if setting("include-system-site-packages").is_some_and(|value| value == "true")
                && let Some(prefix) = Path::new(&home).parent()
            {
                let version = fs::canonicalize(&program).ok().and_then(|real| version_of(&real));
                site.extend(packages_below(prefix, version.as_deref()));
            }
        }
        let mut python = Self {
            program,
            site,
            user_base: None,
            environment: Some(environment),
            linked: Vec::new(),
            mounts,
        };
        python.add_linked_directories(root, &machine.home);
        python
    }

    fn plain(program: PathBuf, root: &Path, machine: &Machine) -> Self {
        let mut mounts = mounts_of(&program, &machine.home);
        let version = version_of(&program);
        let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/usr"));
        let mut site = packages_below(prefix, version.as_deref());
        let user_base = machine.home.join(".local");
        let user_site = packages_below(&user_base, version.as_deref());
        let user_base = (!user_site.is_empty() && version.is_some()).then_some(user_base);
        if user_base.is_some() {
            for directory in &user_site {
                mounts.insert(directory.clone(), directory.clone());
            }
            site.extend(user_site);
        }
        let mut python =
            Self { program, site, user_base, environment: None, linked: Vec::new(), mounts };
        python.add_linked_directories(root, &machine.home);
        python
    }

    /// Whether `import module` would find an installed module.
    pub(super) fn has(&self, module: &str) -> bool {
        self.site
            .iter()
            .any(|site| site.join(module).is_dir() || site.join(format!("{module}.py")).is_file())
    }

    /// Top-level names of all installed modules and packages.
    pub(super) fn modules(&self) -> BTreeSet<String> {
        let name = |path: PathBuf| {
            let name = path.file_name()?.to_str()?;
            let stem = name.strip_suffix(".py").or_else(|| path.is_dir().then_some(name))?;
            stem.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| stem.to_owned())
        };
        self.site.iter().flat_map(|site| entries(site)).filter_map(name).collect()
    }

    /// Name and module of every entry point of a group, sorted by name.
    pub(super) fn entry_points(&self, group: &str) -> BTreeMap<String, String> {
        let header = format!("[{group}]");
        let mut found = BTreeMap::new();
        for site in &self.site {
            for info in entries(site) {
                let text = fs::read_to_string(info.join("entry_points.txt")).unwrap_or_default();
                let section = text.lines().skip_while(|line| line.trim() != header).skip(1);
                for line in section.take_while(|line| !line.trim_start().starts_with('[')) {
                    if let Some((name, module)) = line.split_once('=') {
                        let module = module.split([':', '[']).next().unwrap_or_default();
                        found.insert(name.trim().to_owned(), module.trim().to_owned());
                    }
                }
            }
        }
        found
    }

    /// The mounts and the environment that make the interpreter work inside.
    pub(super) fn tools(&self) -> Tools {
        let mounts = self
            .mounts
            .iter()
            .map(|(target, source)| Mount {
                source: source.clone(),
                target: target.clone(),
                access: Access::ReadOnly,
            })
            .collect();
        let bin = self.program.parent().unwrap_or(Path::new("/usr/bin"));
        let mut env = BTreeMap::new();
        env.insert("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()).into());
        env.insert("PYTHON".into(), self.program.clone().into());
        if let Some(environment) = &self.environment {
            env.insert("VIRTUAL_ENV".into(), environment.clone().into());
        }
        if let Some(base) = &self.user_base {
            env.insert("PYTHONUSERBASE".into(), base.clone().into());
        }
        Tools { mounts, env, ..Tools::default() }
    }

    /// Whether packages of `~/.local` belong to what the developer uses.
    pub(super) fn uses_user_packages(&self) -> bool {
        self.user_base.is_some()
    }

    /// Directories outside that `.pth` files and editable installs point to. The repository itself is often
    /// one: in its place stands the copy, which nothing may cover.
    fn add_linked_directories(&mut self, root: &Path, home: &Path) {
        for site in self.site.clone() {
            for file in entries(&site) {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let editable = name.starts_with("__editable__") && has_extension(&file, "py");
                if !editable && !has_extension(&file, "pth") && !has_extension(&file, "egg-link") {
                    continue;
                }
                let text = fs::read_to_string(&file).unwrap_or_default();
                let named = text.split(['\n', '\'', '"']).map(str::trim);
                for directory in named.filter(|text| text.starts_with('/')).map(PathBuf::from) {
                    let outside = !self.mounts.keys().any(|shown| directory.starts_with(shown));
                    if outside
                        && directory.is_dir()
                        && !home.starts_with(&directory)
                        && !is_system(&directory)
                        && !overlap(&directory, root)
                    {
                        self.linked.push(directory.clone());
                        self.mounts.insert(directory.clone(), directory);
                    }
                }
            }
        }
    }
}

/// Follows what stands on `PATH` to an interpreter: through links, and through pyenv's shims by
/// reading the files that pyenv reads. Other tools' shims are no interpreter.
fn real_interpreter(program: &Path, root: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(program).ok()?;
    let name = real.file_name()?.to_string_lossy().into_owned();
    if !starts_with_shebang(&real) && (name.starts_with("python") || name.starts_with("pypy")) {
        return Some(real);
    }
    let shims = real.parent()?;
    let pyenv = shims.parent()?;
    if shims.file_name()? != "shims" || !pyenv.join("versions").is_dir() {
        return None;
    }
    let global = pyenv.join("version");
    let wanted = root
        .ancestors()
        .map(|directory| directory.join(".python-version"))
        .chain([global])
        .find_map(|file| fs::read_to_string(file).ok())?;
    wanted.split_whitespace().find_map(|version| {
        let exact = pyenv.join("versions").join(version);
        let chosen =
            if exact.is_dir() { Some(exact) } else { newest(&pyenv.join("versions"), version) };
        fs::canonicalize(chosen?.join("bin").join(&name)).ok()
    })
}

/// The newest version directory that begins with `prefix.`.
fn newest(versions: &Path, prefix: &str) -> Option<PathBuf> {
    let prefix = format!("{prefix}.");
    let number = |path: &PathBuf| -> Vec<u32> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.split('.').filter_map(|part| part.parse().ok()).collect()
    };
    entries(versions)
        .into_iter()
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        })
        .max_by_key(number)
}

/// What must be shown for a program to start: the installation at every hop of its chain of links,
/// target to source.
fn mounts_of(program: &Path, home: &Path) -> BTreeMap<PathBuf, PathBuf> {
    let mut mounts = BTreeMap::new();
    let mut hop = program.to_owned();
    for _ in 0..16 {
        if let Some(directory) = shown_for(&hop, home)
            && let Ok(source) = fs::canonicalize(&directory)
        {
            if !is_system(&source) {
                mounts.insert(source.clone(), source.clone());
            }
            mounts.insert(directory, source);
        }
        match fs::read_link(&hop) {
            Ok(next) => hop = hop.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => break,
        }
    }
    mounts
}

/// The installation that holds a program, or only its directory where that would show too much.
fn shown_for(program: &Path, home: &Path) -> Option<PathBuf> {
    let bin = program.parent()?;
    let prefix = bin.parent()?;
    let whole = !home.starts_with(prefix) && !packages_below(prefix, None).is_empty();
    let directory = if whole { prefix } else { bin };
    (!is_system(directory) && !home.starts_with(directory)).then(|| directory.to_owned())
}

/// Whether one of two directories holds the other.
fn overlap(one: &Path, other: &Path) -> bool {
    let [one, other] =
        [one, other].map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    one.starts_with(&other) || other.starts_with(&one)
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

/// The directories of installed packages below a prefix, of one version or of all.
fn packages_below(prefix: &Path, version: Option<&str>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut real = BTreeSet::new();
    for lib in ["lib", "lib64", "local/lib"].map(|name| prefix.join(name)) {
        for python in entries(&lib) {
            let name = python.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let fits = name == "python3"
                || version.map_or(name.starts_with("python3.") || name.starts_with("pypy3"), |v| {
                    v == name
                });
            // `lib64` is often a link to `lib`.
            if fits && real.insert(fs::canonicalize(&python).unwrap_or_else(|_| python.clone())) {
                let places = ["site-packages", "dist-packages"].map(|place| python.join(place));
                found.extend(places.into_iter().filter(|place| place.is_dir()));
            }
        }
    }
    found
}

/// `python3.11` for a program of that name, or for a sibling of that name.
fn version_of(program: &Path) -> Option<String> {
    let name = fs::canonicalize(program).ok()?.file_name()?.to_string_lossy().into_owned();
    name.starts_with("python3.").then_some(name)
}

/// A directory's entries, sorted; empty where it cannot be read.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn starts_with_shebang(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; 2];
    fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == *b"#!"
}
