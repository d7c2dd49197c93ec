//! Connections: clients come in, served requests go out; no client keeps others waiting.

mod acceptor;
mod stalling;

pub(super) use acceptor::Acceptor;
