//! The engine and the lab for a page that replays traces in the browser.
//!
//! A [`Command`] comes in, and [`Reply`] messages go out. [`replay`] replays a trace in one era, and sends moments of
//! the replay. [`sandbox`] plays a short script on a small zone. Both depend only on their input. The module `abi`,
//! which exists only in WebAssembly, connects them to JavaScript.
#![deny(unsafe_code)]

#[cfg(target_family = "wasm")]
mod abi;
mod command;
mod message;
mod replay;
mod sandbox;

pub use command::{Command, act};
pub use message::Reply;
pub use replay::replay;
pub use sandbox::sandbox;
