//! Free blocks: in come kernel fields by BPF or texts of `/proc`, out come numbers by zone, order and migratetype.

mod best;
mod bpf;
mod free_blocks;
mod procfs;

pub use crate::error::BpfError;
pub use best::{Choice, Sensor, open_bpf};
pub use bpf::{BPF_BUILT, BpfSensor};
pub use free_blocks::{FreeBlocks, Source, ZoneFreeBlocks};
pub use procfs::Ration;
