//! The zone that a script is written for.

/// The number of pages of a pageblock.
pub(in crate::families) const PAGEBLOCK_PAGES: u64 = 512;

/// The largest order of a request.
pub(in crate::families) const LARGEST_ORDER: u8 = 10;

/// The zone that a script is written for.
#[derive(Clone, Copy, Debug)]
pub(in crate::families) struct Zone {
    pub(in crate::families) memory_kib: u64,
    pub(super) cpus: u16,
}

impl Zone {
    pub(in crate::families) fn new(memory_kib: u64, cpus: u16) -> Self {
        Self { memory_kib, cpus }
    }

    pub(in crate::families) fn pages(self) -> u64 {
        self.memory_kib / 4
    }

    /// Returns the approximate number of pages that a script can get, without those of the kernel.
    pub(super) fn usable(self) -> u64 {
        self.pages() - self.pages() / 64 - 25 * 256
    }

    pub(in crate::families) fn pageblocks(self) -> u32 {
        (self.pages() / PAGEBLOCK_PAGES) as u32
    }

    /// Returns the first pageblock that a script cannot use, because the kernel's `struct page` table is at the zone's
    /// end.
    pub(in crate::families) fn end_of_usable_blocks(self) -> u32 {
        self.pageblocks() - self.pageblocks().div_ceil(64)
    }

    pub(super) fn memory(self) -> String {
        let kib = self.memory_kib;
        if kib.is_multiple_of(1024) { format!("{}M", kib / 1024) } else { format!("{kib}K") }
    }
}
