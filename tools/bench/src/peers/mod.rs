//! `bench peers`: measures the engine and other page-frame allocators, and makes a table of all.

mod arena;
mod engine;
mod indexed;
mod other_process;
mod peer;
mod protocol;
mod serve;
mod shapes;
mod table;
mod targets;

pub use serve::{serve, serve_engine};
pub(crate) use table::{check, run};
