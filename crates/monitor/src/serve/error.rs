//! Why a server cannot start.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {answer}. {remedy}")]
    Address {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        answer: io::Error,
        /// What the user can do.
        remedy: &'static str,
    },
    /// The process lacks the right to listen on this port.
    #[error(
        "cannot listen on {address}: {answer}. Ports below 1024 need CAP_NET_BIND_SERVICE; name a port from \
         1024 up with `--listen`"
    )]
    Port {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        answer: io::Error,
    },
    /// The system refused threads, timers or sockets.
    #[error("cannot start the server: {0}. Check the limits of this process (`ulimit -a`)")]
    Runtime(io::Error),
    /// The socket cannot be made.
    #[error("cannot listen on {}: {answer}. Name another path with `--socket`, or remove what is there", path.display())]
    Socket {
        /// The requested path.
        path: PathBuf,
        /// The system's error.
        answer: io::Error,
    },
    /// The web configuration cannot be used.
    #[error(transparent)]
    WebConfig(#[from] super::secure::WebConfigError),
    /// The machine cannot be read.
    #[error(transparent)]
    Machine(#[from] freehold_linux::Error),
}

impl ServeError {
    pub(super) fn bind(address: SocketAddr, answer: io::Error) -> Self {
        let remedy = match answer.kind() {
            ErrorKind::PermissionDenied => return Self::Port { address, answer },
            ErrorKind::AddrInUse => "Another program has it; name another port with `--listen`",
            _ => "Name an address of this machine with `--listen`, such as 127.0.0.1:9321",
        };
        Self::Address { address, answer, remedy }
    }
}
