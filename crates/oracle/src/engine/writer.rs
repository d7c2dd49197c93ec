//! Writes an engine's zone in the words of the oracle.

use freehold::{Memory, Migratetype, Order, Pfn, Platform, Zone};

use super::numbers::{
    BELOW_HIGH, BOOSTED, FLUSH_NEEDS_BATCH, Numbers, PREVIOUS_FREE_HIGH_ORDER, RECLAIM_ACTIVE, cpu_value,
    value,
};
use crate::transcript::Word;

/// Writes the state of an engine's zone in the words of the oracle.
pub(crate) struct Writer<'e, 'm, P: Platform> {
    pub(super) memory: &'e Memory<'m, P>,
    /// The numbers that the kernel recorded.
    pub(super) recorded: Numbers,
}

impl<'m, P: Platform> Writer<'_, 'm, P> {
    pub(super) fn zone(&self) -> &'m Zone<'m, P> {
        &self.memory.zones()[0]
    }

    /// Returns one number of the zone.
    pub(super) fn value(&self, field: u16) -> u64 {
        let zone = self.zone();
        let marks = zone.watermarks();
        let state = zone.state();
        match field {
            value::MARK_MIN => marks.min,
            value::MARK_LOW => marks.low,
            value::MARK_HIGH => marks.high,
            value::BOOST => state.watermark_boost,
            value::RESERVED_HIGHATOMIC => state.reserved_highatomic,
            // Kernels before 6.13 and 6.12-stable do not count these.
            value::FREE_HIGHATOMIC if !self.memory.switches().highatomic_by_free => 0,
            value::FREE_HIGHATOMIC => zone.free_highatomic_pages(),
            value::FREE => zone.free_pages(),
            value::FREE_CMA => zone.free_cma_pages(),
            value::FLAGS => {
                let flag = |set: bool, bit| if set { bit } else { 0 };
                flag(state.boosted, BOOSTED)
                    | flag(state.reclaim_active, RECLAIM_ACTIVE)
                    | flag(state.below_high, BELOW_HIGH)
            }
            value::ISOLATED => zone.isolated_pageblocks(),
            other => self.recorded.zone(other),
        }
    }

    /// Writes the numbers of one CPU's lists.
    pub(super) fn cpu_values(&self, cpu: u16, write: &mut impl FnMut(Word)) {
        let zone = self.zone();
        let state = zone.percpu_state(cpu).unwrap_or_default();
        let settings = zone.percpu_settings(cpu).unwrap_or_else(|| self.recorded.percpu_settings(cpu.into()));
        let flag = |set: bool, bit| if set { bit } else { 0 };
        let flags = flag(state.last_free_was_high_order, PREVIOUS_FREE_HIGH_ORDER)
            | flag(settings.flush_needs_batch, FLUSH_NEEDS_BATCH);
        let values = [
            (cpu_value::COUNT, zone.percpu_pages(cpu).into()),
            (cpu_value::HIGH, state.high.into()),
            (cpu_value::HIGH_MIN, settings.high_min.into()),
            (cpu_value::HIGH_MAX, settings.high_max.into()),
            (cpu_value::BATCH, settings.batch.into()),
            (cpu_value::FLAGS, flags),
            (cpu_value::ALLOC_FACTOR, state.alloc_factor.into()),
            (cpu_value::FREE_COUNT, state.free_count.into()),
            (cpu_value::FREE_FACTOR, state.free_factor.into()),
        ];
        for (field, value) in values {
            write(Word::CpuValue { cpu: cpu as u8, field, value });
        }
    }

    /// Writes all state that later results depend on.
    pub(crate) fn state(&self, write: &mut impl FnMut(Word)) {
        for field in value::STATE {
            write(Word::Value { field, value: self.value(field) });
        }
        let zone = self.zone();
        for cpu in 0..self.memory.cpus() {
            self.cpu_values(cpu, write);
            for order in Order::ZERO.up_to(Order::MAX_PAGE_ORDER) {
                for migratetype in Migratetype::ALL {
                    for (pfn, origin) in zone.percpu_blocks(cpu, order, migratetype) {
                        let origin = (!self.memory.switches().hygiene).then_some(origin);
                        write(Word::PerCpu { cpu: cpu as u8, order, migratetype, pfn, origin });
                    }
                }
            }
        }
        self.block_types(write);
        for order in Order::ZERO.up_to(Order::MAX_PAGE_ORDER) {
            for migratetype in Migratetype::ALL {
                for pfn in zone.free_list(order, migratetype) {
                    write(Word::Free { order, migratetype, pfn });
                }
            }
        }
        for (block, pfn) in self.blocks() {
            if let Some(kept) = zone.counted_use(pfn) {
                write(Word::Use { block, free: kept.free as u16, movable: kept.movable as u16 });
            }
        }
    }

    /// Returns the number of each pageblock, and its first frame in the zone.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u64, Pfn)> + use<'m, P> {
        let zone = self.zone();
        let order = zone.pageblock_order();
        let all = zone.start().0 >> order.get()..zone.end().0.div_ceil(order.pages());
        all.map(move |block| (block, Pfn((block << order.get()).max(zone.start().0))))
    }

    fn block_types(&self, write: &mut impl FnMut(Word)) {
        let mut previous = None;
        for (block, pfn) in self.blocks() {
            let migratetype = self.zone().block_type(pfn);
            if migratetype != previous
                && let Some(migratetype) = migratetype
            {
                write(Word::BlockType { migratetype, block });
            }
            previous = migratetype;
        }
    }
}
