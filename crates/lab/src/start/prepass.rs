//! The information about the start state in the events.
//!
//! Later events must not decide how a replay starts. There are two kinds of events:
//!
//! - Events up to the time of the snapshot happened while it was being read. They correct the snapshot: frames that
//!   they allocate were free when the recording began, and frames that they free were in use.
//! - Later events add information about frames that the snapshot shows in use, which no file contains. A frame that is
//!   freed without an allocation was in use as a part of that block. A frame that is allocated without a free was on a
//!   per-CPU list. Later events do not change which frames are free at the start.
//!
//! The free blocks at the start, and the types of pageblocks, therefore follow from the snapshot and the events up to
//! its time. There are two exceptions: memory that is added after the snapshot exists from the start, and without a
//! recorded occupancy, the uses of frames follow from all events.

use freehold::{MIGRATETYPES, Migratetype, Order, Pfn};
use freehold_trace::{EventKind, EventLog, FrameUse, Snapshot};

use super::exact::ExactStart;
use super::geometry::locate;
use super::lists::StartLists;
use super::machine::RecordedMachine;
use crate::error::LabError;

/// The state of a frame at the start, derived from its first event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstUse {
    /// No event names the frame.
    Untouched,
    /// The frame was free, and the first event allocates it. Contains the requested type.
    Free(u8),
    /// The frame was on a per-CPU list, and the first event allocates it as part of a block. Contains the requested
    /// type.
    Listed(u8),
    /// A block of this order that starts at the frame was allocated, and the first event frees it. For a single page,
    /// also: the first event allocates it, it was on no list, and its free had no event.
    Allocated(Order),
    /// The frame is inside a block that its first event frees.
    InsideAllocated,
}

const UNTOUCHED: u8 = 0;
const FREE: u8 = 1;
const LISTED: u8 = 0x10;
/// The base of the states with an order, up to order 18.
const ALLOCATED: u8 = 0x20;
const INSIDE: u8 = 0x40;

/// The state of every frame at the start, derived from its first event.
#[derive(Clone, Debug)]
pub struct FirstUses {
    zones: Vec<Vec<u8>>,
    /// The blocks on per-CPU lists.
    pub(super) lists: StartLists,
    /// The number of events with a block that is not aligned to its size. Linux has no such blocks.
    pub misaligned: u64,
    /// The number of blocks that the snapshot shows free and that are freed without an allocation before: compaction
    /// had isolated them in between.
    pub taken_unseen: u64,
    /// The number of pages that the snapshot shows in use, that are allocated without a free before, and that fit on no
    /// per-CPU list.
    pub freed_unseen: u64,
    /// Blocks that are allocated without a free before and that were not on the list of their CPU.
    homeless: Vec<Homeless>,
}

/// A block that is allocated without a free before and that was not on the list of its CPU.
#[derive(Clone, Copy, Debug)]
struct Homeless {
    zone: usize,
    index: usize,
    pfn: Pfn,
    order: Order,
    list: Migratetype,
}

/// An allocation or a free of a block inside one zone.
struct Touch {
    zone: usize,
    /// The block's first frame, counted from the zone's first.
    index: usize,
    pfn: Pfn,
    order: Order,
    cpu: u16,
    /// The requested type; `None` for a free.
    wanted: Option<Migratetype>,
}

impl FirstUses {
    /// Reads the state of all frames from the events, in one pass.
    ///
    /// # Errors
    /// [`LabError::OutsideZones`] for the first block that is not inside one zone.
    pub fn new(machine: &RecordedMachine, start: &Snapshot, events: &EventLog) -> Result<Self, LabError> {
        let mut first = Self::blank(machine, StartLists::new(machine, start));
        first.go_through(machine, start, events, 0)?;
        Ok(first)
    }

    /// Reads the events after the moment of an exact start; `start` is the snapshot at that moment.
    pub(super) fn after(
        machine: &RecordedMachine,
        start: &Snapshot,
        events: &EventLog,
        exact: &ExactStart,
    ) -> Result<Self, LabError> {
        let mut first = Self::blank(machine, StartLists::known_elsewhere(machine));
        for (number, blocks) in exact.blocks.iter().enumerate() {
            for block in blocks.iter().filter(|block| block.cpu.is_some()) {
                let index = (block.pfn.0 - machine.zones[number].start.0) as usize;
                first.note(number, index, block.order, LISTED + block.list as u8);
            }
        }
        first.go_through(machine, start, events, start.time_ns.saturating_add(1))?;
        Ok(first)
    }

    fn blank(machine: &RecordedMachine, lists: StartLists) -> Self {
        let zones = machine.zones.iter().map(|zone| vec![UNTOUCHED; zone.spanned as usize]).collect();
        Self { zones, lists, misaligned: 0, taken_unseen: 0, freed_unseen: 0, homeless: Vec::new() }
    }

    /// Reads the events after a time.
    fn go_through(
        &mut self,
        machine: &RecordedMachine,
        start: &Snapshot,
        events: &EventLog,
        from_ns: u64,
    ) -> Result<(), LabError> {
        for (number, event) in events.iter().enumerate() {
            let (pfn, order, wanted) = match event.kind {
                EventKind::Alloc { pfn: Some(pfn), order, migratetype, .. } => {
                    (pfn, order, Some(migratetype))
                }
                EventKind::Free { pfn, order } => (pfn, order, None),
                _ => continue,
            };
            if !pfn.is_aligned(order) {
                self.misaligned += u64::from(event.time_ns >= from_ns);
                continue;
            }
            let outside = || LabError::OutsideZones { event: number as u64, pfn: pfn.0, order: order.get() };
            let (zone, index) = locate(machine, pfn, order).ok_or_else(outside)?;
            if event.time_ns < from_ns {
                continue;
            }
            let touch = Touch { zone, index, pfn, order, cpu: event.cpu, wanted };
            if event.time_ns <= start.time_ns || start.occupancy.is_empty() {
                self.note_while_reading(start, &touch);
            } else {
                self.note_later(start, &touch);
            }
        }
        self.find_homes();
        Ok(())
    }

    /// Processes an event during the reading of the snapshot, or any event if no occupancy was recorded.
    fn note_while_reading(&mut self, start: &Snapshot, touch: &Touch) {
        let code = match touch.wanted {
            Some(list) if self.takes_from_own_list(start, touch, list) => LISTED + list as u8,
            Some(list) => FREE + list as u8,
            None => ALLOCATED + touch.order.get(),
        };
        self.note(touch.zone, touch.index, touch.order, code);
    }

    /// Processes an event after the snapshot.
    fn note_later(&mut self, start: &Snapshot, touch: &Touch) {
        let frames = touch.index..touch.index + touch.order.pages() as usize;
        if self.zones[touch.zone][frames.clone()].iter().all(|&code| code != UNTOUCHED) {
            return;
        }
        let all = |is: fn(FrameUse) -> bool| {
            (0..touch.order.pages()).all(|page| is(shown(start, touch.pfn.add(page))))
        };
        let is_fresh = self.zones[touch.zone][frames.clone()].iter().all(|&code| code == UNTOUCHED);
        match touch.wanted {
            Some(list) if is_fresh && all(is_in_use) && self.lists.keeps(touch.order, list) => {
                if self.takes_from_own_list(start, touch, list) {
                    return self.note(touch.zone, touch.index, touch.order, LISTED + list as u8);
                }
                self.zones[touch.zone][frames].fill(ALLOCATED);
                let Touch { zone, index, pfn, order, .. } = *touch;
                self.homeless.push(Homeless { zone, index, pfn, order, list });
            }
            None if is_fresh && all(|used_for| used_for != FrameUse::Free) => {
                self.note(touch.zone, touch.index, touch.order, ALLOCATED + touch.order.get());
            }
            None if all(|used_for| used_for == FrameUse::Free) => self.taken_unseen += 1,
            _ => self.note_by_frame(start, touch),
        }
    }
    /// Returns true if a block without earlier events was on the list of the CPU that allocates it.
    fn takes_from_own_list(&mut self, start: &Snapshot, touch: &Touch, list: Migratetype) -> bool {
        let frames = touch.index..touch.index + touch.order.pages() as usize;
        let is_fresh = self.zones[touch.zone][frames].iter().all(|&code| code == UNTOUCHED);
        is_fresh
            && is_in_use(shown(start, touch.pfn))
            && self.lists.take((touch.zone, touch.cpu), (touch.pfn, touch.order), list)
    }

    /// Processes a later event of a block whose frames have different known states.
    fn note_by_frame(&mut self, start: &Snapshot, touch: &Touch) {
        for page in 0..touch.order.pages() {
            let (index, pfn) = (touch.index + page as usize, touch.pfn.add(page));
            let frame = &mut self.zones[touch.zone][index];
            let used_for = shown(start, pfn);
            *frame = match (touch.wanted, used_for) {
                _ if *frame != UNTOUCHED => continue,
                (None, FrameUse::Free) => continue,
                (Some(list), FrameUse::Free | FrameUse::Absent) => FREE + list as u8,
                (Some(list), _) => {
                    self.homeless.push(Homeless { zone: touch.zone, index, pfn, order: Order::ZERO, list });
                    ALLOCATED
                }
                (None, _) => ALLOCATED,
            };
        }
    }

    /// Assigns blocks that were not on the list of their CPU to the lists of other CPUs. The machine drained these
    /// lists before, so that any CPU could get the blocks, also as parts of larger blocks.
    fn find_homes(&mut self) {
        for block in std::mem::take(&mut self.homeless) {
            if !self.lists.take_elsewhere(block.zone, (block.pfn, block.order), block.list) {
                self.freed_unseen += block.order.pages();
                continue;
            }
            let frames = block.index..block.index + block.order.pages() as usize;
            self.zones[block.zone][frames].fill(LISTED + block.list as u8);
        }
    }

    fn note(&mut self, zone: usize, index: usize, order: Order, code: u8) {
        let frames = &mut self.zones[zone][index..index + order.pages() as usize];
        let is_freed = (ALLOCATED..INSIDE).contains(&code);
        if !is_freed || order == Order::ZERO {
            for frame in frames.iter_mut().filter(|frame| **frame == UNTOUCHED) {
                *frame = code;
            }
        } else if frames.iter().all(|&frame| frame == UNTOUCHED) {
            frames.fill(INSIDE);
            frames[0] = code;
        } else {
            // Some frames of the block have earlier events. The others were in use, probably as single pages.
            for frame in frames.iter_mut().filter(|frame| **frame == UNTOUCHED) {
                *frame = ALLOCATED;
            }
        }
    }

    /// Returns the state of a frame; `index` counts from the first frame of the zone.
    pub fn get(&self, zone: usize, index: usize) -> FirstUse {
        match self.zones[zone][index] {
            UNTOUCHED => FirstUse::Untouched,
            INSIDE => FirstUse::InsideAllocated,
            code if code < FREE + MIGRATETYPES as u8 => FirstUse::Free(code - FREE),
            code if code >= ALLOCATED => {
                FirstUse::Allocated(Order::new(code - ALLOCATED).unwrap_or(Order::ZERO))
            }
            code => FirstUse::Listed(code - LISTED),
        }
    }
}

/// Returns the use of a frame in the snapshot.
fn shown(start: &Snapshot, pfn: Pfn) -> FrameUse {
    let behind = start.occupancy.partition_point(|run| run.start <= pfn);
    let run = behind.checked_sub(1).map(|at| start.occupancy[at]);
    run.filter(|run| pfn.0 - run.start.0 < run.pages).map_or(FrameUse::Absent, |run| run.used_for)
}

fn is_in_use(used_for: FrameUse) -> bool {
    !matches!(used_for, FrameUse::Free | FrameUse::Absent)
}

#[cfg(test)]
mod tests {
    use freehold::GfpFlags;
    use freehold_trace::{Event, Snapshot, ZoneSnapshot};

    use super::*;

    #[test]
    fn the_first_event_of_a_frame_decides_its_state() {
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
        let machine = RecordedMachine::new(&start, &events).expect("a machine");
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
