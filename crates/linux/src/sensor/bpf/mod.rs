//! Free blocks by BPF: in come zones, out come the kernel's own fields, read without its zone lock.
//!
//! The programs are in `crates/linux/bpf`. They are of type `syscall`, which run when they are asked to and
//! are attached to nothing, and they take every offset, size and constant from the running kernel's type
//! information. The crate `aya` was considered: up to 0.16 it does not load programs of that type.
//!
//! Without the feature `bpf` there is no object of programs, and opening a sensor says so; the rest is the same.

mod locate;
mod messages;
#[cfg(not(feature = "bpf"))]
mod no_object;
#[cfg(feature = "bpf")]
mod object;
mod pages;
mod sensor;

#[cfg(not(feature = "bpf"))]
use no_object::Programs;
#[cfg(feature = "bpf")]
use object::Programs;
pub use sensor::BpfSensor;

/// True if this build has the BPF programs in it.
pub const BPF_BUILT: bool = cfg!(feature = "bpf");
