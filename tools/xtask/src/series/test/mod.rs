//! Tests: kernels with the series come in, findings go out, a line each.

pub mod under_qemu;
