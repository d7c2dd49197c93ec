//! The difference between the free lists of a replay and of the machine at the end.

use freehold::{MIGRATETYPES, Migratetype};
use freehold_measure::{Cell, Table};
use freehold_trace::{PageTypeInfo, PageTypeZone};
use serde::Serialize;

use crate::counts::CountsByOrder;
use crate::replay::{Measures, Variant, ZoneFree};
use crate::start::{RecordedMachine, target_of};

/// The difference at the end between the free lists of a replay and `/proc/pagetypeinfo` of the machine.
///
/// Both exclude the pages on per-CPU lists.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct EndDistance {
    /// The replayed era and switches.
    pub variant: String,
    /// One entry for each zone in the machine's pagetypeinfo at the end.
    pub zones: Vec<ZoneDistance>,
}

/// The difference in one zone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneDistance {
    /// The name of the zone.
    pub zone: String,
    /// Free blocks in the replay, by migratetype and order.
    pub replay: [CountsByOrder; MIGRATETYPES],
    /// Free blocks on the machine, by migratetype and order. They are lower bounds where the kernel stopped
    /// counting.
    pub machine: [CountsByOrder; MIGRATETYPES],
    /// Free blocks that differ, by migratetype and order.
    pub difference: [CountsByOrder; MIGRATETYPES],
}

impl ZoneDistance {
    fn new(free: &ZoneFree, machine: &PageTypeZone) -> Self {
        let largest = free.blocks.largest();
        let none = || [CountsByOrder::new(largest); MIGRATETYPES];
        let mut distance =
            Self { zone: free.zone.clone(), replay: none(), machine: none(), difference: none() };
        for kind in 0..MIGRATETYPES {
            for order in 0..=largest.index() {
                let (replay, count) = (free.blocks[order][kind], machine.free[kind].of(order));
                distance.replay[kind][order] = replay;
                distance.machine[kind][order] = count.blocks;
                let enough = count.capped && replay >= count.blocks;
                distance.difference[kind][order] = if enough { 0 } else { replay.abs_diff(count.blocks) };
            }
        }
        distance
    }
}

fn pages(blocks: &[CountsByOrder; MIGRATETYPES]) -> u64 {
    let by_type = blocks.iter().map(|orders| {
        let pages = orders.iter().enumerate().map(|(order, blocks)| blocks.saturating_mul(1 << order));
        pages.fold(0, u64::saturating_add)
    });
    by_type.fold(0, u64::saturating_add)
}

impl EndDistance {
    /// Compares the end of a replay with that of the machine; `None` if they have no zone in common.
    pub fn new(
        machine: &RecordedMachine,
        variant: &Variant,
        measures: &Measures,
        end: &PageTypeInfo,
    ) -> Option<Self> {
        let zones = measures.free_at_end.iter().enumerate().filter_map(|(number, free)| {
            let target = target_of(machine, number, end)?;
            Some(ZoneDistance::new(free, target))
        });
        let zones: Vec<_> = zones.collect();
        (!zones.is_empty()).then(|| Self { variant: variant.to_string(), zones })
    }

    /// Returns the number of free blocks that differ, summed over zones, types and orders.
    pub fn blocks(&self) -> u64 {
        let all = self.zones.iter().flat_map(|zone| zone.difference.iter().flatten().copied());
        all.fold(0, u64::saturating_add)
    }

    /// Returns the number of pages of the free blocks that differ.
    pub fn pages(&self) -> u64 {
        self.zones.iter().map(|zone| pages(&zone.difference)).fold(0, u64::saturating_add)
    }

    /// Returns the pages of the free blocks that differ.
    ///
    /// Units: percent of the machine's free pages.
    pub fn percent(&self) -> f64 {
        let free = self.zones.iter().map(|zone| pages(&zone.machine)).fold(0, u64::saturating_add);
        100.0 * self.pages() as f64 / free.max(1) as f64
    }

    /// Returns a table with two rows for each zone and type with free blocks, and rows for the sums.
    pub fn table(&self) -> Table {
        let most =
            self.zones.iter().flat_map(|zone| &zone.replay).map(|orders| orders.len()).max().unwrap_or(0);
        let orders = (0..most).map(|order| format!("order {order}"));
        let title = format!("Free blocks at the end: {} and the machine's own pagetypeinfo", self.variant);
        let mut table = Table::new(title, orders.collect());
        for zone in &self.zones {
            for kind in Migratetype::ALL {
                let (replay, machine) = (&zone.replay[kind.index()], &zone.machine[kind.index()]);
                if replay.iter().chain(machine).all(|&blocks| blocks == 0) {
                    continue;
                }
                let cells = |blocks: &CountsByOrder| blocks.iter().map(|&n| Cell::Count(n)).collect();
                table.push(&zone.zone, &format!("{kind}, replay"), "blocks", cells(replay));
                table.push(&zone.zone, &format!("{kind}, machine"), "blocks", cells(machine));
            }
        }
        let sum = |order: usize, weight: u64| {
            let all = self.zones.iter().flat_map(|zone| &zone.difference).map(|orders| orders.of(order));
            Cell::Count(all.fold(0, u64::saturating_add).saturating_mul(weight))
        };
        let blocks = (0..most).map(|order| sum(order, 1)).collect();
        table.push("all zones", "difference", "blocks", blocks);
        let pages = (0..most).map(|order| sum(order, 1 << order)).collect();
        table.push("all zones", "difference", "pages", pages);
        table
    }
}
