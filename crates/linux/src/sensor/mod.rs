//! Free blocks: kernel fields read by BPF, or texts of `/proc`, come in; numbers by zone, order and
//! migratetype go out.

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
