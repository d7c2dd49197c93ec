//! The engine, for teaching: one zone of memory, in which Python code allocates, frees and inspects pages.

mod class;
mod keeper;
mod pageblocks;

pub(super) use class::Memory;
