//! Reads the counters of a zone.

use crate::table::sync::Ordering;
use crate::types::Platform;
use crate::zone::Zone;

impl<P: Platform> Zone<'_, P> {
    /// Returns the number of pages on all of a CPU's lists of this zone; 0 for an absent CPU.
    ///
    /// Units: pages. Linux counterpart: `pcp->count`.
    pub fn percpu_pages(&self, cpu: u16) -> u32 {
        self.lock_lists(cpu).map_or(0, |lists| lists.count())
    }

    /// Returns the number of free pages in CMA pageblocks, as of the end of the last lock hold.
    ///
    /// Units: pages. Linux counterpart: `NR_FREE_CMA_PAGES`.
    pub fn free_cma_pages(&self) -> u64 {
        self.shared.free_cma.load(Ordering::Relaxed)
    }

    /// Returns the number of free pages in the reserve for atomic requests, as of the end of the last lock hold.
    ///
    /// Units: pages. Linux counterpart: `nr_free_highatomic`.
    pub fn free_highatomic_pages(&self) -> u64 {
        self.shared.free_highatomic.load(Ordering::Relaxed)
    }

    /// Returns the number of isolated pageblocks.
    ///
    /// Linux counterpart: `nr_isolate_pageblock`.
    pub fn isolated_pageblocks(&self) -> u64 {
        self.lock().state.isolated_blocks
    }
}
