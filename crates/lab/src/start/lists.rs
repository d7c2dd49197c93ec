//! The blocks on per-CPU lists at the start of a trace.

use freehold::{Memory, Migratetype, Order, PerCpuState, Pfn, Platform};
use freehold_trace::Snapshot;

use super::machine::RecordedMachine;
use crate::error::LabError;

/// The largest order with per-CPU lists, except that of a pageblock.
/// Linux counterpart: `PAGE_ALLOC_COSTLY_ORDER`.
const COSTLY_ORDER: u8 = 3;

/// A block on a per-CPU list at the start.
#[derive(Clone, Copy, Debug)]
struct Listed {
    zone: usize,
    cpu: u16,
    pfn: Pfn,
    order: Order,
    list: Migratetype,
}

/// A CPU's lists of one zone.
#[derive(Clone, Copy, Debug)]
struct Lists {
    zone: usize,
    cpu: u16,
    /// The limit above which the lists are drained; 0 if it was not recorded.
    high: u64,
    /// The number of pages on the lists that are still unknown.
    unnamed: u64,
}

/// The blocks on per-CPU lists at the start of a trace.
///
/// `/proc/zoneinfo` has the number of pages on the lists of each CPU; no file names the pages. A page that
/// `/proc/kpageflags` shows in use, and that is allocated without a free before, was on a list. It was on the list of
/// the CPU and type of the allocation, in front of pages that are allocated from that list later. If that list had
/// fewer pages, the page was on the list of another CPU, which was drained in between. Pages without an allocation in
/// the trace stay unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct StartLists {
    lists: Vec<Lists>,
    /// The known blocks; blocks of the same list are in the order of the list.
    blocks: Vec<Listed>,
    /// The order of a huge page, if the machine has per-CPU lists for huge pages.
    huge_order: Option<Order>,
}

impl StartLists {
    /// Returns the lists of a machine, without known blocks.
    pub(super) fn new(machine: &RecordedMachine, start: &Snapshot) -> Self {
        // Without a recorded occupancy, a page on a list looks like a free page.
        let zones = (0..machine.zones.len()).filter(|_| !start.occupancy.is_empty());
        let of_zone = |zone: usize| {
            let pagesets = &start.zones[machine.snapshot_index[zone]].pagesets;
            pagesets.iter().map(move |set| Lists {
                zone,
                cpu: set.cpu as u16,
                high: set.high,
                unnamed: set.count,
            })
        };
        let lists = zones.flat_map(of_zone).collect();
        Self { lists, blocks: Vec::new(), huge_order: machine.huge_order() }
    }

    /// Returns no lists, for a start whose lists were read from the machine.
    pub(super) fn known_elsewhere(machine: &RecordedMachine) -> Self {
        Self { huge_order: machine.huge_order(), ..Self::default() }
    }

    /// Adds a block that the snapshot shows in use and that a CPU allocates without a free before. Returns true if
    /// the list of that CPU still has unknown pages, so that the block was there.
    pub(super) fn take(
        &mut self,
        (zone, cpu): (usize, u16),
        (pfn, order): (Pfn, Order),
        list: Migratetype,
    ) -> bool {
        if !self.keeps(order, list) {
            return false;
        }
        let lists = self.lists.iter_mut().find(|lists| (lists.zone, lists.cpu) == (zone, cpu));
        let Some(lists) = lists.filter(|lists| lists.unnamed >= order.pages()) else { return false };
        lists.unnamed -= order.pages();
        self.blocks.push(Listed { zone, cpu, pfn, order, list });
        true
    }

    /// Adds a block to the list with the most unknown pages, behind all blocks of [`Self::take`]. Returns false if no
    /// list has enough unknown pages.
    pub(super) fn take_elsewhere(
        &mut self,
        zone: usize,
        (pfn, order): (Pfn, Order),
        list: Migratetype,
    ) -> bool {
        if !self.keeps(order, list) {
            return false;
        }
        let of_zone = self.lists.iter_mut().filter(|lists| lists.zone == zone);
        let Some(lists) = of_zone.max_by_key(|lists| lists.unnamed) else { return false };
        if lists.unnamed < order.pages() {
            return false;
        }
        lists.unnamed -= order.pages();
        self.blocks.push(Listed { zone, cpu: lists.cpu, pfn, order, list });
        true
    }

    /// Returns true if CPUs have lists for blocks of an order and type.
    pub(super) fn keeps(&self, order: Order, list: Migratetype) -> bool {
        let has_list = order.get() <= COSTLY_ORDER || Some(order) == self.huge_order;
        has_list && matches!(list, Migratetype::Unmovable | Migratetype::Movable | Migratetype::Reclaimable)
    }

    /// Adds the blocks to the per-CPU lists of a memory, and sets the limits of the lists. All other frames must have
    /// their state already.
    pub(super) fn restore<P: Platform>(
        &self,
        machine: &RecordedMachine,
        memory: &Memory<'_, P>,
    ) -> Result<(), LabError> {
        let zone_of = |zone: usize| memory.zone_of(machine.zones[zone].start);
        for block in &self.blocks {
            let Some(zone) = zone_of(block.zone) else { continue };
            if block.order.get() > COSTLY_ORDER && block.order != machine.pageblock_order {
                // The replay has pageblocks of another order, and therefore other lists.
                zone.add_free(block.pfn, block.order.pages())?;
                continue;
            }
            let origin = zone.block_type(block.pfn).unwrap_or(block.list);
            zone.add_percpu_block(block.cpu, block.pfn, block.order, block.list, origin)?;
        }
        if !memory.switches().auto_tuned_high {
            return Ok(());
        }
        for lists in self.lists.iter().filter(|lists| lists.high > 0) {
            let Some(zone) = zone_of(lists.zone) else { continue };
            let settings = machine.zones[lists.zone].percpu;
            let high = lists.high.clamp(settings.high_min.into(), settings.high_max.into()) as u32;
            if let Some(state) = zone.percpu_state(lists.cpu) {
                zone.restore_percpu_state(lists.cpu, PerCpuState { high, ..state });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use freehold::{Era, NoReclaim};
    use freehold_trace::{Event, EventKind, EventLog, FrameUse, Origin, Pageset, Run, ZoneSnapshot};

    use super::*;
    use crate::replay::{Lab, Options};
    use crate::trace::Trace;

    #[derive(Debug)]
    struct Host;

    impl freehold::Platform for Host {
        type ZoneLock = parking_lot::RawMutex;
        type PerCpuLock = parking_lot::RawMutex;
        type Tracepoints = ();
        type Rule = ();
    }

    /// A zone with free frames 64 to 127, and two pages on the lists of CPU 1.
    fn snapshot() -> Snapshot {
        let set = Pageset { cpu: 1, count: 2, high: 48, batch: 8, high_min: 32, high_max: 64 };
        let other = Pageset { cpu: 0, count: 0, ..set };
        let zone = ZoneSnapshot {
            name: "Normal".into(),
            spanned: 1024,
            managed: 1024,
            pagesets: vec![other, set],
            ..ZoneSnapshot::default()
        };
        let run = |start, pages, used_for| Run { start: Pfn(start), pages, used_for };
        let occupancy =
            vec![run(0, 64, FrameUse::Other), run(64, 64, FrameUse::Free), run(128, 896, FrameUse::Other)];
        Snapshot { zones: vec![zone], occupancy, ..Snapshot::default() }
    }

    fn alloc(cpu: u16, pfn: u64) -> Event {
        alloc_of(Order::ZERO, cpu, pfn)
    }

    fn alloc_of(order: Order, cpu: u16, pfn: u64) -> Event {
        let gfp = freehold::GfpFlags::HIGHUSER_MOVABLE;
        let kind = EventKind::Alloc { pfn: Some(Pfn(pfn)), order, migratetype: Migratetype::Movable, gfp };
        Event { time_ns: 10, cpu, pid: 1, kind }
    }

    #[test]
    fn a_used_page_that_is_allocated_was_on_a_list() {
        let start = snapshot();
        // A free page was on no list, another CPU has no list, and a third page exceeds the length of the list.
        let events: EventLog =
            [alloc(1, 70), alloc(0, 20), alloc(1, 9), alloc(1, 8), alloc(1, 7)].into_iter().collect();
        let trace = Trace { origin: &Origin::default(), start: &start, events: &events, ending: None };
        let lab = Lab::new(trace).expect("a lab");
        let corrections = lab.start_report().corrections;
        assert_eq!((corrections.on_lists, corrections.freed_unseen, corrections.used_but_free), (2, 2, 0));
        for (era, high) in [(Era::Linux6_1, 32), (Era::Linux7_3, 48)] {
            let mut metadata = lab.machine.metadata::<Host>(era.switches());
            let config = lab.machine.config(era.switches());
            let memory = Memory::<Host>::new(&config, &mut metadata).expect("a memory");
            lab.start.populate(&lab.machine, &memory).expect("a state");
            memory.check().expect("a sound memory");
            let zone = &memory.zones()[0];
            assert_eq!((zone.percpu_pages(0), zone.percpu_pages(1)), (0, 2));
            assert_eq!(zone.percpu_state(1).map(|state| state.high), Some(high), "{}", era.name());
            let gfp = freehold::GfpFlags::HIGHUSER_MOVABLE;
            let request = freehold::Request { cpu: 1, node: 0, order: Order::ZERO, gfp };
            let taken = [(); 2].map(|()| memory.alloc(request, NoReclaim).expect("a page"));
            assert_eq!(taken, [Pfn(9), Pfn(8)], "in the order of the list");
        }
    }

    #[test]
    fn a_page_beyond_the_list_of_its_cpu_was_on_that_of_another_cpu() {
        let start = snapshot();
        let events: EventLog = [alloc(0, 20), alloc(1, 9), alloc(0, 21)].into_iter().collect();
        let trace = Trace { origin: &Origin::default(), start: &start, events: &events, ending: None };
        let lab = Lab::new(trace).expect("a lab");
        let corrections = lab.start_report().corrections;
        assert_eq!((corrections.on_lists, corrections.freed_unseen), (2, 1));
        let mut metadata = lab.machine.metadata::<Host>(Era::Linux7_3.switches());
        let config = lab.machine.config(Era::Linux7_3.switches());
        let memory = Memory::<Host>::new(&config, &mut metadata).expect("a memory");
        lab.start.populate(&lab.machine, &memory).expect("a state");
        let gfp = freehold::GfpFlags::HIGHUSER_MOVABLE;
        let request = freehold::Request { cpu: 1, node: 0, order: Order::ZERO, gfp };
        let taken = [(); 2].map(|()| memory.alloc(request, NoReclaim).expect("a page"));
        assert_eq!(taken, [Pfn(9), Pfn(20)], "pages that the CPU itself takes come first");
        let replay = lab.replay(&Era::Linux7_3.into(), Options { runs: 1, ..Options::default() });
        let followed = replay.expect("a replay").measures.followed;
        assert_eq!((followed.allocs, followed.double_allocs), (3, 1), "freed just before");
    }

    #[test]
    fn half_free_blocks_and_blocks_without_lists_can_be_replayed() {
        let mut start = snapshot();
        start.zones[0].pagesets[1].count = 5000;
        start.occupancy[0].pages = 65;
        start.occupancy[1] = Run { start: Pfn(65), pages: 63, used_for: FrameUse::Free };
        start.pagetypeinfo.pageblock_order = Order::MAX_PAGE_ORDER.get();
        let order = |order| Order::new(order).expect("an order");
        for (event, on_lists) in
            [(alloc_of(order(1), 1, 64), 1), (alloc_of(Order::MAX_PAGE_ORDER, 1, 0), 961)]
        {
            let events: EventLog = [event].into_iter().collect();
            let trace = Trace { origin: &Origin::default(), start: &start, events: &events, ending: None };
            let lab = Lab::new(trace).expect("a lab");
            assert_eq!(lab.start_report().corrections.on_lists, on_lists);
            for era in Era::ALL {
                let replay = lab.replay(&era.into(), Options { runs: 1, ..Options::default() });
                assert!(replay.is_ok(), "{}: {:?}", era.name(), replay.err());
            }
        }
    }
}
