//! What a trace asks of an allocator: which orders and types, who asks, how long pages live, how
//! unevenly requests come, and what is left in the pageblocks.
//!
//! An [`Analyzer`] takes the events in one pass; its memory depends on the machine's size, not on the
//! number of events. Nothing is replayed: what it tells is true of every allocator.
//!
//! Lifetimes are of pages: a block that is split and freed in parts ends page by page, all counted
//! under the request that allocated it.

mod bursts;
mod frames;
mod gfp_class;
mod histogram;
mod pageblocks;
mod pictures;
mod requests;
mod rows;
mod tables;
mod timeline;

use freehold::{Order, Pfn};
use freehold_trace::{Event, EventKind, EventLog, Snapshot};
use serde::Serialize;

pub use bursts::Burst;
pub use histogram::{OCTAVES, rounded_up};
pub use pageblocks::{Arrival, Mixture, Pageblocks, Scatter};
pub use pictures::Picture;
pub use rows::{Fate, GfpClass, Lifetimes, OrderUse};
pub use timeline::{Step, Timeline};

use crate::{LabError, Machine};
use bursts::Bursts;
use frames::{Frames, Held};
use pageblocks::{StartUses, mobility};
use requests::Requests;

/// Tasks that are followed through a compaction at the same time; more than one a CPU are rare.
const MOST_COMPACTING: usize = 1 << 12;

/// What cannot be told of a trace's blocks, in pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Unseen {
    /// Freed, and allocated by no event: from before the trace, moved there by compaction, or lost.
    pub freed: u64,
    /// Allocated anew while they were held: their frees were lost.
    pub displaced: u64,
    /// Old places of what compaction moved: how long the contents lived on is not known.
    pub moved: u64,
    /// Free pages that compaction took without an event and gave back.
    pub returned: u64,
}

/// How the work is spread over the CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CpuShare {
    /// Requests answered.
    pub allocs: u64,
    /// Pages allocated.
    pub pages: u64,
    /// Frees.
    pub frees: u64,
    /// Pages freed here that were allocated here or elsewhere, as far as the allocation was seen.
    pub pages_freed: u64,
    /// Of these, the ones that were allocated on another CPU.
    pub pages_from_elsewhere: u64,
}

/// What a trace asks of an allocator.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Analysis {
    /// Events of all kinds.
    pub events: u64,
    /// From the first event to the last, in nanoseconds.
    pub duration_ns: u64,
    /// Blocks that are misaligned or in no zone; left out of everything else.
    pub misplaced: u64,
    /// Places at which events are missing.
    pub lost_places: u64,
    /// What cannot be told.
    pub unseen: Unseen,
    /// Requests and frees by order.
    pub orders: Vec<OrderUse>,
    /// How long pages live, by type and order.
    pub lifetimes: Vec<Lifetimes>,
    /// Who asks, most pages first.
    pub classes: Vec<GfpClass>,
    /// How unevenly allocations come.
    pub bursts: Vec<Burst>,
    /// How the work is spread over the CPUs, by CPU.
    pub cpus: Vec<CpuShare>,
    /// What the pageblocks hold.
    pub pageblocks: Pageblocks,
    /// Pages allocated and freed over time.
    pub timeline: Timeline,
}

/// Takes the events of a trace one after the other.
pub struct Analyzer {
    machine: Machine,
    frames: Frames,
    uses: StartUses,
    requests: Requests,
    frees: [u64; freehold::MAX_ORDERS],
    cpus: Vec<CpuShare>,
    /// The tasks that are compacting a zone.
    compacting: Vec<i32>,
    unseen: Unseen,
    events: u64,
    misplaced: u64,
    lost_places: u64,
    /// Times of the first event and the last.
    span: Option<(u64, u64)>,
    bursts: Bursts,
    timeline: Timeline,
}

impl Analyzer {
    /// Starts with the machine as it was at the start of the trace.
    ///
    /// # Errors
    /// A snapshot without zones, with unknown ones, or with numbers out of range.
    pub fn new(start: &Snapshot) -> Result<Self, LabError> {
        let machine = Machine::new(start, &EventLog::default())?;
        let frames = Frames::new(&machine);
        let uses = StartUses::new(&frames, start);
        Ok(Self {
            machine,
            frames,
            uses,
            requests: Requests::new(),
            frees: Default::default(),
            cpus: Vec::new(),
            compacting: Vec::new(),
            unseen: Unseen::default(),
            events: 0,
            misplaced: 0,
            lost_places: 0,
            span: None,
            bursts: Bursts::new(0),
            timeline: Timeline::new(0),
        })
    }

    /// Takes the next events, which are sorted by time as a reader gives them.
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
                EventKind::CompactionEnd => self.compacting.retain(|&pid| pid != event.pid),
                EventKind::Lost { .. } => self.lost_places += 1,
                _ => {}
            }
        }
    }

    fn begin_compaction(&mut self, pid: i32) {
        if self.compacting.len() < MOST_COMPACTING && !self.compacting.contains(&pid) {
            self.compacting.push(pid);
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
        self.frames.hold(place, Held::new(event.time_ns, request, event.cpu, order), |held, pages| {
            kinds[usize::from(held.request)].displaced += pages;
            unseen.displaced += pages;
        });
    }

    #[inline]
    fn free(&mut self, event: &Event, pfn: Pfn, order: Order) {
        let Some(place) = self.frames.place(pfn, order) else {
            self.misplaced += 1;
            return;
        };
        let moves = !self.compacting.is_empty() && self.compacting.contains(&event.pid);
        let kinds = &mut self.requests.kinds;
        let cpu = cpu_share(&mut self.cpus, event.cpu);
        let mut known = 0;
        self.frames.free(place, order, |held, pages| {
            known += pages;
            let kind = &mut kinds[usize::from(held.request)];
            if moves {
                kind.moved += pages;
                return;
            }
            kind.lifetimes.add(event.time_ns - held.time_ns, pages);
            cpu.pages_freed += pages;
            if held.cpu != event.cpu {
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
            self.frees[order.index()] += 1;
            cpu.frees += 1;
            self.timeline.at(event.time_ns).freed += order.pages();
        }
    }

    /// What the events say, once all of them were taken.
    pub fn finish(mut self) -> Analysis {
        let (first_ns, last_ns) = self.span.unwrap_or_default();
        for (_, held) in self.frames.held() {
            self.requests.kinds[usize::from(held.request)].alive += held.pages();
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
