//! `/proc` and `/sys`: the kernel's texts below a root folder come in, numbers go out. Each parser is a
//! pure function.
//!
//! The crate `procfs` was considered: it lacks `zoneinfo` and `pagetypeinfo`, reads kpageflags word by
//! word, and its readers take no root folder. What it has (`buddyinfo`, `vmstat`) is a few lines here.

mod allocinfo;
mod allowed_nodes;
mod buddyinfo;
mod copy_notes;
mod frame_words;
mod free_lists;
mod hugepages;
mod kpageflags;
pub(super) mod kpf;
mod machine;
mod meminfo;
mod page_size;
mod pagetypeinfo;
mod pressure;
mod processes;
mod processors;
mod read;
mod slabinfo;
mod snapshot;
mod sysctl;
mod vmallocinfo;
mod vmstat;
mod zone_reserves;
mod zoneinfo;
mod zones;

pub use allocinfo::{AllocationSite, counts_allocations, parse_allocinfo, read_allocinfo};
pub use allowed_nodes::{ProcessNodes, nodes_of_cgroup, nodes_of_process};
pub use buddyinfo::{BuddyZone, parse_buddyinfo, read_buddyinfo};
pub use copy_notes::{copy_notes, header_note};
pub use free_lists::{FreeLists, ZoneFreeLists};
pub use hugepages::{HugetlbPool, pool_sizes, read_hugetlb_pools};
pub use kpageflags::{fold_kpageflags, read_kpageflags};
pub use machine::{LISTS_BOUND, Machine, STAT_REFRESH, bounds_lists, read_machine, release_numbers};
pub use meminfo::{free_swap_pages, read_meminfo};
pub use page_size::page_bytes;
pub use pagetypeinfo::{parse_free_lists, parse_pagetypeinfo, read_free_lists, read_pagetypeinfo};
pub use pressure::{Pressure, Stall, parse_pressure, read_pressure};
pub use processes::{ProcessMemory, parse_status, read_processes};
pub use processors::{Processors, read_processors};
pub use slabinfo::{SlabCache, parse_slabinfo, read_slabinfo};
pub use snapshot::{Occupancy, managed_changes, snapshot};
pub use sysctl::read_sysctls;
pub use vmallocinfo::{VmallocCaller, parse_vmallocinfo, read_vmallocinfo};
pub use vmstat::{parse_vmstat, read_every_counter, read_vmstat};
pub use zone_reserves::{FreeReserves, ZoneReserves, read_zone_reserves};
pub use zoneinfo::{parse_zoneinfo, read_zoneinfo};
pub use zones::read_zones;

pub(super) use frame_words::{FrameWords, WORD_BYTES, words};
pub(super) use kpageflags::fold_kpageflags_file;
pub(super) use pagetypeinfo::read_pagetypeinfo_file;
pub(super) use read::{read_text, refuse_special};
pub(super) use zoneinfo::read_zoneinfo_file;
