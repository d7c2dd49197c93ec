//! Publishing: samples come in on a thread of their own, the state that requests are answered from goes
//! out.

mod published;
mod sampling;
mod thinned;

#[cfg(test)]
pub(super) use published::Tally;
pub(super) use published::{Published, Shown};
pub(super) use sampling::start;
