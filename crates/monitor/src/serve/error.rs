//! Why a server cannot start.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is somebody else's, or nobody's.
    #[error("cannot listen on {address}: {answer}. {remedy}")]
    Address {
        /// What was asked for.
        address: SocketAddr,
        /// What the system answered.
        answer: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// This process may not listen there.
    #[error(
        "cannot listen on {address}: {answer}. Ports below 1024 need CAP_NET_BIND_SERVICE; name a port from \
         1024 up with `--listen`"
    )]
    Port {
        /// What was asked for.
        address: SocketAddr,
        /// What the system answered.
        answer: io::Error,
    },
    /// The system refused what a server is made of.
    #[error("cannot start the server: {0}. Check the limits of this process (`ulimit -a`)")]
    Runtime(io::Error),
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
