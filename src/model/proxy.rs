//! A server of our own in front of a provider: passes requests on with the key, and records what comes of them.
//!
//! Loopback only: whoever reaches it uses the key. A page in a browser reaches loopback, too; its `Origin` and a
//! foreign `Host` tell it.

use super::classify::Asked;
use super::client::Client;
use super::stream::{Stream, WithoutUsage};
use super::{Chat, Error, Recording, Reply, Rollout, wire};
use crate::sandbox::Cancel;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, ORIGIN,
    TRANSFER_ENCODING,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Longest request that is passed on.
const LONGEST: usize = 50 << 20;
/// Longest reply that is recorded; a longer one is passed on all the same.
const RECORDED: usize = 50 << 20;
/// Longest that a request's headers may take to come in.
const HEADERS: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);
/// By these a client says whose turn a request is; the first is sent back, too.
const SESSION: HeaderName = HeaderName::from_static("x-session-id");
const TASK: HeaderName = HeaderName::from_static("x-task-id");
const ROLE: HeaderName = HeaderName::from_static("x-role");
const GROUP: HeaderName = HeaderName::from_static("x-group-id");
/// Who replaces a model's weights under its name knows which they are; vLLM does not say it.
const WEIGHTS: HeaderName = HeaderName::from_static("x-weights-version");

/// An answer that broke off is passed on as one that broke off.
type Piece = Result<Bytes, std::io::Error>;
type Answer = Response<BoxBody<Bytes, std::io::Error>>;

/// What every connection needs.
struct Shared {
    client: Client,
    recording: Recording,
    /// Names rollouts that no client names: of this process, and counted.
    prefix: String,
    number: AtomicU64,
}

/// Serves until it is cancelled. `told` is given the address that was taken; `prefix` begins the ids of rollouts that
/// clients do not name.
pub fn serve(
    client: Client,
    recording: Recording,
    address: SocketAddr,
    prefix: String,
    told: impl FnOnce(SocketAddr),
    cancel: &Cancel,
) -> Result<(), Error> {
    let setup = |reason: String| Error::Setup { url: address.to_string(), reason };
    if !address.ip().is_loopback() {
        return Err(setup(
            "it is no address of loopback, and whoever reaches it uses your key".to_owned(),
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("ssr-mcp-proxy")
        .enable_all()
        .build()
        .map_err(|error| setup(error.to_string()))?;
    let listener = runtime
        .block_on(TcpListener::bind(address))
        .map_err(|error| setup(format!("{error}; give another port, or 0")))?;
    told(listener.local_addr().map_err(|error| setup(error.to_string()))?);
    let shared = Arc::new(Shared { client, recording, prefix, number: AtomicU64::new(0) });
    runtime.spawn(accept(listener, shared));
    while !cancel.is_cancelled() {
        std::thread::sleep(LOOK);
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(())
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!("a connection was not taken: {error}");
                tokio::time::sleep(LOOK).await;
                continue;
            }
        };
        let shared = shared.clone();
        tokio::spawn(async move {
            let respond = service_fn(|request: Request<Incoming>| {
                let shared = shared.clone();
                async move { Ok::<_, Infallible>(shared.answer(request).await) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEADERS);
            if let Err(error) = http.serve_connection(TokioIo::new(stream), respond).await {
                tracing::debug!("a connection ended: {error}");
            }
        });
    }
}

/// What is to be kept of a request and its answer.
struct Recorded {
    request: Map<String, Value>,
    rollout: Rollout,
    /// A count of tokens was asked for that the client did not ask for.
    counted: bool,
}

impl Shared {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        if !is_of_this_machine(&head.headers) {
            return refuse(StatusCode::FORBIDDEN, "Host and Origin have to be of this machine");
        }
        let body = match Limited::new(body, LONGEST).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => {
                return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the request is longer than 50 MB");
            }
        };
        let path = head.uri.path().trim_start_matches('/');
        let endpoint = path.strip_prefix("v1/").unwrap_or(path).to_owned();
        match (&head.method, endpoint.as_str()) {
            (&Method::POST, "chat/completions") => self.complete(&head.headers, &body).await,
            (&Method::GET, "models") => self.pass(None, &endpoint, None).await,
            (&Method::POST, "completions" | "embeddings" | "tokenize" | "detokenize") => {
                self.pass(Some(body.to_vec()), &endpoint, None).await
            }
            _ => refuse(
                StatusCode::NOT_FOUND,
                "only chat/completions, completions and models are passed on",
            ),
        }
    }

    async fn complete(self: Arc<Self>, headers: &HeaderMap, body: &[u8]) -> Answer {
        let Ok(Value::Object(mut request)) = serde_json::from_slice::<Value>(body) else {
            return refuse(StatusCode::BAD_REQUEST, "the request is no JSON object");
        };
        let rollout = self.rollout(headers, &request);
        let streams = request.get("stream").and_then(Value::as_bool) == Some(true);
        // Without a count it is not known whether all ids came. Who did not ask for one does not see it.
        let counted = streams && !request.contains_key("stream_options");
        if counted {
            let options = serde_json::json!({ "include_usage": true });
            request.insert("stream_options".to_owned(), options);
        }
        // Of what the client did not ask for itself.
        wire::ask_for_tokens(&mut request, self.client.provider().kind.dialect());
        if request.get("model").is_none_or(|model| model == "") {
            request.insert("model".to_owned(), self.client.model().into());
        }
        match serde_json::to_vec(&request) {
            Ok(bytes) => {
                let recorded = Recorded { request, rollout, counted };
                self.pass(Some(bytes), "chat/completions", Some(recorded)).await
            }
            Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
        }
    }

    /// Whose turn it is: as the client says, else of the conversation that it goes on with, else a new one's.
    fn rollout(&self, headers: &HeaderMap, request: &Map<String, Value>) -> Rollout {
        let said = |name: &HeaderName| {
            let text = headers.get(name)?.to_str().ok()?.trim();
            (!text.is_empty() && text.len() <= wire::LONGEST_NAME).then(|| text.to_owned())
        };
        let id = said(&SESSION).or_else(|| self.recording.going_on(request)).unwrap_or_else(|| {
            format!("{}-{}", self.prefix, self.number.fetch_add(1, Ordering::Relaxed))
        });
        let text = |name: &HeaderName| said(name).unwrap_or_default();
        let [task, role, group, weights] = [&TASK, &ROLE, &GROUP, &WEIGHTS].map(text);
        Rollout { id, task, role, group, weights }
    }

    /// Passes a request on and its answer back, as it comes.
    async fn pass(
        self: Arc<Self>,
        body: Option<Vec<u8>>,
        endpoint: &str,
        recorded: Option<Recorded>,
    ) -> Answer {
        let server = &self.client.endpoint().http;
        let url = self.client.provider().base.below(endpoint);
        let begun = Instant::now();
        let response = match server.request(url, body).send().await {
            Ok(response) => response,
            Err(error) => {
                let url = self.client.url();
                let asked = self.client.endpoint().asked(&url, "");
                let told = server.unanswered(&error.without_url(), url.clone(), &asked);
                return refuse(StatusCode::BAD_GATEWAY, &told.to_string());
            }
        };
        let mut answer = Response::builder().status(response.status());
        for (name, value) in response.headers() {
            // Of the connection, which is another one.
            if ![CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
                answer = answer.header(name, value);
            }
        }
        if let Some(recorded) = &recorded {
            answer = answer.header(SESSION, recorded.rollout.id.as_str());
        }
        let recorded = recorded.filter(|_| response.status().is_success());
        let (send, receive) = channel(16);
        tokio::spawn(self.relay(response, send, recorded, begun));
        answer
            .body(Relayed(receive).boxed())
            .unwrap_or_else(|error| refuse(StatusCode::BAD_GATEWAY, &error.to_string()))
    }

    async fn relay(
        self: Arc<Self>,
        mut response: reqwest::Response,
        send: Sender<Piece>,
        recorded: Option<Recorded>,
        begun: Instant,
    ) {
        let streamed = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let (mut stream, mut bytes, mut got) = (Stream::default(), Vec::new(), 0);
        let counted = recorded.as_ref().is_some_and(|recorded| recorded.counted);
        let mut filter = (streamed && counted).then(WithoutUsage::default);
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    got += chunk.len();
                    if recorded.is_some() && got <= RECORDED {
                        if streamed {
                            stream.take(&chunk);
                        } else {
                            bytes.extend_from_slice(&chunk);
                        }
                    }
                    let passed = match &mut filter {
                        Some(filter) => filter.take(&chunk).into(),
                        None => chunk,
                    };
                    if send.send(Ok(passed)).await.is_err() {
                        // The client left: what the model said to nobody is no turn.
                        return;
                    }
                }
                Ok(None) => {
                    let rest = filter.map(WithoutUsage::rest).unwrap_or_default();
                    if !rest.is_empty() {
                        send.send(Ok(rest.into())).await.unwrap_or_default();
                    }
                    break;
                }
                Err(error) => {
                    let error = error.without_url().to_string();
                    tracing::warn!("an answer broke off: {error}");
                    send.send(Err(std::io::Error::other(error))).await.unwrap_or_default();
                    return;
                }
            }
        }
        // Recorded before the answer ends, so that who has read it whole finds it in the store.
        if let Some(Recorded { request, rollout, .. }) = recorded.filter(|_| got <= RECORDED) {
            let value = if streamed {
                stream.finish().ok()
            } else {
                serde_json::from_str(&String::from_utf8_lossy(&bytes)).ok()
            };
            let shared = self.clone();
            let record = move || shared.record(value.as_ref(), &request, &rollout, begun);
            if let Err(error) = tokio::task::spawn_blocking(record).await {
                tracing::warn!("a turn was not recorded: {error}");
            }
        }
    }

    fn record(
        &self,
        value: Option<&Value>,
        request: &Map<String, Value>,
        rollout: &Rollout,
        begun: Instant,
    ) {
        let url = self.client.url();
        let asked: Asked<'_> = self.client.endpoint().asked(&url, self.client.model());
        let Some(value) = value else {
            tracing::warn!("a turn of {} was not recorded: its reply cannot be read", rollout.id);
            return;
        };
        let reply: Result<Reply, Error> = match wire::reply(value, &asked, true, begun.elapsed()) {
            Err(Error::Empty { reply, .. }) => Ok(*reply),
            other => other,
        };
        let recorded = reply.map_err(|error| error.to_string()).and_then(|reply| {
            self.recording.record(rollout, request, &reply, &url).map_err(|error| error.to_string())
        });
        if let Err(error) = recorded {
            tracing::warn!("a turn of {} was not recorded: {error}", rollout.id);
        }
    }
}

/// Pieces of an answer as they come.
struct Relayed(Receiver<Piece>);

impl Body for Relayed {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

fn is_of_this_machine(headers: &HeaderMap) -> bool {
    let local = |host: &str| {
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = host.parse::<http::Uri>().ok();
    let host = host.as_ref().and_then(http::Uri::authority).map(http::uri::Authority::host);
    let origin = headers.get(ORIGIN).map(|origin| {
        origin
            .to_str()
            .ok()
            .and_then(|origin| url::Url::parse(origin).ok()?.host_str().map(str::to_owned))
    });
    host.is_some_and(local)
        && origin.is_none_or(|origin| origin.is_some_and(|origin| local(&origin)))
        // What a client sends as a key is not passed on; that it sends one is no harm.
        && headers.get_all(AUTHORIZATION).iter().count() <= 1
}

/// An error in the protocol's own form, which its clients can show.
fn refuse(status: StatusCode, text: &str) -> Answer {
    let body = serde_json::json!({ "error": { "message": format!("ssr-mcp proxy: {text}") } });
    let mut answer = Response::new(
        Full::new(Bytes::from(body.to_string())).map_err(|never| match never {}).boxed(),
    );
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    answer
}
