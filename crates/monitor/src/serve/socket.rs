//! A Unix socket that sends each client a current text and then closes the connection.

use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use rustix::fs::Mode;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

use super::error::ServeError;
use super::notify::Supervisor;
use super::server::Signals;

/// The most clients that have not read their text yet.
const MOST_CLIENTS: usize = 64;

/// How long a client may take to read.
const PATIENCE: Duration = Duration::from_secs(5);

/// Gives each client of the socket `path` what `read` returns when it connects, until SIGINT, SIGTERM or SIGHUP. The socket is
/// this user's alone, and goes at the end. Calls `tell` with messages for the user.
///
/// # Errors
/// If there is something else at `path`, or another server listens there. A text that cannot be read later is reported, and its client
/// gets nothing.
pub fn serve_text(
    path: &Path,
    read: &mut dyn FnMut() -> Result<String, String>,
    tell: &mut dyn FnMut(&str),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(ServeError::Runtime)?.block_on(run(path, read, tell))
}

async fn run(
    path: &Path,
    read: &mut dyn FnMut() -> Result<String, String>,
    tell: &mut dyn FnMut(&str),
) -> Result<(), ServeError> {
    let mut signals = Signals::new().map_err(ServeError::Runtime)?;
    let failed = |answer: io::Error| ServeError::Socket { path: path.to_owned(), answer };
    let socket = Socket::bind(path).map_err(failed)?;
    Supervisor::from_environment().ready();
    tell(&format!("{} serves the text of /proc/pagetypeinfo to each client", path.display()));
    let seats = Arc::new(Semaphore::new(MOST_CLIENTS));
    let mut trouble = None;
    loop {
        let accepted = match select(pin!(socket.listener.accept()), pin!(signals.any())).await {
            Either::Left((accepted, _)) => accepted,
            Either::Right(_) => return Ok(()),
        };
        // A client may be gone before it is accepted, and descriptors may run out for a while.
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // A client above the limit is rejected, and costs no reading.
        let Ok(seat) = Arc::clone(&seats).try_acquire_owned() else { continue };
        let text = read();
        if text.as_ref().err() != trouble.as_ref() {
            trouble = text.as_ref().err().cloned();
            tell(trouble.as_deref().unwrap_or("the text can be read again"));
        }
        if let Ok(text) = text {
            tokio::spawn(async move {
                let _ = tokio::time::timeout(PATIENCE, give(stream, text)).await;
                drop(seat);
            });
        }
    }
}

async fn give(stream: UnixStream, text: String) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        stream.writable().await?;
        match stream.try_write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A listening socket; its name goes when it is dropped.
struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listens at `path`. A socket that a killed server left there is replaced.
    fn bind(path: &Path) -> io::Result<Self> {
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(found) if !found.file_type().is_socket() => {
                return Err(io::Error::new(ErrorKind::AlreadyExists, "there is something else of this name"));
            }
            Ok(_) if Probe::connect(path).is_ok() => {
                return Err(io::Error::new(ErrorKind::AddrInUse, "another server listens there"));
            }
            Ok(_) => std::fs::remove_file(path)?,
        }
        let old = rustix::process::umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
        let listener = UnixListener::bind(path);
        rustix::process::umask(old);
        Ok(Self { listener: listener?, path: path.to_owned() })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
