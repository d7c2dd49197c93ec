//! Free blocks by BPF: the kernel's own fields, read without its zone lock.
//!
//! The programs are in `crates/linux/bpf`. They are of type `syscall`, which run when they are asked to and
//! are attached to nothing, and they take every offset, size and constant from the running kernel's type
//! information. The crate `aya` was considered: up to 0.16 it does not load programs of that type.

#[cfg(not(feature = "bpf"))]
mod absent;
mod error;
#[cfg(feature = "bpf")]
mod locate;
#[cfg(feature = "bpf")]
mod messages;
#[cfg(feature = "bpf")]
mod object;
#[cfg(feature = "bpf")]
mod pages;
#[cfg(feature = "bpf")]
mod sensor;

#[cfg(not(feature = "bpf"))]
pub use absent::BpfSensor;
pub use error::BpfError;
#[cfg(feature = "bpf")]
pub use sensor::BpfSensor;

/// Whether this build has the BPF program in it.
pub const BPF_BUILT: bool = cfg!(feature = "bpf");
