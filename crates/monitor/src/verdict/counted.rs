//! What counters and per-CPU lists tell of who holds memory.

use std::collections::BTreeMap;

use freehold_trace::ZoneSnapshot;

use super::evidence::Names;

/// Returns the pages on per-CPU lists.
pub fn pages_on_lists(zones: &[ZoneSnapshot]) -> u64 {
    let sets = zones.iter().flat_map(|zone| &zone.pagesets);
    sets.fold(0, |sum, set| sum.saturating_add(set.count))
}

impl Names {
    /// Returns what `/proc/vmstat` counts, and the pages on per-CPU lists; the kernel can take those back if
    /// `drains_lists`. The rest is empty.
    pub fn counted(
        counters: &BTreeMap<String, u64>,
        zones: &[ZoneSnapshot],
        page_bytes: u64,
        drains_lists: bool,
    ) -> Self {
        let counter = |name: &str| counters.get(name).copied().unwrap_or(0);
        let page_kib = (page_bytes / 1024).max(1);
        let per_cpu_pages = pages_on_lists(zones);
        Self {
            // vmstat counts kernel stacks in KiB and everything else here in pages.
            kernel_stack_pages: counter("nr_kernel_stack") / page_kib,
            zsmalloc_pages: counter("nr_zspages"),
            dirty_pages: counter("nr_dirty").saturating_add(counter("nr_writeback")),
            mapped_anon_pages: counter("nr_anon_pages"),
            shmem_pages: counter("nr_shmem"),
            slab_reclaimable_pages: counter("nr_slab_reclaimable"),
            drainable_pages: if drains_lists { per_cpu_pages } else { 0 },
            per_cpu_pages,
            page_kib,
            ..Self::default()
        }
    }
}
