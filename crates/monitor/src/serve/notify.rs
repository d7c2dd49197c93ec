//! Status messages to systemd (`sd_notify`).

use std::env;
#[cfg(target_os = "android")]
use std::os::android::net::SocketAddrExt;
#[cfg(not(target_os = "android"))]
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::publishing::Published;

/// The service manager that started this process, if it wants status messages.
pub(super) struct Supervisor {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// The watchdog's time limit; `None` if there is no watchdog.
    watchdog: Option<Duration>,
}

impl Supervisor {
    /// Returns the manager that `NOTIFY_SOCKET` and `WATCHDOG_USEC` describe.
    pub(super) fn from_environment() -> Self {
        let microseconds = env::var("WATCHDOG_USEC").ok().and_then(|text| text.parse().ok());
        let watchdog = microseconds.filter(|&us: &u64| us > 0).map(Duration::from_micros);
        Self { socket: env::var_os("NOTIFY_SOCKET").and_then(|name| socket(name.as_bytes())), watchdog }
    }

    /// Tells the manager that the service is ready.
    pub(super) fn ready(&self) {
        self.say("READY=1\nSTATUS=sampling and serving");
    }

    fn say(&self, text: &str) {
        if let Some((socket, address)) = &self.socket {
            // A message that cannot be delivered is not sent again: the watchdog will notice.
            let _ = socket.send_to_addr(text.as_bytes(), address);
        }
    }

    /// Sends watchdog messages while samples are attempted and this runtime runs.
    pub(super) async fn keep_telling(self, published: watch::Receiver<Arc<Published>>, interval: Duration) {
        let Some(watchdog) = self.watchdog.filter(|_| self.socket.is_some()) else { return };
        let attempts = || {
            let tally = published.borrow().tally;
            tally.samples + tally.errors
        };
        let mut last = (attempts(), Instant::now());
        // A sample is due within this time, unless the sampling thread hangs.
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
