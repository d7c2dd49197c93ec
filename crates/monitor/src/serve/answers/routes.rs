//! The answer to each request.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::watch;

use super::{events, host, page};
use crate::serve::connections::Acceptor;
use crate::serve::metrics::{Format, Scrape, Series};
use crate::serve::publishing::{Caller, Published};
use crate::serve::secure::Secured;

/// The headers of every answer. The policy lets a page load nothing from other servers.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// What answers are made of.
#[derive(Clone)]
pub(in crate::serve) struct Shared {
    /// The last published state.
    pub(in crate::serve) published: watch::Receiver<Arc<Published>>,
    /// Tells the sampling thread of new pages.
    pub(in crate::serve) caller: Caller,
    /// Counts the connections.
    pub(in crate::serve) acceptor: Arc<Acceptor>,
    /// Who may ask; `None` if everybody may.
    pub(in crate::serve) secured: Option<Arc<Secured>>,
    /// True if the server listens on loopback only; then requests with a foreign host name are
    /// refused.
    pub(in crate::serve) only_loopback: bool,
}

impl Shared {
    fn newest(&self) -> Arc<Published> {
        Arc::clone(&self.published.borrow())
    }
}

/// Returns the routes. They answer GET and HEAD, and refuse every other method.
pub(in crate::serve) fn router(shared: Shared) -> Router {
    Router::new()
        .route("/", get(|| async { asset("index.html") }))
        .route("/page/{name}", get(|Path(name): Path<String>| async move { asset(&name) }))
        .route("/events", get(stream))
        .route("/history", get(history))
        .route("/metrics", get(scrape))
        .route("/healthz", get(health))
        .fallback(|| async { (StatusCode::NOT_FOUND, "Nothing is here: try / or /metrics\n") })
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let authorization = request.headers().get(header::AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut answer = if shared.only_loopback && !is_for_this_machine(&request) {
        let why = "This server answers to names of its own machine only, such as localhost\n";
        (StatusCode::MISDIRECTED_REQUEST, why).into_response()
    } else if let Some(refused) = refused(&shared, authorization.as_deref()).await {
        refused
    } else {
        next.run(request).await
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Returns the answer to who may not ask.
async fn refused(shared: &Shared, authorization: Option<&str>) -> Option<Response> {
    let secured = shared.secured.as_ref()?;
    match secured.admits(authorization).await {
        Some(true) => None,
        Some(false) => {
            let challenge = [(header::WWW_AUTHENTICATE, "Basic")];
            Some((StatusCode::UNAUTHORIZED, challenge, "Unauthorized\n").into_response())
        }
        None => {
            let why = "The web configuration cannot be used; the server's messages say why\n";
            Some((StatusCode::SERVICE_UNAVAILABLE, why).into_response())
        }
    }
}

/// Returns true if every host name in a request is this machine's. A request without one is not from a
/// browser and is allowed.
fn is_for_this_machine(request: &Request) -> bool {
    let named = request.headers().get_all(header::HOST).iter();
    let in_header = named.into_iter().all(|host| host.to_str().is_ok_and(host::is_own));
    in_header && request.uri().authority().is_none_or(|authority| host::is_own(authority.as_str()))
}

fn asset(name: &str) -> Response {
    match page::asset(name) {
        Some((kind, text)) => typed(kind, text),
        None => (StatusCode::NOT_FOUND, "The page has no such part\n").into_response(),
    }
}

async fn stream(State(shared): State<Shared>) -> Response {
    let Some(seat) = shared.acceptor.streaming() else {
        let headers = [(header::RETRY_AFTER, "5"), (header::CONNECTION, "close")];
        let why = "As many pages are open as this server feeds; close some of them, or try again later\n";
        return (StatusCode::SERVICE_UNAVAILABLE, headers, why).into_response();
    };
    shared.caller.page_opened();
    typed("text/event-stream", events::body(shared.published, seat))
}

async fn history(State(shared): State<Shared>) -> Response {
    typed("application/json", shared.newest().history())
}

async fn scrape(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let Ok(series) = Series::requested(query.as_deref().unwrap_or_default()) else {
        let why = "/metrics takes only the parameter `all`, as in /metrics?all\n";
        return (StatusCode::BAD_REQUEST, why).into_response();
    };
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let format = Format::accepted(&accepted.collect::<Vec<_>>().join(","));
    let (connections, refused) = (shared.acceptor.connections(), shared.acceptor.refused());
    typed(format.content_type(), format.text(Scrape::new(shared.newest(), connections, refused), series))
}

async fn health(State(shared): State<Shared>) -> Response {
    match &shared.newest().failing {
        None => "ok\n".into_response(),
        Some(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, kind)], body.into()).into_response()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use axum::body::to_bytes;
    use freehold_linux::procfs::Machine;

    use super::*;
    use crate::sample_tests::sample;
    use crate::series::Monitor;
    use crate::serve::publishing::Tally;

    fn published(monitor: &mut Monitor, second: u64) -> Arc<Published> {
        let model = monitor.take(sample(second, "Normal", second));
        Arc::new(Published::new(model, monitor.history().clone(), Tally::default(), 1000, None))
    }

    #[test]
    fn history_is_answered_while_a_sample_is_taken() {
        let monitor = Mutex::new(Monitor::new(Machine::default()));
        // The sampling thread holds this lock while it makes the model of the next sample.
        let mut taking = monitor.lock().unwrap();
        (0..2).for_each(|second| drop(published(&mut taking, second)));
        let (_publisher, receiver) = watch::channel(published(&mut taking, 2));
        taking.take(sample(3, "Normal", 3));
        let acceptor = Arc::new(Acceptor::default());
        let caller = Caller::to_nobody();
        let shared = Shared { published: receiver, caller, acceptor, secured: None, only_loopback: true };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let text = runtime.block_on(async {
            let answer = tokio::time::timeout(Duration::from_secs(5), history(State(shared))).await;
            to_bytes(answer.expect("an answer").into_body(), 1 << 20).await.unwrap()
        });
        let found: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let times: Vec<_> = found["points"].as_array().unwrap().iter().map(|point| &point[0]).collect();
        assert_eq!(times, [0, 1000, 2000], "up to what was published, and no further");
        drop(taking);
    }
}
