//! Streamable HTTP: `rmcp`'s service behind a guard of our own.
//!
//! Without a token only loopback addresses are served. A page in a browser reaches loopback, too: its
//! `Origin` tells it, and a name that was bound anew to 127.0.0.1 shows in `Host`.

use crate::config::Token;
use crate::wire::LONGEST;
use anyhow::{Context, bail};
use http::header::{AUTHORIZATION, HOST};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Connections that are served at once.
const CONNECTIONS: usize = 256;
/// Sessions that may be open: each keeps a server and what it last said.
const SESSIONS: usize = 64;
/// One in which nothing was asked for so long is ended; its client is told 404, and begins another.
const IDLE: Duration = Duration::from_mins(30);
/// Longest that a request's headers may take to come in.
const HEADERS: Duration = Duration::from_secs(30);
/// How long to wait where the system has no descriptor left for a connection.
const PAUSE: Duration = Duration::from_millis(100);
const SESSION: &str = "mcp-session-id";
/// Requests of the revision without sessions name their method here, too.
const METHOD: &str = "mcp-method";
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Who may ask.
struct Guard {
    token: Option<Token>,
    /// Names beside addresses and localhost that `Host` may have.
    hosts: Vec<String>,
    sessions: Arc<LocalSessionManager>,
}

/// Serves `server` at `address` until the process ends. `told` is given the address that was taken.
pub(super) async fn serve<S: ServerHandler + Clone>(
    server: S,
    address: SocketAddr,
    token: Option<Token>,
    hosts: Vec<String>,
    told: impl FnOnce(SocketAddr),
) -> anyhow::Result<()> {
    if token.is_none() && !address.ip().is_loopback() {
        bail!(
            "{address} is reachable from other machines, and no token is set; give a loopback address, \
             or set SSR_MCP_HTTP_TOKEN or --token-file"
        );
    }
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("{address} cannot be listened on; give another port, or 0"))?;
    told(listener.local_addr().context("the address that was taken cannot be read")?);
    let config = StreamableHttpServerConfig::default()
        // The guard looks at it; addresses that were listened on are as many as the machine has.
        .disable_allowed_hosts()
        .with_allowed_origins(origins(&hosts))
        .enforce_origin_validation()
        .with_max_request_body_bytes(LONGEST);
    let make = move || Ok(server.clone());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let sessions = Arc::new(sessions);
    let service = StreamableHttpService::new(make, sessions.clone(), config);
    let guard = Arc::new(Guard { token, hosts, sessions });
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let permit = free.clone().acquire_owned().await.context("connections are counted")?;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!("a connection was not taken: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let (service, guard) = (service.clone(), guard.clone());
        tokio::spawn(async move {
            let respond = service_fn(|request: Request<Incoming>| {
                let (service, guard) = (service.clone(), guard.clone());
                async move {
                    let answer: Answer = match guard.refusal(&request).await {
                        Some(refusal) => refusal,
                        None => service.handle(request).await,
                    };
                    Ok::<_, Infallible>(answer)
                }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEADERS);
            if let Err(error) = http.serve_connection(TokioIo::new(stream), respond).await {
                tracing::debug!("a connection ended: {error}");
            }
            drop(permit);
        });
    }
}

impl Guard {
    async fn refusal<B>(&self, request: &Request<B>) -> Option<Answer> {
        if !self.is_served_as(&host(request)) {
            let text = "Host has to be localhost, an address or a name of --allow-host\n";
            return Some(answer(StatusCode::FORBIDDEN, text));
        }
        if !self.admits(request.headers()) {
            let mut answer = answer(StatusCode::UNAUTHORIZED, "a bearer token is needed\n");
            let scheme = http::HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(http::header::WWW_AUTHENTICATE, scheme);
            return Some(answer);
        }
        // `rmcp` refuses a request whose method is another than this header says.
        let method =
            request.headers().get(METHOD).map_or(&b"initialize"[..], |name| name.as_bytes());
        let begins = request.method() == Method::POST
            && !request.headers().contains_key(SESSION)
            && method == b"initialize";
        if begins && self.sessions.sessions.read().await.len() >= SESSIONS {
            let text = "64 sessions are open, which is the most; end one by DELETE, or wait until one has \
                        been idle for 30 minutes\n";
            return Some(answer(StatusCode::SERVICE_UNAVAILABLE, text));
        }
        None
    }

    /// An address cannot be bound anew to another, and a name that was allowed is the user's.
    fn is_served_as(&self, host: &str) -> bool {
        let Ok(uri) = host.parse::<Uri>() else { return false };
        let Some(host) = uri.authority().map(http::uri::Authority::host) else { return false };
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || address.parse::<IpAddr>().is_ok()
            || self.hosts.iter().any(|allowed| host.eq_ignore_ascii_case(allowed))
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let given = headers.get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
        let (scheme, given) = given.split_at(given.len().min(7));
        scheme.eq_ignore_ascii_case(b"Bearer ") && token.is(given.trim_ascii())
    }
}

fn host<B>(request: &Request<B>) -> String {
    let named = request.headers().get(HOST).and_then(|value| value.to_str().ok());
    let authority = request.uri().authority().map(http::uri::Authority::as_str);
    named.or(authority).unwrap_or_default().to_owned()
}

/// What a page's `Origin` may be: those of the machine itself, and of the names that are allowed.
fn origins(hosts: &[String]) -> Vec<String> {
    let named = hosts.iter().flat_map(|host| {
        ["http", "https"]
            .into_iter()
            .flat_map(move |scheme| [format!("{scheme}://{host}"), format!("{scheme}://{host}:*")])
    });
    ORIGINS.into_iter().map(str::to_owned).chain(named).collect()
}

fn answer(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
