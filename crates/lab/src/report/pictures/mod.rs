//! Pictures: the data of a trace in a report comes in, SVG documents go out.

mod all;
mod blocks;
mod fallbacks;
mod holds;
mod map;
mod style;

pub(super) use all::pictures;
