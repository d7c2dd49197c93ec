//! Free blocks: kernel fields read by BPF, or texts of `/proc`, come in; numbers by zone, order and migratetype go out.
//!
//! `best.rs` chooses the best source that works: `bpf`, else `procfs.rs`. That reads `pagetypeinfo` for at most a thousandth of the
//! time, because the kernel holds the zone lock while it prints, and `buddyinfo` in between. A sensor that fails falls back and
//! notes it.

mod best;
mod bpf;
mod free_blocks;
mod procfs;

pub use crate::error::BpfError;
pub use best::{Choice, Sensor, open_bpf, open_exact, open_per_cpu};
pub use bpf::{BPF_BUILT, BpfSensor, ExactSensor, PageKind, PerCpuSensor};
#[cfg(feature = "bpf")]
pub(crate) use bpf::{open_object, refusal};
pub use free_blocks::{FreeBlocks, Source, ZoneFreeBlocks};
pub use procfs::Ration;
