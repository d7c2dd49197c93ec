//! The embedder's part in reclaim: the trait that frees pages.

use crate::memory::Memory;
use crate::types::{GfpFlags, Order, Platform, ZoneType};

/// Frees pages whose contents can be read or computed again. The embedder implements it, because it knows the users of
/// each page.
///
/// Linux counterpart: `shrink_node`, and the shrinkers that it calls.
pub trait Shrinker<P: Platform> {
    /// Scans for pages to free, and frees them by [`Memory::free`] before it returns.
    ///
    /// It may free fewer pages than wanted, or more. It must not make a request that may reclaim.
    fn shrink(&mut self, memory: &Memory<'_, P>, control: ShrinkControl) -> Reclaimed;

    /// Returns the largest number of pages of one zone that could be reclaimed.
    ///
    /// Units: pages. Linux counterpart: `zone_reclaimable_pages`.
    fn reclaimable_pages(&mut self, node: u16, zone: ZoneType) -> u64;
}

/// The parameters of one round of reclaim.
///
/// Linux counterpart: `struct scan_control`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ShrinkControl {
    /// The node to reclaim from.
    pub node: u16,
    /// The highest of its zones to reclaim from.
    pub highest_zone: ZoneType,
    /// The CPU that reclaims and frees the pages.
    pub cpu: u16,
    /// The number of pages wanted.
    pub wanted: u64,
    /// The priority of the scan, from 12 down to 0: the number of pages to scan is all pages divided by 2^priority.
    pub priority: u8,
    /// The order of the block for which memory is reclaimed.
    pub order: Order,
    /// The flags of the request. The flags of kswapd allow everything.
    pub gfp: GfpFlags,
    /// The caller: kswapd or a request.
    pub reclaimer: Reclaimer,
    /// True to free only pages that need not be written first. kswapd sets it while it reclaims for a boost of the
    /// watermarks.
    pub clean_only: bool,
}

/// The caller of reclaim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reclaimer {
    /// The node's kswapd.
    Kswapd,
    /// A request, by direct reclaim.
    Direct,
}

/// The result of reclaim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reclaimed {
    /// Pages scanned.
    pub scanned: u64,
    /// Pages freed.
    pub reclaimed: u64,
}

impl core::ops::AddAssign for Reclaimed {
    fn add_assign(&mut self, other: Self) {
        self.scanned += other.scanned;
        self.reclaimed += other.reclaimed;
    }
}

/// No page can be reclaimed.
impl<P: Platform> Shrinker<P> for () {
    fn shrink(&mut self, _: &Memory<'_, P>, _: ShrinkControl) -> Reclaimed {
        Reclaimed::default()
    }

    fn reclaimable_pages(&mut self, _: u16, _: ZoneType) -> u64 {
        0
    }
}
