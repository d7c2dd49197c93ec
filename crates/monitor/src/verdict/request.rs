//! The request that a verdict is about.

use std::collections::BTreeSet;

use serde::Serialize;

use super::forecast::Requester;
use super::size::SizeText;

/// A request for free blocks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BlockRequest {
    /// The order of a block.
    pub order: u8,
    /// The size of a block in bytes.
    pub block_bytes: u64,
    /// True if a block is larger than the buddy allocator's largest: a range of several.
    pub contiguous: bool,
    /// How many blocks.
    pub blocks: u64,
    /// Only memory of this NUMA node.
    pub node: Option<u32>,
    /// Only memory of these NUMA nodes: those that a process or a cgroup may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_nodes: Option<BTreeSet<u32>>,
    /// Only memory of zones of this name.
    pub zone: Option<String>,
    /// Who requests them.
    pub by: Requester,
}

impl BlockRequest {
    /// Returns the requested blocks in words, such as `3 blocks of 2 MiB (order 9)`.
    pub(super) fn words(&self) -> String {
        let what = if self.contiguous { "contiguous range" } else { "block" };
        let plural = if self.blocks == 1 { "" } else { "s" };
        format!("{} {what}{plural} of {} (order {})", self.blocks, SizeText(self.block_bytes), self.order)
    }

    /// Returns the request as its first line has it, such as `3 x 2M`.
    pub(super) fn short(&self) -> String {
        format!("{} x {}", self.blocks, SizeText(self.block_bytes).short())
    }

    /// Returns the size of a page in bytes.
    pub(super) fn page_bytes(&self) -> u64 {
        self.block_bytes >> self.order
    }

    /// Returns true if memory of this node counts.
    pub fn wants_node(&self, node: u32) -> bool {
        self.node.is_none_or(|wanted| wanted == node)
            && self.allowed_nodes.as_ref().is_none_or(|allowed| allowed.contains(&node))
    }

    /// Returns true if blocks of this zone count.
    pub fn wants(&self, node: u32, zone: &str) -> bool {
        self.wants_node(node) && self.zone.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(zone))
    }
}
