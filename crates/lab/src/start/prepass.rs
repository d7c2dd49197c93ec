//! What the events tell about the machine's state at the start.

use freehold::{MIGRATETYPES, Order, Pfn};
use freehold_trace::{EventKind, EventLog, FrameUse, Snapshot};

use super::lists::StartLists;
use super::machine::Machine;
use crate::error::LabError;

/// The state of a frame at the start, as its first event tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstUse {
    /// No event touches the frame.
    Untouched,
    /// The first event allocates the frame, so it was free, whatever the snapshot shows. Holds the requested
    /// type.
    Free(u8),
    /// The first event allocates the frame as part of a block that is known to have lain on a CPU's list. Holds
    /// the requested type.
    Listed(u8),
    /// The first event frees a block of this order that starts at the frame, so that block was allocated.
    Allocated(Order),
    /// The frame lies inside a block that its first event frees.
    InsideAllocated,
}

const UNTOUCHED: u8 = 0;
const FREE: u8 = 1;
const ALLOCATED: u8 = 0x10;
const LISTED: u8 = 0x20;
const INSIDE: u8 = 0x40;

/// The state of every frame at the start, as its first event tells it.
#[derive(Clone, Debug)]
pub struct FirstUses {
    zones: Vec<Vec<u8>>,
    /// The blocks that lay on CPUs' lists.
    pub(super) lists: StartLists,
    /// The number of events whose block is not aligned to its size. Linux never makes such blocks.
    pub misaligned: u64,
    /// The number of blocks that the snapshot shows free and that were freed without an allocation before:
    /// compaction had taken them in between.
    pub taken_unseen: u64,
}

impl FirstUses {
    /// Goes through all events once.
    ///
    /// # Errors
    /// [`LabError::OutsideZones`] for the first block that is not inside one zone.
    pub fn new(machine: &Machine, start: &Snapshot, events: &EventLog) -> Result<Self, LabError> {
        let zones = machine.zones.iter().map(|zone| vec![UNTOUCHED; zone.spanned as usize]).collect();
        let lists = StartLists::new(machine, start);
        let mut first = Self { zones, lists, misaligned: 0, taken_unseen: 0 };
        for (number, event) in events.iter().enumerate() {
            let (pfn, order, code) = match event.kind {
                EventKind::Alloc { pfn: Some(pfn), order, migratetype, .. } => {
                    (pfn, order, FREE + migratetype as u8)
                }
                EventKind::Free { pfn, order } => (pfn, order, ALLOCATED + order.get()),
                _ => continue,
            };
            if !pfn.is_aligned(order) {
                first.misaligned += 1;
                continue;
            }
            let outside = || LabError::OutsideZones { event: number as u64, pfn: pfn.0, order: order.get() };
            let (zone, index) = locate(machine, pfn, order).ok_or_else(outside)?;
            if let EventKind::Alloc { migratetype, .. } = event.kind
                && first.zones[zone][index..index + order.pages() as usize]
                    .iter()
                    .all(|&code| code == UNTOUCHED)
                && first.lists.take(start, (zone, event.cpu), (pfn, order), migratetype)
            {
                first.note(zone, index, order, LISTED + migratetype as u8);
                continue;
            }
            let is_first_free = code >= ALLOCATED && first.zones[zone][index] == UNTOUCHED;
            if is_first_free && event.time_ns > start.time_ns && was_free(start, pfn, order) {
                first.taken_unseen += 1;
                continue;
            }
            first.note(zone, index, order, code);
        }
        Ok(first)
    }

    fn note(&mut self, zone: usize, index: usize, order: Order, code: u8) {
        let frames = &mut self.zones[zone][index..index + order.pages() as usize];
        let is_freed = (ALLOCATED..LISTED).contains(&code);
        if !is_freed || order == Order::ZERO {
            for frame in frames.iter_mut().filter(|frame| **frame == UNTOUCHED) {
                *frame = code;
            }
        } else if frames.iter().all(|&frame| frame == UNTOUCHED) {
            frames.fill(INSIDE);
            frames[0] = code;
        } else {
            // Some of its frames have had an event before: the others were allocated, as single pages for all
            // that is known.
            for frame in frames.iter_mut().filter(|frame| **frame == UNTOUCHED) {
                *frame = ALLOCATED;
            }
        }
    }

    /// Returns what the first event tells about a frame; `index` counts from the first frame of the zone.
    pub fn get(&self, zone: usize, index: usize) -> FirstUse {
        match self.zones[zone][index] {
            UNTOUCHED => FirstUse::Untouched,
            INSIDE => FirstUse::InsideAllocated,
            code if code < FREE + MIGRATETYPES as u8 => FirstUse::Free(code - FREE),
            code if code >= LISTED => FirstUse::Listed(code - LISTED),
            code => FirstUse::Allocated(Order::new(code - ALLOCATED).unwrap_or(Order::ZERO)),
        }
    }
}

/// Returns true if the snapshot shows all of a block free.
fn was_free(start: &Snapshot, pfn: Pfn, order: Order) -> bool {
    let behind = start.occupancy.partition_point(|run| run.start <= pfn);
    let run = behind.checked_sub(1).map(|at| start.occupancy[at]);
    run.is_some_and(|run| {
        run.used_for == FrameUse::Free && pfn.0 + order.pages() <= run.start.0.saturating_add(run.pages)
    })
}

/// Returns the zone of a block and its first frame, counted from the zone's first; `None` if no zone contains all
/// of it.
pub(super) fn locate(machine: &Machine, pfn: Pfn, order: Order) -> Option<(usize, usize)> {
    machine.zones.iter().enumerate().find_map(|(number, zone)| {
        let index = pfn.0.checked_sub(zone.start.0)?;
        (index.checked_add(order.pages())? <= zone.spanned).then_some((number, index as usize))
    })
}

#[cfg(test)]
mod tests {
    use freehold::{GfpFlags, Migratetype};
    use freehold_trace::{Event, Snapshot, ZoneSnapshot};

    use super::*;

    #[test]
    fn the_first_event_of_a_frame_decides() {
        let zone = ZoneSnapshot { name: "Normal".into(), spanned: 64, ..ZoneSnapshot::default() };
        let start = Snapshot { zones: vec![zone], ..Snapshot::default() };
        let order = |value| Order::new(value).expect("an order");
        let event = |kind| Event { time_ns: 0, cpu: 0, pid: 0, kind };
        let alloc = |pfn, size| {
            let (migratetype, gfp) = (Migratetype::Movable, GfpFlags::HIGHUSER_MOVABLE);
            event(EventKind::Alloc { pfn: Some(Pfn(pfn)), order: order(size), migratetype, gfp })
        };
        let free = |pfn, size| event(EventKind::Free { pfn: Pfn(pfn), order: order(size) });
        let events = [alloc(0, 1), free(1, 0), free(8, 2), alloc(8, 0), free(17, 0), free(16, 2), free(3, 1)];
        let events = EventLog::from(&events[..]);
        let machine = Machine::new(&start, &events).expect("a machine");
        let first = FirstUses::new(&machine, &start, &events).expect("inside the zone");
        assert_eq!(first.get(0, 0), FirstUse::Free(1));
        assert_eq!(first.get(0, 1), FirstUse::Free(1));
        assert_eq!(first.get(0, 8), FirstUse::Allocated(order(2)));
        assert_eq!(first.get(0, 11), FirstUse::InsideAllocated);
        for page in 16..20 {
            assert_eq!(first.get(0, page), FirstUse::Allocated(Order::ZERO));
        }
        assert_eq!(first.get(0, 3), FirstUse::Untouched);
        assert_eq!(first.misaligned, 1);
        assert!(FirstUses::new(&machine, &start, &[free(64, 0)][..].into()).is_err());
    }
}
