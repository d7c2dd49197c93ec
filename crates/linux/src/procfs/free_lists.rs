//! The free lists of a copied pagetypeinfo, of which parts may be missing.

use freehold_trace::{ByOrder, ByType, FreeCount, KernelTypes, PageTypeInfo, PageTypeZone};

use crate::error::ParseError;

/// The free lists of `/proc/pagetypeinfo`, with what the rest of the text says about pageblocks.
///
/// People paste the table without its first lines, or without its second part. The free lists are complete all the same.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FreeLists {
    /// The order of a pageblock; `None` without the first line.
    pub pageblock_order: Option<u8>,
    /// The kernel's migratetypes in its order.
    pub types: KernelTypes,
    /// One entry for each zone, in the file's order.
    pub zones: Vec<ZoneFreeLists>,
    /// The number of the text's last line.
    pub lines: u64,
}

/// One zone's free lists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ZoneFreeLists {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free blocks by migratetype and order.
    pub free: ByType<ByOrder<FreeCount>>,
    /// Pageblocks by migratetype; `None` if the text lacks them.
    pub blocks: Option<ByType<u64>>,
}

/// Kernels have at least this largest order, with the exception of few that have pages of 256 KiB.
const SMALLEST_LARGEST_ORDER: usize = 8;

impl FreeLists {
    /// Returns the largest order that the columns have, if later columns are cut off; `None` if they are whole.
    pub fn cut_at(&self) -> Option<u8> {
        let orders = self.zones.first()?.free.first()?.len();
        let least = self.pageblock_order.map_or(SMALLEST_LARGEST_ORDER, usize::from);
        (orders <= least).then(|| (orders - 1) as u8)
    }

    /// Returns the whole contents of the file.
    ///
    /// # Errors
    /// The first part that is missing.
    pub(super) fn whole(self) -> Result<PageTypeInfo, ParseError> {
        let missing = |what: &str| ParseError::new(self.lines, what, "none");
        let pageblock_order = self.pageblock_order.ok_or_else(|| missing("a row `Page block order:`"))?;
        let zones = self.zones.into_iter().map(|zone| {
            let ZoneFreeLists { node, name, free, blocks } = zone;
            let blocks =
                blocks.ok_or_else(|| missing(&format!("the pageblocks of node {node}, zone {name}")))?;
            Ok(PageTypeZone { node, name, free, blocks })
        });
        Ok(PageTypeInfo { pageblock_order, zones: zones.collect::<Result<_, _>>()?, types: self.types })
    }
}
