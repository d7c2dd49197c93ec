//! Traces of a made-up workload on a made-up machine, for tests and benchmarks.
//!
//! The engine itself is the machine: a driver with processes that fork and exit, a page
//! cache that fills what is left and is reclaimed from its oldest end, slabs in bursts, and
//! transparent huge pages that are freed whole or page by page. What the driver asked and
//! was answered is the trace. The same seed gives the same trace.

use std::collections::VecDeque;

use freehold::{Era, GfpFlags, MAX_ORDERS, Memory, Migratetype, Order, Pfn, Request};
use freehold_trace::{
    Ending, Event, EventKind, FrameUse, FreeCount, Origin, PageTypeInfo, PageTypeZone, Pageset, Run,
    Snapshot, ZoneSnapshot,
};

use crate::timed_mutex::ReplayLocks;
use crate::{LabError, Machine, Trace};

/// What to make up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workload {
    /// Another seed, another trace.
    pub seed: u64,
    /// About how many events to record.
    pub events: usize,
    /// Pages of the machine, in two zones.
    pub pages: u64,
    /// CPUs of the machine.
    pub cpus: u16,
    /// The part of the pages that reclaim keeps free, as its denominator: the more, the fewer
    /// are free and the more requests fall back.
    pub free_fraction: u64,
    /// The allocator of the machine.
    pub era: Era,
}

impl Default for Workload {
    fn default() -> Self {
        Self { seed: 1, events: 200_000, pages: 1 << 16, cpus: 2, free_fraction: 40, era: Era::Linux6_12 }
    }
}

/// A made-up trace.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Where it pretends to come from.
    pub origin: Origin,
    /// The machine at the start.
    pub start: Snapshot,
    /// What happened.
    pub events: Vec<Event>,
    /// The machine at the end.
    pub ending: Ending,
}

impl Generated {
    /// The trace as the lab takes it.
    pub fn trace(&self) -> Trace<'_> {
        Trace { origin: &self.origin, start: &self.start, events: &self.events, ending: Some(&self.ending) }
    }
}

/// Makes a trace up.
///
/// # Errors
/// A workload whose machine the engine refuses: without pages, or without CPUs.
pub fn generate(workload: &Workload) -> Result<Generated, LabError> {
    let mut start = Snapshot { zones: zones(workload), ..Snapshot::default() };
    start.pagetypeinfo.pageblock_order = 9;
    let machine = Machine::new(&start, &[])?;
    let switches = workload.era.switches();
    let mut metadata = machine.metadata::<ReplayLocks>(switches);
    let memory = Memory::<ReplayLocks>::new(&machine.config(switches), &mut metadata)?;
    for config in &machine.zones {
        if let Some(zone) = memory.zone_of(config.start) {
            zone.add_free(config.start, config.spanned)?;
        }
    }
    let mut driver = Driver::new(&memory, workload);
    // Memory fills up before the recording starts.
    let warm_up = workload.pages as usize * 4;
    while driver.events.len() < warm_up {
        driver.step();
    }
    driver.events.clear();
    look(&memory, &mut start, true);
    start.time_ns = driver.time_ns;
    while driver.events.len() < workload.events {
        driver.step();
    }
    let mut end = start.clone();
    look(&memory, &mut end, false);
    end.time_ns = driver.time_ns;
    let kernel_release = match workload.era {
        Era::Linux6_1 => "6.1.0",
        Era::Linux6_12 => "6.12.30",
        _ => "7.3.0",
    };
    let origin = Origin {
        kernel_release: kernel_release.to_owned(),
        architecture: "x86_64".to_owned(),
        cpus: workload.cpus.into(),
        page_bytes: 4096,
        recorder: "synthetic".to_owned(),
        clock: "mono".to_owned(),
        ..Origin::default()
    };
    let ending = Ending { snapshot: Some(end), ..Ending::default() };
    Ok(Generated { origin, start, events: driver.events, ending })
}

/// A quarter of the pages in DMA32, the rest in Normal, which starts unaligned.
fn zones(workload: &Workload) -> Vec<ZoneSnapshot> {
    let low = (workload.pages / 4).max(1024);
    let high = workload.pages.saturating_sub(low).max(1024);
    let zone = |name: &str, start_pfn, pages: u64, reserve: u64| {
        let min = pages / 300;
        let set = |cpu| Pageset {
            cpu,
            batch: 63,
            high: 252,
            high_min: 252,
            high_max: (pages / 8 / u64::from(workload.cpus.max(1))).max(252),
            ..Pageset::default()
        };
        ZoneSnapshot {
            name: name.to_owned(),
            start_pfn,
            spanned: pages,
            present: pages,
            managed: pages,
            watermark_min: min,
            watermark_low: min * 5 / 4,
            watermark_high: min * 3 / 2,
            protection: vec![0, 0, reserve, reserve, 0],
            pagesets: (0..u32::from(workload.cpus)).map(set).collect(),
            ..ZoneSnapshot::default()
        }
    };
    vec![zone("DMA32", 0x1000, low, high / 256), zone("Normal", 0x10_0000 + 64, high, 0)]
}

/// Reads what a recorder would from `/proc`.
fn look(memory: &Memory<'_, ReplayLocks>, snapshot: &mut Snapshot, with_occupancy: bool) {
    let mut info = PageTypeInfo { pageblock_order: 9, ..PageTypeInfo::default() };
    info.types = Migratetype::ALL.iter().map(|&kind| kind as u8).collect();
    snapshot.occupancy.clear();
    for zone in memory.zones() {
        let mut read = PageTypeZone { name: zone.kind().name().to_owned(), ..PageTypeZone::default() };
        let counts = zone.list_lengths();
        for order in 0..MAX_ORDERS {
            for kind in Migratetype::ALL {
                let blocks = counts.by_type[order][kind.index()];
                read.free[kind.index()][order] = FreeCount { blocks, capped: false };
            }
        }
        read.blocks = zone.blocks_by_type();
        info.zones.push(read);
        if with_occupancy {
            occupancy(memory, zone, &mut snapshot.occupancy);
        }
    }
    snapshot.pagetypeinfo = info;
}

fn occupancy(memory: &Memory<'_, ReplayLocks>, zone: &freehold::Zone<'_, ReplayLocks>, runs: &mut Vec<Run>) {
    let (start, end) = (zone.start().0, zone.end().0);
    // What is neither free nor allocated is on a per-CPU list, which looks like any use.
    let mut uses = vec![FrameUse::Other; (end - start) as usize];
    let mut fill = |pfn: Pfn, order: Order, used_for| {
        let at = (pfn.0 - start) as usize;
        uses[at..at + order.pages() as usize].fill(used_for);
    };
    for order in Order::all() {
        for kind in Migratetype::ALL {
            zone.free_list(order, kind).for_each(|pfn| fill(pfn, order, FrameUse::Free));
        }
    }
    for pfn in (start..end).map(Pfn) {
        if let Some((order, kind)) = memory.allocated_block(pfn) {
            let used_for = match kind {
                Migratetype::Movable => FrameUse::Movable,
                Migratetype::Unmovable if order == Order::ZERO => FrameUse::PageTable,
                _ => FrameUse::Slab,
            };
            fill(pfn, order, used_for);
        }
    }
    let mut at = start;
    for run in uses.chunk_by(|a, b| a == b) {
        runs.push(Run { start: Pfn(at), pages: run.len() as u64, used_for: run[0] });
        at += run.len() as u64;
    }
}

/// A block that the driver holds.
type Block = (Pfn, Order);

struct Driver<'d, 'm> {
    memory: &'d Memory<'m, ReplayLocks>,
    events: Vec<Event>,
    time_ns: u64,
    next_second_ns: u64,
    random: u64,
    pages: u64,
    keep_free: u64,
    processes: Vec<Vec<Block>>,
    page_cache: VecDeque<Block>,
    slabs: Vec<Block>,
    huge: VecDeque<Block>,
}

const HUGE: Order = match Order::new(9) {
    Some(order) => order,
    None => Order::MAX,
};

impl<'d, 'm> Driver<'d, 'm> {
    fn new(memory: &'d Memory<'m, ReplayLocks>, workload: &Workload) -> Self {
        Self {
            memory,
            events: Vec::new(),
            time_ns: 1_000_000_000,
            next_second_ns: 2_000_000_000,
            random: workload.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            pages: workload.pages,
            keep_free: workload.pages / workload.free_fraction.max(1),
            processes: Vec::new(),
            page_cache: VecDeque::new(),
            slabs: Vec::new(),
            huge: VecDeque::new(),
        }
    }

    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % bound.max(1)
    }

    fn record(&mut self, cpu: u16, kind: EventKind) {
        self.time_ns += 1000 + self.below(4000);
        self.events.push(Event { time_ns: self.time_ns, cpu, pid: 0, kind });
        if self.time_ns >= self.next_second_ns {
            self.next_second_ns += 1_000_000_000;
            for cpu in 0..self.memory.cpus() {
                self.memory.refresh(cpu);
            }
            for zone in self.memory.zones() {
                zone.relax_boost(zone.watermark_boost());
            }
        }
    }

    fn alloc(&mut self, cpu: u16, order: Order, gfp: GfpFlags) -> Option<Block> {
        let pfn = self.memory.alloc(Request { cpu, node: 0, order, gfp }).ok();
        self.record(cpu, EventKind::Alloc { pfn, order, migratetype: gfp.migratetype(), gfp });
        pfn.map(|pfn| (pfn, order))
    }

    fn free(&mut self, cpu: u16, (pfn, order): Block) {
        // The driver frees what it holds, once.
        let freed = self.memory.free(cpu, pfn, order);
        debug_assert_eq!(freed, Ok(()));
        self.record(cpu, EventKind::Free { pfn, order });
    }

    fn step(&mut self) {
        let cpu = self.below(self.memory.cpus().into()) as u16;
        match self.below(100) {
            0..35 => self.fork(cpu),
            35..75 => self.read_files(cpu),
            75..95 => self.use_slabs(cpu),
            _ => self.use_huge_pages(cpu),
        }
        self.reclaim();
    }

    /// A process starts: stack, page tables, anonymous memory. Another one may exit.
    fn fork(&mut self, cpu: u16) {
        let mut blocks = Vec::new();
        let stack = Order::new(2).unwrap_or(Order::ZERO);
        blocks.extend(self.alloc(cpu, stack, GfpFlags::KERNEL_ACCOUNT | GfpFlags::ZERO));
        for _ in 0..4 + self.below(8) {
            blocks.extend(self.alloc(cpu, Order::ZERO, GfpFlags::KERNEL_ACCOUNT | GfpFlags::ZERO));
        }
        for _ in 0..40 + self.below(200) {
            blocks.extend(self.alloc(cpu, Order::ZERO, GfpFlags::HIGHUSER_MOVABLE | GfpFlags::ZERO));
        }
        self.processes.push(blocks);
        if self.processes.len() as u64 > 8 + self.pages / 2048 {
            let chosen = self.below(self.processes.len() as u64) as usize;
            for block in self.processes.swap_remove(chosen).into_iter().rev() {
                self.free(cpu, block);
            }
        }
    }

    fn read_files(&mut self, cpu: u16) {
        for _ in 0..32 + self.below(160) {
            let page = self.alloc(cpu, Order::ZERO, GfpFlags::HIGHUSER_MOVABLE | GfpFlags::WRITE);
            self.page_cache.extend(page);
        }
    }

    /// Slabs grow in bursts and shrink here and there.
    fn use_slabs(&mut self, cpu: u16) {
        let gfp = match self.below(3) {
            0 => GfpFlags::KERNEL | GfpFlags::RECLAIMABLE | GfpFlags::COMP,
            _ => GfpFlags::KERNEL | GfpFlags::COMP,
        };
        let order = Order::new([0, 0, 1, 3][self.below(4) as usize]).unwrap_or(Order::ZERO);
        let burst = 1 + self.below(400 >> order.get());
        for _ in 0..burst {
            let slab = self.alloc(cpu, order, gfp);
            self.slabs.extend(slab);
        }
        while self.slabs.len() as u64 > self.pages / 8 {
            for _ in 0..self.below(600) {
                if self.slabs.is_empty() {
                    break;
                }
                let chosen = self.below(self.slabs.len() as u64) as usize;
                let slab = self.slabs.swap_remove(chosen);
                self.free(cpu, slab);
            }
        }
    }

    fn use_huge_pages(&mut self, cpu: u16) {
        for _ in 0..=self.below(4) {
            let huge = self.alloc(cpu, HUGE, GfpFlags::TRANSHUGE_LIGHT);
            self.huge.extend(huge);
        }
        while self.huge.len() as u64 * HUGE.pages() > self.pages / 8 {
            let Some(huge) = self.huge.pop_front() else { break };
            if self.below(3) > 0 {
                self.free(cpu, huge);
            } else if self.memory.split(huge.0, HUGE, Order::ZERO).is_ok() {
                for page in 0..HUGE.pages() {
                    self.free(cpu, (huge.0.add(page), Order::ZERO));
                }
            }
        }
    }

    /// kswapd: the oldest page cache goes once little is free.
    fn reclaim(&mut self) {
        let free: u64 = self.memory.zones().iter().map(freehold::Zone::free_pages).sum();
        if free > self.keep_free {
            return;
        }
        for _ in 0..self.pages / 100 {
            // Not quite in order, as the LRU's two lists are not.
            let chosen = self.below(8) as usize;
            let Some(page) = self.page_cache.swap_remove_front(chosen.min(self.page_cache.len().max(1) - 1))
            else {
                return;
            };
            self.free(0, page);
        }
    }
}
