//! Starts and ends the server.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use freehold_linux::sample::Sampler;
use futures_util::future::{Either, select, select_all};
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::answers::{self, Shared};
use super::connections::Acceptor;
use super::error::ServeError;
use super::notify::Supervisor;
use super::publishing::{self, SamplingPace};
use super::secure::Secured;
use crate::series::Monitor;
use crate::verdict::NeededBlocks;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 256;

/// The most bytes that the kernel buffers for a client that does not read: enough for a few events.
const SEND_BUFFER_BYTES: u32 = 128 << 10;

/// Time from one sample to the next while a page is open.
const WATCHED: Duration = Duration::from_secs(1);

/// The same while none is: that of most scrapes.
const UNWATCHED: Duration = Duration::from_secs(15);

/// The options of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The address to listen on; port 0 takes any free port.
    pub listen: SocketAddr,
    /// Time from one sample to the next; `None` for a second while a page is open, and 15 seconds otherwise.
    pub interval: Option<Duration>,
    /// The numbers of blocks that verdicts are about.
    pub needs: Vec<NeededBlocks>,
    /// The file that TLS and users are configured in, with the names of Prometheus's exporter toolkit.
    pub web_config: Option<PathBuf>,
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
    let (teller, mut messages) = mpsc::unbounded_channel();
    let secured =
        options.web_config.as_deref().map(|path| Secured::open(path, teller)).transpose()?.map(Arc::new);
    let listener = listen(options.listen).map_err(|error| ServeError::bind(options.listen, error))?;
    let address = listener.local_addr().map_err(ServeError::Runtime)?;
    let monitor = Monitor::new(sampler.machine().clone()).with_needs(options.needs);
    let acceptor = Arc::new(Acceptor::default());
    let pages = Arc::clone(&acceptor);
    let pace = SamplingPace {
        watched: options.interval.unwrap_or(WATCHED),
        unwatched: options.interval.unwrap_or(UNWATCHED),
        is_watched: Box::new(move || pages.has_pages()),
    };
    let longest = pace.unwatched;
    let sampling = publishing::start(sampler, monitor, pace)?;
    let shared = Shared {
        published: sampling.published.clone(),
        caller: sampling.caller(),
        acceptor: Arc::clone(&acceptor),
        secured: secured.clone(),
        only_loopback: answers::is_loopback(address.ip()),
    };
    let supervisor = Supervisor::from_environment();
    supervisor.ready();
    tokio::spawn(supervisor.keep_telling(sampling.published.clone(), longest));
    introduce(address, secured.as_deref(), tell);
    let notes = sampling.published.borrow().model.notes.clone();
    for note in &notes {
        tell(note);
    }
    let serving = acceptor.serve(listener, answers::router(shared), secured, signals.any());
    let open = match select(pin!(serving), pin!(pass_on(&mut messages, tell))).await {
        Either::Left((open, _)) => open,
        Either::Right((never, _)) => match never {},
    };
    // Dropping the last sender ends every event stream.
    drop(sampling);
    open.finish().await;
    Ok(())
}

/// Tells where the server can be reached, and by whom if that may surprise.
fn introduce(address: SocketAddr, secured: Option<&Secured>, tell: &mut dyn FnMut(&str)) {
    let has_tls = secured.is_some_and(Secured::has_tls);
    let scheme = if has_tls { "https" } else { "http" };
    tell(&format!(
        "{scheme}://{address}/ shows this machine's memory; {scheme}://{address}/metrics is for Prometheus"
    ));
    if answers::is_loopback(address.ip()) {
        return;
    }
    if !secured.is_some_and(Secured::is_closed) {
        tell(&format!(
            "{address} can be reached from other machines, and every client there can read all numbers shown; \
             listen on 127.0.0.1 to keep them to this one, or ask for passwords with --web-config"
        ));
    } else if !has_tls {
        tell(&format!(
            "{address} can be reached from other machines, and passwords go there unencrypted; add \
             tls_server_config to the web configuration"
        ));
    }
}

/// Tells what is sent, for as long as it is polled.
async fn pass_on(messages: &mut UnboundedReceiver<String>, tell: &mut dyn FnMut(&str)) -> Infallible {
    while let Some(text) = messages.recv().await {
        tell(&text);
    }
    pending().await
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The signals that end the server.
pub(super) struct Signals([Signal; 3]);

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let [interrupt, terminate, hang_up] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Self([interrupt?, terminate?, hang_up?]))
    }

    pub(super) async fn any(&mut self) {
        select_all(self.0.iter_mut().map(|signal| Box::pin(signal.recv()))).await;
    }
}
