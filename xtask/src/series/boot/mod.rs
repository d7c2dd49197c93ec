//! Booting: in come a kernel and what its only process is to do, out comes what both said.

pub mod console;
pub mod guest;
pub mod ktap;
pub mod qemu;
pub mod uml;
