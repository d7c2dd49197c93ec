//! The requests whose memory is in use when the recorded tasks use the most.

use std::collections::BTreeMap;
use std::io::Read;

use freehold::{GfpFlags, Order};
use freehold_trace::{Event, EventKind, EventLog, Snapshot, TraceError, TraceReader};

use super::frames::{BlockInUse, Frames};
use super::read::read_batches;
use super::requests::Requests;
use crate::error::LabError;
use crate::recorded::Compacting;
use crate::start::RecordedMachine;

/// Memory that requests of one kind had in use at the peak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeakRequest {
    /// The request's flags.
    pub gfp: GfpFlags,
    /// The requested order.
    pub order: Order,
    /// Pages in use. A block that was freed in part counts with the rest.
    pub pages: u64,
}

/// What tasks had in use when they had the most.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Peak {
    /// Nanoseconds from the first event to the peak.
    pub after_ns: u64,
    /// The requests, in the order in which their kinds first appeared.
    pub requests: Vec<PeakRequest>,
}

/// Returns the peak of the memory that tasks requested in a trace: of all tasks, or of those in `pids`. Memory from before the
/// trace is not counted. The other arguments are those of [`analyze`](super::analyze).
///
/// # Errors
/// As [`analyze`](super::analyze).
pub fn peak<R: Read, E: From<TraceError>>(
    name: &str,
    pids: &[i32],
    open: impl FnMut() -> Result<TraceReader<R>, E>,
    note: impl FnMut(&str),
    failed: impl FnOnce(LabError) -> E,
) -> Result<Peak, E> {
    let new = |start: &Snapshot| PeakFinder::new(start, pids);
    Ok(read_batches(name, open, note, failed, new, PeakFinder::add)?.peak)
}

/// Finds the peak in one pass.
struct PeakFinder<'a> {
    pids: &'a [i32],
    frames: Frames,
    requests: Requests,
    compacting: Compacting,
    /// The time of the first event.
    start_ns: Option<u64>,
    /// Pages in use by kind, and their sum.
    in_use: BTreeMap<u16, u64>,
    pages: u64,
    /// The largest sum so far.
    most: u64,
    peak: Peak,
    /// True if the sum has grown past `most` since `peak` was taken.
    grows: bool,
}

impl<'a> PeakFinder<'a> {
    fn new(start: &Snapshot, pids: &'a [i32]) -> Result<Self, LabError> {
        let machine = RecordedMachine::new(start, &EventLog::default())?;
        Ok(Self {
            pids,
            frames: Frames::new(&machine),
            requests: Requests::new(),
            compacting: Compacting::default(),
            start_ns: None,
            in_use: BTreeMap::new(),
            pages: 0,
            most: 0,
            peak: Peak::default(),
            grows: false,
        })
    }

    fn add(&mut self, events: &[Event]) {
        for event in events {
            let start_ns = *self.start_ns.get_or_insert(event.time_ns);
            match event.kind {
                EventKind::Alloc { pfn: Some(pfn), order, migratetype, gfp } => {
                    let Some(place) = self.frames.place(pfn, order) else { continue };
                    if !self.pids.is_empty() && !self.pids.contains(&event.pid) {
                        self.free(place, order);
                        continue;
                    }
                    let request = self.requests.place(gfp, order, migratetype);
                    let block = BlockInUse::new(event.time_ns, request, event.cpu, order);
                    let (in_use, sum) = (&mut self.in_use, &mut self.pages);
                    self.frames
                        .hold(place, block, |before, pages| remove(in_use, sum, before.request, pages));
                    *self.in_use.entry(request).or_default() += order.pages();
                    self.pages += order.pages();
                    if self.pages > self.most {
                        self.most = self.pages;
                        self.peak.after_ns = event.time_ns - start_ns;
                        self.grows = true;
                    }
                }
                // The old place of a page that compaction moved: the page stays in use.
                EventKind::Free { .. } if self.compacting.contains(event.pid) => {}
                EventKind::Free { pfn, order } => {
                    let Some(place) = self.frames.place(pfn, order) else { continue };
                    self.take_peak();
                    self.free(place, order);
                }
                EventKind::CompactionBegin => self.compacting.begin(event.pid),
                EventKind::CompactionEnd => self.compacting.end(event.pid),
                _ => {}
            }
        }
        self.take_peak();
    }

    fn free(&mut self, place: usize, order: Order) {
        let (in_use, sum) = (&mut self.in_use, &mut self.pages);
        self.frames.free(place, order, |block, pages| remove(in_use, sum, block.request, pages));
    }

    /// Keeps what is in use, if it is the most so far.
    fn take_peak(&mut self) {
        if !std::mem::take(&mut self.grows) {
            return;
        }
        let of = |(&request, &pages): (&u16, &u64)| {
            let kind = &self.requests.kinds[usize::from(request)];
            PeakRequest { gfp: kind.gfp, order: kind.order, pages }
        };
        self.peak.requests = self.in_use.iter().filter(|(_, pages)| **pages > 0).map(of).collect();
    }
}

fn remove(in_use: &mut BTreeMap<u16, u64>, sum: &mut u64, request: u16, pages: u64) {
    if let Some(of_kind) = in_use.get_mut(&request) {
        *of_kind = of_kind.saturating_sub(pages);
    }
    *sum = sum.saturating_sub(pages);
}

#[cfg(test)]
mod tests {
    use freehold::{Migratetype, Pfn};
    use freehold_trace::ZoneSnapshot;

    use super::*;

    fn order(value: u8) -> Order {
        Order::new(value).expect("an order")
    }

    fn event(pid: i32, kind: EventKind) -> Event {
        Event { time_ns: 100, cpu: 0, pid, kind }
    }

    fn alloc(pid: i32, pfn: u64, of: u8, gfp: GfpFlags) -> Event {
        let kind = EventKind::Alloc {
            pfn: Some(Pfn(pfn)),
            order: order(of),
            migratetype: Migratetype::Movable,
            gfp,
        };
        event(pid, kind)
    }

    fn free(pid: i32, pfn: u64, of: u8) -> Event {
        event(pid, EventKind::Free { pfn: Pfn(pfn), order: order(of) })
    }

    fn peak_of(pids: &[i32], events: &[Event]) -> Vec<(u8, u64)> {
        let zone = ZoneSnapshot { name: "Normal".into(), spanned: 4096, ..ZoneSnapshot::default() };
        let start = Snapshot { zones: vec![zone], ..Snapshot::default() };
        let mut finder = PeakFinder::new(&start, pids).expect("a machine");
        finder.add(events);
        finder.peak.requests.iter().map(|request| (request.order.get(), request.pages)).collect()
    }

    #[test]
    fn the_peak_is_what_was_in_use_at_once() {
        let (user, kernel) = (GfpFlags::HIGHUSER_MOVABLE, GfpFlags::KERNEL);
        let events = [
            alloc(7, 0, 9, user),
            alloc(7, 512, 3, kernel),
            // A part of a block comes back, and less is allocated than before.
            free(7, 0, 8),
            alloc(8, 1024, 0, user),
        ];
        assert_eq!(peak_of(&[], &events), [(9, 512), (3, 8)]);
        assert_eq!(peak_of(&[8], &events), [(0, 1)]);
        let more = [&events[..], &[alloc(7, 2048, 9, user)]].concat();
        assert_eq!(peak_of(&[], &more), [(9, 256 + 512), (3, 8), (0, 1)]);
    }

    #[test]
    fn pages_that_compaction_moves_stay_in_use() {
        let user = GfpFlags::HIGHUSER_MOVABLE;
        let events = [
            alloc(7, 0, 0, user),
            event(9, EventKind::CompactionBegin),
            free(9, 0, 0),
            event(9, EventKind::CompactionEnd),
            alloc(7, 1, 0, user),
        ];
        assert_eq!(peak_of(&[], &events), [(0, 2)]);
    }
}
