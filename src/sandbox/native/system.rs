//! The allow-list of the machine's own files that every run sees, read-only.

use super::wire::wire_struct;
use std::fs;
use std::path::{Path, PathBuf};

/// Something of the machine shown at its own path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) path: PathBuf,
    /// For a symbolic link: where it points.
    pub(super) link: Option<PathBuf>,
    /// For a small file: its content. A copy is quicker to make than a mount.
    pub(super) content: Option<Vec<u8>>,
}

impl Item {
    /// Whether the file or directory itself is mounted.
    pub(super) fn is_mounted(&self) -> bool {
        self.link.is_none() && self.content.is_none()
    }
}

wire_struct!(Item { path, link, content });

/// Files of at most this many bytes are copied.
const SMALL: u64 = 256 << 10;

/// Programs and libraries. Not `/opt`, `/var`, `/run`: a caller mounts what it needs of them.
const ROOTS: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/// Configuration without which common programs do not start. Nothing here holds a secret or a name.
const ETC: &[&str] = &[
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "ssl/certs",
    "ssl/openssl.cnf",
    "ca-certificates",
    "pki/tls/certs",
    "pki/ca-trust",
    "crypto-policies",
    "mime.types",
    "protocols",
    "services",
    "perl",
    "fonts",
];

/// What of the allow-list exists on this machine.
pub(super) fn items() -> Vec<Item> {
    let mut items: Vec<Item> = ROOTS.iter().filter_map(|path| item(Path::new(path))).collect();
    items.extend(ETC.iter().filter_map(|name| item(&Path::new("/etc").join(name))));
    // Debian keeps a JVM's own configuration in /etc/java-17-openjdk and links to it.
    let mut named: Vec<_> =
        fs::read_dir("/etc").into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    named.sort();
    let wanted = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.starts_with("java") || name == "jvm" || name.starts_with("python3")
    };
    items.extend(named.iter().filter(wanted).filter_map(|path| item(path)));
    items
}

fn item(path: &Path) -> Option<Item> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let link = if metadata.is_symlink() { Some(fs::read_link(path).ok()?) } else { None };
    let small = metadata.is_file() && metadata.len() <= SMALL;
    let content = if small { Some(fs::read(path).ok()?) } else { None };
    Some(Item { path: path.into(), link, content })
}

/// Links of `/etc`: where to, and where.
pub(super) const LINKS: &[(&str, &str)] =
    &[("/usr/share/zoneinfo/UTC", "/etc/localtime"), ("/proc/self/mounts", "/etc/mtab")];

/// Files of `/etc` that are made up, so that no name or address of the machine is seen.
pub(super) const GENERATED: &[(&str, &str)] = &[
    (
        "passwd",
        "root:x:0:0:root:/root:/bin/sh\nu:x:1000:1000:u:/home/u:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    ),
    ("group", "root:x:0:\nu:x:1000:\nnogroup:x:65534:\n"),
    ("hosts", "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost\n"),
    ("hostname", "sandbox\n"),
    (
        "nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
    ),
    ("resolv.conf", ""),
    ("host.conf", "multi on\n"),
    ("shells", "/bin/sh\n/bin/bash\n"),
];
