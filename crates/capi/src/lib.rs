//! The engine for programs in C: a static library, and `include/freehold.h`, which cbindgen generates from this crate.
//!
//! A `freehold_memory` is a [`freehold::Memory`] in bytes of the caller. The documentation of the engine applies; this
//! crate only translates numbers, results and errors. Every function checks its arguments: a null pointer where a value
//! is required is [`FreeholdStatus::NullPointer`], and an unknown number is an error. `docs/guide/embed.md` is the
//! introduction, and `examples/embed.c` is a complete program.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![warn(missing_debug_implementations)]

mod config;
mod daemons;
mod embedder;
mod gfp;
mod locks;
mod memory;
mod observe;
#[cfg(not(any(feature = "std", test)))]
mod panic;
mod ranges;
mod request;
mod status;

pub use config::{
    FREEHOLD_ERA_FREEHOLD, FREEHOLD_ERA_LINUX_6_1, FREEHOLD_ERA_LINUX_6_12, FREEHOLD_ERA_LINUX_7_3,
    FREEHOLD_ERA_LINUX_7_3_COUNTS, FREEHOLD_MOST_RANGES, FREEHOLD_MOST_ZONES, FREEHOLD_ZONE_DMA,
    FREEHOLD_ZONE_DMA32, FREEHOLD_ZONE_HIGHMEM, FREEHOLD_ZONE_MOVABLE, FREEHOLD_ZONE_NORMAL, FreeholdConfig,
    FreeholdRange, FreeholdZone, freehold_config_linux,
};
pub use daemons::{
    freehold_compact_proactively, freehold_drain, freehold_is_kcompactd_wanted, freehold_is_kswapd_wanted,
    freehold_kcompactd, freehold_kswapd, freehold_refresh,
};
pub use embedder::{FreeholdEmbedder, FreeholdReclaimed, FreeholdShrink};
pub use gfp::{
    FREEHOLD_GFP_ATOMIC, FREEHOLD_GFP_DMA, FREEHOLD_GFP_DMA32, FREEHOLD_GFP_HIGHUSER_MOVABLE,
    FREEHOLD_GFP_KERNEL, FREEHOLD_GFP_MEMALLOC, FREEHOLD_GFP_MOVABLE, FREEHOLD_GFP_NOFAIL,
    FREEHOLD_GFP_NORETRY, FREEHOLD_GFP_NOWAIT, FREEHOLD_GFP_RECLAIMABLE, FREEHOLD_GFP_THISNODE,
    FREEHOLD_GFP_TRANSHUGE, FREEHOLD_GFP_USER,
};
pub use locks::{FreeholdLock, FreeholdLockFunctions, freehold_use_locks};
pub use memory::{
    FreeholdMemory, freehold_add_free, freehold_add_reserved, freehold_new, freehold_required_bytes,
};
pub use observe::{
    FreeholdZoneInfo, freehold_buddyinfo, freehold_check, freehold_free_blocks, freehold_pagetypeinfo,
    freehold_zone_info, freehold_zones,
};
pub use ranges::{
    freehold_alloc_contig, freehold_free_contig, freehold_isolate, freehold_offline, freehold_online,
    freehold_set_movable, freehold_unisolate,
};
pub use request::{FreeholdRequest, freehold_alloc, freehold_alloc_at, freehold_free, freehold_split};
pub use status::{FreeholdStatus, freehold_strerror};
