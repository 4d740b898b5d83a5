//! Where an API is: one canonical URL, however it was written down.

use std::fmt;
use url::{Host, Url};

/// The URL below which `/chat/completions` is: no query, no slash at its end, each version once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    url: Url,
    notes: Vec<Note>,
}

/// What was changed, and what should be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// `/v1` stood there more than once.
    Doubled,
    /// `/v1` was added.
    Added,
    /// What stood after the base: `/chat/completions`.
    Endpoint(String),
    Query(String),
    /// Read as `http` or `https`, which was not said.
    Scheme(String),
    /// A key would be readable on its way.
    Plain,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Doubled => f.write_str("the version stood twice in its path"),
            Self::Added => f.write_str("/v1 was added"),
            Self::Endpoint(path) => write!(f, "{path} was cut off: it is added to the base URL"),
            Self::Query(query) => write!(f, "the query ?{query} was cut off"),
            Self::Scheme(scheme) => write!(f, "it was read as {scheme}://"),
            Self::Plain => {
                f.write_str("it is plain http to another machine: a key can be read on its way")
            }
        }
    }
}

/// Why a text is no base URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    #[error("the base URL {0:?} cannot be read ({1}); write it like https://host/api")]
    Unreadable(String, String),
    #[error("the base URL {0:?} is neither http nor https; write it like https://host/api")]
    Scheme(String),
    #[error(
        "the base URL of {0} has a name or password in it, which would be shown; take it out, and give the key \
         by itself"
    )]
    Credentials(String),
}

/// What is asked for below a base.
const ENDPOINTS: [&[&str]; 4] =
    [&["chat", "completions"], &["completions"], &["models"], &["responses"]];

impl BaseUrl {
    /// Adds `/v1` where the path has no version, unless it is to be taken as it is.
    pub fn of(text: &str, as_it_is: bool) -> Result<Self, BadUrl> {
        let mut notes = Vec::new();
        let mut url = parse(text.trim(), &mut notes)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadUrl::Credentials(url.host_str().unwrap_or_default().to_owned()));
        }
        if let Some(query) = url.query().filter(|query| !query.is_empty()) {
            notes.push(Note::Query(query.to_owned()));
        }
        url.set_query(None);
        url.set_fragment(None);
        let path = canonical_path(url.path(), as_it_is, &mut notes);
        url.set_path(&path);
        if url.scheme() == "http" && !is_local(&url) {
            notes.push(Note::Plain);
        }
        Ok(Self { url, notes })
    }

    /// The URL of something below it: `chat/completions`.
    pub fn below(&self, endpoint: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{endpoint}", self.url.path().trim_end_matches('/')));
        url
    }

    /// The URL of something beside the version, which some servers have of their own: `props`.
    pub fn beside(&self, endpoint: &str) -> Url {
        let mut url = self.url.clone();
        let path = url.path().trim_end_matches('/');
        let above = match path.rsplit_once('/') {
            Some((above, last)) if is_version(last) => above.to_owned(),
            _ => path.to_owned(),
        };
        url.set_path(&format!("{above}/{endpoint}"));
        url
    }

    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Whether it is on this machine.
    pub fn is_local(&self) -> bool {
        is_local(&self.url)
    }

    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Without a port.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Whether its path has a version twice, which only one that is taken as it is can have.
    pub fn has_doubled_version(&self) -> bool {
        let segments: Vec<_> = self.url.path().split('/').collect();
        segments.windows(2).any(|pair| pair[0] == pair[1] && is_version(pair[0]))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str().trim_end_matches('/'))
    }
}

fn parse(text: &str, notes: &mut Vec<Note>) -> Result<Url, BadUrl> {
    let whole = if text.contains("://") {
        text.to_owned()
    } else {
        let local = Url::parse(&format!("http://{text}")).is_ok_and(|url| is_local(&url));
        let scheme = if local { "http" } else { "https" };
        notes.push(Note::Scheme(scheme.to_owned()));
        format!("{scheme}://{text}")
    };
    let shown = || without_credentials(text);
    let url = Url::parse(&whole).map_err(|error| BadUrl::Unreadable(shown(), error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BadUrl::Scheme(shown()));
    }
    Ok(url)
}

/// What stands before an `@` may be a password.
fn without_credentials(text: &str) -> String {
    text.rsplit_once('@').map_or(text, |(_, rest)| rest).to_owned()
}

fn canonical_path(path: &str, as_it_is: bool, notes: &mut Vec<Note>) -> String {
    let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    if !as_it_is {
        for endpoint in ENDPOINTS {
            if segments.ends_with(endpoint) {
                segments.truncate(segments.len() - endpoint.len());
                notes.push(Note::Endpoint(format!("/{}", endpoint.join("/"))));
                break;
            }
        }
        let before = segments.len();
        segments.dedup_by(|later, earlier| later == earlier && is_version(later));
        if segments.len() < before {
            notes.push(Note::Doubled);
        }
        if !segments.iter().any(|segment| is_version(segment)) {
            segments.push("v1");
            notes.push(Note::Added);
        }
    }
    format!("/{}", segments.join("/"))
}

/// `v1`, `v4`, `v1beta`.
fn is_version(segment: &str) -> bool {
    let Some(rest) = segment.strip_prefix('v') else { return false };
    rest.starts_with(|c: char| c.is_ascii_digit())
        && rest.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
