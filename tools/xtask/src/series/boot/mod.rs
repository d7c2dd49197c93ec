//! Booting: takes a kernel and a command for its first process, and returns the parsed console.

pub mod console;
pub mod guest;
pub mod ktap;
pub mod qemu;
pub mod uml;
