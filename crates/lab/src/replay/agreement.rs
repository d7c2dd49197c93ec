//! The agreement between the answers of a replay and of the machine, allocation by allocation.

use std::fmt;

use freehold::{Memory, Migratetype, Order, Pfn};
use freehold_measure::{Cell, Table, grouped};
use serde::Serialize;

use super::watch::ReplayPlatform;

/// The number of parts of a trace in which agreement is counted.
pub const PARTS: usize = 10;

/// The agreement between the answers of a replay and of the machine, allocation by allocation.
///
/// After the first difference the replay continues with its own placement. It is not corrected, so that later answers
/// include the consequences of earlier differences.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Agreement {
    /// The counts in each tenth of the trace's events.
    pub parts: [Agreed; PARTS],
    /// The first allocation whose frame differs.
    pub first_difference: Option<Parting>,
}

/// The number of allocations with the same answer as on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Agreed {
    /// Successful allocations of the machine.
    pub allocs: u64,
    /// Allocations with the same frame.
    pub frame: u64,
    /// Allocations with a frame in the same pageblock.
    pub pageblock: u64,
    /// Allocations in a pageblock of the same type, by the types of the replay at that moment.
    pub migratetype: u64,
}

/// The first allocation with another frame in the replay than on the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Parting {
    /// The number of allocations and frees before it.
    pub after: u64,
    /// Its time, in nanoseconds on the trace's clock.
    pub time_ns: u64,
    /// The CPU of the request.
    pub cpu: u16,
    /// The task of the request.
    pub pid: i32,
    /// The order of the request.
    pub order: u8,
    /// The number of the requested migratetype.
    pub migratetype: u8,
    /// The frame on the machine.
    pub machine_pfn: u64,
    /// The frame in the replay; `None` if the request failed.
    pub replay_pfn: Option<u64>,
    /// The state of the machine's frame in the replay, after the allocation.
    pub machine_frame: String,
}

/// The answers of machine and replay to one allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) machine: Pfn,
    pub(super) replay: Option<Pfn>,
}

impl Agreed {
    /// Returns the share of a count.
    ///
    /// Units: percent.
    pub fn percent(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.allocs.max(1) as f64
    }

    fn add(&mut self, other: &Self) {
        self.allocs += other.allocs;
        self.frame += other.frame;
        self.pageblock += other.pageblock;
        self.migratetype += other.migratetype;
    }
}

impl Agreement {
    /// Counts an answer in a part of the trace. `type_of` returns the type of a frame's pageblock. Returns true if the
    /// answer is the first different one.
    #[inline]
    pub(super) fn note(
        &mut self,
        part: usize,
        answer: Answer,
        pageblock_order: Order,
        type_of: impl Fn(Pfn) -> Option<Migratetype>,
    ) -> bool {
        let agreed = &mut self.parts[part.min(PARTS - 1)];
        agreed.allocs += 1;
        let Answer { machine, replay } = answer;
        if replay == Some(machine) {
            agreed.frame += 1;
            agreed.pageblock += 1;
            agreed.migratetype += 1;
            return false;
        }
        if let Some(replay) = replay {
            let block = |pfn: Pfn| pfn.0 >> pageblock_order.get();
            agreed.pageblock += u64::from(block(machine) == block(replay));
            agreed.migratetype += u64::from(type_of(machine) == type_of(replay));
        }
        self.first_difference.is_none()
    }

    /// Returns the counts over the whole trace.
    pub fn total(&self) -> Agreed {
        let mut total = Agreed::default();
        self.parts.iter().for_each(|part| total.add(part));
        total
    }

    /// Returns the table of shares over the trace.
    pub fn table(&self) -> Table {
        let columns = ["allocations", "own frame %", "own pageblock %", "pageblock of own type %"];
        let mut table = Table::new(
            "Allocations with the machine's own answer; after the first difference the replay uses its own placement",
            columns.map(str::to_owned).to_vec(),
        );
        let row = |agreed: &Agreed| {
            let real = |count| Cell::Real(agreed.percent(count));
            vec![
                Cell::Count(agreed.allocs),
                real(agreed.frame),
                real(agreed.pageblock),
                real(agreed.migratetype),
            ]
        };
        for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| part.allocs > 0) {
            table.push("", &format!("tenth {}", number + 1), "", row(part));
        }
        table.push("", "all", "", row(&self.total()));
        table
    }
}

impl fmt::Display for Agreement {
    /// Writes one line: the first difference, and the shares over the whole trace.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        match &self.first_difference {
            None => {
                write!(f, "every one of {} allocations got the machine's own frame", grouped(total.allocs))
            }
            Some(parting) => write!(
                f,
                "{parting}; {:.1} % of {} allocations got the machine's own frame, {:.1} % its pageblock, {:.1} % a \
                 pageblock of its type",
                total.percent(total.frame),
                grouped(total.allocs),
                total.percent(total.pageblock),
                total.percent(total.migratetype)
            ),
        }
    }
}

impl fmt::Display for Parting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = Migratetype::new(self.migratetype).unwrap_or(Migratetype::Movable);
        write!(
            f,
            "the machine's own frames for the first {} allocations and frees, then at {} ns on CPU {} an order-{} {kind} \
             request got frame {} on the machine (in the replay {}) and ",
            grouped(self.after),
            self.time_ns,
            self.cpu,
            self.order,
            self.machine_pfn,
            self.machine_frame
        )?;
        match self.replay_pfn {
            Some(pfn) => write!(f, "{pfn} in the replay"),
            None => write!(f, "none in the replay"),
        }
    }
}

/// Returns a description of a frame's place in a memory. Takes no zone lock, which would count as a hold of the replay.
pub(super) fn whereabouts(memory: &Memory<'_, ReplayPlatform>, pfn: Pfn) -> String {
    let Some(zone) = memory.zone_of(pfn) else { return "outside all zones".to_owned() };
    for order in Order::ZERO.up_to(zone.max_order()) {
        let has = |&(_, first): &(usize, Pfn)| first <= pfn && pfn.0 - first.0 < order.pages();
        for (kind, cpu) in
            Migratetype::ALL.into_iter().flat_map(|kind| (0..memory.cpus()).map(move |cpu| (kind, cpu)))
        {
            if let Some((place, _)) = zone.percpu_list(cpu, order, kind).enumerate().find(has) {
                return format!("block {place} of CPU {cpu}'s list of order {order}, {kind}");
            }
        }
    }
    let is_in_use = memory.allocated_block(pfn).is_some();
    if is_in_use { "in use" } else { "on no CPU's list" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_counts_shares_and_the_first_difference() {
        let order = Order::new(3).expect("an order");
        let mut agreement = Agreement::default();
        let type_of = |pfn: Pfn| Some(if pfn.0 < 16 { Migratetype::Movable } else { Migratetype::Unmovable });
        let mut note = |part, machine, replay: Option<u64>| {
            let answer = Answer { machine: Pfn(machine), replay: replay.map(Pfn) };
            agreement.note(part, answer, order, type_of)
        };
        assert!(!note(0, 1, Some(1)));
        assert!(note(0, 1, Some(2)), "another frame of the pageblock");
        assert!(note(9, 1, Some(9)) && note(99, 1, Some(20)) && note(9, 1, None));
        let first = Agreed { allocs: 2, frame: 1, pageblock: 2, migratetype: 2 };
        let last = Agreed { allocs: 3, frame: 0, pageblock: 0, migratetype: 1 };
        assert_eq!((agreement.parts[0], agreement.parts[9]), (first, last));
        agreement.first_difference = Some(Parting { after: 1, ..Parting::default() });
        assert!(agreement.to_string().contains("20.0 % of 5 allocations"), "{agreement}");
        assert_eq!(agreement.table().rows.len(), 3);
    }
}
