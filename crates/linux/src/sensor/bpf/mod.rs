//! Free blocks by BPF: zones come in, the kernel's own fields go out, read without the zone lock.
//!
//! The programs are in `crates/linux/bpf`. They are of type `syscall`, which run on request and attach to
//! nothing. Every offset, size and constant comes from the running kernel's type information. The crate
//! `aya` was considered: up to 0.16 it cannot load programs of that type.
//!
//! Without the feature `bpf` there are no programs, and opening a sensor returns an error; everything
//! else is the same.

mod exact;
#[cfg(feature = "bpf")]
mod loading;
mod locate;
mod messages;
#[cfg(not(feature = "bpf"))]
mod no_object;
#[cfg(feature = "bpf")]
mod object;
mod own_page;
mod pageblock_counts;
mod pages;
mod per_cpu;
mod sensor;
mod symbols;
mod take;

pub use exact::ExactSensor;
#[cfg(feature = "bpf")]
pub(crate) use loading::{open_object, refusal};
#[cfg(not(feature = "bpf"))]
use no_object::Programs;
#[cfg(feature = "bpf")]
use object::Programs;
pub use pages::PageKind;
pub use per_cpu::PerCpuSensor;
pub use sensor::BpfSensor;

/// True if this build has the BPF programs in it.
pub const BPF_BUILT: bool = cfg!(feature = "bpf");
