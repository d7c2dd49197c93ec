//! The request that a verdict is about.

use serde::Serialize;

/// A request for free blocks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BlockRequest {
    /// The order of a block.
    pub order: u8,
    /// How many blocks.
    pub blocks: u64,
    /// Only memory of this NUMA node.
    pub node: Option<u32>,
    /// Only memory of zones of this name.
    pub zone: Option<String>,
}

impl BlockRequest {
    /// Returns true if blocks of this zone count.
    pub fn wants(&self, node: u32, zone: &str) -> bool {
        self.node.is_none_or(|wanted| wanted == node)
            && self.zone.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(zone))
    }
}
