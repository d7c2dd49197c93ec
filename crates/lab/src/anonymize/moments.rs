//! The times that a replay depends on.

use freehold_trace::{Event, EventKind, PageWork, Snapshot};

use crate::replay::{EVENTS_PER_WAKE_UP, Lab, RefreshClock, Schedule, TidyingClock};

/// The times that a replay depends on, with any jitter of daemon wake-ups.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    /// For each event, true if a replay depends on its exact time.
    pub(super) kept: Vec<bool>,
    /// Times that no event may cross, in ascending order.
    pub(super) bounds_ns: Vec<u64>,
}

impl Moments {
    /// Finds the times in the trace of a lab.
    pub(super) fn new(lab: &Lab<'_>) -> Self {
        let trace = lab.trace;
        let ends = trace.events.first().zip(trace.events.last());
        let (first_ns, last_ns) = ends.map_or((0, 0), |(first, last)| (first.time_ns, last.time_ns));
        let mut due = Due::new(lab.start.moment_ns(), first_ns, last_ns);
        let mut moments = Self::default();
        let mut latest = LatestOfCpus::default();
        trace.events.for_each(|event| {
            let is_end = event.time_ns == first_ns || event.time_ns == last_ns;
            let kept = due.at_event(&event, &mut moments.bounds_ns) | is_end | is_timed(&event);
            let before = latest.replace(&event, moments.kept.len());
            if let (EventKind::Lost { .. }, Some((number, time_ns))) = (event.kind, before) {
                moments.kept[number] = true;
                moments.split_at(time_ns);
            }
            moments.kept.push(kept);
            if kept {
                moments.split_at(event.time_ns);
            }
        });
        let end = trace.ending.and_then(|ending| ending.snapshot.as_ref());
        for snapshot in [trace.start].into_iter().chain(end) {
            times_of(snapshot).for_each(|time_ns| moments.split_at(time_ns));
        }
        moments.bounds_ns.sort_unstable();
        moments.bounds_ns.dedup();
        moments
    }

    /// Keeps events on their side of a time, or exactly at it.
    fn split_at(&mut self, time_ns: u64) {
        self.bounds_ns.extend([time_ns, time_ns.saturating_add(1)]);
    }
}

/// Returns the times of a snapshot.
fn times_of(snapshot: &Snapshot) -> impl Iterator<Item = u64> {
    let exact = snapshot.exact.taken().map(|exact| [exact.begin_ns, exact.end_ns]);
    std::iter::once(snapshot.time_ns).chain(exact.into_iter().flatten())
}

/// Returns true if a measure depends on the time between this event and another: the duration of compaction and
/// reclaim, and the end of a gap.
fn is_timed(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::CompactionBegin
            | EventKind::CompactionEnd
            | EventKind::DirectReclaimBegin { .. }
            | EventKind::Work { work: PageWork::DirectReclaim, .. }
            | EventKind::Lost { .. }
    )
}

/// The latest event of each CPU so far, with its time. A gap begins there.
#[derive(Default)]
struct LatestOfCpus(Vec<Option<(usize, u64)>>);

impl LatestOfCpus {
    /// Makes an event the latest of its CPU and returns the previous one.
    fn replace(&mut self, event: &Event, number: usize) -> Option<(usize, u64)> {
        let cpu = usize::from(event.cpu);
        if self.0.len() <= cpu {
            self.0.resize(cpu + 1, None);
        }
        self.0[cpu].replace((number, event.time_ns))
    }
}

/// The timed work of replays: of all of them, with every jitter of daemon wake-ups.
struct Due {
    /// Events up to this time are part of the start.
    starts_ns: Option<u64>,
    samples: Schedule,
    refreshes: RefreshClock,
    /// The tidying clock of the replays whose daemons wake up at events with this remainder of their number.
    tidying: [TidyingClock; EVENTS_PER_WAKE_UP as usize],
    /// The number of events so far.
    followed: usize,
}

impl Due {
    fn new(starts_ns: Option<u64>, first_ns: u64, last_ns: u64) -> Self {
        Self {
            starts_ns,
            samples: Schedule::new(first_ns, last_ns),
            refreshes: RefreshClock::new(first_ns),
            tidying: [TidyingClock::new(first_ns); EVENTS_PER_WAKE_UP as usize],
            followed: 0,
        }
    }

    /// Returns true if timed work is due at an event. Adds the times at which the work was due to `bounds_ns`.
    fn at_event(&mut self, event: &Event, bounds_ns: &mut Vec<u64>) -> bool {
        let now_ns = event.time_ns;
        let sample_ns = self.samples.next_ns();
        let mut is_due = now_ns >= sample_ns;
        if is_due {
            self.samples.advance(now_ns);
            bounds_ns.push(sample_ns);
        }
        if self.starts_ns.is_some_and(|starts_ns| now_ns <= starts_ns) {
            return is_due;
        }
        let refresh_ns = self.refreshes.due_ns();
        if self.refreshes.seconds(now_ns) > 0 {
            bounds_ns.push(refresh_ns);
            is_due = true;
        }
        let tidying = &mut self.tidying[self.followed % EVENTS_PER_WAKE_UP as usize];
        self.followed += 1;
        let tidy_ns = tidying.due_ns();
        if tidying.is_due(now_ns) {
            bounds_ns.push(tidy_ns);
            is_due = true;
        }
        is_due
    }
}
