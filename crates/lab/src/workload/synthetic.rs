//! Traces of a small synthetic workload, for tests and benchmarks.
//!
//! Processes fork and exit. The page cache fills the remaining memory, and its oldest pages are
//! reclaimed. Slabs are allocated in bursts. Transparent huge pages are freed whole or page by page.
//! The same seed gives the same trace.

use std::collections::VecDeque;

use freehold::{Era, GfpFlags, Order};
use freehold_trace::{
    ByOrder, Ending, EventLog, Origin, PageTypeInfo, PageTypeZone, Pageset, Snapshot, ZoneSnapshot,
};

use super::host::{Ground, HUGE, Host, PageRequest, Task, on_a_host};
use super::users::{Handle, Use};
use crate::error::LabError;
use crate::trace::Trace;

/// A small synthetic workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Synthetic {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The approximate number of events.
    pub events: usize,
    /// The number of pages of the machine, in two zones.
    pub pages: u64,
    /// The number of CPUs of the machine.
    pub cpus: u16,
    /// Reclaim keeps 1 / `free_fraction` of the pages free. A larger value causes more fallbacks.
    pub free_fraction: u64,
    /// The allocator of the machine.
    pub era: Era,
    /// The size of a page in bytes.
    pub page_bytes: u64,
    /// The largest order.
    pub max_order: Order,
    /// The order of a pageblock and of a huge page.
    pub pageblock_order: Order,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self {
            seed: 1,
            events: 200_000,
            pages: 1 << 16,
            cpus: 2,
            free_fraction: 40,
            era: Era::Linux6_12,
            page_bytes: 4096,
            max_order: Order::MAX_PAGE_ORDER,
            pageblock_order: HUGE,
        }
    }
}

impl Synthetic {
    /// Generates the trace.
    ///
    /// # Errors
    /// The machine has no pages or no CPUs.
    pub fn generate(&self) -> Result<Generated, LabError> {
        let mut start = Snapshot { zones: zones(self), ..Snapshot::default() };
        let mut counts = PageTypeZone::default();
        counts.free.fill(ByOrder::new(self.max_order));
        start.pagetypeinfo = PageTypeInfo {
            pageblock_order: self.pageblock_order.get(),
            zones: vec![counts],
            ..PageTypeInfo::default()
        };
        let ground =
            Ground { start, switches: self.era.switches(), seed: self.seed, gap_ns: 3000, reclaims: false };
        on_a_host(&ground, |mut host| {
            let mut driver = Driver::new(&host, self);
            // Memory is filled before the recording starts.
            let warm_up = self.pages / 40;
            for _ in 0..warm_up {
                driver.step(&mut host);
            }
            let start = host.start_recording();
            while host.waiting() < self.events {
                driver.step(&mut host);
            }
            let ending = Ending { snapshot: Some(host.end()), ..Ending::default() };
            let events = host.hand_over(|events| EventLog::from(events));
            Ok(Generated { origin: origin(self), start, events, ending })
        })
    }
}

/// A generated trace in memory.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// The origin of the trace.
    pub origin: Origin,
    /// The state of the machine at the start.
    pub start: Snapshot,
    /// The events.
    pub events: EventLog,
    /// The state of the machine at the end.
    pub ending: Ending,
}

impl Generated {
    /// Returns the trace for a replay.
    pub fn trace(&self) -> Trace<'_> {
        Trace { origin: &self.origin, start: &self.start, events: &self.events, ending: Some(&self.ending) }
    }
}

fn origin(workload: &Synthetic) -> Origin {
    let kernel_release = match workload.era {
        Era::Linux6_1 => "6.1.0",
        Era::Linux6_12 => "6.12.30",
        _ => "7.3.0",
    };
    Origin {
        kernel_release: kernel_release.to_owned(),
        architecture: "x86_64".to_owned(),
        cpus: workload.cpus.into(),
        page_bytes: workload.page_bytes,
        recorder: "synthetic".to_owned(),
        clock: "mono".to_owned(),
        ..Origin::default()
    }
}

/// Returns the zones: a quarter of the pages in DMA32, the rest in Normal, whose first frame is unaligned.
fn zones(workload: &Synthetic) -> Vec<ZoneSnapshot> {
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

/// The state of the workload. The workload itself reclaims, to keep a fixed part of memory free.
struct Driver {
    pages: u64,
    keep_free: u64,
    huge_order: Order,
    processes: Vec<Vec<Handle>>,
    page_cache: VecDeque<Handle>,
    slabs: Vec<Handle>,
    huge: VecDeque<Handle>,
}

impl Driver {
    fn new(host: &Host<'_, '_>, workload: &Synthetic) -> Self {
        let pages = host.pages();
        Self {
            pages,
            keep_free: pages / workload.free_fraction.max(1),
            huge_order: workload.pageblock_order,
            processes: Vec::new(),
            page_cache: VecDeque::new(),
            slabs: Vec::new(),
            huge: VecDeque::new(),
        }
    }

    fn step(&mut self, host: &mut Host<'_, '_>) {
        let task = Task { cpu: host.any_cpu(), pid: 0 };
        match host.random.below(100) {
            0..35 => self.fork(host, task),
            35..75 => self.read_files(host, task),
            75..95 => self.use_slabs(host, task),
            _ => self.use_huge_pages(host, task),
        }
        self.reclaim(host);
    }

    /// Starts a process with stack, page tables and anonymous memory, and may end another one.
    fn fork(&mut self, host: &mut Host<'_, '_>, task: Task) {
        let mut blocks = Vec::new();
        let stack = PageRequest { order: Order::new(2).unwrap_or(Order::ZERO), ..PageRequest::STACK };
        blocks.extend(host.alloc(task, stack));
        for _ in 0..4 + host.random.below(8) {
            blocks.extend(host.alloc(task, PageRequest::PAGE_TABLE));
        }
        for _ in 0..40 + host.random.below(200) {
            blocks.extend(host.alloc(task, PageRequest::ANON));
        }
        self.processes.push(blocks);
        if self.processes.len() as u64 > 8 + self.pages / 2048 {
            let chosen = host.random.below(self.processes.len() as u64) as usize;
            for block in self.processes.swap_remove(chosen).into_iter().rev() {
                host.free(task, block);
            }
        }
    }

    fn read_files(&mut self, host: &mut Host<'_, '_>, task: Task) {
        for _ in 0..32 + host.random.below(160) {
            self.page_cache.extend(host.alloc(task, PageRequest::WRITTEN));
        }
    }

    /// Allocates slabs in bursts and frees some at random.
    fn use_slabs(&mut self, host: &mut Host<'_, '_>, task: Task) {
        let gfp = match host.random.below(3) {
            0 => GfpFlags::KERNEL | GfpFlags::RECLAIMABLE | GfpFlags::COMP,
            _ => GfpFlags::KERNEL | GfpFlags::COMP,
        };
        let order = Order::new([0, 0, 1, 3][host.random.below(4) as usize]).unwrap_or(Order::ZERO);
        let burst = 1 + host.random.below(400 >> order.get());
        for _ in 0..burst {
            self.slabs.extend(host.alloc(task, PageRequest { order, gfp, used_for: Use::Slab }));
        }
        while self.slabs.len() as u64 > self.pages / 8 {
            for _ in 0..host.random.below(600) {
                if self.slabs.is_empty() {
                    break;
                }
                let chosen = host.random.below(self.slabs.len() as u64) as usize;
                let slab = self.slabs.swap_remove(chosen);
                host.free(task, slab);
            }
        }
    }

    fn use_huge_pages(&mut self, host: &mut Host<'_, '_>, task: Task) {
        let huge =
            PageRequest { order: self.huge_order, gfp: GfpFlags::TRANSHUGE_LIGHT, used_for: Use::Pinned };
        for _ in 0..=host.random.below(4) {
            self.huge.extend(host.alloc(task, huge));
        }
        while self.huge.len() as u64 * self.huge_order.pages() > self.pages / 8 {
            let Some(huge) = self.huge.pop_front() else { break };
            if host.random.below(3) > 0 {
                host.free(task, huge);
            } else {
                host.split(huge).into_iter().for_each(|page| host.free(task, page));
            }
        }
    }

    /// Frees the oldest page cache if little memory is free, as kswapd does.
    fn reclaim(&mut self, host: &mut Host<'_, '_>) {
        if host.free_pages() > self.keep_free {
            return;
        }
        for _ in 0..self.pages / 100 {
            // Not strictly by age, as in the two lists of an LRU.
            let chosen = host.random.below(8) as usize;
            let last = self.page_cache.len().max(1) - 1;
            let Some(page) = self.page_cache.swap_remove_front(chosen.min(last)) else { return };
            host.free(Task { cpu: 0, pid: 0 }, page);
        }
    }
}
