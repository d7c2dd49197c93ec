//! Publishing: in come samples on a thread of their own, out comes what every request is answered from.

mod published;
mod sampling;
mod thinned;

#[cfg(test)]
pub(super) use published::Tally;
pub(super) use published::{Published, Shown};
pub(super) use sampling::start;
