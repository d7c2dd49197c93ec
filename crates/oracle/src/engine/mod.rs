//! The engine in the kernel's place: a dumped state and steps come in, the words that the oracle would
//! write go out.

mod image;
mod movers;
mod numbers;
mod player;
mod witness;
mod writer;

pub(super) use image::Image;
pub(super) use player::{Player, Watched};
pub(super) use witness::Witness;
