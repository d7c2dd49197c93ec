//! A log comes in, in whatever wrapping; the kernel's lines go out, each without what others put before it.

mod field;
mod line;
mod lines;
mod needles;
mod wrapping;

pub(crate) use field::{digits, field, kib, number};
pub(crate) use line::Line;
pub(crate) use lines::{Lines, ReadStats};
pub(crate) use wrapping::Wrapping;
