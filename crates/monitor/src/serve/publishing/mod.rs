//! Publishing: samples come in on a thread of their own, the state that requests are answered from goes
//! out.

mod picture;
mod published;
mod sampling;
mod thinned;

pub(super) use published::{Published, Shown, Tally};
pub(super) use sampling::{Caller, SamplingPace, start, take};
