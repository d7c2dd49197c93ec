//! The stream of events of one page.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use crate::serve::publishing::{Published, Shown};

/// Time between two models at least, however often samples are taken: faster than eyes are.
const LEAST_GAP: Duration = Duration::from_millis(200);

/// How long a stream is silent at most, so that a page notices a lost connection.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// Says that the stream is alive.
const ALIVE: &[u8] = b": alive\n\n";

/// How soon a page that lost its connection is to try again.
const RETRY: &[u8] = b"retry: 2000\n\n";

/// What one page has been told.
struct Listener {
    published: watch::Receiver<Arc<Published>>,
    map: Option<Arc<Shown>>,
    pending: VecDeque<Bytes>,
    not_before: Instant,
}

/// A body that never ends while the server runs: what is known now, then every change.
///
/// Nothing is made before the connection asks for it: a client that is slow gets the newest model next, and
/// misses those in between.
pub(super) fn body(mut published: watch::Receiver<Arc<Published>>) -> Body {
    published.mark_changed();
    let pending = VecDeque::from([Bytes::from_static(RETRY)]);
    let listener = Listener { published, map: None, pending, not_before: Instant::now() };
    Body::from_stream(stream::unfold(listener, |mut listener| async move {
        let bytes = listener.next().await?;
        Some((Ok::<_, Infallible>(bytes), listener))
    }))
}

impl Listener {
    /// What to send next; none when the server ends.
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
