//! What an embedder does for reclaim.

use crate::memory::Memory;
use crate::table::sync::Locks;
use crate::types::{GfpFlags, Order, ZoneType};

/// Frees pages that can be had again: whoever knows the users of pages does.
///
/// Linux counterpart: `shrink_node`, and the shrinkers that it calls.
pub trait Shrinker<L: Locks> {
    /// Looks for pages to free, and frees them by [`Memory::free`] before it returns.
    ///
    /// It may free less than what is wanted, or more. The memory must not be asked for pages
    /// from here that may be reclaimed for in turn.
    fn shrink(&mut self, memory: &Memory<'_, L>, control: ShrinkControl) -> Reclaimed;

    /// Returns the pages of one zone that could be reclaimed at best: whether it is worth going on.
    ///
    /// Units: pages. Linux counterpart: `zone_reclaimable_pages`.
    fn reclaimable_pages(&mut self, node: u16, zone: ZoneType) -> u64;
}

/// What is to be reclaimed.
///
/// Linux counterpart: `struct scan_control`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShrinkControl {
    /// From which node.
    pub node: u16,
    /// From its zones up to this one.
    pub highest_zone: ZoneType,
    /// The CPU that reclaims: pages are freed on it.
    pub cpu: u16,
    /// Pages wanted.
    pub wanted: u64,
    /// How much to look at: all pages divided by two to this power, 12 to 0.
    pub priority: u8,
    /// The size of the block that is wanted in the end.
    pub order: Order,
    /// What the request for it allows; of kswapd, everything.
    pub gfp: GfpFlags,
    /// Who reclaims.
    pub reclaimer: Reclaimer,
    /// Only pages that need not be written first: reclaim for a boost of the marks.
    pub clean_only: bool,
}

/// Who reclaims.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reclaimer {
    /// The node's daemon.
    Kswapd,
    /// A request by itself.
    Direct,
}

/// What came of it.
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

/// Nobody has pages to give.
impl<L: Locks> Shrinker<L> for () {
    fn shrink(&mut self, _: &Memory<'_, L>, _: ShrinkControl) -> Reclaimed {
        Reclaimed::default()
    }

    fn reclaimable_pages(&mut self, _: u16, _: ZoneType) -> u64 {
        0
    }
}
