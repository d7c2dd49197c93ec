//! The engine in the kernel's place: in come a dumped state and steps, out come the words that the oracle would write.

mod image;
mod numbers;
mod player;
mod witness;
mod writer;

pub(super) use image::Image;
pub(super) use player::{Player, Watched};
pub(super) use witness::Witness;
