//! Allocations that the machine made earlier than its events tell.
//!
//! Linux allocates many single pages at a time, such as those of a kernel stack, without `mm_page_alloc`; their frees
//! have events. So a page that is freed and that nobody allocated since it was free was allocated somewhere between the
//! two. With an exact start the moment follows from the lists: the replay's answer to a later request is such a page,
//! and the machine's answer is one behind it.
//! Linux counterpart: `alloc_pages_bulk`.
//!
//! An event is also written only after the block was taken. A task that is preempted or interrupted in between writes
//! its event after that of the one who took the next block.

use std::collections::HashMap;

use freehold::{Order, Pfn, Zone};
use freehold_trace::{EventKind, EventLog};

use super::alloc_request::AllocRequest;
use super::watch::ReplayPlatform;
use crate::recorded::Compacting;
use crate::start::{Machine, Start, locate};

/// The most pages that are taken to have been allocated before one request.
const MOST_AT_ONCE: usize = 4096;

/// The most events by which one may come late.
const LATEST: usize = 64;

/// A block that was allocated without an event, or before its event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UntracedAlloc {
    /// The index of the event before which it was allocated.
    pub(super) before: usize,
    pub(super) pfn: Pfn,
    pub(super) order: Order,
    pub(super) cpu: u16,
    pub(super) alloc_request: AllocRequest,
    /// The index of its event, if it has one.
    pub(super) traced_at: Option<usize>,
}

/// A request that was made before its event.
pub(super) struct Early {
    /// The index of the event.
    pub(super) traced_at: usize,
    pub(super) answer: Option<Pfn>,
}

/// The frame is in use.
const IN_USE: u32 = u32::MAX;

/// What the events tell about pages that were allocated without one.
#[derive(Debug)]
pub(super) struct Search<'t> {
    machine: &'t Machine,
    events: &'t EventLog,
    /// By frame: the indices of the events between which it was allocated without one; the later one frees it.
    between: HashMap<Pfn, Vec<(u32, u32)>>,
    /// By zone and frame: the event that freed it last, or [`IN_USE`] at the end of the trace.
    free_since: Vec<Vec<u32>>,
    pub(super) found: Vec<UntracedAlloc>,
}

impl<'t> Search<'t> {
    /// Goes through the events after the moment of an exact start.
    pub(super) fn new(machine: &'t Machine, start: &Start, events: &'t EventLog) -> Self {
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

    /// Returns true if a page that was free before an event must have been allocated without one.
    fn was_taken(&self, pfn: Pfn, index: usize) -> bool {
        let between = self.between.get(&pfn).into_iter().flatten();
        between.clone().any(|&(from, to)| (from == 0 || (from as usize) < index) && index < to as usize)
    }

    /// Returns true if no event names a page after it was freed for the last time.
    fn is_last_seen_free(&self, pfn: Pfn, index: usize) -> bool {
        self.free_since(pfn).is_some_and(|since| (since as usize) < index)
    }

    /// Returns the index of the event that tells of a block after the event `index`, if it comes soon and from another
    /// task.
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

    /// Returns true if the replay's answer is a page that the machine had allocated before without an event: it was
    /// freed later, or `machine`, with which the machine answered, is behind it on the CPU's list among nothing but
    /// such pages.
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
