//! The event stream of one page.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::serve::publishing::{Published, Shown};

/// The least time between two model events, however often samples are taken.
const LEAST_GAP: Duration = Duration::from_millis(200);

/// The longest silence of a stream, so that a page notices a lost connection.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// A comment that shows that the stream is alive.
const ALIVE: &[u8] = b": alive\n\n";

/// How soon a page tries again after it lost the connection.
const RETRY: &[u8] = b"retry: 2000\n\n";

/// One page's stream, and what was already sent on it.
struct Listener {
    published: watch::Receiver<Arc<Published>>,
    map: Option<Arc<Shown>>,
    pending: VecDeque<Bytes>,
    not_before: Instant,
    _seat: OwnedSemaphorePermit,
}

/// Returns a body that ends with the server: the current state, then every change. It keeps the seat until it ends.
///
/// An event is made only when the connection asks for the next one: a slow client gets the newest model
/// next and misses those in between.
pub(super) fn body(mut published: watch::Receiver<Arc<Published>>, seat: OwnedSemaphorePermit) -> Body {
    published.mark_changed();
    let pending = VecDeque::from([Bytes::from_static(RETRY)]);
    let listener = Listener { published, map: None, pending, not_before: Instant::now(), _seat: seat };
    Body::from_stream(stream::unfold(listener, |mut listener| async move {
        let bytes = listener.next().await?;
        Some((Ok::<_, Infallible>(bytes), listener))
    }))
}

impl Listener {
    /// Waits for the next event. Returns `None` when the server ends.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(bytes) = self.pending.pop_front() {
            return Some(bytes);
        }
        sleep_until(self.not_before).await;
        match timeout(LONGEST_SILENCE, self.published.changed()).await {
            Err(_) => return Some(Bytes::from_static(ALIVE)),
            Ok(Err(_)) => return None,
            Ok(Ok(())) => {}
        }
        self.not_before = Instant::now() + LEAST_GAP;
        let newest = Arc::clone(&self.published.borrow_and_update());
        if let Some(map) = newest.map.as_ref().filter(|map| !self.knows(map)) {
            self.pending.push_back(map.event());
            self.map = Some(Arc::clone(map));
        }
        Some(newest.event())
    }

    fn knows(&self, map: &Arc<Shown>) -> bool {
        self.map.as_ref().is_some_and(|known| Arc::ptr_eq(known, map))
    }
}
