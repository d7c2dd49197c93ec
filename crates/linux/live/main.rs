//! The tests that record, read or change the machine that they run on, as one program: `cargo xtask live` runs it.
//!
//! Each test says by name what it lacks: root, tracefs, BPF, perf or bpftrace.

mod bpf;
mod bpftrace;
mod perf;
#[path = "../tests/perf_files/mod.rs"]
mod perf_files;
mod proc_files;
mod record;
#[path = "../tests/roots/mod.rs"]
mod roots;
mod tracefs;
mod unprivileged;
