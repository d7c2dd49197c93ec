//! The Linux page allocator as a library.
#![no_std]

mod gfp;
mod migratetype;
mod units;

pub use gfp::GfpFlags;
pub use migratetype::{MIGRATETYPES, Migratetype, PCP_TYPES};
pub use units::{MAX_ORDERS, Order, Pfn};
