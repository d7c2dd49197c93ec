//! A zone of the engine with the free blocks of a report.

use std::mem::MaybeUninit;

use freehold::{
    GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, Pfn, Request, Switches, Watermarks,
    ZoneConfig, ZoneState, ZoneType, required_bytes,
};

use crate::report::{BlockList, Letters};

#[derive(Debug)]
struct Host;

impl freehold::Platform for Host {
    type ZoneLock = parking_lot::RawMutex;
    type PerCpuLock = parking_lot::RawMutex;
    type Tracepoints = ();
    type Rule = ();
}

/// The most free pages of an engine's zone: their metadata takes some ten MiB.
const MAX_PAGES: u64 = 1 << 20;

/// Free blocks by type and order, as an engine's zone gets them.
#[derive(Clone, Debug)]
pub(super) struct EngineZone {
    counts: Vec<(Migratetype, Order, u64)>,
    max_order: Order,
    /// The pages that were left out of a zone that is too large. Units: pages.
    pub(super) left_out: u64,
}

/// What a zone keeps free. Units: pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) min: u64,
    pub(super) reserve: u64,
    /// All of the reserve for urgent requests, free or not.
    pub(super) highatomic: u64,
}

impl EngineZone {
    /// Lays the blocks of a list out. `cma` and `highatomic` are the free pages of these types, where printed: rows
    /// with several letters are divided so that the sums come near to them.
    pub(super) fn new(list: &BlockList, cma: u64, highatomic: u64) -> Option<Self> {
        let max_order = Order::new(list.rows.len().checked_sub(1)? as u8)?;
        let mut counts = Vec::new();
        let mut left = [(Migratetype::Cma, cma), (Migratetype::HighAtomic, highatomic)];
        for (number, row) in list.rows.iter().enumerate().rev() {
            let order = Order::new(number as u8)?;
            let mut blocks = row.count;
            let plain = plain_type(row.letters);
            for (kind, pages) in &mut left {
                if !row.letters.has(*kind) {
                    continue;
                }
                let others = u64::from(plain.is_some());
                let share = if plain.is_none() { blocks } else { (*pages >> number).clamp(1, blocks.max(1)) };
                let share =
                    share.min(blocks.saturating_sub(others)).max(u64::from(blocks > 0 && others == 0));
                *pages = pages.saturating_sub(share << number);
                blocks -= share.min(blocks);
                counts.push((*kind, order, share));
            }
            if let Some(plain) = plain.or(row.letters.is_empty().then_some(Migratetype::Movable)) {
                counts.push((plain, order, blocks));
            }
        }
        let mut layout = Self { counts, max_order, left_out: 0 };
        layout.bound();
        Some(layout)
    }

    fn pages(&self) -> u64 {
        self.counts
            .iter()
            .fold(0, |sum, (_, order, count)| sum.saturating_add(count.saturating_mul(order.pages())))
    }

    /// Leaves blocks out of a zone that is too large, the same share of each row, and one of each at least stays.
    fn bound(&mut self) {
        let pages = self.pages();
        if pages <= MAX_PAGES {
            return;
        }
        let share = pages.div_ceil(MAX_PAGES);
        for (_, _, count) in &mut self.counts {
            *count = if *count > 0 { (*count / share).max(1) } else { 0 };
        }
        self.left_out = pages - self.pages();
    }

    /// Returns the largest order of the zone.
    pub(super) fn max_order(&self) -> Order {
        self.max_order
    }

    /// Makes a request in a zone with these blocks. Returns true if the zone grants it, or `None` if no such zone
    /// can be set up.
    pub(super) fn grants(
        &self,
        switches: Switches,
        marks: Marks,
        order: Order,
        gfp: GfpFlags,
    ) -> Option<bool> {
        let top = 1_u64 << self.max_order.get();
        let span = (self.pages() / top + 1 + 2 * Migratetype::ALL.len() as u64) * top;
        let (kind, mark) = (ZoneType::Dma, marks.min);
        let mut zone = ZoneConfig::sized(0, kind, Pfn(0), span);
        zone.watermarks = Watermarks { min: mark, low: mark, high: mark };
        zone.lowmem_reserve = [marks.reserve; freehold::ZONE_TYPES];
        let zones = [zone];
        let config = MemoryConfig {
            switches,
            max_order: self.max_order,
            pageblock_order: Order::HUGE_PAGE.min(self.max_order),
            huge_pages: false,
            ..MemoryConfig::linux(&zones, 1)
        };
        let mut metadata = vec![MaybeUninit::uninit(); required_bytes::<Host>(&config)];
        let memory = Memory::<Host>::new(&config, &mut metadata).ok()?;
        let zone = memory.zones().first()?;
        self.fill(zone)?;
        zone.restore_state(ZoneState { reserved_highatomic: marks.highatomic, ..zone.state() });
        Some(memory.alloc(Request { cpu: 0, node: 0, order, gfp }, NoReclaim).is_ok())
    }

    /// Puts the blocks into the zone, those of one type together, the largest first.
    fn fill(&self, zone: &freehold::Zone<'_, Host>) -> Option<()> {
        let top = 1_u64 << self.max_order.get();
        let mut at = 0_u64;
        for kind in Migratetype::ALL {
            let start = at;
            let mut end = start;
            for &(_, order, count) in self.counts.iter().filter(|(of, _, _)| *of == kind) {
                end += count * order.pages();
            }
            let block = zone.pageblock_order().pages();
            for pfn in (start..end).step_by(block as usize) {
                zone.set_block_type(Pfn(pfn), kind).ok()?;
            }
            for &(_, order, count) in self.counts.iter().filter(|(of, _, _)| *of == kind) {
                for _ in 0..count {
                    zone.add_free_block(Pfn(at), order, kind).ok()?;
                    at += order.pages();
                }
            }
            at = at.next_multiple_of(top);
        }
        Some(())
    }
}

/// Returns a type of the letters that every request may fall back to.
fn plain_type(letters: Letters) -> Option<Migratetype> {
    [Migratetype::Unmovable, Migratetype::Movable, Migratetype::Reclaimable]
        .into_iter()
        .find(|&kind| letters.has(kind))
}
