//! Free blocks by BPF: zones come in, the kernel's own fields go out, read without the zone lock.
//!
//! The programs in `crates/linux/bpf` are of type `syscall`: they run on request and attach to nothing. Every offset, size and
//! constant comes from the kernel's type information. (`aya` cannot load such programs, up to 0.16.) `locate.rs` accepts a zone
//! only if it agrees with `/proc/zoneinfo`. A list that changes under a walk is walked again, at most five times. `own_page.rs`
//! finds the table of `struct page`; `pages.rs`, `take.rs`, `per_cpu.rs` and `pageblock_counts.rs` read pageblocks and lists.
//! Without the feature `bpf` there are no programs, and opening a sensor returns an error.

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
