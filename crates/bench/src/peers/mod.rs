//! `bench peers`: the engine and other page-frame allocators go in, in one harness; a table of all of them comes out.

mod arena;
mod foreign;
mod outside;
mod own;
mod peer;
mod protocol;
mod serve;
mod shapes;
mod table;

pub use serve::{serve, serve_engine};
pub(crate) use table::{check, run};
