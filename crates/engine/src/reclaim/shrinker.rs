//! The embedder's part in reclaim.

use crate::memory::Memory;
use crate::table::sync::Locks;
use crate::types::{GfpFlags, Order, ZoneType};

/// Frees pages whose contents can be had again, for an embedder that knows who uses them.
///
/// Linux counterpart: `shrink_node`, and the shrinkers that it calls.
pub trait Shrinker<L: Locks> {
    /// Looks for pages to free, and frees them by [`Memory::free`] before it returns.
    ///
    /// It may free fewer pages than wanted, or more. It must not ask the memory for pages by a request
    /// that may reclaim.
    fn shrink(&mut self, memory: &Memory<'_, L>, control: ShrinkControl) -> Reclaimed;

    /// Returns the number of pages of one zone that could be reclaimed at best.
    ///
    /// Units: pages. Linux counterpart: `zone_reclaimable_pages`.
    fn reclaimable_pages(&mut self, node: u16, zone: ZoneType) -> u64;
}

/// What is to be reclaimed.
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
    /// The part of the pages to look at: all of them divided by two to this power, 12 to 0.
    pub priority: u8,
    /// The order of the block that is wanted in the end.
    pub order: Order,
    /// The flags of the request; kswapd's allow everything.
    pub gfp: GfpFlags,
    /// Who reclaims.
    pub reclaimer: Reclaimer,
    /// True to free only pages that need not be written first, as for a boost of the marks.
    pub clean_only: bool,
}

/// Who reclaims.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reclaimer {
    /// The node's daemon.
    Kswapd,
    /// A request.
    Direct,
}

/// The result of reclaim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reclaimed {
    /// Pages looked at.
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
impl<L: Locks> Shrinker<L> for () {
    fn shrink(&mut self, _: &Memory<'_, L>, _: ShrinkControl) -> Reclaimed {
        Reclaimed::default()
    }

    fn reclaimable_pages(&mut self, _: u16, _: ZoneType) -> u64 {
        0
    }
}
