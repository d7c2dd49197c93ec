//! The engine and the lab for a page that replays traces in the browser.
//!
//! A [`Command`] comes in, and [`Reply`] goes out: [`replay`] follows a trace in one era and tells its moments,
//! [`sandbox`] does what a short script says on a small zone. Both are functions of their input; the module `abi`, which
//! only WebAssembly has, is their way to JavaScript.
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
