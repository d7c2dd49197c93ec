//! Allocations of the machine without an event, or before their event.
//!
//! Linux allocates many single pages at once, such as those of a kernel stack, without `mm_page_alloc`; their frees
//! have events. A page with two frees and no allocation event in between was therefore allocated between them. With
//! an exact start, the moment follows from the lists: the replay's answer to a later request is such a page, and the
//! machine's answer is a page behind it on the list.
//! Linux counterpart: `alloc_pages_bulk`.
//!
//! Linux writes an event after it has taken the block. A task that is preempted or interrupted in between writes its
//! event after that of the task that took the next block.

use std::collections::HashMap;

use freehold::{Order, Pfn, Zone};
use freehold_trace::{EventKind, EventLog};

use super::alloc_request::AllocRequest;
use super::watch::ReplayPlatform;
use crate::recorded::Compacting;
use crate::start::{RecordedMachine, Start, locate};

/// The largest number of untraced allocations before one request.
const MOST_AT_ONCE: usize = 4096;

/// The largest number of events by which an event may be late.
const LATEST: usize = 64;

/// An allocation without an event, or before its event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UntracedAlloc {
    /// The index of the event before which the block was allocated.
    pub(super) before: usize,
    pub(super) pfn: Pfn,
    pub(super) order: Order,
    pub(super) cpu: u16,
    pub(super) alloc_request: AllocRequest,
    /// The index of the event of the allocation; `None` without an event.
    pub(super) traced_at: Option<usize>,
}

/// An allocation before its event.
pub(super) struct Early {
    /// The index of the event.
    pub(super) traced_at: usize,
    pub(super) answer: Option<Pfn>,
}

/// Marks a frame in use.
const IN_USE: u32 = u32::MAX;

/// The search for allocations without an event.
#[derive(Debug)]
pub(super) struct Search<'t> {
    machine: &'t RecordedMachine,
    events: &'t EventLog,
    /// For each frame, the pairs of events between which it was allocated without an event. The later event is its
    /// free.
    between: HashMap<Pfn, Vec<(u32, u32)>>,
    /// For each zone and frame, the last event that freed it, or [`IN_USE`] at the end of the trace.
    free_since: Vec<Vec<u32>>,
    pub(super) found: Vec<UntracedAlloc>,
}

impl<'t> Search<'t> {
    /// Prepares the search from the events after the moment of an exact start.
    pub(super) fn new(machine: &'t RecordedMachine, start: &Start, events: &'t EventLog) -> Self {
        let mut free_since: Vec<_> =
            machine.zones.iter().map(|zone| vec![IN_USE; zone.spanned as usize]).collect();
        for (zone, first, order) in start.exact_blocks(machine) {
            free_since[zone][first..first + order.pages() as usize].fill(0);
        }
        let mut search = Self { machine, events, between: HashMap::new(), free_since, found: Vec::new() };
        let moment_ns = start.moment_ns().unwrap_or(0);
        let mut compacting = Compacting::default();
        for (index, event) in (0_u32..).zip(events.iter()) {
            match event.kind {
                _ if event.time_ns <= moment_ns => {}
                EventKind::CompactionBegin => compacting.begin(event.pid),
                EventKind::CompactionEnd => compacting.end(event.pid),
                EventKind::Alloc { pfn: Some(pfn), order, .. } => search.set(pfn, order, IN_USE),
                EventKind::Free { pfn, order } => {
                    let is_single = order == Order::ZERO && !compacting.contains(event.pid);
                    if let Some(since) = search.free_since(pfn).filter(|_| is_single) {
                        search.between.entry(pfn).or_default().push((since, index));
                    }
                    search.set(pfn, order, index);
                }
                _ => {}
            }
        }
        search
    }

    fn set(&mut self, pfn: Pfn, order: Order, to: u32) {
        if let Some((zone, first)) = locate(self.machine, pfn, order) {
            self.free_since[zone][first..first + order.pages() as usize].fill(to);
        }
    }

    fn free_since(&self, pfn: Pfn) -> Option<u32> {
        let (zone, first) = locate(self.machine, pfn, Order::ZERO)?;
        Some(self.free_since[zone][first]).filter(|&since| since != IN_USE)
    }

    /// Returns true if a page that was free before event `index` must have been allocated without an event.
    fn was_taken(&self, pfn: Pfn, index: usize) -> bool {
        let between = self.between.get(&pfn).into_iter().flatten();
        between.clone().any(|&(from, to)| (from == 0 || (from as usize) < index) && index < to as usize)
    }

    /// Returns true if no event names a page after its last free.
    fn is_last_seen_free(&self, pfn: Pfn, index: usize) -> bool {
        self.free_since(pfn).is_some_and(|since| (since as usize) < index)
    }

    /// Returns the index of a late event for a block: soon after event `index`, from another task.
    pub(super) fn traced_late(&self, index: usize, pfn: Pfn, order: Order) -> Option<usize> {
        let own = self.events.get(index)?;
        let behind = (index + 1..=index + LATEST).map_while(|at| Some((at, self.events.get(at)?)));
        let is_it = |kind: EventKind| match kind {
            EventKind::Alloc { pfn: Some(its), order: size, .. } => Some((its, size) == (pfn, order)),
            EventKind::Free { pfn: its, .. } if its == pfn => Some(false),
            _ => None,
        };
        let mut seen = behind.filter_map(|(at, event)| {
            is_it(event.kind)
                .filter(|&is_it| is_it || matches!(event.kind, EventKind::Free { .. }))
                .map(|is_it| (at, event, is_it))
        });
        let (at, event, is_it) = seen.next()?;
        (is_it && event.cpu == own.cpu && event.pid != own.pid).then_some(at)
    }

    /// Returns true if the replay's answer is a page that the machine had already allocated without an event: either
    /// the page was freed later, or the machine's answer `machine` is behind it on the CPU's list, with only such
    /// pages in between.
    pub(super) fn is_untraced(
        &self,
        zone: &Zone<'_, ReplayPlatform>,
        machine: Pfn,
        untraced: UntracedAlloc,
    ) -> bool {
        let (index, answer) = (untraced.before, untraced.pfn);
        if self.was_taken(answer, index) {
            return true;
        }
        if !self.is_last_seen_free(answer, index) {
            return false;
        }
        let list = zone.percpu_list(untraced.cpu, Order::ZERO, untraced.alloc_request.migratetype);
        for pfn in list.take(MOST_AT_ONCE) {
            if pfn == machine {
                return true;
            }
            if !self.was_taken(pfn, index) && !self.is_last_seen_free(pfn, index) {
                return false;
            }
        }
        false
    }
}
