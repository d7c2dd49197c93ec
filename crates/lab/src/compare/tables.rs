//! The tables of a comparison.

use freehold::{FreeCounts, MAX_ORDERS, Migratetype, Order};
use freehold_measure::{Cell, Table};
use freehold_trace::{FreeCount, PageTypeInfo};

use super::attributed::{Attributed, AttributionInput};
use super::distance::EndDistance;
use super::hindsight::Hindsight;
use super::measured_row::MACHINE;
use crate::recorded::Recorded;
use crate::replay::{Measures, ZoneSample};
use crate::start::{RecordedMachine, free_pageblocks, target_of};

/// One row of the overview: its name and the functions for its values.
struct Measure {
    group: &'static str,
    name: &'static str,
    unit: &'static str,
    of: fn(&Measures) -> Cell,
    machine: fn(&Recorded) -> Cell,
}

const fn measure(
    group: &'static str,
    name: &'static str,
    unit: &'static str,
    of: fn(&Measures) -> Cell,
) -> Measure {
    Measure { group, name, unit, of, machine: |_| Cell::Empty }
}

const fn recorded(mut measure: Measure, machine: fn(&Recorded) -> Cell) -> Measure {
    measure.machine = machine;
    measure
}

fn if_recorded(recorded: &Recorded, value: u64) -> Cell {
    if recorded.has_fallbacks { Cell::Count(value) } else { Cell::Empty }
}

fn optional(value: Option<u64>) -> Cell {
    value.map_or(Cell::Empty, Cell::Count)
}

const FALLBACK: &str = "fallback";
const LOCK: &str = "zone lock";
const LISTS: &str = "per-CPU lists";
const BLOCKS: &str = "pageblocks";
const READER: &str = "pagetypeinfo";
const THP: &str = "THP";
const COMPACTION: &str = "compaction";
const RECLAIM: &str = "reclaim";
const TRACE: &str = "trace";
const REPLAY: &str = "replay";

/// The rows of the overview, except rows by order, by zone, and of the difference from the machine.
#[rustfmt::skip]
static MEASURES: [Measure; 63] = [
    measure(FALLBACK, "fallback searches", "", |m| Cell::Count(m.locked.fallback_searches)),
    measure(FALLBACK, "claim attempts", "", |m| Cell::Count(m.locked.claim_attempts)),
    recorded(measure(FALLBACK, "claims", "", |m| Cell::Count(m.locked.claims)), |r| if_recorded(r, r.claims)),
    recorded(measure(FALLBACK, "steals", "", |m| Cell::Count(m.locked.steals)), |r| if_recorded(r, r.steals)),
    measure(FALLBACK, "requests answered from another type's block", "", |m| Cell::Count(m.type_mismatches)),
    measure(FALLBACK, "requests answered from CMA", "", |m| Cell::Count(m.locked.cma_fallbacks)),
    measure(BLOCKS, "blocks put on another type's list", "", |m| Cell::Count(m.locked.hygiene_violations)),
    measure(BLOCKS, "retyped without a request", "", |m| Cell::Count(m.locked.retyped)),
    measure(BLOCKS, "free pageblocks at the end", "", |m| Cell::Count(m.free_pageblocks_at_end)),
    measure(BLOCKS, "mixed pageblocks at the start", "", |m| Cell::Count(m.mixed.start)),
    measure(BLOCKS, "mixed pageblocks at the end", "", |m| Cell::Count(m.mixed.end)),
    measure(BLOCKS, "mixed pageblocks, most", "", |m| Cell::Count(m.mixed.max)),
    measure(LOCK, "holds", "", |m| Cell::Count(m.locked.lock_holds)),
    measure(LOCK, "longest hold, touched", "pages", |m| Cell::Count(m.locked.longest_hold_touched)),
    measure(LOCK, "longest hold", "ns", |m| Cell::Count(m.timing.longest_hold_ns)),
    recorded(measure(LISTS, "refills", "", |m| Cell::Count(m.locked.refills)), |r| optional(r.refills)),
    recorded(measure(LISTS, "blocks refilled", "", |m| Cell::Count(m.locked.refilled_blocks)), |r| optional(r.refilled_blocks)),
    measure(LISTS, "drains", "", |m| Cell::Count(m.locked.drains)),
    recorded(measure(LISTS, "pages drained", "pages", |m| Cell::Count(m.locked.drained_pages)), |r| optional(r.drained_pages)),
    measure(LISTS, "largest drain", "pages", |m| Cell::Count(m.locked.largest_drain)),
    measure(LISTS, "highest high", "pages", |m| Cell::Count(m.highest_high.into())),
    recorded(measure(LISTS, "pages on the lists at the end", "pages", |m| Cell::Count(m.percpu_pages_at_end)), |r| optional(r.percpu_pages_at_end)),
    measure(READER, "list nodes visited at the end", "", |m| Cell::Count(m.nodes.end)),
    measure(READER, "list nodes visited, most", "", |m| Cell::Count(m.nodes.max)),
    measure("watermarks", "requests below the low mark", "", |m| Cell::Count(m.slow_paths)),
    measure("watermarks", "of these, below the min mark", "", |m| Cell::Count(m.followed.waits)),
    measure("watermarks", "boosts", "", |m| Cell::Count(m.locked.boosts)),
    measure("watermarks", "kswapd wakes for a boost", "", |m| Cell::Count(m.kswapd_wakes)),
    recorded(measure(THP, "huge pages allocated", "", |m| Cell::Count(m.followed.huge_pages)), |r| optional(r.events.thp_fault_alloc)),
    recorded(measure(THP, "huge pages refused", "", |m| Cell::Count(m.followed.huge_page_failures)), |r| optional(r.events.thp_fault_fallback)),
    measure(THP, "huge pages in use at the end", "", |m| Cell::Count(m.followed.huge_pages_in_use_at_end)),
    recorded(measure(COMPACTION, "direct compaction stalls", "", |m| Cell::Count(m.events.compact_stall)), |r| optional(r.events.compact_stall)),
    recorded(measure(COMPACTION, "direct compaction successes", "", |m| Cell::Count(m.events.compact_success)), |r| optional(r.events.compact_success)),
    recorded(measure(COMPACTION, "direct compaction failures", "", |m| Cell::Count(m.events.compact_fail)), |r| optional(r.events.compact_fail)),
    recorded(measure(COMPACTION, "scanned for pages to move, daemon", "pages", |m| Cell::Count(m.events.compact_daemon_migrate_scanned)), |r| optional(r.events.compact_daemon_migrate_scanned)),
    recorded(measure(COMPACTION, "scanned for free pages, daemon", "pages", |m| Cell::Count(m.events.compact_daemon_free_scanned)), |r| optional(r.events.compact_daemon_free_scanned)),
    recorded(measure(COMPACTION, "scanned for pages to move, direct", "pages", |m| Cell::Count(m.events.compact_migrate_scanned - m.events.compact_daemon_migrate_scanned)), |r| optional(r.events.direct_migrate_scanned())),
    recorded(measure(COMPACTION, "scanned for free pages, direct", "pages", |m| Cell::Count(m.events.compact_free_scanned - m.events.compact_daemon_free_scanned)), |r| optional(r.events.direct_free_scanned())),
    recorded(measure(COMPACTION, "pages moved", "pages", |m| Cell::Count(m.events.pgmigrate_success)), |r| optional(r.events.pgmigrate_success)),
    recorded(measure(RECLAIM, "direct reclaim stalls", "", |m| Cell::Count(m.events.allocstall)), |r| optional(r.events.allocstall)),
    recorded(measure(RECLAIM, "pages scanned by kswapd", "pages", |_| Cell::Empty), |r| optional(r.events.pgscan_kswapd)),
    recorded(measure(RECLAIM, "pages reclaimed by kswapd", "pages", |_| Cell::Empty), |r| optional(r.events.pgsteal_kswapd)),
    measure(RECLAIM, "pages that boosts request from kswapd", "pages", |m| Cell::Count(m.followed.left_to_trace)),
    recorded(measure(RECLAIM, "pages scanned directly", "pages", |m| Cell::Count(m.events.pgscan_direct)), |r| optional(r.events.pgscan_direct)),
    recorded(measure(RECLAIM, "pages reclaimed directly", "pages", |m| Cell::Count(m.events.pgsteal_direct)), |r| optional(r.events.pgsteal_direct)),
    recorded(measure(RECLAIM, "pages swapped out", "pages", |_| Cell::Empty), |r| optional(r.events.pswpout)),
    recorded(measure(RECLAIM, "pages swapped in", "pages", |_| Cell::Empty), |r| optional(r.events.pswpin)),
    recorded(measure(RECLAIM, "refaults of page cache", "pages", |_| Cell::Empty), |r| optional(r.events.workingset_refault_file)),
    measure(TRACE, "allocations", "", |m| Cell::Count(m.followed.allocs)),
    measure(TRACE, "frees", "", |m| Cell::Count(m.followed.frees)),
    measure(TRACE, "frees of blocks without an allocation", "", |m| Cell::Count(m.followed.unknown_frees)),
    measure(TRACE, "blocks moved by compaction", "", |m| Cell::Count(m.followed.moved_by_compaction)),
    measure(TRACE, "of these, freed at their new place", "", |m| Cell::Count(m.followed.moved_then_freed)),
    measure(TRACE, "free blocks that compaction gave back", "", |m| Cell::Count(m.followed.returned_by_compaction)),
    measure(TRACE, "double allocations", "", |m| Cell::Count(m.followed.double_allocs)),
    measure(TRACE, "blocks split by a partial free", "", |m| Cell::Count(m.followed.splits)),
    measure(TRACE, "frees of several blocks at once", "", |m| Cell::Count(m.followed.regrouped_frees)),
    measure(TRACE, "frees skipped: allocation failed", "", |m| Cell::Count(m.followed.skipped_frees)),
    measure(TRACE, "misaligned events", "", |m| Cell::Count(m.followed.misplaced)),
    measure(TRACE, "lost events", "", |m| Cell::Count(m.followed.lost_events)),
    measure(TRACE, "blocks in use at the end", "", |m| Cell::Count(m.followed.in_use_at_end)),
    measure(REPLAY, "speed", "million events/s", |m| Cell::Real(m.timing.events_per_second / 1e6)),
    measure(REPLAY, "metadata", "bytes/page", |m| Cell::Real(m.metadata_bytes_per_page)),
];

/// The input of the tables of replays.
#[derive(Clone, Copy)]
pub(super) struct Shown<'c> {
    pub(super) machine: &'c RecordedMachine,
    /// The free blocks of the machine at the end.
    pub(super) end: Option<&'c PageTypeInfo>,
    /// The replays, one column for each.
    pub(super) eras: &'c [Measures],
    pub(super) recorded: &'c Recorded,
    pub(super) distance: Option<&'c EndDistance>,
}

/// Adds the failures and every measure of variants, except measures of the trace and of the replay itself.
fn add_rows(table: &mut Table, variants: &[&Measures]) {
    let failed = variants.iter().map(|m| Cell::Count(m.failed())).collect();
    table.push("failures", "all orders", "", failed);
    for measure in MEASURES.iter().filter(|measure| ![TRACE, REPLAY].contains(&measure.group)) {
        let cells = variants.iter().map(|m| (measure.of)(m)).collect();
        table.push(measure.group, measure.name, measure.unit, cells);
    }
}

/// Removes rows without a number other than 0 and, unless `times` is set, rows of times.
pub(super) fn leave_out(table: &mut Table, times: bool) {
    let is_nothing = |cell: &Cell| matches!(cell, Cell::Empty | Cell::Count(0) | Cell::Signed(0));
    table.rows.retain(|row| !row.cells.iter().all(is_nothing) && (times || row.unit != "ns"));
}

impl Shown<'_> {
    fn columns(&self) -> Vec<String> {
        self.eras.iter().map(|measures| measures.variant.clone()).chain([MACHINE.to_owned()]).collect()
    }

    fn row(&self, of: impl Fn(&Measures) -> Cell, machine: Cell) -> Vec<Cell> {
        self.eras.iter().map(of).chain([machine]).collect()
    }

    /// Returns a table with a column for each era and one for the machine, and a row for each measure.
    pub(super) fn overview(&self) -> Table {
        let mut table = Table::new("Eras", self.columns());
        let (eras, recorded) = (self.eras, self.recorded);
        let failed = recorded.failures.iter().sum();
        table.push("failures", "all orders", "", self.row(|m| Cell::Count(m.failed()), Cell::Count(failed)));
        for order in 0..MAX_ORDERS {
            let of = |m: &Measures| m.followed.failures.of(order);
            if recorded.failures.of(order) > 0 || eras.iter().any(|m| of(m) > 0) {
                let cells = self.row(|m| Cell::Count(of(m)), Cell::Count(recorded.failures.of(order)));
                table.push("failures", &format!("order {order}"), "", cells);
            }
        }
        for measure in &MEASURES {
            let cells = self.row(measure.of, (measure.machine)(recorded));
            if cells.iter().any(|&cell| cell != Cell::Empty) {
                table.push(measure.group, measure.name, measure.unit, cells);
            }
        }
        for zone in 0..self.machine.zones.len() {
            self.add_indices(&mut table, zone, self.machine.pageblock_order, "fragmentation");
        }
        if let Some(distance) = self.distance {
            let only = |value: Cell| {
                let of = |m: &Measures| if m.variant == distance.variant { value } else { Cell::Empty };
                self.row(of, Cell::Empty)
            };
            let group = "distance to the machine's end";
            table.push(group, "free blocks that differ", "", only(Cell::Count(distance.blocks())));
            table.push(group, "pages of these blocks", "pages", only(Cell::Count(distance.pages())));
            table.push(group, "of the machine's free pages", "%", only(Cell::Real(distance.percent())));
        }
        table
    }

    /// Returns a table with a column for each variant that differs from an era by one part.
    pub(super) fn systems(attributed: &[Attributed]) -> Table {
        let variants: Vec<_> =
            attributed.iter().flat_map(|part| [&part.alone].into_iter().chain(&part.taken_out)).collect();
        let columns = variants.iter().map(|measures| measures.variant.clone()).collect();
        let mut table = Table::new("Eras with one system or rule added or removed", columns);
        add_rows(&mut table, &variants);
        table
    }

    /// Returns a table of one part of an era: alone on the previous era, and its own era without the part.
    pub(super) fn attribution(attribution_input: &AttributionInput<'_>, part: &Attributed) -> Table {
        let step = &part.step;
        let era = attribution_input.eras.iter().find(|era| era.variant == step.after.name());
        let within = part.taken_out.as_ref().zip(era);
        let named = [(part.against.clone(), attribution_input.measures(&part.against))];
        let named = named.into_iter().chain([("with it".to_owned(), Some(&part.alone))]);
        let named = named.chain(within.into_iter().flat_map(|(without, with)| {
            let name = step.after.name();
            [(format!("{name} without it"), Some(without)), (name.to_owned(), Some(with))]
        }));
        let (columns, variants): (Vec<_>, Vec<_>) =
            named.filter_map(|(name, measures)| Some((name, measures?))).unzip();
        let title = format!("{}: {}, {}", step.part, step.after.name(), step.fields.join(", "));
        let mut table = Table::new(title, columns);
        add_rows(&mut table, &variants);
        table.rows.retain(|row| row.cells.chunks(2).any(|pair| pair.first() != pair.last()));
        table
    }

    /// Returns the free and mixed pageblocks, next to the upper bound.
    pub(super) fn placement(&self, hindsight: &Hindsight) -> Table {
        let columns = self.columns().into_iter().chain(["best possible".to_owned()]).collect();
        let mut table = Table::new("Placement, compared with the best possible", columns);
        let order = self.machine.pageblock_order;
        let machine = self.end.map(|end| free_pageblocks(self.machine, end));
        let at_end = |m: &Measures| m.free_pageblocks_at_end;
        let mut push = |name: &str, unit: &str, of: &dyn Fn(&Measures) -> Cell, machine: Cell, best: Cell| {
            let cells = self.row(of, machine).into_iter().chain([best]).collect();
            table.push("placement", name, unit, cells);
        };
        let free = format!("free in blocks of order {order} and above");
        let count = |blocks| Cell::Count(blocks);
        let best = hindsight.end.free_pageblocks;
        push(&format!("{free}, end"), "pageblocks", &|m| count(at_end(m)), optional(machine), count(best));
        // An era that moves pages is compared with the bound for the same number of moves.
        let moved = |m: &Measures| m.events.pgmigrate_success;
        let with_moves = |pages: u64| hindsight.end_with_moves(pages).free_pageblocks;
        let own_moves = self.recorded.events.pgmigrate_success;
        let own_best = own_moves.map_or(Cell::Empty, |pages| count(with_moves(pages)));
        push(
            "best possible with as many pages moved",
            "pageblocks",
            &|m| count(with_moves(moved(m))),
            own_best,
            count(best),
        );
        let percent = |blocks: u64, best: u64| Cell::Real(blocks as f64 * 100.0 / best.max(1) as f64);
        let of_best =
            machine.zip(own_moves).map_or(Cell::Empty, |(free, pages)| percent(free, with_moves(pages)));
        push(
            "free at the end, share of the best with as many moved",
            "%",
            &|m| percent(at_end(m), with_moves(moved(m))),
            of_best,
            percent(best, best),
        );
        let mean = |m: &Measures| Cell::Real(m.mean_free_pageblocks(order));
        let best = Cell::Real(hindsight.mean_free_pageblocks);
        push(&format!("{free}, mean"), "pageblocks", &mean, Cell::Empty, best);
        let mixed = Cell::Count(hindsight.end.mixed_pageblocks);
        push("mixed pageblocks, end", "pageblocks", &|m| count(m.mixed.end), Cell::Empty, mixed);
        table
    }

    /// Returns the free blocks at the end by zone, type and order.
    pub(super) fn free_blocks(&self) -> Table {
        let mut table = Table::new("Free blocks at the end", self.columns());
        for zone in 0..self.machine.zones.len() {
            let machine = self.end.and_then(|end| target_of(self.machine, zone, end));
            for kind in Migratetype::ALL {
                let group = format!("{} {kind}", self.machine.zone_name(zone));
                for order in 0..MAX_ORDERS {
                    let of = |m: &Measures| {
                        m.free_at_end.get(zone).map_or(0, |free| free.blocks.of(order)[kind.index()])
                    };
                    let there = machine.map(|machine| machine.free[kind.index()].of(order).blocks);
                    if there.unwrap_or(0) > 0 || self.eras.iter().any(|m| of(m) > 0) {
                        let cells = self.row(|m| Cell::Count(of(m)), optional(there));
                        table.push(&group, &format!("order {order}"), "blocks", cells);
                    }
                }
            }
        }
        table
    }

    /// Returns `unusable_index` and `extfrag_index` by zone and order.
    pub(super) fn fragmentation(&self) -> Table {
        let mut table = Table::new("Fragmentation (as Linux prints it in debugfs)", self.columns());
        for zone in 0..self.machine.zones.len() {
            let name = self.machine.zone_name(zone);
            for order in Order::ZERO.up_to(self.machine.max_order) {
                self.add_indices(&mut table, zone, order, &name);
            }
        }
        table
    }

    /// Adds the rows of both indices for one zone and order.
    fn add_indices(&self, table: &mut Table, zone: usize, order: Order, group: &str) {
        let rank = self.machine.engine_rank(zone);
        let counts = self.end.and_then(|end| target_of(self.machine, zone, end)).map(|machine| {
            let of = |orders: &[FreeCount], order: usize| {
                orders.get(order).map_or(0, |count| count.blocks.min(1 << 32))
            };
            let blocks = |order: usize| machine.free.iter().map(move |orders| of(orders, order));
            let total = std::array::from_fn(|order| blocks(order).sum());
            let mut counts = FreeCounts::default();
            counts.total = total;
            counts
        });
        let thousandths = |value: i64| Cell::Real(value as f64 / 1000.0);
        let name = self.machine.zone_name(zone);
        let mut add = |index: &str, of: fn(&ZoneSample, Order) -> i64, machine: Option<i64>| {
            let series = |m: &Measures| -> Vec<i64> {
                m.samples.iter().filter_map(|sample| Some(of(sample.zones.get(rank)?, order))).collect()
            };
            let mean = |m: &Measures| {
                let values = series(m);
                Cell::Real(values.iter().sum::<i64>() as f64 / 1000.0 / values.len().max(1) as f64)
            };
            let last = |m: &Measures| series(m).last().map_or(Cell::Empty, |&value| thousandths(value));
            let label = format!("{index}, {name}, order {order}");
            table.push(group, &format!("{label}, mean"), "", self.row(mean, Cell::Empty));
            let machine = machine.map_or(Cell::Empty, thousandths);
            table.push(group, &format!("{label}, end"), "", self.row(last, machine));
        };
        let unusable = counts.map(|counts| counts.unusable_index(order) as i64);
        add("unusable_index", |sample, order| sample.unusable_index[order.index()] as i64, unusable);
        let extfrag = counts.map(|counts| counts.extfrag_index(order));
        add("extfrag_index", |sample, order| sample.extfrag_index[order.index()], extfrag);
    }
}
