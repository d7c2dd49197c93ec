//! The Linux page allocator as a library.
//!
//! Freehold follows the page allocator of Linux: zones, pageblocks grouped by
//! [`Migratetype`], a buddy allocator with fallback between types, per-CPU lists,
//! watermarks and reserves. It needs no heap and no standard library; its metadata
//! lives in memory that the caller hands over, and its locks are the caller's.
//!
//! Four changes to Linux are switches here, so that each can be tried with and
//! without on the same requests: freelist hygiene, the remembered fallback mode,
//! batched draining, and counts per migratetype. [`Era`] names the sets of switches
//! that existed together.
//!
//! ```
//! use core::mem::MaybeUninit;
//! use freehold::{
//!     Era, GfpFlags, Memory, MemoryConfig, Order, PerCpuSettings, Pfn, Request, Watermarks, ZoneConfig,
//!     ZoneType, required_bytes,
//! };
//!
//! // A kernel names its own spin locks here.
//! type Locks = (parking_lot::RawMutex, parking_lot::RawMutex);
//!
//! let zone = ZoneConfig {
//!     node: 0,
//!     kind: ZoneType::Normal,
//!     start: Pfn(0x100),
//!     spanned: 8192,
//!     managed: 8192,
//!     watermarks: Watermarks { min: 64, low: 80, high: 96 },
//!     lowmem_reserve: [0; 6],
//!     percpu: PerCpuSettings { batch: 7, high_min: 28, high_max: 256, flush_needs_batch: false },
//! };
//! let config = MemoryConfig {
//!     zones: &[zone],
//!     cpus: 2,
//!     max_order: Order::MAX,
//!     pageblock_order: Order::new(9).unwrap(),
//!     huge_pages: true,
//!     switches: Era::Freehold.switches(),
//!     watermark_boost_factor: None,
//! };
//! let mut metadata = vec![MaybeUninit::uninit(); required_bytes::<Locks>(&config)];
//! let memory = Memory::<Locks>::new(&config, &mut metadata)?;
//! memory.zones()[0].add_free(Pfn(0x100), 8192)?;
//!
//! let request = Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL };
//! let page = memory.alloc(request).unwrap();
//! memory.free(0, page, Order::ZERO).unwrap();
//! assert!(memory.free(0, page, Order::ZERO).is_err(), "a page is freed once");
//! # Ok::<(), freehold::SetupError>(())
//! ```
#![cfg_attr(not(any(test, loom)), no_std)]

#[cfg(any(test, loom))]
extern crate std;

mod alloc;
mod buddy;
mod bulk;
mod cache_line;
mod check;
mod compact_zone;
mod compaction;
mod contiguous;
mod convert;
mod counts;
mod error;
mod exclusive;
mod fallback;
mod frame;
mod free_area;
mod free_scanner;
mod gfp;
mod highatomic;
mod inspect;
mod isolation;
mod kcompactd;
mod kswapd;
mod list;
mod many;
mod memory;
mod metadata;
mod migrate_scanner;
mod migratetype;
mod node;
mod onlining;
mod pageblock;
mod pageblock_use;
mod percpu;
mod percpu_list;
mod percpu_tuning;
mod placement;
mod reclaim;
mod refill;
mod relocate;
mod render;
mod request_stats;
mod restore;
mod shrinker;
mod slowpath;
mod sorting;
mod stats;
mod switches;
mod sync;
mod tracepoints;
mod tunables;
mod units;
mod vm_events;
mod watermark;
mod zone;
mod zone_guard;

pub use alloc::Request;
pub use check::Broken;
pub use counts::FreeCounts;
pub use error::{AllocError, BlockError, FreeError, SetupError};
pub use exclusive::Exclusive;
pub use gfp::GfpFlags;
pub use memory::{Memory, MemoryConfig, required_bytes};
pub use migratetype::{MIGRATETYPES, Migratetype, PCP_TYPES};
pub use pageblock_use::PageblockUse;
pub use percpu::PerCpuSettings;
pub use relocate::Relocate;
pub use render::{PAGETYPEINFO_CAP, PageTypeRows, pagetypeinfo, write_buddyinfo_row};
pub use restore::{PerCpuState, ZoneState};
pub use shrinker::{Reclaimed, Reclaimer, ShrinkControl, Shrinker};
pub use stats::{PerCpuStats, RequestStats, ZoneStats};
pub use switches::{Era, Switch, Switches};
pub use sync::{Locks, OwnersFreeOnce};
pub use tracepoints::{ExtFrag, Tracepoints};
pub use tunables::Tunables;
pub use units::{MAX_ORDERS, Order, Pfn};
pub use vm_events::VmEvents;
pub(crate) use watermark::AllocFlags;
pub use watermark::Watermarks;
pub use zone::{ZONE_TYPES, Zone, ZoneConfig, ZoneType};
