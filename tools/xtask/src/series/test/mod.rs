//! Tests: takes kernels with the series, and returns findings, a line each.

pub mod under_qemu;
