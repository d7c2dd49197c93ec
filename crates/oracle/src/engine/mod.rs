//! The engine in place of the kernel: a dumped state and steps come in; the words that the oracle would write go out.
//!
//! `image.rs` restores the dump into an engine, with the settings of `numbers.rs`. `player.rs` plays each step,
//! `movers.rs` moves pages, `witness.rs` receives the engine's events, and `writer.rs` writes the words.

mod image;
mod movers;
mod numbers;
mod player;
mod witness;
mod writer;

pub(super) use image::Image;
pub(super) use player::{Player, Watched};
pub(super) use witness::Witness;
