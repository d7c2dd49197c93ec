//! What systemd wants to hear from a service.

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::publishing::Published;

/// Whoever started this process and wants to know how it fares.
pub(super) struct Supervisor {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// How often it wants to hear that all is well.
    watchdog: Option<Duration>,
}

impl Supervisor {
    /// The supervisor that `NOTIFY_SOCKET` and `WATCHDOG_USEC` tell of, if any.
    pub(super) fn from_environment() -> Self {
        let microseconds = env::var("WATCHDOG_USEC").ok().and_then(|text| text.parse().ok());
        let watchdog = microseconds.filter(|&us: &u64| us > 0).map(Duration::from_micros);
        Self { socket: env::var_os("NOTIFY_SOCKET").and_then(|name| socket(name.as_bytes())), watchdog }
    }

    /// Says that the service is up.
    pub(super) fn ready(&self) {
        self.say("READY=1\nSTATUS=sampling and serving");
    }

    fn say(&self, text: &str) {
        if let Some((socket, address)) = &self.socket {
            // A supervisor that does not listen learns it from its watchdog.
            let _ = socket.send_to_addr(text.as_bytes(), address);
        }
    }

    /// Says that all is well for as long as samples are attempted and this runtime runs.
    pub(super) async fn keep_telling(self, published: watch::Receiver<Arc<Published>>, interval: Duration) {
        let Some(watchdog) = self.watchdog.filter(|_| self.socket.is_some()) else { return };
        let attempts = || {
            let tally = published.borrow().tally;
            tally.samples + tally.errors
        };
        let mut last = (attempts(), Instant::now());
        // A sample falls into this time, unless the thread that takes them hangs.
        while last.1.elapsed() < interval * 2 + watchdog {
            self.say("WATCHDOG=1");
            tokio::time::sleep(watchdog / 3).await;
            let now = attempts();
            if now != last.0 {
                last = (now, Instant::now());
            }
        }
    }
}

fn socket(name: &[u8]) -> Option<(UnixDatagram, SocketAddr)> {
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name).ok()?,
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name)).ok()?,
    };
    Some((UnixDatagram::unbound().ok()?, address))
}
