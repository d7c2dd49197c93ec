//! Who is let in, how many at once, and for how long.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::stalling::Stalling;

/// Connections at once; more are told to come back later.
const MOST_CONNECTIONS: usize = 512;

/// How long a client may take to send a request, and how long it may keep quiet between two.
const REQUEST_PATIENCE: Duration = Duration::from_secs(15);

/// How long a client may take nothing of what is sent to it.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);

/// Bytes of a request's head at most, and of an answer that waits for its client beyond the one being sent.
const BUFFER_BYTES: usize = 16 << 10;

/// Header lines of a request at most.
const MOST_HEADERS: usize = 64;

/// How long answers that are on their way may take once the server is to end.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// How long no connection is accepted after the system refused one.
const BREATH: Duration = Duration::from_millis(100);

/// The answer to one connection too many.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n";

/// Lets connections in.
pub(in crate::serve) struct Doorman {
    seats: Arc<Semaphore>,
    refused: AtomicU64,
}

impl Default for Doorman {
    fn default() -> Self {
        Self { seats: Arc::new(Semaphore::new(MOST_CONNECTIONS)), refused: AtomicU64::new(0) }
    }
}

/// Connections that are open when the server is to end.
pub(in crate::serve) struct Open(GracefulShutdown);

impl Open {
    /// Lets answers that are on their way arrive.
    pub(in crate::serve) async fn finish(self) {
        // Who is not done by then is cut off.
        let _ = tokio::time::timeout(END_PATIENCE, self.0.shutdown()).await;
    }
}

impl Doorman {
    /// Connections that are open.
    pub(in crate::serve) fn connections(&self) -> usize {
        MOST_CONNECTIONS - self.seats.available_permits()
    }

    /// Connections that were refused because too many were open. Approximate while it changes.
    pub(in crate::serve) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Serves whoever comes until `end`.
    pub(in crate::serve) async fn serve(
        &self,
        listener: TcpListener,
        router: Router,
        end: impl Future,
    ) -> Open {
        let graceful = GracefulShutdown::new();
        let mut end = pin!(end);
        loop {
            let accepted = pin!(listener.accept());
            match select(accepted, end.as_mut()).await {
                Either::Left((Ok((stream, _)), _)) => self.admit(stream, router.clone(), &graceful),
                // Out of file descriptors, or a client that left at once: others may still come.
                Either::Left((Err(_), _)) => tokio::time::sleep(BREATH).await,
                Either::Right(_) => return Open(graceful),
            }
        }
    }

    fn admit(&self, stream: TcpStream, router: Router, graceful: &GracefulShutdown) {
        let Ok(seat) = Arc::clone(&self.seats).try_acquire_owned() else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            // Nobody waits for a client that cannot even take this.
            let _ = stream.try_write(FULL);
            return;
        };
        // Events are small and should arrive when they happen; a failure costs no more than that.
        let _ = stream.set_nodelay(true);
        let stream = TokioIo::new(Stalling::new(stream, WRITE_PATIENCE));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(REQUEST_PATIENCE)
            .max_buf_size(BUFFER_BYTES)
            .max_headers(MOST_HEADERS)
            .serve_connection(stream, TowerToHyperService::new(router));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // What goes wrong on a connection is its client's business.
            let _ = connection.await;
            drop(seat);
        });
    }
}
