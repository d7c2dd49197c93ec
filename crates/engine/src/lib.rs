//! The Linux page allocator as a library.
//!
//! Freehold follows the page allocator of Linux: zones, pageblocks grouped by
//! [`Migratetype`], a buddy allocator with fallback between types, per-CPU lists,
//! watermarks and reserves. It needs no heap and no standard library. The caller
//! provides the memory for the metadata, and the types of the locks.
//!
//! Four changes to Linux are switches: freelist hygiene, the remembered fallback
//! mode, batched draining, and counts per migratetype. Each can be turned on and off
//! for the same requests. An [`Era`] is a named set of switches, as a generation of
//! Linux or Freehold has them.
//!
//! ```
//! use core::mem::MaybeUninit;
//! use freehold::{
//!     Era, GfpFlags, Memory, MemoryConfig, NoReclaim, Order, Pfn, Request, Sysctls, ZoneConfig, ZoneType,
//!     required_bytes,
//! };
//!
//! // A kernel names its own spin locks here.
//! struct Host;
//!
//! impl freehold::Platform for Host {
//!     type ZoneLock = parking_lot::RawMutex;
//!     type PerCpuLock = parking_lot::RawMutex;
//!     type Tracepoints = ();
//!     type Rule = ();
//! }
//!
//! let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(0x100), 8192)];
//! Sysctls::linux(2).apply(&mut zones);
//! let config = MemoryConfig { switches: Era::Freehold.switches(), ..MemoryConfig::linux(&zones, 2) };
//! let mut metadata = vec![MaybeUninit::uninit(); required_bytes::<Host>(&config)];
//! let memory = Memory::<Host>::new(&config, &mut metadata)?;
//! memory.zones()[0].add_free(Pfn(0x100), 8192)?;
//!
//! let request = Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL };
//! let page = memory.alloc(request, NoReclaim).unwrap();
//! memory.free(0, page, Order::ZERO).unwrap();
//! assert!(memory.free(0, page, Order::ZERO).is_err(), "a page is freed once");
//! # Ok::<(), freehold::SetupError>(())
//! ```
//!
//! # Allocation
//!
//! | family | allocate | free |
//! |---|---|---|
//! | one block | [`Memory::alloc`], [`Exclusive::alloc`] | [`Memory::free`], [`Exclusive::free`] |
//! | a block at a place | [`Memory::alloc_at`] | [`Memory::free`] |
//! | a batch | [`Memory::alloc_bulk`]: pages, may give fewer; [`Exclusive::alloc_batch`]: blocks of any order | [`Memory::free_bulk`], [`Exclusive::free_batch`] |
//! | a range of frames | [`Memory::alloc_contig_range`] at a place, [`Memory::alloc_contig_pages`] anywhere | [`Memory::free_contig_range`] |
//!
//! A request or a range takes [`NoReclaim`], or `&mut` an embedder that reclaims ([`Shrinker`]) and moves pages
//! ([`Relocate`]).
#![cfg_attr(not(any(test, loom)), no_std)]
#![warn(missing_debug_implementations)]

#[cfg(any(test, loom))]
extern crate std;

mod adapters;
mod compact;
#[cfg(feature = "introspect")]
mod introspect;
mod memory;
mod observe;
mod percpu;
mod policy;
mod ranges;
mod reclaim;
mod request;
mod table;
mod types;
mod zone;

#[cfg(all(feature = "x86_64", not(loom)))]
pub use adapters::FrameSource;
#[cfg(not(loom))]
pub use adapters::{DirectMap, PageHeap};
pub use compact::Relocate;
#[cfg(feature = "introspect")]
pub use introspect::ZoneState;
#[cfg(not(loom))]
pub use memory::StaticMemory;
pub use memory::{Memory, MemoryBuilder, MemoryConfig, Sysctls, Tunables, VmEvents, required_bytes};
pub use observe::{Broken, PAGETYPEINFO_CAP, PageTypeRows, pagetypeinfo, write_buddyinfo_row};
pub use percpu::PerCpuSettings;
#[cfg(feature = "introspect")]
pub use percpu::PerCpuState;
pub use ranges::RangeMigration;
pub use reclaim::{Reclaimed, Reclaimer, ShrinkControl, Shrinker};
pub use request::{DirectReclaim, Exclusive, NoReclaim};
pub use table::Sections;
pub use types::{
    AllocAtError, AllocError, BlockError, Chore, Era, ExtFrag, FallbackRequest, FreeError, GfpFlags,
    MAX_ORDERS, MIGRATETYPES, Migratetype, NR_PAGE_ORDERS, Offer, Offers, Order, OwnersFreeOnce, PCP_TYPES,
    PageblockUse, PerCpuStats, Pfn, PlacementChoice, PlacementRule, Platform, RefusedChoices, Request,
    RequestStats, SetupError, Switch, SwitchField, Switches, Tracepoints, ZONE_TYPES, ZoneStats, ZoneType,
};
pub use zone::{FreeCounts, Watermarks, Zone, ZoneConfig};
