//! The engine, for teaching: one zone of memory, in which Python allocates, frees and looks.

mod class;
mod keeper;
mod pageblocks;

pub(super) use class::Memory;
