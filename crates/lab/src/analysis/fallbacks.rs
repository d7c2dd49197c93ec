//! Fallbacks: requests that were served from free blocks of another type.

use std::collections::BTreeMap;

use freehold::{Migratetype, Order};
use freehold_measure::{Cell, Table};
use freehold_trace::{Event, EventKind};
use serde::Serialize;

/// The most tasks that are counted one by one.
const MOST_TASKS: usize = 1 << 16;

/// The most tasks that a text names.
const NAMED_TASKS: usize = 10;

/// Fallbacks of one type of request, one type of block and one pair of orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Fallback {
    /// The requested type.
    pub migratetype: &'static str,
    /// The type of the block's list.
    pub from: &'static str,
    /// The requested order.
    pub order: u8,
    /// The order of the block.
    pub from_order: u8,
    /// Fallbacks that changed the type of the whole pageblock.
    pub claimed: u64,
    /// Fallbacks that took the block alone.
    pub stolen: u64,
}

/// Fallbacks of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct FallbackTask {
    /// The task; 0 is the idle task, or unknown.
    pub pid: i32,
    /// Its fallbacks.
    pub fallbacks: u64,
}

/// The fallbacks of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Fallbacks {
    /// By types and orders, most frequent pair of types first.
    pub rows: Vec<Fallback>,
    /// By task, most frequent first.
    pub tasks: Vec<FallbackTask>,
    /// Fallbacks of tasks that are not in `tasks`, of which there are too many.
    pub other_tasks: u64,
}

/// Claimed and stolen blocks by requested type, type of the list, requested order and order of the block.
type Kinds = BTreeMap<(Migratetype, Migratetype, Order, Order), [u64; 2]>;

/// Counts the fallbacks among events.
#[derive(Clone, Debug, Default)]
pub struct FallbackCounter {
    kinds: Kinds,
    tasks: BTreeMap<i32, u64>,
    other_tasks: u64,
}

impl FallbackCounter {
    /// Counts an event, if it is a fallback.
    pub fn add(&mut self, event: &Event) {
        let EventKind::ExtFrag {
            order,
            fallback_order,
            migratetype,
            fallback_migratetype,
            change_ownership,
            ..
        } = event.kind
        else {
            return;
        };
        let kind = self.kinds.entry((migratetype, fallback_migratetype, order, fallback_order)).or_default();
        kind[usize::from(!change_ownership)] += 1;
        if self.tasks.len() < MOST_TASKS || self.tasks.contains_key(&event.pid) {
            *self.tasks.entry(event.pid).or_default() += 1;
        } else {
            self.other_tasks += 1;
        }
    }

    /// Returns what was counted.
    pub fn finish(self) -> Fallbacks {
        let mut totals: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for ((migratetype, from, ..), [claimed, stolen]) in &self.kinds {
            *totals.entry((migratetype.name(), from.name())).or_default() += claimed + stolen;
        }
        let rows =
            self.kinds.into_iter().map(|((migratetype, from, order, from_order), [claimed, stolen])| {
                let (migratetype, from) = (migratetype.name(), from.name());
                Fallback {
                    migratetype,
                    from,
                    order: order.get(),
                    from_order: from_order.get(),
                    claimed,
                    stolen,
                }
            });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| std::cmp::Reverse(totals[&(row.migratetype, row.from)]));
        let tasks = self.tasks.into_iter().map(|(pid, fallbacks)| FallbackTask { pid, fallbacks });
        let mut tasks: Vec<_> = tasks.collect();
        tasks.sort_by_key(|task| std::cmp::Reverse(task.fallbacks));
        Fallbacks { rows, tasks, other_tasks: self.other_tasks }
    }
}

impl Fallbacks {
    /// Returns the number of fallbacks.
    pub fn total(&self) -> u64 {
        self.rows.iter().map(|row| row.claimed + row.stolen).sum()
    }

    /// Returns the fallbacks as text: a sentence, then a line for each pair of types and for tasks.
    pub fn text(&self) -> String {
        let pairs = self.pairs();
        let summary: Vec<_> = pairs.iter().map(|rows| pair_words(rows)).collect();
        let s = if self.total() == 1 { "" } else { "s" };
        let mut lines = vec![match summary.as_slice() {
            [] => "0 fallbacks: no request was served from a block of another type.".to_owned(),
            summary => format!("{} fallback{s}: {}.", self.total(), summary.join("; ")),
        }];
        let of_pair = |rows: &&[Fallback]| {
            let orders: Vec<_> = rows.iter().flat_map(order_words).collect();
            format!("  {} from {}: {}", rows[0].migratetype, rows[0].from, orders.join(", "))
        };
        lines.extend(pairs.iter().map(of_pair));
        if !self.tasks.is_empty() {
            lines.push(format!("  by task: {}", self.tasks_words()));
        }
        lines.join("\n")
    }

    fn pairs(&self) -> Vec<&[Fallback]> {
        self.rows.chunk_by(|a, b| (a.migratetype, a.from) == (b.migratetype, b.from)).collect()
    }

    fn tasks_words(&self) -> String {
        let named = self.tasks.iter().take(NAMED_TASKS);
        let mut words: Vec<_> = named
            .map(|task| match task.pid {
                0 => format!("{} idle or unknown", task.fallbacks),
                pid => format!("{} of pid {pid}", task.fallbacks),
            })
            .collect();
        let others: u64 = self.tasks.iter().skip(NAMED_TASKS).map(|task| task.fallbacks).sum();
        if others + self.other_tasks > 0 {
            words.push(format!("{} of other tasks", others + self.other_tasks));
        }
        words.join(", ")
    }

    /// Returns the table by types and orders, and the one by task.
    pub(super) fn tables(&self) -> [Table; 2] {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let mut kinds = Table::new("Fallbacks", names(&["claimed", "stolen"]));
        for row in &self.rows {
            let group = format!("{} from {}", row.migratetype, row.from);
            let name = format!("order {} from order {}", row.order, row.from_order);
            kinds.push(&group, &name, "", vec![Cell::Count(row.claimed), Cell::Count(row.stolen)]);
        }
        let mut tasks = Table::new("Fallbacks by task", names(&["fallbacks"]));
        for task in self.tasks.iter().take(NAMED_TASKS) {
            tasks.push("", &format!("pid {}", task.pid), "", vec![Cell::Count(task.fallbacks)]);
        }
        [kinds, tasks]
    }
}

/// Returns `Unmovable from Movable 2 (1 claimed, 1 stolen)`.
fn pair_words(rows: &[Fallback]) -> String {
    let claimed: u64 = rows.iter().map(|row| row.claimed).sum();
    let stolen: u64 = rows.iter().map(|row| row.stolen).sum();
    let (kind, from) = (rows[0].migratetype, rows[0].from);
    format!("{kind} from {from} {} ({claimed} claimed, {stolen} stolen)", claimed + stolen)
}

/// Returns `1 claimed at order 10 for order 0`.
fn order_words(row: &Fallback) -> Vec<String> {
    let of = |blocks: u64, how: &str| {
        (blocks > 0).then(|| format!("{blocks} {how} at order {} for order {}", row.from_order, row.order))
    };
    [of(row.claimed, "claimed"), of(row.stolen, "stolen")].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use freehold::Pfn;

    use super::*;

    fn event(pid: i32, types: (Migratetype, Migratetype), orders: (u8, u8), change_ownership: bool) -> Event {
        let order = |order| Order::new(order).unwrap();
        let kind = EventKind::ExtFrag {
            pfn: Pfn(0),
            order: order(orders.0),
            fallback_order: order(orders.1),
            migratetype: types.0,
            fallback_migratetype: types.1,
            change_ownership,
        };
        Event { time_ns: 1, cpu: 0, pid, kind }
    }

    #[test]
    fn fallbacks_are_counted_by_types_orders_and_tasks() {
        let (unmovable, movable) = (Migratetype::Unmovable, Migratetype::Movable);
        let mut counter = FallbackCounter::default();
        counter.add(&event(99, (Migratetype::Reclaimable, movable), (2, 5), false));
        counter.add(&event(0, (unmovable, movable), (0, 10), true));
        counter.add(&event(99, (unmovable, movable), (0, 3), false));
        let text = counter.finish().text();
        let expected = "3 fallbacks: Unmovable from Movable 2 (1 claimed, 1 stolen); Reclaimable from Movable 1 (0 claimed, 1 \
                        stolen).\n  Unmovable from Movable: 1 stolen at order 3 for order 0, 1 claimed at order 10 for order \
                        0\n  Reclaimable from Movable: 1 stolen at order 5 for order 2\n  by task: 2 of pid 99, 1 idle or \
                        unknown";
        assert_eq!(text, expected);
        assert!(FallbackCounter::default().finish().text().starts_with("0 fallbacks"));
    }
}
