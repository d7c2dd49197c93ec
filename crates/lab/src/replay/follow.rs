//! Replays the events of a trace, one after the other.

use freehold::{GfpFlags, Memory, NoReclaim, Order, Pfn, Request};
use freehold_trace::{Event, EventKind, EventLog};

use super::agreement::{Agreement, Answer, PARTS, Parting, whereabouts};
use super::alloc_request::AllocRequest;
use super::clocks::RefreshClock;
use super::daemons::Daemons;
use super::ledger::{At, FreedBy, Holders, Pages};
use super::measures::Followed;
use super::reclaimed::Reclaimed;
use super::untraced::{Early, Search, UntracedAlloc};
use super::watch::ReplayPlatform;
use crate::recorded::{Compacting, is_for_huge_page};

/// The largest number of periodic refreshes between two events: enough for every per-CPU list to decay completely.
const MOST_REFRESHES: u64 = 64;

/// The largest order for which Linux retries without limit. Linux counterpart: `PAGE_ALLOC_COSTLY_ORDER`.
const COSTLY_ORDER: u8 = 3;

/// The rights to allocate below the watermarks, the weakest first: `__GFP_HIGH` allows half of the min watermark,
/// without reserves; `__GFP_MEMALLOC` ignores the watermarks and the lowmem reserves.
const RIGHTS_BELOW: [GfpFlags; 2] = [GfpFlags::HIGH.union(GfpFlags::NOMEMALLOC), GfpFlags::MEMALLOC];

/// A memory that replays a trace.
pub(super) struct Follower<'f, 'm> {
    holders: Holders<'f, 'm>,
    followed: Followed,
    /// The tasks of the machine that are compacting now.
    compacting: Compacting,
    daemons: Daemons,
    reclaimed: Reclaimed,
    /// The order of huge pages.
    huge: Order,
    refreshes: RefreshClock,
    /// Events up to this time are part of the start.
    starts_ns: Option<u64>,
    agreement: Agreement,
    /// The number of events so far, and the number of events in a part of [`Agreement`].
    pub(super) seen: usize,
    events_a_part: usize,
    /// The future allocations of the machine without an event.
    untraced: &'f [UntracedAlloc],
    /// The allocations that were made before their events.
    early: Vec<Early>,
    /// The search for untraced allocations, in a replay that looks for them.
    search: Option<Search<'f>>,
}

impl<'f, 'm> Follower<'f, 'm> {
    pub(super) fn new(
        holders: Holders<'f, 'm>,
        daemons: Daemons,
        events: &EventLog,
        starts_ns: Option<u64>,
    ) -> Self {
        let first_ns = events.first().map_or(0, |event| event.time_ns);
        let zones = holders.memory().zones();
        Self {
            followed: Followed::default(),
            compacting: Compacting::default(),
            daemons,
            reclaimed: Reclaimed::default(),
            huge: zones.first().map_or(Order::MAX_PAGE_ORDER, freehold::Zone::pageblock_order),
            refreshes: RefreshClock::new(first_ns),
            starts_ns,
            agreement: Agreement::default(),
            seen: 0,
            events_a_part: events.len().div_ceil(PARTS).max(1),
            untraced: &[],
            early: Vec::new(),
            search: None,
            holders,
        }
    }

    /// Returns the memory of the replay.
    pub(super) fn memory(&self) -> &'f Memory<'m, ReplayPlatform> {
        self.holders.memory()
    }

    /// Sets the allocations that the machine made without an event.
    pub(super) fn set_untraced(&mut self, untraced: &'f [UntracedAlloc]) {
        self.untraced = untraced;
    }

    /// Starts the search for allocations that the machine made without an event.
    pub(super) fn search(&mut self, search: Search<'f>) {
        self.search = Some(search);
    }

    /// Returns the untraced allocations that the search found.
    pub(super) fn found(self) -> Vec<UntracedAlloc> {
        self.search.map(|search| search.found).unwrap_or_default()
    }

    /// Returns the counts, with the blocks in use at the end, and the agreement with the machine.
    pub(super) fn finish(self) -> (Followed, Agreement) {
        let mut followed = self.followed;
        self.holders.finish(self.huge, &mut followed);
        (followed, self.agreement)
    }

    /// Replays one event.
    pub(super) fn event(&mut self, event: &Event) {
        self.seen += 1;
        if self.starts_ns.is_some_and(|starts_ns| event.time_ns <= starts_ns) {
            return;
        }
        while let Some((&untraced, rest)) =
            self.untraced.split_first().filter(|(next, _)| next.before < self.seen)
        {
            self.untraced = rest;
            self.alloc_untraced(untraced);
        }
        let seconds = self.refreshes.seconds(event.time_ns);
        if seconds > 0 {
            self.refresh(seconds, event.time_ns);
        }
        self.daemons.at_event(&mut self.holders, self.seen - 1, event.time_ns);
        if self.reclaimed.drains(event) {
            self.memory().drain_all();
        }
        match event.kind {
            EventKind::Alloc { pfn: Some(pfn), order, migratetype, gfp } => {
                self.alloc(event, pfn, order, AllocRequest { gfp, migratetype });
            }
            EventKind::Alloc { pfn: None, order, migratetype, gfp } => {
                self.try_refused(event.cpu, order, AllocRequest { gfp, migratetype });
            }
            EventKind::Free { pfn, order } if self.compacting.contains(event.pid) => {
                self.free_while_compacting(event.cpu, pfn, order);
            }
            EventKind::Free { pfn, order } => self.free(event.cpu, pfn, order),
            EventKind::CompactionBegin => {
                self.compacting.begin(event.pid);
                self.daemons.compaction_begins(event.pid);
            }
            EventKind::CompactionEnd => self.compacting.end(event.pid),
            EventKind::Lost { count } => {
                self.followed.lost_places += 1;
                self.followed.lost_events = self.followed.lost_events.saturating_add(count);
            }
            // The allocator of the replay does this itself; `Recorded` counts the machine's events.
            _ => {}
        }
    }

    /// Shrinks idle per-CPU lists, as Linux does once a second.
    fn refresh(&mut self, seconds: u64, now_ns: u64) {
        for _ in 0..seconds.min(MOST_REFRESHES) {
            let mut busy = false;
            for cpu in 0..self.memory().cpus() {
                busy |= self.memory().refresh(cpu);
            }
            self.followed.refreshes += 1;
            if !busy {
                break;
            }
        }
        self.daemons.compact_proactively(&mut self.holders, now_ns);
    }

    #[inline]
    fn alloc(&mut self, event: &Event, pfn: Pfn, order: Order, alloc_request: AllocRequest) {
        let cpu = event.cpu;
        if !self.early.is_empty()
            && let Some(early) = self.made_before()
        {
            self.followed.allocs += 1;
            return self.compare(event, pfn, early.answer);
        }
        let Some(at) = self.place(pfn, order) else { return };
        self.followed.allocs += 1;
        if !self.holders.is_unknown(at, order) {
            // The trace lacks the free event of the previous block.
            self.followed.double_allocs += 1;
            self.followed.double_allocs_since_loss += u64::from(self.followed.lost_places > 0);
            self.holders.release(cpu, at, order, FreedBy::Owner);
        }
        let gfp = alloc_request.gfp_of(self.memory().switches());
        let request = Request { cpu, node: self.holders.node(at), order, gfp };
        let mut answer = self.answer(request);
        if self.search.is_some() {
            answer = self.look_for_untraced(request, alloc_request, pfn, answer);
        }
        self.compare(event, pfn, answer);
        if order == self.huge {
            self.count_huge(alloc_request.gfp, answer.is_some());
        }
        let Some(replayed) = answer else {
            *self.followed.failures.widened(order) += 1;
            return self.holders.skip(at, order);
        };
        self.holders.hold(at, order, replayed, Pages::of(alloc_request.gfp));
    }

    /// Allocates a block that the machine allocated without an event, or before its event.
    fn alloc_untraced(&mut self, untraced: UntracedAlloc) {
        let Some(at) = self.place(untraced.pfn, untraced.order) else { return };
        if !self.holders.is_unknown(at, untraced.order) {
            return;
        }
        let gfp = untraced.alloc_request.gfp_of(self.memory().switches());
        let request = Request { cpu: untraced.cpu, node: self.holders.node(at), order: untraced.order, gfp };
        let answer = self.answer(request);
        self.keep_untraced(at, untraced, answer);
    }

    /// Records the answer to a request that was made without an event, or before its event.
    fn keep_untraced(&mut self, at: At, untraced: UntracedAlloc, answer: Option<Pfn>) {
        if let Some(index) = untraced.traced_at {
            self.early.push(Early { traced_at: index, answer });
            self.followed.allocs_traced_late += 1;
        } else {
            self.followed.untraced_allocs += 1;
        }
        match answer {
            Some(replayed) => {
                self.holders.hold(at, untraced.order, replayed, Pages::of(untraced.alloc_request.gfp));
            }
            None => self.holders.skip(at, untraced.order),
        }
    }

    /// Returns the answer to the current request, if it was made before its event.
    fn made_before(&mut self) -> Option<Early> {
        let place = self.early.iter().position(|early| early.traced_at == self.seen - 1)?;
        Some(self.early.swap_remove(place))
    }

    /// Allocates until the answer is no untraced allocation of the machine. Returns this answer and keeps the others.
    #[cold]
    fn look_for_untraced(
        &mut self,
        request: Request,
        alloc_request: AllocRequest,
        machine: Pfn,
        mut answer: Option<Pfn>,
    ) -> Option<Pfn> {
        let Request { cpu, order, .. } = request;
        while let Some(pfn) = answer.filter(|&found| found != machine) {
            let memory = self.memory();
            let (Some(zone), Some(search)) = (memory.zone_of(pfn), self.search.as_mut()) else { break };
            let before = self.seen - 1;
            let traced_at = search.traced_late(before, pfn, order);
            let untraced = UntracedAlloc { before, pfn, order, cpu, alloc_request, traced_at };
            if traced_at.is_none() && (order != Order::ZERO || !search.is_untraced(zone, machine, untraced)) {
                break;
            }
            search.found.push(untraced);
            let Some(at) = self.place(pfn, order) else { break };
            self.keep_untraced(at, untraced, Some(pfn));
            answer = self.answer(request);
        }
        answer
    }

    /// Compares an answer with that of the machine.
    #[inline]
    fn compare(&mut self, event: &Event, machine: Pfn, replay: Option<Pfn>) {
        let memory = self.memory();
        let type_of = |pfn: Pfn| memory.zone_of(pfn)?.block_type(pfn);
        let answer = Answer { machine, replay };
        let part = (self.seen - 1) / self.events_a_part;
        if self.agreement.note(part, answer, self.huge, type_of) {
            self.part(event, answer);
        }
    }

    /// Records the first difference from the machine.
    #[cold]
    fn part(&mut self, event: &Event, answer: Answer) {
        let EventKind::Alloc { order, migratetype, .. } = event.kind else { return };
        let machine_frame = whereabouts(self.memory(), answer.machine);
        self.agreement.first_difference = Some(Parting {
            after: self.followed.allocs + self.followed.frees,
            time_ns: event.time_ns,
            cpu: event.cpu,
            pid: event.pid,
            order: order.get(),
            migratetype: migratetype as u8,
            machine_pfn: answer.machine.0,
            replay_pfn: answer.replay.map(|pfn| pfn.0),
            machine_frame,
        });
    }

    /// Tries a request that failed on the machine, if it was costly: another era may satisfy it. Frees the block at
    /// once, because the caller continued without it.
    #[cold]
    fn try_refused(&mut self, cpu: u16, order: Order, alloc_request: AllocRequest) {
        *self.followed.machine_failures.widened(order) += 1;
        if order.get() <= COSTLY_ORDER {
            return;
        }
        let memory = self.memory();
        let node = memory.zones().first().map_or(0, freehold::Zone::node);
        let request = Request { cpu, node, order, gfp: alloc_request.gfp_of(self.memory().switches()) };
        let answer = memory.alloc(request, &mut self.holders);
        self.followed.attempts_again += 1;
        if order == self.huge {
            self.count_huge(alloc_request.gfp, answer.is_ok());
        }
        if let Ok(replayed) = answer {
            *self.followed.answered_instead.widened(order) += 1;
            self.holders.give_back(cpu, replayed, order);
        }
    }

    /// Counts a request if it is for a huge page.
    fn count_huge(&mut self, gfp: GfpFlags, answered: bool) {
        if is_for_huge_page(gfp) {
            self.followed.huge_pages += u64::from(answered);
            self.followed.huge_page_failures += u64::from(!answered);
        }
    }

    /// Answers a request that succeeded on the machine.
    ///
    /// If the machine reclaimed for the request, the reclaimed pages are frees in the trace, before or after the
    /// request. The replay cannot wait for later frees, so it allocates below the watermarks, with the weakest
    /// sufficient right. Only if that fails, it reclaims and compacts itself. Costly requests do not go below the
    /// watermarks: the machine made their blocks by compaction.
    #[inline]
    fn answer(&mut self, request: Request) -> Option<Pfn> {
        // A request that may wait, without reclaim.
        let gfp = request.gfp;
        let patient = if gfp.contains(GfpFlags::DIRECT_RECLAIM) {
            gfp.difference(GfpFlags::DIRECT_RECLAIM | GfpFlags::MEMALLOC).union(GfpFlags::NOMEMALLOC)
        } else {
            gfp
        };
        self.memory()
            .alloc(Request { gfp: patient, ..request }, NoReclaim)
            .ok()
            .or_else(|| self.answer_below_marks(request))
    }

    #[cold]
    fn answer_below_marks(&mut self, request: Request) -> Option<Pfn> {
        let below = request.gfp.difference(GfpFlags::DIRECT_RECLAIM | GfpFlags::NOMEMALLOC);
        self.followed.waits += 1;
        let rights = if request.order.get() <= COSTLY_ORDER { &RIGHTS_BELOW[..] } else { &[] };
        let memory = self.memory();
        for &rights in rights {
            self.followed.attempts_again += 1;
            if let Ok(replayed) = memory.alloc(Request { gfp: below.union(rights), ..request }, NoReclaim) {
                return Some(replayed);
            }
        }
        self.followed.attempts_again += 1;
        memory.alloc(request, &mut self.holders).ok()
    }

    #[inline]
    fn free(&mut self, cpu: u16, pfn: Pfn, order: Order) {
        let Some(at) = self.place(pfn, order) else { return };
        self.followed.frees += 1;
        let released = self.holders.release(cpu, at, order, FreedBy::Owner);
        if released.pieces == 0 && self.holders.free_moved(cpu, order) {
            self.followed.moved_then_freed += 1;
            return;
        }
        let followed = &mut self.followed;
        followed.unknown_pages += released.unknown_pages;
        if released.pieces == 0 {
            followed.unknown_frees += 1;
            followed.unknown_frees_since_loss += u64::from(followed.lost_places > 0);
        } else if released.pieces > 1 || released.unknown_pages > 0 {
            followed.regrouped_frees += 1;
        }
        if released.pieces > 0 && released.skipped == released.pieces {
            followed.skipped_frees += 1;
        }
    }

    /// Replays a free by a compacting task: the old place of pages that it moved, or a free block that it isolated
    /// without an event and did not need.
    fn free_while_compacting(&mut self, cpu: u16, pfn: Pfn, order: Order) {
        let Some(at) = self.place(pfn, order) else { return };
        self.followed.frees += 1;
        let released = self.holders.release(cpu, at, order, FreedBy::Compaction);
        if released.pieces == 0 {
            self.followed.returned_by_compaction += 1;
        } else {
            self.followed.moved_by_compaction += released.pieces;
        }
    }

    #[inline]
    fn place(&mut self, pfn: Pfn, order: Order) -> Option<At> {
        let at = self.holders.find(pfn, order).filter(|_| pfn.is_aligned(order));
        self.followed.misplaced += u64::from(at.is_none());
        at
    }
}
