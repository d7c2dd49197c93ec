//! Booting: a kernel and an order for its only process come in, the parsed console goes out.

pub mod console;
pub mod guest;
pub mod ktap;
pub mod qemu;
pub mod uml;
