//! The request that a verdict is about.

use std::collections::BTreeSet;

use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use super::forecast::Requester;
use super::highest_zone::HighestZone;
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
    /// Only memory of this zone and those below it.
    pub highest: HighestZone,
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
        self.wants_node(node)
            && self.highest.allows(zone)
            && self.zone.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(zone))
    }

    /// Returns the pages of one of `zones` that are kept from this request, because a higher zone could serve it.
    ///
    /// Linux counterpart: `lowmem_reserve`.
    pub(super) fn protection(&self, zone: &ZoneSnapshot, zones: &[ZoneSnapshot]) -> u64 {
        let most = zone.protection.iter().max().copied().unwrap_or(0);
        if self.zone.is_some() {
            return 0;
        }
        if self.highest == HighestZone::User {
            return most;
        }
        let allowed =
            zones.iter().filter(|other| other.node == zone.node && self.wants(other.node, &other.name));
        let Some(highest) = allowed.max_by_key(|other| other.start_pfn) else { return most };
        if highest.name == zone.name {
            return 0;
        }
        // Nothing is kept from requests for the zone itself, so its own entry is the last 0.
        let at = highest.protection.iter().position(|&pages| pages > 0).map(|first| first.saturating_sub(1));
        at.and_then(|at| zone.protection.get(at).copied()).unwrap_or(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str, start_pfn: u64, protection: &[u64]) -> ZoneSnapshot {
        ZoneSnapshot {
            name: name.to_owned(),
            start_pfn,
            protection: protection.to_vec(),
            ..ZoneSnapshot::default()
        }
    }

    #[test]
    fn the_highest_zone_decides_what_is_kept_in_lower_ones() {
        let zones = [
            zone("DMA", 1, &[0, 3018, 7114, 9162]),
            zone("DMA32", 4096, &[0, 0, 4096, 6144]),
            zone("Normal", 1 << 20, &[0, 0, 0, 16384]),
            zone("Movable", 1 << 21, &[0, 0, 0, 0]),
        ];
        let kept = |highest| {
            let request = BlockRequest {
                order: 0,
                block_bytes: 4096,
                contiguous: false,
                blocks: 1,
                node: None,
                allowed_nodes: None,
                zone: None,
                highest,
                by: Requester::default(),
            };
            let wanted = zones.iter().filter(|zone| request.wants(zone.node, &zone.name));
            wanted.map(|zone| request.protection(zone, &zones)).collect::<Vec<_>>()
        };
        assert_eq!(kept(HighestZone::User), [9162, 6144, 16384, 0]);
        assert_eq!(kept(HighestZone::Kernel), [7114, 4096, 0]);
        assert_eq!(kept(HighestZone::Dma32), [3018, 0]);
        assert_eq!(kept(HighestZone::Dma), [0]);
    }
}
