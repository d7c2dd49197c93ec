//! `Debug` of the large types: only numbers that are read without a lock.

use core::fmt;

use crate::memory::Memory;
use crate::types::Platform;
use crate::zone::Zone;

impl<P: Platform> fmt::Debug for Memory<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("zones", &self.zones)
            .field("cpus", &self.cpus())
            .field("max_order", &self.max_order)
            .finish_non_exhaustive()
    }
}

impl<P: Platform> fmt::Debug for Zone<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zone")
            .field("node", &self.node)
            .field("kind", &self.kind)
            .field("frames", &(self.start()..self.end()))
            .field("present_pages", &self.present_pages())
            .field("managed_pages", &self.managed_pages())
            .field("free_pages", &self.free_pages())
            .finish_non_exhaustive()
    }
}
