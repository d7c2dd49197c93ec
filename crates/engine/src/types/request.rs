//! One request for a block.

use super::gfp::GfpFlags;
use super::units::Order;

/// One request for a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The CPU that asks.
    pub cpu: u16,
    /// The node whose zones are tried first. A number above those of all zones is refused.
    pub node: u16,
    /// The order of the block.
    pub order: Order,
    /// Which memory is wanted, and how hard the allocator tries.
    pub gfp: GfpFlags,
}
