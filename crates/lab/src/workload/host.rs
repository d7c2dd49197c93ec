//! A generated machine: the engine, a clock, the users of its memory, and a recorder.

use freehold::{GfpFlags, Memory, Order, Request, Switches, Zone};
use freehold_trace::{Event, EventKind, EventLog, Snapshot};

use super::counters::Counters;
use super::fallbacks::{Fallbacks, HostPlatform};
use super::host_snapshot::{fill_snapshot, occupancy};
use super::random::Random;
use super::users::{Handle, Use, Users};
use crate::error::LabError;
use crate::replay::Variant;
use crate::start::RecordedMachine;

const SECOND_NS: u64 = 1_000_000_000;

/// A task and the CPU it runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Task {
    /// Its CPU.
    pub(super) cpu: u16,
    /// Its process ID.
    pub(super) pid: i32,
}

/// A request: flags, order and use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PageRequest {
    pub(super) order: Order,
    pub(super) gfp: GfpFlags,
    pub(super) used_for: Use,
}

/// The order of a transparent huge page on x86-64.
pub(super) const HUGE: Order = match Order::new(9) {
    Some(order) => order,
    None => Order::MAX_PAGE_ORDER,
};

impl PageRequest {
    /// A page fault on anonymous memory.
    pub(super) const ANON: Self = Self::one(GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::ZERO), Use::Pinned);
    /// Readahead into the page cache. Linux counterpart: `readahead_gfp_mask`.
    pub(super) const READAHEAD: Self =
        Self::one(GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::NORETRY).union(GfpFlags::NOWARN), Use::File);
    /// A written page of a file, which the host does not reclaim.
    pub(super) const WRITTEN: Self =
        Self::one(GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::WRITE), Use::Pinned);
    /// A page table.
    pub(super) const PAGE_TABLE: Self =
        Self::one(GfpFlags::KERNEL_ACCOUNT.union(GfpFlags::ZERO), Use::PageTable);
    /// One page of a kernel stack, as with `CONFIG_VMAP_STACK`.
    pub(super) const STACK: Self = Self::one(GfpFlags::KERNEL_ACCOUNT.union(GfpFlags::ZERO), Use::Kernel);

    const fn one(gfp: GfpFlags, used_for: Use) -> Self {
        Self { order: Order::ZERO, gfp, used_for }
    }
}

/// The configuration of a generated machine.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    /// Zones, settings and CPUs.
    pub(super) start: Snapshot,
    /// The switches of the allocator.
    pub(super) switches: Switches,
    /// The seed of all random numbers.
    pub(super) seed: u64,
    /// The mean time between two events, in nanoseconds.
    pub(super) gap_ns: u64,
    /// True if tasks reclaim and compact; otherwise requests fail instead.
    pub(super) reclaims: bool,
}

/// A generated machine.
pub(super) struct Host<'h, 'm> {
    pub(super) memory: &'h Memory<'m, HostPlatform>,
    fallbacks: &'h Fallbacks,
    pub(super) users: Users,
    pub(super) random: Random,
    pub(super) counters: Counters,
    /// The task that compacts or reclaims.
    pub(super) mover: Task,
    /// True if pages were moved since the start of the compaction.
    pub(super) is_compacting: bool,
    pub(super) reclaims: bool,
    zones: Snapshot,
    events: Vec<Event>,
    recorded: u64,
    is_recording: bool,
    time_ns: u64,
    next_second_ns: u64,
    next_half_second_ns: u64,
    gap_ns: u64,
}

/// Creates a machine with only free memory and calls `body` with it.
pub(super) fn on_a_host<R, E: From<LabError>>(
    ground: &Ground,
    body: impl FnOnce(Host<'_, '_>) -> Result<R, E>,
) -> Result<R, E> {
    let machine = RecordedMachine::new(&ground.start, &EventLog::default())?;
    let mut metadata = machine.metadata::<HostPlatform>(ground.switches);
    let fallbacks = Fallbacks::default();
    let config = machine.config(ground.switches);
    let memory = Memory::<HostPlatform>::with_tracepoints(&config, &mut metadata, &fallbacks)
        .map_err(LabError::from)?;
    for config in &machine.zones {
        if let Some(zone) = memory.zone_of(config.start) {
            zone.add_free(config.start, config.spanned).map_err(LabError::from)?;
        }
    }
    let first = memory.zones().iter().map(|zone| zone.start().0).min().unwrap_or(0);
    let end = memory.zones().iter().map(|zone| zone.end().0).max().unwrap_or(0);
    if end >= u64::from(u32::MAX) {
        return Err(LabError::OutOfRange { what: format!("frame {end:#x}") }.into());
    }
    body(Host {
        memory: &memory,
        fallbacks: &fallbacks,
        users: Users::new(first..end, memory.zones().iter().map(|zone| zone.end().0).collect()),
        random: Random::new(ground.seed),
        counters: Counters::new(&memory),
        mover: Task { cpu: 0, pid: 0 },
        is_compacting: false,
        reclaims: ground.reclaims,
        zones: ground.start.clone(),
        events: Vec::new(),
        recorded: 0,
        is_recording: false,
        time_ns: SECOND_NS,
        next_second_ns: 2 * SECOND_NS,
        next_half_second_ns: SECOND_NS,
        gap_ns: ground.gap_ns.max(2),
    })
}

impl Host<'_, '_> {
    /// Allocates a block for a new user; `None` if the request failed.
    pub(super) fn alloc(&mut self, task: Task, page_request: PageRequest) -> Option<Handle> {
        let pfn = self.request(task, page_request)?;
        Some(self.users.add(pfn, page_request.order, page_request.used_for))
    }

    /// Allocates a page for a reclaimed block. Returns true if the request succeeded.
    pub(super) fn revive(&mut self, task: Task, page_request: PageRequest, handle: Handle) -> bool {
        let pfn = self.request(task, page_request);
        if let Some(pfn) = pfn {
            self.users.revive(handle, pfn);
        }
        pfn.is_some()
    }

    /// Requests a block from the engine and records the answer.
    fn request(&mut self, task: Task, page_request: PageRequest) -> Option<freehold::Pfn> {
        self.tick();
        let pfn = self.answer(
            task,
            Request { cpu: task.cpu, node: 0, order: page_request.order, gfp: page_request.gfp },
        );
        self.record_fallbacks(task);
        let PageRequest { order, gfp, .. } = page_request;
        self.record(task, EventKind::Alloc { pfn, order, migratetype: gfp.migratetype(), gfp });
        if let Some(pfn) = pfn {
            self.counters.allocated(pfn, order);
        }
        pfn
    }

    /// Frees a block for its user.
    pub(super) fn free(&mut self, task: Task, handle: Handle) {
        if let Some((pfn, order)) = self.users.remove(handle) {
            self.give_back(task, pfn, order);
            self.tick();
        }
    }

    /// Frees a block without a user, and records the free.
    pub(super) fn give_back(&mut self, task: Task, pfn: freehold::Pfn, order: Order) {
        // Each user frees its block once.
        let freed = self.memory.free(task.cpu, pfn, order);
        debug_assert_eq!(freed, Ok(()));
        self.counters.freed(order);
        self.record(task, EventKind::Free { pfn, order });
    }

    /// Splits a block into single pages, each with a handle of its own.
    pub(super) fn split(&mut self, handle: Handle) -> Vec<Handle> {
        let pfn = self.users.pfn(handle);
        match self.users.at(pfn) {
            Some((_, order, _)) if self.memory.split(pfn, order, Order::ZERO).is_ok() => {
                self.users.split(handle)
            }
            _ => vec![handle],
        }
    }

    /// Records an event and advances the clock.
    pub(super) fn record(&mut self, task: Task, kind: EventKind) {
        self.time_ns += self.gap_ns / 2 + self.random.below(self.gap_ns);
        if self.is_recording {
            self.recorded += 1;
            self.events.push(Event { time_ns: self.time_ns, cpu: task.cpu, pid: task.pid, kind });
        }
    }

    /// Runs the daemons and the periodic work that are due.
    #[inline]
    fn tick(&mut self) {
        if self.time_ns >= self.next_second_ns {
            self.refresh();
        }
        if self.reclaims {
            self.run_daemons();
        }
    }

    /// Returns true if half a second has passed since the last call that returned true.
    pub(super) fn take_half_second(&mut self) -> bool {
        let passed = self.time_ns >= self.next_half_second_ns;
        if passed {
            self.next_half_second_ns = self.time_ns + SECOND_NS / 2;
        }
        passed
    }

    /// Records the fallbacks of the last request.
    pub(super) fn record_fallbacks(&mut self, task: Task) {
        let (time_ns, is_recording) = (self.time_ns, self.is_recording);
        let (events, recorded) = (&mut self.events, &mut self.recorded);
        self.fallbacks.take(|kind| {
            if is_recording {
                *recorded += 1;
                events.push(Event { time_ns, cpu: task.cpu, pid: task.pid, kind });
            }
        });
    }

    /// Does the work of Linux's `vmstat_update`, once a second on every CPU.
    fn refresh(&mut self) {
        self.next_second_ns += SECOND_NS;
        for cpu in 0..self.memory.cpus() {
            self.memory.refresh(cpu);
        }
        if !self.reclaims {
            self.memory.zones().iter().for_each(|zone| zone.relax_boost(zone.watermark_boost()));
        }
    }

    /// Starts recording. Returns the start snapshot.
    pub(super) fn start_recording(&mut self) -> Snapshot {
        self.is_recording = true;
        let mut start = self.end();
        start.occupancy = occupancy(self.memory, &self.users);
        start
    }

    /// Returns the end snapshot.
    pub(super) fn end(&self) -> Snapshot {
        let mut end = self.zones.clone();
        fill_snapshot(self.memory, &mut end);
        end.vmstat = self.counters.vmstat(self.memory);
        end.time_ns = self.time_ns;
        end
    }

    /// Returns the number of events recorded so far.
    pub(super) fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Returns the number of recorded events that were not handed over yet.
    pub(super) fn waiting(&self) -> usize {
        self.events.len()
    }

    /// Calls `take` with the events recorded since the last call.
    pub(super) fn hand_over<R>(&mut self, take: impl FnOnce(&[Event]) -> R) -> R {
        let taken = take(&self.events);
        self.events.clear();
        taken
    }

    /// Checks the engine's invariants.
    pub(super) fn check(&self, variant: &Variant) -> Result<(), LabError> {
        self.memory.check().map_err(|source| LabError::Broken { variant: variant.to_string(), source })
    }

    /// Returns the free pages of all zones.
    pub(super) fn free_pages(&self) -> u64 {
        self.memory.zones().iter().map(Zone::free_pages).sum()
    }

    /// Returns the pages of all zones.
    pub(super) fn pages(&self) -> u64 {
        self.memory.zones().iter().map(|zone| zone.end().0 - zone.start().0).sum()
    }

    /// Returns a random CPU.
    pub(super) fn any_cpu(&mut self) -> u16 {
        self.random.below(self.memory.cpus().into()) as u16
    }
}
