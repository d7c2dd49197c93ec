//! The records of all pageblocks by zone.

use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use super::block::{Pageblock, UnmovableKind};
use super::fold::RawBlock;

/// The records of all pageblocks of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PageblockMap {
    /// The order of a pageblock.
    pub pageblock_order: u8,
    /// One entry for each zone, by ascending addresses.
    pub zones: Vec<ZonePageblocks>,
}

/// One zone's pageblocks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZonePageblocks {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone. Zones whose spans overlap, as nodes may interleave, are one entry with the
    /// first one's name.
    pub name: String,
    /// First frame of the first pageblock, which may lie before the zone's first frame.
    pub start_pfn: u64,
    /// The pageblocks by ascending addresses.
    pub blocks: Vec<Pageblock>,
}

impl PageblockMap {
    /// Returns the pages of a pageblock.
    pub fn pageblock_pages(&self) -> u64 {
        1 << self.pageblock_order
    }

    /// Returns the order of the parts of [`Pageblock::pinned_parts`] and [`Pageblock::used_parts`].
    pub fn part_order(&self) -> u8 {
        self.pageblock_order.saturating_sub(6)
    }

    /// Returns the pages held for one reason in all pageblocks.
    pub fn unmovable_pages(&self, why: UnmovableKind) -> u64 {
        self.zones.iter().flat_map(|zone| &zone.blocks).map(|block| u64::from(block.pages_of(why))).sum()
    }

    /// Returns the pages that are known to be free on per-CPU lists.
    pub fn listed_pages(&self) -> u64 {
        self.zones.iter().flat_map(|zone| &zone.blocks).map(|block| u64::from(block.listed)).sum()
    }
}

/// The pageblocks of a zone, or of zones whose spans overlap.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) node: u32,
    pub(super) name: String,
    /// First frame of the zone.
    pub(super) start: u64,
    /// The frame behind the last frame of the zone.
    pub(super) end: u64,
    /// First frame of the first pageblock.
    pub(super) base: u64,
    pub(super) blocks: Vec<RawBlock>,
}

/// Returns the spans of `zones`, with no pageblock read yet.
///
/// A pageblock that two zones share at their border belongs to the first zone.
pub(super) fn spans(zones: &[ZoneSnapshot], pageblock_order: u8) -> Vec<Span> {
    let mut sorted: Vec<_> = zones.iter().filter(|zone| zone.spanned > 0).collect();
    sorted.sort_by_key(|zone| zone.start_pfn);
    let mut spans: Vec<Span> = Vec::new();
    for zone in sorted {
        let end = zone.start_pfn.saturating_add(zone.spanned);
        match spans.last_mut() {
            Some(last) if zone.start_pfn < last.end => last.end = last.end.max(end),
            _ => spans.push(Span {
                node: zone.node,
                name: zone.name.clone(),
                start: zone.start_pfn,
                end,
                base: zone.start_pfn >> pageblock_order << pageblock_order,
                blocks: Vec::new(),
            }),
        }
    }
    let mut taken = 0;
    for span in &mut spans {
        span.base = span.base.max(taken);
        let blocks = span.end.saturating_sub(span.base).div_ceil(1 << pageblock_order);
        let absent = RawBlock::absent(1 << pageblock_order);
        span.blocks = vec![absent; usize::try_from(blocks).unwrap_or(0)];
        taken = span.base + (blocks << pageblock_order);
    }
    spans
}

/// Decides which pageblocks without flags are memory, by the numbers of `zones`.
pub(super) fn settle(spans: &[Span], zones: &[ZoneSnapshot], pageblock_order: u8) -> PageblockMap {
    let pages = 1_u64 << pageblock_order;
    let zones = spans.iter().map(|span| {
        let inside = zones.iter().filter(|zone| (span.start..span.end).contains(&zone.start_pfn));
        let (present, managed) =
            inside.fold((0, 0), |(present, managed), zone| (present + zone.present, managed + zone.managed));
        let mut blocks: Vec<_> = span.blocks.iter().map(|raw| raw.block).collect();
        let sum = |why: UnmovableKind| blocks.iter().map(|block| u64::from(block.pages_of(why))).sum::<u64>();
        let around = (span.blocks.len() as u64 * pages).saturating_sub(span.end - span.base.min(span.start));
        let nopage = sum(UnmovableKind::Absent).saturating_sub(around);
        let holes = (span.end - span.start).saturating_sub(present).saturating_sub(nopage);
        let unmanaged = u64::saturating_sub(present, managed);
        let deferred = unmanaged
            .saturating_sub(sum(UnmovableKind::Reserved))
            .saturating_sub(sum(UnmovableKind::Offline));
        let mut stretches = blank_stretches(&span.blocks);
        mark(&mut blocks, &mut stretches, holes, UnmovableKind::Absent, pages);
        mark(&mut blocks, &mut stretches, deferred, UnmovableKind::Deferred, pages);
        ZonePageblocks { node: span.node, name: span.name.clone(), start_pfn: span.base, blocks }
    });
    PageblockMap { pageblock_order, zones: zones.collect() }
}

/// Returns the stretches of pageblocks without flags: index of the first, and length.
fn blank_stretches(blocks: &[RawBlock]) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (at, _) in blocks.iter().enumerate().filter(|(_, raw)| raw.blank) {
        match stretches.last_mut() {
            Some((start, blocks)) if *start + *blocks == at => *blocks += 1,
            _ => stretches.push((at, 1)),
        }
    }
    stretches
}

/// Marks pageblocks of the longest stretches, from their ends, until `left` pages are marked.
///
/// A stretch of which little would remain is marked whole: pages that the kernel reserved within its
/// memory are not managed either, and would otherwise be counted here.
fn mark(
    blocks: &mut [Pageblock],
    stretches: &mut Vec<(usize, usize)>,
    mut left: u64,
    why: UnmovableKind,
    pages: u64,
) {
    stretches.sort_by_key(|&(_, blocks)| blocks);
    while let Some((start, len)) = stretches.pop() {
        let mut wanted = usize::try_from(left / pages).unwrap_or(usize::MAX);
        if wanted >= len - len / 16 {
            wanted = len;
        }
        if wanted == 0 {
            stretches.push((start, len));
            return;
        }
        let taken = wanted.min(len);
        for block in &mut blocks[start + len - taken..start + len] {
            block.unmovable[why as usize] =
                std::mem::take(&mut block.unmovable[UnmovableKind::Kernel as usize]);
        }
        left = left.saturating_sub(taken as u64 * pages);
        if taken < len {
            stretches.push((start, len - taken));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pageblocks::fold::fold;
    use crate::pageblocks::unflagged::Aside;
    use crate::procfs::kpf;

    fn zone(start_pfn: u64, spanned: u64, present: u64, managed: u64) -> ZoneSnapshot {
        ZoneSnapshot { start_pfn, spanned, present, managed, ..ZoneSnapshot::default() }
    }

    fn filled(zones: &[ZoneSnapshot], words: &[u64]) -> PageblockMap {
        let mut spans = spans(zones, 3);
        for span in &mut spans {
            for (at, raw) in span.blocks.iter_mut().enumerate() {
                *raw = fold([words[at]; 8].into_iter(), 0, 3, Aside::NONE);
            }
        }
        settle(&spans, zones, 3)
    }

    #[test]
    fn deferred_memory_is_recognised() {
        let words = [&[0; 1][..], &[kpf::BUDDY], &[0; 4], &[kpf::RESERVED], &[0; 9], &[kpf::LRU]].concat();
        let map = filled(&[zone(0, 17 * 8, 13 * 8, 3 * 8)], &words);
        let unmovable = |at: usize, why| map.zones[0].blocks[at].pages_of(why);
        assert_eq!(map.unmovable_pages(UnmovableKind::Absent), 4 * 8);
        assert_eq!(map.unmovable_pages(UnmovableKind::Deferred), 9 * 8);
        assert_eq!(
            (
                unmovable(0, UnmovableKind::Kernel),
                unmovable(2, UnmovableKind::Kernel),
                unmovable(15, UnmovableKind::Absent)
            ),
            (8, 0, 8)
        );
        assert_eq!(map.unmovable_pages(UnmovableKind::Kernel), 8, "the short stretch is the kernel's own");
    }

    #[test]
    fn zones_share_a_pageblock_at_their_border() {
        let found = spans(&[zone(1, 11, 11, 11), zone(12, 20, 20, 20), zone(14, 4, 4, 4)], 3);
        let shape: Vec<_> = found.iter().map(|s| (s.base, s.blocks.len(), s.end)).collect();
        assert_eq!(shape, [(0, 2, 12), (16, 2, 32)], "overlapping zones are one");
        assert!(spans(&[zone(5, 0, 0, 0)], 3).is_empty());
    }
}
