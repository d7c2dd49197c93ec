//! Accepts connections, with limits on their number and on the time that a client may take.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::stalling::Stalling;
use crate::serve::secure::Secured;

/// The most connections at once; further ones get the answer 503.
const MOST_CONNECTIONS: usize = 512;

/// The most event streams at once: the seats that are left are for what is answered in a moment, such as `/metrics`.
const MOST_STREAMS: usize = MOST_CONNECTIONS / 8 * 7;

/// How long a client may take to send a request, and how long it may be silent between two requests.
const REQUEST_PATIENCE: Duration = Duration::from_secs(15);

/// How long a client may take none of the bytes that are sent to it.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);

/// The most bytes of a request's head, and of an answer that waits behind the one being sent.
const BUFFER_BYTES: usize = 16 << 10;

/// The most header lines of a request.
const MOST_HEADERS: usize = 64;

/// How long answers in progress may take once the server ends.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// The pause after the system failed to accept a connection.
const BREATH: Duration = Duration::from_millis(100);

/// The answer to a connection over the limit.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n";

/// The first byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// The body of the answer to a request without TLS where there is TLS.
const PLAIN: &str = "This server needs https, not http\n";

/// Accepts and counts connections.
pub(in crate::serve) struct Acceptor {
    seats: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    refused: AtomicU64,
}

impl Default for Acceptor {
    fn default() -> Self {
        Self {
            seats: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            refused: AtomicU64::new(0),
        }
    }
}

/// Connections that are open when the server ends.
pub(in crate::serve) struct Open(GracefulShutdown);

impl Open {
    /// Waits for the answers in progress, for at most [`END_PATIENCE`].
    pub(in crate::serve) async fn finish(self) {
        // Connections that take longer are cut off.
        let _ = tokio::time::timeout(END_PATIENCE, self.0.shutdown()).await;
    }
}

impl Acceptor {
    /// Returns the number of open connections.
    pub(in crate::serve) fn connections(&self) -> usize {
        MOST_CONNECTIONS - self.seats.available_permits()
    }

    /// Returns how many connections were refused because too many were open. Approximate while it
    /// changes.
    pub(in crate::serve) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns true while a page is open.
    pub(in crate::serve) fn has_pages(&self) -> bool {
        self.streams.available_permits() < MOST_STREAMS
    }

    /// Returns a seat for an event stream, if one is free.
    pub(in crate::serve) fn streaming(&self) -> Option<OwnedSemaphorePermit> {
        let seat = Arc::clone(&self.streams).try_acquire_owned().ok();
        if seat.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        seat
    }

    /// Accepts and serves connections until `end`. With a web configuration that has TLS, each begins with a handshake.
    pub(in crate::serve) async fn serve(
        &self,
        listener: TcpListener,
        router: Router,
        secured: Option<Arc<Secured>>,
        end: impl Future,
    ) -> Open {
        let graceful = GracefulShutdown::new();
        let secured = secured.filter(|secured| secured.has_tls());
        let mut end = pin!(end);
        loop {
            let accepted = pin!(listener.accept());
            match select(accepted, end.as_mut()).await {
                Either::Left((Ok((stream, _)), _)) => {
                    self.admit(stream, router.clone(), secured.clone(), graceful.watcher());
                }
                // There is no free file descriptor, or the client left at once: later
                // connections may succeed.
                Either::Left((Err(_), _)) => tokio::time::sleep(BREATH).await,
                Either::Right(_) => return Open(graceful),
            }
        }
    }

    fn admit(&self, stream: TcpStream, router: Router, secured: Option<Arc<Secured>>, watcher: Watcher) {
        let Ok(seat) = Arc::clone(&self.seats).try_acquire_owned() else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            // A client that cannot take this much gets no answer, nor does one that waits for a handshake.
            if secured.is_none() {
                let _ = stream.try_write(FULL);
            }
            return;
        };
        // Sends each event at once. A failure only makes events later.
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            match secured {
                None => talk(Stalling::new(stream, WRITE_PATIENCE), router, watcher).await,
                Some(secured) => {
                    if let Ok(Some(stream)) = timeout(REQUEST_PATIENCE, handshake(stream, &secured)).await {
                        talk(stream, router, watcher).await;
                    }
                }
            }
            drop(seat);
        });
    }
}

/// Answers requests until the client or the server ends the connection.
async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, router: Router, watcher: Watcher) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_PATIENCE)
        .max_buf_size(BUFFER_BYTES)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // An error of one connection concerns its client only.
    let _ = watcher.watch(connection).await;
}

/// Returns the encrypted stream. A client that does not begin with a handshake gets an answer in plain text, and the connection ends.
async fn handshake(stream: TcpStream, secured: &Secured) -> Option<TlsStream<Stalling<TcpStream>>> {
    let mut first = [0];
    stream.peek(&mut first).await.ok().filter(|&bytes| bytes > 0)?;
    if first != [TLS_HANDSHAKE] {
        // What has arrived is taken first: a connection that is closed before that loses the answer.
        let _ = stream.try_read(&mut [0; BUFFER_BYTES]);
        let _ = stream.try_write(refusal(PLAIN).as_bytes());
        return None;
    }
    let config = secured.handshake()?;
    TlsAcceptor::from(config).accept(Stalling::new(stream, WRITE_PATIENCE)).await.ok()
}

/// Returns the answer that refuses a request, with this body.
fn refusal(body: &str) -> String {
    let bytes = body.len();
    format!(
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: {bytes}\r\n\r\n{body}"
    )
}
