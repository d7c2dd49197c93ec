//! Why one zone did not answer the request.

use freehold::{Migratetype, ZoneType};

use super::rights::{Rights, Rule};
use crate::report::{BlockList, Letters, ZoneText};

/// Memory that is free and that not every request may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reserve {
    /// CMA blocks.
    Cma,
    /// The reserve for atomic requests.
    HighAtomic,
    /// Isolated pageblocks.
    Isolated,
}

impl Reserve {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cma => "CMA",
            Self::HighAtomic => "the HighAtomic reserve",
            Self::Isolated => "isolated pageblocks",
        }
    }
}

/// Why a zone did not answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ZoneReason {
    /// The flags allow lower zones only.
    HigherZone,
    /// The cpuset or the memory policy leaves the node out.
    OtherNode,
    /// The text lacks what decides.
    Unknown,
    /// Enough pages above the mark, but the list of free blocks is missing or cut off.
    NoList,
    /// The zone could answer by these numbers.
    Fits,
    /// Too few pages above the mark.
    Short { by: u64 },
    /// Enough pages, but no block that is large enough.
    NoBlock,
    /// Enough pages, if those of a reserve counted; or a block only there.
    OnlyIn(Reserve),
}

/// A zone, the numbers that decided, and the reason. All numbers are pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    pub(crate) node: u32,
    pub(crate) kind: ZoneType,
    pub(crate) reason: ZoneReason,
    /// The reason if the request could use the zone.
    pub(crate) if_allowed: ZoneReason,
    /// True if a cpuset leaves the node out that may not bind the request.
    pub(crate) is_access_unclear: bool,
    /// True if no mark counts for the request.
    pub(crate) ignores_marks: bool,
    pub(crate) free: u64,
    pub(crate) low: u64,
    /// The min mark as printed.
    pub(crate) printed_min: u64,
    /// The min mark with the request's rights.
    pub(crate) min: u64,
    /// The part of the min mark that is a temporary boost and counts for the request.
    pub(crate) boost: u64,
    /// The part of the min mark that is a boost and does not count.
    pub(crate) skipped_boost: u64,
    /// What the zone keeps for requests that could not use a higher zone.
    pub(crate) lowmem_reserve: u64,
    /// Free pages that the request may count: without all but one page of its own block, and without reserves.
    pub(crate) usable: i64,
    /// Free CMA pages that the request may not use.
    pub(crate) cma: u64,
    /// All free CMA pages.
    pub(crate) all_cma: u64,
    /// Free pages of the atomic reserve that the request may not use.
    pub(crate) highatomic: u64,
    /// The most that this reserve may hold, where the kernel prints no number and there are such blocks.
    pub(crate) hidden_highatomic: Option<u64>,
    pub(crate) size: u64,
    /// Pages in blocks that are large enough and that the request may not use.
    pub(crate) in_closed_blocks: u64,
    /// The largest order with a block that the request may use.
    pub(crate) largest: Option<u8>,
    /// Linux's fragmentation index of the order, in thousandths.
    pub(crate) fragmentation_index: Option<u64>,
}

impl Finding {
    /// Judges a zone, as if the request could use it. `lowmem_reserve` is `None` where it is not known.
    pub(crate) fn new(
        zone: &ZoneText,
        page_kib: u64,
        order: u8,
        rights: Rights,
        lowmem_reserve: Option<u64>,
    ) -> Self {
        let pages = |kib: Option<u64>| kib.unwrap_or(0) / page_kib.max(1);
        let size = zone.size_kib() / page_kib.max(1);
        let cma = pages(zone.free_cma_kib);
        let highatomic = pages(zone.free_highatomic_kib.or(zone.reserved_highatomic_kib));
        let has_highatomic = |letters: Letters| letters.has(Migratetype::HighAtomic);
        let is_hidden = zone.reserved_highatomic_kib.is_none()
            && zone
                .blocks
                .as_ref()
                .is_some_and(|blocks| blocks.rows.iter().any(|row| has_highatomic(row.letters)));
        let boost = pages(zone.boost_kib);
        let skipped_boost = if order == 0 && rights.skips_boost() { boost } else { 0 };
        let mut found = Self {
            node: zone.node,
            kind: zone.kind,
            reason: ZoneReason::Unknown,
            if_allowed: ZoneReason::Unknown,
            is_access_unclear: false,
            ignores_marks: rights.ignores_marks,
            free: pages(zone.free_kib),
            low: pages(zone.low_kib),
            printed_min: pages(zone.min_kib),
            min: rights.lowered(pages(zone.min_kib).saturating_sub(skipped_boost)),
            boost: boost - skipped_boost,
            skipped_boost,
            lowmem_reserve: lowmem_reserve.unwrap_or(0),
            usable: 0,
            cma: if rights.cma { 0 } else { cma },
            all_cma: cma,
            highatomic: if rights.leaves_highatomic { highatomic } else { 0 },
            // A hundredth of the zone, and the last pageblock, which is at most a block of the largest order.
            hidden_highatomic: (rights.leaves_highatomic && is_hidden)
                .then_some(size / 100 + largest_block(zone)),
            size,
            in_closed_blocks: zone
                .blocks
                .as_ref()
                .map_or(0, |blocks| blocks.pages_from(order, |letters| !rights.may_use(letters))),
            largest: zone
                .blocks
                .as_ref()
                .and_then(|blocks| blocks.largest(|letters| rights.may_use(letters))),
            fragmentation_index: zone.blocks.as_ref().and_then(|blocks| blocks.fragmentation_index(order)),
        };
        if rights.ignores_marks {
            (found.min, found.lowmem_reserve, found.boost) = (0, 0, 0);
        }
        found.usable = found.free as i64 - Self::own_pages(order) - (found.cma + found.highatomic) as i64;
        found.if_allowed = found.judge(zone, order, rights, lowmem_reserve.is_some());
        found.reason = found.if_allowed;
        found
    }

    /// Returns the number of pages that must stay free: more than these make the zone answer.
    pub(crate) fn threshold(&self) -> i64 {
        self.min.saturating_add(self.lowmem_reserve).min(i64::MAX as u64) as i64
    }

    /// Returns true if the request may use the zone.
    pub(crate) fn is_allowed(&self) -> bool {
        !matches!(self.reason, ZoneReason::HigherZone | ZoneReason::OtherNode)
    }

    /// Returns true if the free pages of a reserve would be enough, and are a large part of all free pages: with a small part
    /// the zone is as good as short.
    pub(crate) fn is_in_reserve(&self) -> bool {
        let closed = self.cma.saturating_add(self.highatomic).max(self.in_closed_blocks);
        matches!(self.reason, ZoneReason::OnlyIn(_))
            && (self.usable > self.threshold() || closed.saturating_mul(4) >= self.free)
    }

    /// Returns true if too few pages are free, and the reserve for urgent requests alone would make them enough.
    pub(crate) fn is_short_of_highatomic(&self) -> bool {
        self.reason == ZoneReason::OnlyIn(Reserve::HighAtomic) && self.usable <= self.threshold()
    }

    /// Returns true if no block is large enough, or only blocks of a reserve with a small part of the free pages.
    pub(crate) fn is_fragmented(&self) -> bool {
        let is_by_block = self.usable > self.threshold();
        match self.reason {
            ZoneReason::NoBlock => true,
            ZoneReason::OnlyIn(_) => is_by_block && self.in_closed_blocks.saturating_mul(16) < self.free,
            _ => false,
        }
    }

    /// All pages of the block but one.
    fn own_pages(order: u8) -> i64 {
        (1_i64 << order.min(40)) - 1
    }

    fn judge(&self, zone: &ZoneText, order: u8, rights: Rights, has_reserve: bool) -> ZoneReason {
        if zone.free_kib.is_none() || zone.min_kib.is_none() || !has_reserve {
            return ZoneReason::Unknown;
        }
        let threshold = self.threshold();
        let (cma, highatomic) = (self.cma as i64, self.highatomic as i64);
        if self.usable <= threshold {
            let in_reserve = [(cma, Reserve::Cma), (highatomic, Reserve::HighAtomic)];
            // With the reserve there must be a block, too.
            let any = zone
                .blocks
                .as_ref()
                .is_none_or(|blocks| !blocks.is_whole() || blocks.largest(|_| true) >= Some(order));
            let found = in_reserve
                .into_iter()
                .find(|&(pages, _)| any && pages > 0 && self.usable + pages > threshold);
            return match found {
                Some((_, reserve)) => ZoneReason::OnlyIn(reserve),
                None => ZoneReason::Short { by: threshold.saturating_sub(self.usable).max(1) as u64 },
            };
        }
        if order == 0 {
            return ZoneReason::Fits;
        }
        let has_block = self.largest.is_some_and(|largest| largest >= order);
        let Some(blocks) = zone.blocks.as_ref().filter(|blocks| blocks.is_whole()) else {
            let is_clear = has_block && rights.rule > Rule::ByOrder;
            return if is_clear { ZoneReason::Fits } else { ZoneReason::NoList };
        };
        if rights.rule == Rule::ByOrder && !self.has_enough_by_order(blocks, order) {
            return ZoneReason::NoBlock;
        }
        if has_block {
            return ZoneReason::Fits;
        }
        let only = |reserve, migratetype| {
            let is_there =
                blocks.largest(|letters| letters.has(migratetype)).is_some_and(|largest| largest >= order);
            is_there.then_some(ZoneReason::OnlyIn(reserve))
        };
        only(Reserve::HighAtomic, Migratetype::HighAtomic)
            .or_else(|| only(Reserve::Cma, Migratetype::Cma))
            .or_else(|| only(Reserve::Isolated, Migratetype::Isolate))
            .unwrap_or(ZoneReason::NoBlock)
    }

    /// Returns true if blocks of the order and above pass the rule of kernels until 4.3.
    fn has_enough_by_order(&self, blocks: &BlockList, order: u8) -> bool {
        let (mut left, mut mark) = (self.usable, self.min as i64);
        blocks.rows.iter().take(order.into()).enumerate().all(|(number, row)| {
            left = left.saturating_sub(row.count.saturating_mul(1 << number).min(i64::MAX as u64) as i64);
            mark >>= 1;
            left > mark
        })
    }
}

/// Returns the pages of a block of the largest order, which is the last of the list of blocks.
fn largest_block(zone: &ZoneText) -> u64 {
    let rows = zone.blocks.as_ref().map_or(1, |blocks| blocks.rows.len());
    1 << rows.saturating_sub(1).min(40)
}
