//! Places with lost events, and the pages that they make uncertain.

use freehold_trace::{Event, EventKind, EventLog};
use serde::Serialize;

use crate::start::RecordedMachine;
use crate::trace::Trace;

/// A place at which a CPU's ring buffer overflowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Gap {
    /// The CPU.
    pub cpu: u16,
    /// The time of the CPU's last event before the gap; of the trace's first event if there is none.
    pub begin_ns: u64,
    /// The time of the CPU's first event after the gap.
    pub end_ns: u64,
    /// The number of missing events; `None` if the kernel did not count them.
    pub events: Option<u64>,
}

/// The lost events of one CPU, and the pages that they make uncertain at the end of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CpuGaps {
    /// The CPU.
    pub cpu: u16,
    /// The number of places with missing events.
    pub places: u64,
    /// The number of missing events; a lower bound unless `is_exact` is set.
    pub events: u64,
    /// True if the kernel counted all missing events.
    pub is_exact: bool,
    /// The time at which the CPU's first gap begins.
    pub begin_ns: u64,
    /// The time at which the CPU's last gap ends.
    pub end_ns: u64,
    /// An estimate of the pages of the missing events, with the mean block size of the other events.
    pub likely_pages: u64,
    /// An upper bound of the pages that may be free or in use at the end: the pages of the missing events if all their
    /// blocks have the largest order, but not more than the pages that no event names after the last gap.
    pub uncertain_pages: u64,
}

/// Places with lost events, and the pages that they make uncertain.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Gaps {
    /// All places, in the order of time.
    pub places: Vec<Gap>,
    /// The CPUs that lost events.
    pub cpus: Vec<CpuGaps>,
    /// The bound of [`CpuGaps::uncertain_pages`] for all CPUs together.
    pub uncertain_pages: u64,
    /// The time of the first event, from which [`Gaps::sentences`] counts.
    pub first_ns: u64,
}

impl Gaps {
    /// Finds the gaps in a trace of `machine`.
    pub fn new(machine: &RecordedMachine, trace: Trace<'_>) -> Self {
        let first_ns = trace.events.first().map_or(0, |event| event.time_ns);
        let places = places(trace.events, first_ns);
        let mut cpus = losses(trace, &places);
        if cpus.is_empty() {
            return Self { first_ns, ..Self::default() };
        }
        let mut unnamed = Unnamed::new(machine);
        let mean_pages = mean_pages(trace.events);
        let (mut lost, mut latest) = (0_u64, 0);
        // Goes backwards, so that one pass is enough for all CPUs: the latest gap comes first.
        cpus.sort_by_key(|cpu| std::cmp::Reverse(cpu.end_ns));
        let mut rest = trace.events.iter().rev().peekable();
        for cpu in &mut cpus {
            while let Some(last) = rest.next_if(|last| last.time_ns >= cpu.end_ns) {
                unnamed.name(&last);
            }
            let most = cpu.events.saturating_mul(machine.max_order.pages());
            let is_bounded = cpu.is_exact;
            cpu.uncertain_pages = if is_bounded { most.min(unnamed.pages) } else { unnamed.pages };
            cpu.likely_pages = ((cpu.events as f64 * mean_pages) as u64).min(cpu.uncertain_pages);
            latest = latest.max(unnamed.pages);
            lost = lost.saturating_add(cpu.uncertain_pages);
        }
        cpus.sort_by_key(|cpu| cpu.cpu);
        Self { places, cpus, uncertain_pages: lost.min(latest), first_ns }
    }
}

fn places(events: &EventLog, first_ns: u64) -> Vec<Gap> {
    let mut last_ns: Vec<u64> = Vec::new();
    let mut gaps = Vec::new();
    for event in events.iter() {
        let cpu = usize::from(event.cpu);
        if last_ns.len() <= cpu {
            last_ns.resize(cpu + 1, first_ns);
        }
        if let EventKind::Lost { count } = event.kind {
            let (begin_ns, end_ns) = (last_ns[cpu], event.time_ns);
            gaps.push(Gap { cpu: event.cpu, begin_ns, end_ns, events: (count > 0).then_some(count) });
        }
        last_ns[cpu] = event.time_ns;
    }
    gaps
}

/// Returns the losses of each CPU, by the kernel's count at the end if recorded.
fn losses(trace: Trace<'_>, places: &[Gap]) -> Vec<CpuGaps> {
    let of_kernel = trace.ending.map_or(&[][..], |ending| &ending.lost_by_cpu);
    let highest = places.iter().map(|gap| usize::from(gap.cpu) + 1).max().unwrap_or(0);
    let last_ns = trace.events.last().map_or(0, |event| event.time_ns);
    let mut cpus = Vec::new();
    for cpu in 0..highest.max(of_kernel.len()).min(usize::from(u16::MAX)) {
        let own = || places.iter().filter(|gap| usize::from(gap.cpu) == cpu);
        let in_trace = own().fold(0_u64, |sum, gap| sum.saturating_add(gap.events.unwrap_or(0)));
        let counted = of_kernel.get(cpu).copied().unwrap_or(0);
        let count = own().count() as u64;
        if count == 0 && counted == 0 {
            continue;
        }
        cpus.push(CpuGaps {
            cpu: cpu as u16,
            places: count.max(1),
            events: in_trace.max(counted),
            is_exact: counted > 0 || own().all(|gap| gap.events.is_some()),
            // The events were lost after the last event of the CPU, so that the trace has no place for them.
            begin_ns: own().map(|gap| gap.begin_ns).min().unwrap_or(last_ns),
            end_ns: own().map(|gap| gap.end_ns).max().unwrap_or(last_ns),
            likely_pages: 0,
            uncertain_pages: 0,
        });
    }
    cpus
}

/// Returns the mean size of the blocks of allocations and frees.
///
/// Units: pages.
fn mean_pages(events: &EventLog) -> f64 {
    let (mut count, mut pages) = (0_u64, 0_u64);
    for event in events.iter() {
        if let EventKind::Alloc { order, .. } | EventKind::Free { order, .. } = event.kind {
            count += 1;
            pages += order.pages();
        }
    }
    pages as f64 / count.max(1) as f64
}

/// The frames that no event has named so far.
struct Unnamed {
    /// The first frame of each zone, and one bit for each frame, which is set if an event named the frame.
    zones: Vec<(u64, Vec<u64>)>,
    /// The number of managed pages that no event has named so far.
    pages: u64,
}

impl Unnamed {
    fn new(machine: &RecordedMachine) -> Self {
        let bits = |spanned: u64| vec![0; spanned.div_ceil(64) as usize];
        let zones = machine.zones.iter().map(|zone| (zone.start.0, bits(zone.spanned))).collect();
        Self { zones, pages: machine.zones.iter().map(|zone| zone.managed).sum() }
    }

    fn name(&mut self, event: &Event) {
        let (EventKind::Alloc { pfn: Some(pfn), order, .. } | EventKind::Free { pfn, order }) = event.kind
        else {
            return;
        };
        for frame in pfn.0..pfn.0 + order.pages() {
            let word = self.zones.iter_mut().find_map(|(start, bits)| {
                let index = frame.checked_sub(*start)?;
                Some((bits.get_mut((index / 64) as usize)?, 1 << (index % 64)))
            });
            if let Some((word, bit)) = word
                && *word & bit == 0
            {
                *word |= bit;
                self.pages = self.pages.saturating_sub(1);
            }
        }
    }
}
