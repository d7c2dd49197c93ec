//! What is asked for.

use serde::Serialize;

/// What somebody wants of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Asked {
    /// The order of a block.
    pub order: u8,
    /// How many blocks.
    pub blocks: u64,
    /// Only memory of this NUMA node.
    pub node: Option<u32>,
    /// Only memory of zones of this name.
    pub zone: Option<String>,
}

impl Asked {
    /// Returns true if memory of this zone is wanted.
    pub fn wants(&self, node: u32, zone: &str) -> bool {
        self.node.is_none_or(|wanted| wanted == node)
            && self.zone.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(zone))
    }
}
