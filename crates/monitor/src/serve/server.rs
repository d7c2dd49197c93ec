//! Starts and ends the server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use freehold_linux::sample::Sampler;
use futures_util::future::select_all;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::answers::{self, Shared};
use super::connections::Acceptor;
use super::error::ServeError;
use super::notify::Supervisor;
use super::publishing;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 256;

/// The most bytes that the kernel buffers for a client that does not read: enough for a few events.
const SEND_BUFFER_BYTES: u32 = 128 << 10;

/// The options of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions {
    /// The address to listen on; port 0 takes any free port.
    pub listen: SocketAddr,
    /// Time from one sample to the next.
    pub interval: Duration,
}

/// Serves until SIGINT or SIGTERM. Calls `tell` with messages for the user.
///
/// # Errors
/// If the address cannot be used or the first sample fails. Later failures are shown to clients.
pub fn serve(options: ServeOptions, sampler: Sampler, tell: &mut dyn FnMut(&str)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(ServeError::Runtime)?.block_on(run(options, sampler, tell))
}

async fn run(options: ServeOptions, sampler: Sampler, tell: &mut dyn FnMut(&str)) -> Result<(), ServeError> {
    let mut signals = Signals::new().map_err(ServeError::Runtime)?;
    let listener = listen(options.listen).map_err(|error| ServeError::bind(options.listen, error))?;
    let address = listener.local_addr().map_err(ServeError::Runtime)?;
    let sampling = publishing::start(sampler, options.interval)?;
    let acceptor = Arc::new(Acceptor::default());
    let shared = Shared {
        published: sampling.published.clone(),
        acceptor: Arc::clone(&acceptor),
        only_loopback: answers::is_loopback(address.ip()),
    };
    let supervisor = Supervisor::from_environment();
    supervisor.ready();
    tokio::spawn(supervisor.keep_telling(sampling.published.clone(), options.interval));
    tell(&format!(
        "http://{address}/ shows this machine's memory; http://{address}/metrics is for Prometheus"
    ));
    if !shared.only_loopback {
        tell(&format!(
            "{address} can be reached from other machines, and whoever reaches it can read everything shown; \
             listen on 127.0.0.1 to keep it to this one"
        ));
    }
    let open = acceptor.serve(listener, answers::router(shared), signals.any()).await;
    // Dropping the last sender ends every event stream.
    drop(sampling);
    open.finish().await;
    Ok(())
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The signals that end the server.
struct Signals([Signal; 3]);

impl Signals {
    fn new() -> io::Result<Self> {
        let [interrupt, terminate, hang_up] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Self([interrupt?, terminate?, hang_up?]))
    }

    async fn any(&mut self) {
        select_all(self.0.iter_mut().map(|signal| Box::pin(signal.recv()))).await;
    }
}
