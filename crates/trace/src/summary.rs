//! Counts of a trace's events.

use std::collections::BTreeMap;
use std::io::Read;

use freehold::Order;
use serde::Serialize;

use crate::format::TraceError;
use crate::model::{ByOrder, Ending, Event, EventKind, Origin, PageWork, ZoneSnapshot};
use crate::read::TraceReader;

/// Counts of a trace's events.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct TraceSummary {
    /// Bytes of the file.
    pub bytes: u64,
    /// Record batches, including those of the start snapshot.
    pub batches: u64,
    /// Runs of the start snapshot's occupancy.
    pub occupancy_runs: u64,
    /// Events of all kinds.
    pub events: u64,
    /// Events by kind.
    pub kinds: KindCounts,
    /// Events by CPU.
    pub cpus: BTreeMap<u16, u64>,
    /// Time of the first event.
    pub first_ns: u64,
    /// Time of the last event.
    pub last_ns: u64,
    /// Allocations that succeeded, by order.
    pub alloc_orders: ByOrder<u64>,
    /// Allocations that failed, by order.
    pub failed_orders: ByOrder<u64>,
    /// Frees, by order.
    pub free_orders: ByOrder<u64>,
    /// Events missing at [`EventKind::Lost`], as the kernel counted them.
    pub lost: u64,
    /// Events lost on all CPUs, according to the ending.
    pub lost_at_end: u64,
    /// True if the trace has no ending.
    pub cut_short: bool,
}

/// The facts about a trace: its origin, its counts, its zones and its ending.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TraceFacts<'t> {
    /// The origin of the trace.
    pub origin: &'t Origin,
    /// The counts of its events.
    pub summary: &'t TraceSummary,
    /// The zones at the start.
    pub zones: &'t [ZoneSnapshot],
    /// The ending; `None` if the recording was cut short.
    pub ending: Option<&'t Ending>,
}

impl<'t> TraceFacts<'t> {
    /// Collects the facts from a reader that has read all events, and from their summary.
    pub fn new<R: Read>(reader: &'t TraceReader<R>, summary: &'t TraceSummary) -> Self {
        Self { origin: reader.origin(), summary, zones: &reader.start().zones, ending: reader.ending() }
    }
}

/// Events by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct KindCounts {
    /// `mm_page_alloc`, including failures.
    pub alloc: u64,
    /// `mm_page_free`.
    pub free: u64,
    /// `mm_page_alloc_extfrag`.
    pub extfrag: u64,
    /// `mm_page_alloc_zone_locked`.
    pub zone_locked: u64,
    /// `mm_page_pcpu_drain`.
    pub pcpu_drain: u64,
    /// `mm_compaction_begin`: compactions of a zone.
    pub compaction: u64,
    /// Places where events are missing.
    pub lost: u64,
    /// `mm_compaction_isolate_migratepages`, `…_isolate_freepages`, `…_fast_isolate_freepages` and
    /// `…_migratepages`.
    pub compaction_steps: u64,
    /// `mm_vmscan_direct_reclaim_begin`.
    pub direct_reclaim: u64,
    /// `mm_vmscan_lru_shrink_inactive`.
    pub shrink_inactive: u64,
    /// `mm_vmscan_kswapd_wake`.
    pub kswapd_wake: u64,
    /// `test_pages_isolated`.
    pub isolation: u64,
    /// `cma_alloc_finish` and `cma_release`.
    pub cma: u64,
}

impl KindCounts {
    fn add_work(&mut self, work: PageWork) {
        let count = match work {
            PageWork::IsolateMigratePages
            | PageWork::IsolateFreePages
            | PageWork::FastIsolateFreePages
            | PageWork::MigratePages => &mut self.compaction_steps,
            PageWork::ShrinkInactive => &mut self.shrink_inactive,
            PageWork::TestIsolated => &mut self.isolation,
            PageWork::CmaAlloc | PageWork::CmaRelease => &mut self.cma,
            // Direct reclaim is counted at its beginning.
            PageWork::DirectReclaim => return,
        };
        *count += 1;
    }
}

impl TraceSummary {
    /// Reads a trace to its end, and counts its events.
    pub fn read<R: Read>(reader: &mut TraceReader<R>) -> Result<Self, TraceError> {
        let orders = ByOrder::new(reader.start().largest_order().unwrap_or(Order::MAX_PAGE_ORDER));
        let mut summary = Self {
            occupancy_runs: reader.start().occupancy.len() as u64,
            alloc_orders: orders,
            failed_orders: orders,
            free_orders: orders,
            ..Self::default()
        };
        while let Some(events) = reader.next_batch()? {
            summary.add(events);
        }
        summary.bytes = reader.bytes();
        summary.batches = reader.batches();
        summary.cut_short = reader.is_cut_short();
        let lost = reader.ending().map_or(&[][..], |ending| &ending.lost_by_cpu);
        summary.lost_at_end = lost.iter().fold(0, |sum, &n| sum.saturating_add(n));
        Ok(summary)
    }

    /// Adds the events that follow those already counted.
    pub fn add(&mut self, events: &[Event]) {
        if self.events == 0 {
            self.first_ns = events.first().map_or(0, |event| event.time_ns);
        }
        self.last_ns = events.last().map_or(self.last_ns, |event| event.time_ns);
        self.events += events.len() as u64;
        for of_one_cpu in events.chunk_by(|a, b| a.cpu == b.cpu) {
            *self.cpus.entry(of_one_cpu[0].cpu).or_default() += of_one_cpu.len() as u64;
        }
        for event in events {
            self.add_kind(event.kind);
        }
    }

    fn add_kind(&mut self, kind: EventKind) {
        let count = |orders: &mut ByOrder<u64>, order: Order| *orders.widened(order) += 1;
        match kind {
            EventKind::Alloc { pfn, order, .. } => {
                self.kinds.alloc += 1;
                let orders = if pfn.is_some() { &mut self.alloc_orders } else { &mut self.failed_orders };
                count(orders, order);
            }
            EventKind::Free { order, .. } => {
                self.kinds.free += 1;
                count(&mut self.free_orders, order);
            }
            EventKind::ExtFrag { .. } => self.kinds.extfrag += 1,
            EventKind::ZoneLocked { .. } => self.kinds.zone_locked += 1,
            EventKind::PcpuDrain { .. } => self.kinds.pcpu_drain += 1,
            EventKind::CompactionBegin => self.kinds.compaction += 1,
            EventKind::CompactionEnd | EventKind::KswapdSleep => {}
            EventKind::DirectReclaimBegin { .. } => self.kinds.direct_reclaim += 1,
            EventKind::KswapdWake { .. } => self.kinds.kswapd_wake += 1,
            EventKind::Work { work, .. } => self.kinds.add_work(work),
            EventKind::Lost { count } => {
                self.kinds.lost += 1;
                self.lost = self.lost.saturating_add(count);
            }
        }
    }

    /// Returns the time from the first to the last event in nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.last_ns - self.first_ns
    }

    /// Returns the events per second, or `None` for a trace of no duration.
    pub fn events_per_second(&self) -> Option<f64> {
        let duration_ns = self.duration_ns();
        (duration_ns > 0).then(|| self.events as f64 * 1e9 / duration_ns as f64)
    }

    /// Returns the bytes of the file per event, or `None` without events.
    pub fn bytes_per_event(&self) -> Option<f64> {
        (self.events > 0).then(|| self.bytes as f64 / self.events as f64)
    }

    /// Returns the number of failed allocations.
    pub fn failed(&self) -> u64 {
        self.failed_orders.iter().sum()
    }
}
