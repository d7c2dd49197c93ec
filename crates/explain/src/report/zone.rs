//! One zone, as printed.

use freehold::ZoneType;

use super::blocks::BlockList;
use super::place::node_and_zone;
use crate::text::{field, kib};

/// A zone. All sizes are in KiB, and absent where the text lacks them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ZoneText {
    /// The node; 0 where the kernel prints none.
    pub(crate) node: u32,
    /// The type, which is also the name.
    pub(crate) kind: ZoneType,
    pub(crate) free_kib: Option<u64>,
    pub(crate) boost_kib: Option<u64>,
    pub(crate) min_kib: Option<u64>,
    pub(crate) low_kib: Option<u64>,
    pub(crate) high_kib: Option<u64>,
    pub(crate) reserved_highatomic_kib: Option<u64>,
    pub(crate) free_highatomic_kib: Option<u64>,
    pub(crate) anon_kib: Option<u64>,
    pub(crate) file_kib: Option<(u64, u64)>,
    pub(crate) present_kib: Option<u64>,
    pub(crate) managed_kib: Option<u64>,
    pub(crate) free_pcp_kib: Option<u64>,
    pub(crate) free_cma_kib: Option<u64>,
    /// Pages that a request leaves free, by the number of its highest zone.
    pub(crate) lowmem_reserve: Option<Vec<u64>>,
    /// The free blocks.
    pub(crate) blocks: Option<BlockList>,
}

impl ZoneText {
    /// Reads the line of a zone's sizes.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let at = text.find(" free:")?;
        let free_kib = kib(&text[at..], "free:");
        // The rest of the line may be cut off, but not the number.
        free_kib?;
        let (node, kind) = node_and_zone(&text[..at])?;
        let anon = kib(text, "active_anon:").zip(kib(text, "inactive_anon:"));
        Some(Self {
            free_kib,
            boost_kib: kib(text, "boost:"),
            min_kib: kib(text, "min:"),
            low_kib: kib(text, "low:"),
            high_kib: kib(text, "high:"),
            reserved_highatomic_kib: kib(text, "reserved_highatomic:"),
            free_highatomic_kib: kib(text, "free_highatomic:"),
            anon_kib: anon.map(|(active, inactive)| active.saturating_add(inactive)),
            file_kib: kib(text, "active_file:").zip(kib(text, "inactive_file:")),
            present_kib: kib(text, "present:"),
            managed_kib: kib(text, "managed:"),
            free_pcp_kib: kib(text, "free_pcp:"),
            free_cma_kib: kib(text, "free_cma:"),
            ..Self::unsized_zone(node, kind)
        })
    }

    /// Returns a zone of which nothing is known but its name.
    pub(crate) fn unsized_zone(node: u32, kind: ZoneType) -> Self {
        Self {
            node,
            kind,
            free_kib: None,
            boost_kib: None,
            min_kib: None,
            low_kib: None,
            high_kib: None,
            reserved_highatomic_kib: None,
            free_highatomic_kib: None,
            anon_kib: None,
            file_kib: None,
            present_kib: None,
            managed_kib: None,
            free_pcp_kib: None,
            free_cma_kib: None,
            lowmem_reserve: None,
            blocks: None,
        }
    }

    /// Returns the name in texts: `node 0 DMA32`.
    pub(crate) fn name(&self) -> String {
        format!("node {} {}", self.node, self.kind.name())
    }

    /// Returns the memory of the zone, managed where the kernel prints it.
    pub(crate) fn size_kib(&self) -> u64 {
        self.managed_kib.or(self.present_kib).unwrap_or(0)
    }
}

/// Reads the pages of `lowmem_reserve[]: 0 833 15809`.
pub(crate) fn lowmem_reserve(text: &str) -> Option<Vec<u64>> {
    let list = field(text, "lowmem_reserve[]:").or_else(|| field(text, "protections[]:"))?;
    let pages: Option<Vec<u64>> = list.split_whitespace().map(|word| word.parse().ok()).collect();
    pages.filter(|pages| (2..=8).contains(&pages.len()))
}
