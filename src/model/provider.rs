//! Who serves models: the servers that are known by name, and one as it is set up.

use super::wire::{Dialect, Tells};
use super::{BaseUrl, Key, Patience, Proxies};
use std::time::Duration;

/// A kind of server, by which it is known what it can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    TaoToken,
    OpenAi,
    Ollama,
    LlamaCpp,
    Vllm,
    SgLang,
    LmStudio,
    /// Any that speaks the protocol.
    Other,
}

impl Kind {
    pub const NAMED: [Self; 7] = [
        Self::TaoToken,
        Self::OpenAi,
        Self::Ollama,
        Self::LlamaCpp,
        Self::Vllm,
        Self::SgLang,
        Self::LmStudio,
    ];

    pub fn of(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::TaoToken => "taotoken",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::LlamaCpp => "llama_cpp",
            Self::Vllm => "vllm",
            Self::SgLang => "sglang",
            Self::LmStudio => "lm_studio",
            Self::Other => "other",
        }
    }

    /// Where it is where nobody says otherwise.
    pub fn base_url(self) -> Option<&'static str> {
        match self {
            Self::TaoToken => Some("https://taotoken.net/api"),
            Self::OpenAi => Some("https://api.openai.com"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::LlamaCpp => Some("http://127.0.0.1:8080"),
            Self::Vllm => Some("http://127.0.0.1:8000"),
            Self::SgLang => Some("http://127.0.0.1:30000"),
            Self::LmStudio => Some("http://127.0.0.1:1234"),
            Self::Other => None,
        }
    }

    /// The variable that holds its key where nobody says otherwise.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::TaoToken => Some("TAOTOKEN_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
            _ => None,
        }
    }

    /// How it words what the protocol leaves open. What a server is not known to tell it is not asked for: some
    /// refuse such a question.
    pub(super) fn dialect(self) -> Dialect {
        Dialect {
            limit: if self == Self::OpenAi { "max_completion_tokens" } else { "max_tokens" },
            tells: match self {
                Self::Vllm => Tells::All,
                Self::SgLang => Tells::AllOfWhole,
                Self::LlamaCpp => Tells::Probabilities,
                _ => Tells::Nothing,
            },
            narrows: self == Self::LlamaCpp,
        }
    }
}

/// One server, and how it is asked.
#[derive(Clone, Debug)]
pub struct Provider {
    /// As the configuration names it.
    pub name: String,
    pub kind: Kind,
    pub base: BaseUrl,
    pub key: Option<Key>,
    /// The variable that would hold its key.
    pub key_variable: String,
    pub proxies: Proxies,
    /// Certificates of authorities that are trusted beside the system's, as PEM.
    pub authorities: Option<Vec<u8>>,
    /// Longest that one request may take.
    pub timeout: Duration,
    pub patience: Patience,
}

/// Longest that one request may take where nobody says otherwise: a model that thinks may take minutes.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

impl Provider {
    /// One without a key, reached directly.
    pub fn new(name: impl Into<String>, kind: Kind, base: BaseUrl) -> Self {
        Self {
            name: name.into(),
            kind,
            base,
            key: None,
            key_variable: kind.key_variable().unwrap_or("its variable").to_owned(),
            proxies: Proxies::default(),
            authorities: None,
            timeout: DEFAULT_TIMEOUT,
            patience: Patience::default(),
        }
    }
}
