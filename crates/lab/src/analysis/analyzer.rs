//! Analyses the events of a trace in one pass.

use freehold::{Order, Pfn};
use freehold_trace::{Event, EventKind, EventLog, Snapshot};

use super::bursts::Bursts;
use super::fallbacks::FallbackCounter;
use super::findings::{Analysis, CpuShare, Unseen};
use super::frames::{BlockInUse, Frames};
use super::pageblocks::{Pageblocks, StartUses, mobility};
use super::requests::Requests;
use super::rows;
use super::timeline::Timeline;
use crate::counts::CountsByOrder;
use crate::error::LabError;
use crate::recorded::Compacting;
use crate::start::RecordedMachine;

/// The largest number of compacting tasks that are tracked at the same time. More than one for each CPU is rare.
const MOST_COMPACTING: usize = 1 << 12;

/// Analyses the events of a trace, one after the other.
pub struct Analyzer {
    machine: RecordedMachine,
    frames: Frames,
    uses: StartUses,
    requests: Requests,
    frees: CountsByOrder,
    cpus: Vec<CpuShare>,
    /// The tasks that are compacting a zone.
    compacting: Compacting,
    unseen: Unseen,
    events: u64,
    misplaced: u64,
    lost_places: u64,
    /// Times of the first event and the last.
    span: Option<(u64, u64)>,
    bursts: Bursts,
    timeline: Timeline,
    fallbacks: FallbackCounter,
}

impl Analyzer {
    /// Returns an analyzer for a trace that starts on this machine.
    ///
    /// # Errors
    /// A snapshot without zones, with unknown zones, or with numbers out of range.
    pub fn new(start: &Snapshot) -> Result<Self, LabError> {
        let machine = RecordedMachine::new(start, &EventLog::default())?;
        let frames = Frames::new(&machine);
        let max_order = machine.max_order;
        let uses = StartUses::new(&frames, start);
        Ok(Self {
            machine,
            frames,
            uses,
            requests: Requests::new(),
            frees: CountsByOrder::new(max_order),
            cpus: Vec::new(),
            compacting: Compacting::default(),
            unseen: Unseen::default(),
            events: 0,
            misplaced: 0,
            lost_places: 0,
            span: None,
            bursts: Bursts::new(0),
            timeline: Timeline::new(0),
            fallbacks: FallbackCounter::default(),
        })
    }

    /// Adds the next events of the trace, which are sorted by time.
    pub fn add(&mut self, events: &[Event]) {
        let Some((first, last)) = events.first().zip(events.last()) else { return };
        if let Some(span) = &mut self.span {
            span.1 = last.time_ns;
        } else {
            self.span = Some((first.time_ns, last.time_ns));
            self.bursts = Bursts::new(first.time_ns);
            self.timeline = Timeline::new(first.time_ns);
        }
        self.events += events.len() as u64;
        for event in events {
            match event.kind {
                EventKind::Alloc { pfn, order, migratetype, gfp } => {
                    let request = self.requests.place(gfp, order, migratetype);
                    match pfn {
                        Some(pfn) => self.alloc(event, pfn, order, request),
                        None => self.requests.kinds[usize::from(request)].failed += 1,
                    }
                }
                EventKind::Free { pfn, order } => self.free(event, pfn, order),
                EventKind::CompactionBegin => self.begin_compaction(event.pid),
                EventKind::ExtFrag { .. } => self.fallbacks.add(event),
                EventKind::CompactionEnd => self.compacting.end(event.pid),
                EventKind::Lost { .. } => self.lost_places += 1,
                _ => {}
            }
        }
    }

    fn begin_compaction(&mut self, pid: i32) {
        if self.compacting.tasks() < MOST_COMPACTING {
            self.compacting.begin(pid);
        }
    }

    #[inline]
    fn alloc(&mut self, event: &Event, pfn: Pfn, order: Order, request: u16) {
        let Some(place) = self.frames.place(pfn, order) else {
            self.misplaced += 1;
            return;
        };
        let kinds = &mut self.requests.kinds;
        let kind = &mut kinds[usize::from(request)];
        kind.allocs += 1;
        self.bursts.add(event.time_ns);
        self.timeline.at(event.time_ns).allocated[mobility(kind.migratetype)] += order.pages();
        let cpu = cpu_share(&mut self.cpus, event.cpu);
        cpu.allocs += 1;
        cpu.pages += order.pages();
        if self.frames.is_news(place, order) {
            self.uses.were_free(&self.frames, place, order);
        }
        let unseen = &mut self.unseen;
        self.frames.hold(
            place,
            BlockInUse::new(event.time_ns, request, event.cpu, order),
            |in_use, pages| {
                kinds[usize::from(in_use.request)].displaced += pages;
                unseen.displaced += pages;
            },
        );
    }

    #[inline]
    fn free(&mut self, event: &Event, pfn: Pfn, order: Order) {
        let Some(place) = self.frames.place(pfn, order) else {
            self.misplaced += 1;
            return;
        };
        let moves = self.compacting.contains(event.pid);
        let kinds = &mut self.requests.kinds;
        let cpu = cpu_share(&mut self.cpus, event.cpu);
        let mut known = 0;
        self.frames.free(place, order, |in_use, pages| {
            known += pages;
            let kind = &mut kinds[usize::from(in_use.request)];
            if moves {
                kind.moved += pages;
                return;
            }
            kind.lifetimes.add(event.time_ns - in_use.time_ns, pages);
            cpu.pages_freed += pages;
            if in_use.cpu != event.cpu {
                kind.freed_elsewhere += pages;
                cpu.pages_from_elsewhere += pages;
            }
        });
        let unknown = order.pages() - known;
        if moves {
            self.unseen.moved += known;
            self.unseen.returned += unknown;
        } else {
            self.unseen.freed += unknown;
            *self.frees.widened(order) += 1;
            cpu.frees += 1;
            self.timeline.at(event.time_ns).freed += order.pages();
        }
    }

    /// Returns the analysis of all events added.
    pub fn finish(mut self) -> Analysis {
        let (first_ns, last_ns) = self.span.unwrap_or_default();
        for (_, in_use) in self.frames.in_use() {
            self.requests.kinds[usize::from(in_use.request)].alive += in_use.pages();
        }
        let halfway_ns = first_ns + (last_ns - first_ns) / 2;
        let kinds = &self.requests.kinds;
        Analysis {
            events: self.events,
            duration_ns: last_ns - first_ns,
            misplaced: self.misplaced,
            lost_places: self.lost_places,
            unseen: self.unseen,
            orders: rows::orders(kinds, &self.frees),
            lifetimes: rows::lifetimes(kinds),
            classes: rows::classes(kinds),
            pageblocks: Pageblocks::new(&self.machine, &self.frames, &self.uses, kinds, halfway_ns),
            bursts: self.bursts.finish(last_ns),
            cpus: self.cpus,
            timeline: self.timeline,
            fallbacks: self.fallbacks.finish(),
        }
    }
}

#[inline]
fn cpu_share(cpus: &mut Vec<CpuShare>, cpu: u16) -> &mut CpuShare {
    let cpu = usize::from(cpu);
    if cpu >= cpus.len() {
        cpus.resize(cpu + 1, CpuShare::default());
    }
    &mut cpus[cpu]
}
