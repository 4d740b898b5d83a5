//! A model at an endpoint.

use super::breaker::Breaker;
use super::classify::{self, Asked};
use super::http::{Body, Http, Received};
use super::{
    Chat, DEFAULT_CONTEXT, Error, Provider, Recording, Reply, Request, Rollout, listing, probe,
    retry, wire,
};
use crate::dice::Dice;
use crate::sandbox::Cancel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often somebody who waits for another try looks whether it is cancelled.
const LOOK: Duration = Duration::from_millis(20);
/// Longest that a question beside the point may take.
pub(super) const ASIDE: Duration = Duration::from_secs(20);

/// What is known of a model beside its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `None`: found out when it is first asked for.
    pub native_tools: Option<bool>,
    /// `None`: what the server says, else [`DEFAULT_CONTEXT`].
    pub context: Option<u64>,
}

/// One server, shared by all that talk to its models.
pub(super) struct Endpoint {
    pub(super) provider: Provider,
    pub(super) http: Http,
    breaker: Mutex<Breaker>,
    dice: Mutex<Dice>,
}

/// A model at an OpenAI-compatible server. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    endpoint: Arc<Endpoint>,
    model: Arc<str>,
    settings: Settings,
    found: Arc<Found>,
    recorded: Option<Recorded>,
}

/// Where what is said is kept, and as whose.
#[derive(Clone)]
struct Recorded {
    recording: Arc<Recording>,
    rollout: Arc<Rollout>,
}

/// What was found out.
#[derive(Default)]
struct Found {
    native_tools: OnceLock<bool>,
    context: OnceLock<u64>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.model, self.endpoint.provider.base)
    }
}

impl Client {
    /// Asks nothing yet. `seed` is for the waits between tries.
    pub fn new(
        provider: Provider,
        model: impl Into<Arc<str>>,
        settings: Settings,
        seed: u64,
    ) -> Result<Self, Error> {
        let http = Http::new(&provider)?;
        let dice = Mutex::new(Dice::new(seed).fork("model"));
        let endpoint = Endpoint { provider, http, breaker: Mutex::default(), dice };
        Ok(Self {
            endpoint: Arc::new(endpoint),
            model: model.into(),
            settings,
            found: Arc::default(),
            recorded: None,
        })
    }

    /// Another model of the same server.
    #[must_use]
    pub fn with_model(&self, model: impl Into<Arc<str>>, settings: Settings) -> Self {
        Self {
            endpoint: self.endpoint.clone(),
            model: model.into(),
            settings,
            found: Arc::default(),
            recorded: None,
        }
    }

    /// The same model, whose replies are kept as turns of a rollout, with their tokens where the server tells them.
    #[must_use]
    pub fn recorded(&self, recording: Arc<Recording>, rollout: Rollout) -> Self {
        let recorded = Some(Recorded { recording, rollout: Arc::new(rollout) });
        Self { recorded, ..self.clone() }
    }

    pub fn provider(&self) -> &Provider {
        &self.endpoint.provider
    }

    /// Where replies are asked for.
    pub fn url(&self) -> String {
        self.endpoint.provider.base.below("chat/completions").into()
    }

    /// Finds out now what is not said of the model, so that nobody waits for it later: whether it calls tools, and how
    /// long a conversation may be. An error where the model cannot be reached at all.
    pub fn prepare(&self, cancel: &Cancel) -> Result<(), Error> {
        if self.settings.native_tools.is_none() && self.found.native_tools.get().is_none() {
            let calls = probe::calls_tools(self, cancel)?;
            self.found.native_tools.get_or_init(|| calls);
        }
        if self.settings.context.is_none() && self.found.context.get().is_none() {
            let context = self.endpoint.context_of(&self.model, cancel);
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.found.context.get_or_init(|| context.unwrap_or(DEFAULT_CONTEXT));
        }
        Ok(())
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The models that the server offers; empty where it does not say.
    pub fn models(&self, cancel: &Cancel) -> Result<Vec<listing::Model>, Error> {
        self.endpoint.models(cancel)
    }

    /// Sends a body as it is and reads the reply; `offered`: whether tools were.
    pub(super) fn send(
        &self,
        body: &serde_json::Map<String, serde_json::Value>,
        offered: bool,
        cancel: &Cancel,
    ) -> Result<Reply, Error> {
        let url = self.url();
        let asked = self.endpoint.asked(&url, &self.model);
        let bytes = serde_json::to_vec(body)
            .map_err(|error| Error::Setup { url: url.clone(), reason: error.to_string() })?;
        let received = self.endpoint.ask("chat/completions", &bytes, &asked, cancel);
        let reply = received.and_then(|received| match &received.body {
            Body::Reply(value) => wire::reply(value, &asked, offered, received.wall),
            Body::Text(_) => {
                let value = wire::json(&received.answer(), &asked)?;
                wire::reply(&value, &asked, offered, received.wall)
            }
        });
        reply.map_err(|error| self.with_known_models(error, cancel))
    }

    /// An unknown model's error says which are known.
    fn with_known_models(&self, error: Error, cancel: &Cancel) -> Error {
        match error {
            Error::UnknownModel { url, model, said, .. } => {
                let models = self.models(cancel).unwrap_or_default();
                let known = models.into_iter().map(|model| model.id).collect();
                Error::UnknownModel { url, model, said, known }
            }
            other => other,
        }
    }
}

impl Chat for Client {
    fn model(&self) -> &str {
        &self.model
    }

    /// Found out by a small request where it is not said; text where that fails.
    fn native_tools(&self) -> bool {
        self.settings.native_tools.unwrap_or_else(|| {
            *self.found.native_tools.get_or_init(|| {
                probe::calls_tools(self, &Cancel::new()).unwrap_or_else(|error| {
                    tracing::debug!("tools are used as text: {error}");
                    false
                })
            })
        })
    }

    fn context(&self) -> u64 {
        self.settings.context.unwrap_or_else(|| {
            *self.found.context.get_or_init(|| {
                self.endpoint.context_of(&self.model, &Cancel::new()).unwrap_or(DEFAULT_CONTEXT)
            })
        })
    }

    fn reply(&self, request: &Request<'_>, cancel: &Cancel) -> Result<Reply, Error> {
        let dialect = self.endpoint.provider.kind.dialect();
        let mut body = wire::body(&self.model, request, dialect);
        if self.recorded.is_some() {
            wire::ask_for_tokens(&mut body, dialect);
        }
        let reply = self.send(&body, !request.tools.is_empty(), cancel);
        let said = match &reply {
            Ok(reply) => Some(reply),
            Err(error) => error.reply(),
        };
        if let (Some(Recorded { recording, rollout }), Some(said)) = (&self.recorded, said)
            && let Err(error) = recording.record(rollout, &body, said, &self.url())
        {
            tracing::warn!("a turn of {} was not recorded: {error}", rollout.id);
        }
        reply
    }
}

impl Endpoint {
    pub(super) fn asked<'a>(&'a self, url: &'a str, model: &'a str) -> Asked<'a> {
        Asked {
            url,
            model,
            key: self.provider.key.as_ref(),
            key_variable: &self.provider.key_variable,
            doubled_version: self.provider.base.has_doubled_version(),
        }
    }

    /// Asks until there is an answer of status 2xx, or no more tries are safe or left.
    fn ask(
        &self,
        endpoint: &str,
        body: &[u8],
        asked: &Asked<'_>,
        cancel: &Cancel,
    ) -> Result<Received, Error> {
        let mut tries = 0;
        loop {
            self.admitted(asked)?;
            tries += 1;
            let url = self.provider.base.below(endpoint);
            let request = self.http.request(url, Some(body.to_vec()));
            let error = match self.http.exchange(request, self.provider.timeout, asked, cancel) {
                Ok(received) if (200..300).contains(&received.status) => {
                    self.breaker().answered();
                    return Ok(received);
                }
                Ok(received) => classify::refusal(&received.answer(), asked, tries),
                Err(error) => error,
            };
            self.note(&error);
            if !retry::is_safe(&error) {
                return Err(error);
            }
            let wished = match &error {
                Error::RateLimited { retry_after, .. } => *retry_after,
                _ => None,
            };
            let pause = {
                let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
                self.provider.patience.pause(tries, wished, &mut dice)
            };
            let Some(pause) = pause else { return Err(error) };
            tracing::debug!("{error}; the next try is in {pause:?}");
            rest(pause, cancel)?;
        }
    }

    fn admitted(&self, asked: &Asked<'_>) -> Result<(), Error> {
        self.breaker().admit(Instant::now()).map_err(|rest| Error::Resting {
            url: asked.url.to_owned(),
            failures: rest.failures,
            wait: rest.wait,
            last: rest.last,
        })
    }

    /// What is the server's own failure counts against it; an answer that refuses is an answer.
    fn note(&self, error: &Error) {
        match error {
            Error::Refused { .. }
            | Error::Proxy { .. }
            | Error::Dns { .. }
            | Error::Tls { .. }
            | Error::Timeout { .. }
            | Error::Truncated { .. }
            | Error::Server { .. } => self.breaker().failed(error.to_string(), Instant::now()),
            // The person's doing says nothing of the server.
            Error::Cancelled => {}
            _ => self.breaker().answered(),
        }
    }

    fn breaker(&self) -> std::sync::MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits, unless it is cancelled.
fn rest(pause: Duration, cancel: &Cancel) -> Result<(), Error> {
    let end = Instant::now() + pause;
    loop {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK));
    }
}
