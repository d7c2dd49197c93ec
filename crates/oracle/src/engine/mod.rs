//! The engine in the kernel's place: in come a dumped state and steps, out come the words that the oracle would write.

mod image;
mod numbers;
mod player;
mod witness;
mod writer;

pub(crate) use image::Image;
pub(crate) use player::{Player, Watched};
pub(crate) use witness::Witness;
