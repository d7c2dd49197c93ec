//! Pictures: what a report knows of a trace goes in, SVG documents come out.

mod all;
mod blocks;
mod fallbacks;
mod holds;
mod map;
mod style;

pub(super) use all::pictures;
