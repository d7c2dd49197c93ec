//! A machine that is made up: the engine, a clock, who uses what, and a recorder.

use freehold::{GfpFlags, Memory, Order, Request, Switches, Zone};
use freehold_trace::{Event, EventKind, EventLog, Snapshot};

use super::counters::Counters;
use super::fallbacks::{Fallbacks, HostLocks};
use super::look::{look, occupancy};
use super::random::Random;
use super::spread::Spread;
use super::users::{Handle, Use, Users};
use crate::error::LabError;
use crate::replay::Variant;
use crate::start::Machine;

const SECOND_NS: u64 = 1_000_000_000;

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Task {
    /// The CPU that it runs on.
    pub(super) cpu: u16,
    /// Its number.
    pub(super) pid: i32,
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ask {
    pub(super) order: Order,
    pub(super) gfp: GfpFlags,
    pub(super) used_for: Use,
}

/// The order of a transparent huge page on x86-64.
pub(super) const HUGE: Order = match Order::new(9) {
    Some(order) => order,
    None => Order::MAX,
};

impl Ask {
    /// A page fault on anonymous memory.
    pub(super) const ANON: Self = Self::one(GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::ZERO), Use::Anon);
    /// Readahead into the page cache. Linux counterpart: `readahead_gfp_mask`.
    pub(super) const READAHEAD: Self =
        Self::one(GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::NORETRY).union(GfpFlags::NOWARN), Use::File);
    /// A page of a file that is written.
    pub(super) const WRITTEN: Self = Self::one(GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::WRITE), Use::File);
    /// A page table.
    pub(super) const PAGE_TABLE: Self =
        Self::one(GfpFlags::KERNEL_ACCOUNT.union(GfpFlags::ZERO), Use::PageTable);
    /// One page of a kernel stack, which `CONFIG_VMAP_STACK` takes singly.
    pub(super) const STACK: Self = Self::one(GfpFlags::KERNEL_ACCOUNT.union(GfpFlags::ZERO), Use::Kernel);
    /// A page for a packet that a driver receives.
    pub(super) const PACKET: Self = Self::one(GfpFlags::GFP_ATOMIC.union(GfpFlags::NOWARN), Use::Kernel);
    /// A fault on a range that `madvise` wants in huge pages.
    pub(super) const HUGE: Self =
        Self { order: HUGE, gfp: GfpFlags::TRANSHUGE.union(GfpFlags::ZERO), used_for: Use::Anon };

    const fn one(gfp: GfpFlags, used_for: Use) -> Self {
        Self { order: Order::ZERO, gfp, used_for }
    }
}

/// What a machine is made of, and how fast it is.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    /// Zones and settings.
    pub(super) start: Snapshot,
    /// What its allocator does.
    pub(super) switches: Switches,
    /// Another seed, another run.
    pub(super) seed: u64,
    /// Nanoseconds between two events, on average.
    pub(super) gap_ns: u64,
    /// Whether it reclaims and compacts; otherwise requests are refused instead.
    pub(super) reclaims: bool,
}

/// A machine that is made up.
pub(super) struct Host<'h, 'm> {
    pub(super) memory: &'h Memory<'m, HostLocks>,
    fallbacks: &'h Fallbacks,
    pub(super) users: Users,
    pub(super) random: Random,
    pub(super) counters: Counters,
    /// What huge page faults cost.
    pub(super) huge_work: Spread,
    /// Who compacts, or reclaims by itself.
    pub(super) mover: Task,
    /// Pages have been moved since compaction began.
    pub(super) is_compacting: bool,
    pub(super) reclaims: bool,
    /// Objects that reclaim wanted from slab caches.
    pub(super) slab_pressure: u64,
    zones: Snapshot,
    events: Vec<Event>,
    recorded: u64,
    is_recording: bool,
    time_ns: u64,
    next_second_ns: u64,
    next_half_second_ns: u64,
    gap_ns: u64,
}

/// Sets a machine up with all its memory free, and lets `body` use it.
pub(super) fn on_a_host<R, E: From<LabError>>(
    ground: &Ground,
    body: impl FnOnce(Host<'_, '_>) -> Result<R, E>,
) -> Result<R, E> {
    let machine = Machine::new(&ground.start, &EventLog::default())?;
    let mut metadata = machine.metadata::<HostLocks>(ground.switches);
    let fallbacks = Fallbacks::default();
    let config = machine.config(ground.switches);
    let memory = Memory::<HostLocks>::watched(&config, &mut metadata, &fallbacks).map_err(LabError::from)?;
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
        huge_work: Spread::default(),
        mover: Task { cpu: 0, pid: 0 },
        is_compacting: false,
        reclaims: ground.reclaims,
        slab_pressure: 0,
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
    /// Asks for a block; what has no user within the machine gets one.
    pub(super) fn alloc(&mut self, task: Task, ask: Ask) -> Option<Handle> {
        let pfn = self.request(task, ask)?;
        Some(self.users.add(pfn, ask.order, ask.used_for))
    }

    /// Asks for pages for a block that reclaim has taken; whether there were any.
    pub(super) fn revive(&mut self, task: Task, ask: Ask, handle: Handle) -> bool {
        let pfn = self.request(task, ask);
        if let Some(pfn) = pfn {
            self.users.revive(handle, pfn);
        }
        pfn.is_some()
    }

    /// Asks the allocator, and records what it answers.
    fn request(&mut self, task: Task, ask: Ask) -> Option<freehold::Pfn> {
        self.tick();
        let pfn = self.answer(task, Request { cpu: task.cpu, node: 0, order: ask.order, gfp: ask.gfp });
        self.record_fallbacks(task);
        let Ask { order, gfp, .. } = ask;
        self.record(task, EventKind::Alloc { pfn, order, migratetype: gfp.migratetype(), gfp });
        if let Some(pfn) = pfn {
            self.counters.allocated(pfn, order);
        }
        pfn
    }

    /// The user of a block lets go of it.
    pub(super) fn free(&mut self, task: Task, handle: Handle) {
        if let Some((pfn, order)) = self.users.remove(handle) {
            self.give_back(task, pfn, order);
            self.tick();
        }
    }

    /// A block whose user does not need it any more goes back to the allocator.
    pub(super) fn give_back(&mut self, task: Task, pfn: freehold::Pfn, order: Order) {
        // Who uses a block gives it back once.
        let freed = self.memory.free(task.cpu, pfn, order);
        debug_assert_eq!(freed, Ok(()));
        self.counters.freed(order);
        self.record(task, EventKind::Free { pfn, order });
    }

    /// A block becomes single pages, each to be freed by itself.
    pub(super) fn split(&mut self, handle: Handle) -> Vec<Handle> {
        let pfn = self.users.pfn(handle);
        match self.users.at(pfn) {
            Some((_, order, _)) if self.memory.split(pfn, order, Order::ZERO).is_ok() => {
                self.users.split(handle)
            }
            _ => vec![handle],
        }
    }

    /// Notes an event, and lets time pass.
    pub(super) fn record(&mut self, task: Task, kind: EventKind) {
        self.time_ns += self.gap_ns / 2 + self.random.below(self.gap_ns);
        if self.is_recording {
            self.recorded += 1;
            self.events.push(Event { time_ns: self.time_ns, cpu: task.cpu, pid: task.pid, kind });
        }
    }

    /// Does what time and others have asked for meanwhile.
    #[inline]
    fn tick(&mut self) {
        if self.time_ns >= self.next_second_ns {
            self.refresh();
        }
        if self.reclaims {
            self.run_daemons();
        }
    }

    /// Whether another half of a second has passed.
    pub(super) fn take_half_second(&mut self) -> bool {
        let passed = self.time_ns >= self.next_half_second_ns;
        if passed {
            self.next_half_second_ns = self.time_ns + SECOND_NS / 2;
        }
        passed
    }

    /// Notes the fallbacks that a request led to.
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

    /// Lets time pass in which nothing is asked for.
    pub(super) fn sleep_until(&mut self, time_ns: u64) {
        self.time_ns = self.time_ns.max(time_ns);
        while self.time_ns >= self.next_second_ns {
            self.refresh();
        }
    }

    /// What Linux does once a second on every CPU.
    fn refresh(&mut self) {
        self.next_second_ns += SECOND_NS;
        for cpu in 0..self.memory.cpus() {
            self.memory.refresh(cpu);
        }
        if !self.reclaims {
            self.memory.zones().iter().for_each(|zone| zone.relax_boost(zone.watermark_boost()));
        }
    }

    /// Nanoseconds on the machine's clock.
    pub(super) fn now_ns(&self) -> u64 {
        self.time_ns
    }

    /// How many objects of slab caches reclaim wanted since the last time.
    pub(super) fn take_slab_pressure(&mut self) -> u64 {
        std::mem::take(&mut self.slab_pressure)
    }

    /// Starts recording; returns what a recorder reads first.
    pub(super) fn start_recording(&mut self) -> Snapshot {
        self.is_recording = true;
        let mut start = self.end();
        start.occupancy = occupancy(self.memory, &self.users);
        start
    }

    /// What a recorder reads last.
    pub(super) fn end(&self) -> Snapshot {
        let mut end = self.zones.clone();
        look(self.memory, &mut end);
        end.vmstat = self.counters.vmstat(self.memory);
        end.time_ns = self.time_ns;
        end
    }

    /// Events recorded so far.
    pub(super) fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Events that nobody has taken yet.
    pub(super) fn waiting(&self) -> usize {
        self.events.len()
    }

    /// Hands the events over that have been recorded since the last time.
    pub(super) fn hand_over<R>(&mut self, take: impl FnOnce(&[Event]) -> R) -> R {
        let taken = take(&self.events);
        self.events.clear();
        taken
    }

    /// Whether the engine's state is consistent.
    pub(super) fn check(&self, variant: &Variant) -> Result<(), LabError> {
        self.memory.check().map_err(|source| LabError::Broken { variant: variant.to_string(), source })
    }

    /// Frames that tasks themselves have looked at or reclaimed so far, for blocks and for pages.
    pub(super) fn direct_work(&self) -> u64 {
        let vm = self.memory.vm_events();
        let by_daemon = vm.compact_daemon_migrate_scanned + vm.compact_daemon_free_scanned;
        vm.compact_migrate_scanned + vm.compact_free_scanned + vm.pgscan_direct + vm.pgsteal_direct
            - by_daemon
    }

    /// All free pages.
    pub(super) fn free_pages(&self) -> u64 {
        self.memory.zones().iter().map(Zone::free_pages).sum()
    }

    /// All pages.
    pub(super) fn pages(&self) -> u64 {
        self.memory.zones().iter().map(|zone| zone.end().0 - zone.start().0).sum()
    }

    /// A CPU, any of them.
    pub(super) fn any_cpu(&mut self) -> u16 {
        self.random.below(self.memory.cpus().into()) as u16
    }
}
