//! A request for one block.

use super::gfp::GfpFlags;
use super::units::Order;

/// A request for one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The CPU of the caller, whose per-CPU lists are used.
    pub cpu: u16,
    /// The node whose zones are tried first. The request fails if the number is above those of all zones.
    pub node: u16,
    /// The order of the block.
    pub order: Order,
    /// The flags: the wanted zone and type of memory, and the effort of the allocator.
    pub gfp: GfpFlags,
}
