//! One request for a block.

use super::gfp::GfpFlags;
use super::units::Order;

/// One request for a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The CPU that asks.
    pub cpu: u16,
    /// The node to start from.
    pub node: u16,
    /// The size of the block.
    pub order: Order,
    /// What kind of memory, and how hard to try.
    pub gfp: GfpFlags,
}
