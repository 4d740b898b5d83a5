//! Requests and answers over the wire: bounded, and given up at once when they are cancelled.

use super::classify::{Answer, Asked};
use super::route::Proxy;
use super::stream::{Stream, Unfinished};
use super::{Error, Provider};
use crate::sandbox::Cancel;
use http::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, RETRY_AFTER};
use serde_json::Value;
use std::error::Error as _;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use url::Url;

/// Longest answer that is read.
const LONGEST: u64 = 50 << 20;
/// How often somebody who waits looks whether it is cancelled.
const LOOK: Duration = Duration::from_millis(20);
/// Longest that a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(15);

/// Connections to one server.
pub(super) struct Http {
    /// `None` once it is dropped: a runtime must not end where another one runs.
    runtime: Option<Runtime>,
    client: reqwest::Client,
    proxy: Option<Proxy>,
    authorization: Option<http::HeaderValue>,
}

/// An answer, whatever its status.
pub(super) struct Received {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Body,
    pub(super) wall: Duration,
}

pub(super) enum Body {
    Text(String),
    /// A stream, put together.
    Reply(Value),
}

impl Received {
    pub(super) fn answer(&self) -> Answer<'_> {
        let body = match &self.body {
            Body::Text(text) => text,
            Body::Reply(_) => "",
        };
        Answer { status: self.status, kind: &self.kind, body, retry_after: self.retry_after }
    }
}

/// Why there is no answer.
enum Failure {
    Request(reqwest::Error),
    Late,
    Broken { got: u64, reason: String },
    TooLong,
    Unreadable(String),
}

impl Http {
    pub(super) fn new(provider: &Provider) -> Result<Self, Error> {
        let setup = |reason: String| Error::Setup { url: provider.base.to_string(), reason };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("ssr-mcp-model")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| setup(error.to_string()))?;
        let proxy = provider.proxies.route(&provider.base).cloned();
        let client = client(provider, proxy.as_ref())?;
        let authorization = provider.key.as_ref().map(super::Key::bearer).transpose()?;
        Ok(Self { runtime: Some(runtime), client, proxy, authorization })
    }

    /// A request with the key. Redirects are not followed: they would take the key elsewhere.
    pub(super) fn request(&self, url: Url, body: Option<Vec<u8>>) -> reqwest::RequestBuilder {
        let request = match body {
            None => self.client.get(url),
            Some(body) => self.client.post(url).header(CONTENT_TYPE, "application/json").body(body),
        };
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization.clone()),
            None => request,
        }
    }

    /// Waits for the whole answer on the caller's thread.
    pub(super) fn exchange(
        &self,
        request: reqwest::RequestBuilder,
        limit: Duration,
        asked: &Asked<'_>,
        cancel: &Cancel,
    ) -> Result<Received, Error> {
        let Some(runtime) = &self.runtime else { return Err(Error::Cancelled) };
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let (done, outcome) = channel();
        let begun = Instant::now();
        let task = runtime.spawn(async move {
            let received = tokio::time::timeout(limit, receive(request, begun)).await;
            // Nobody waits any more where it was cancelled.
            done.send(received.unwrap_or(Err(Failure::Late))).unwrap_or_default();
        });
        loop {
            match outcome.recv_timeout(LOOK) {
                Ok(received) => {
                    return received.map_err(|failure| self.told(failure, limit, asked));
                }
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                    task.abort();
                    return Err(Error::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "the request ended by itself".to_owned();
                    return Err(Error::Setup { url: asked.url.to_owned(), reason });
                }
            }
        }
    }

    fn told(&self, failure: Failure, limit: Duration, asked: &Asked<'_>) -> Error {
        let url = asked.url.to_owned();
        match failure {
            Failure::Late => Error::Timeout { url, after: limit },
            Failure::Broken { got, reason } => {
                Error::Truncated { url, got, reason: asked.evidence(&reason) }
            }
            Failure::TooLong => Error::Oversized { url, limit: LONGEST },
            Failure::Unreadable(said) => {
                let reason = format!("an event is no JSON: {}", asked.evidence(&said));
                Error::Stream { url, reason }
            }
            Failure::Request(error) => self.unanswered(&error, url, asked),
        }
    }

    /// Why a request got no answer.
    pub(super) fn unanswered(
        &self,
        error: &reqwest::Error,
        url: String,
        asked: &Asked<'_>,
    ) -> Error {
        let reason = asked.evidence(&causes(error));
        let small = reason.to_lowercase();
        if is_of_tls(error) || small.contains("tls handshake") {
            return Error::Tls { url, reason };
        }
        if error.is_timeout() {
            return Error::Timeout { url, after: CONNECT };
        }
        match &self.proxy {
            Some(proxy) if error.is_connect() => {
                let (variable, proxy) = (proxy.variable.clone(), proxy.shown());
                Error::Proxy { url, variable, proxy, reason }
            }
            _ if small.contains("dns error") || small.contains("lookup") => {
                Error::Dns { url, reason }
            }
            _ if error.is_connect() => Error::Refused { url, reason },
            _ if error.is_builder() => Error::Setup { url, reason },
            _ => Error::Truncated { url, got: 0, reason },
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn client(provider: &Provider, proxy: Option<&Proxy>) -> Result<reqwest::Client, Error> {
    let url = || provider.base.to_string();
    let setup = |error: reqwest::Error| Error::Setup { url: url(), reason: causes(&error) };
    // A second one in this process finds the first: either is the same.
    rustls::crypto::ring::default_provider().install_default().unwrap_or_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("ssr-mcp/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .no_proxy();
    if let Some(proxy) = proxy {
        builder = builder.proxy(reqwest::Proxy::all(proxy.url()).map_err(setup)?);
    }
    let secure = provider.base.is_https();
    builder = match &provider.authorities {
        Some(pem) => {
            let authorities = reqwest::Certificate::from_pem_bundle(pem).map_err(setup)?;
            builder.tls_certs_merge(authorities)
        }
        // The system's certificates need not be there, nor be read, where nothing is signed.
        None if !secure => builder.tls_certs_only([]),
        None => builder,
    };
    builder.build().map_err(|error| {
        let reason = causes(&error);
        if secure { Error::Tls { url: url(), reason } } else { Error::Setup { url: url(), reason } }
    })
}

async fn receive(request: reqwest::RequestBuilder, begun: Instant) -> Result<Received, Failure> {
    let mut response =
        request.send().await.map_err(|error| Failure::Request(error.without_url()))?;
    let headers = response.headers();
    let kind = media_type(headers);
    let retry_after = retry_after(headers);
    let status = response.status().as_u16();
    let streamed = kind == "text/event-stream" && response.status().is_success();
    let (mut stream, mut bytes, mut got) = (Stream::default(), Vec::new(), 0_u64);
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                got += chunk.len() as u64;
                if got > LONGEST {
                    return Err(Failure::TooLong);
                }
                if !streamed {
                    bytes.extend_from_slice(&chunk);
                } else if stream.take(&chunk) {
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => {
                return Err(Failure::Broken { got, reason: causes(&error.without_url()) });
            }
        }
    }
    let body = if streamed {
        Body::Reply(stream.finish().map_err(|unfinished| match unfinished {
            Unfinished::BrokenOff => {
                Failure::Broken { got, reason: "the stream ended before its reply did".to_owned() }
            }
            Unfinished::Unreadable(said) => Failure::Unreadable(said),
        })?)
    } else {
        Body::Text(text(bytes))
    };
    Ok(Received { status, kind, retry_after, body, wall: begun.elapsed() })
}

/// Bytes that are no text are replaced: they are of a model's words, and cannot harm its JSON.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn media_type(headers: &HeaderMap) -> String {
    let kind = header(headers, &CONTENT_TYPE).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Seconds, or a date, which is taken from the server's own: no two clocks agree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let said = header(headers, &RETRY_AFTER)?.trim();
    if let Ok(seconds) = said.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = httpdate::parse_http_date(said).ok()?;
    let now = httpdate::parse_http_date(header(headers, &DATE)?).ok()?;
    Some(then.duration_since(now).unwrap_or_default())
}

/// Whether a connection was there and could not be encrypted. An error of input and output hides what it was made of:
/// its source is that one's source.
fn is_of_tls(error: &reqwest::Error) -> bool {
    let mut next = error.source();
    while let Some(cause) = next {
        if cause.is::<rustls::Error>() {
            return true;
        }
        next = match cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    false
}

/// What an error says, with its causes; each once.
fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}
