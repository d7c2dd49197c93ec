//! Tests: in come kernels with the series, out comes what is wrong with them, a line each.

pub mod identity;
pub mod under_qemu;
pub mod under_uml;
