//! The distributions of a recorded trace.

use std::collections::HashMap;

use freehold::{GfpFlags, MAX_ORDERS, Order, Pfn};
use freehold_trace::{Event, EventKind, FrameUse, Snapshot};

use super::lifetimes::{Lifetimes, Survival};
use crate::recorded::Compacting;

/// The time over which rates are taken.
const WINDOW_NS: u64 = 100_000_000;

/// The most windows: almost three hours. Later events are ignored.
const MOST_WINDOWS: usize = 100_000;

/// The most classes of requests; further ones count as one class for each order and type.
const MOST_CLASSES: usize = 512;

/// The distributions of a recorded trace: orders, flags, lifetimes, and rates over time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mix {
    pub(super) name: String,
    pub(super) classes: Vec<Class>,
    pub(super) windows: Vec<Window>,
    /// Blocks held at the start and freed later, by order: movable ones, others.
    pub(super) held: [[u64; 2]; MAX_ORDERS],
    /// Requests by CPU.
    pub(super) cpus: Vec<u64>,
    /// Frees on the CPU of the allocation, in thousandths.
    pub(super) freed_at_home: u64,
    /// The machine at the start.
    pub(super) ground: MixGround,
}

/// The recorded machine at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MixGround {
    pub(super) pages: u64,
    pub(super) free: u64,
    /// Free pages in blocks smaller than a pageblock.
    pub(super) free_in_small_blocks: u64,
    /// Pages in use: movable, slab, others.
    pub(super) used: [u64; 3],
}

/// Requests of one order with the same flags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Class {
    pub(super) order: Order,
    pub(super) gfp: GfpFlags,
    pub(super) requests: u64,
    pub(super) survival: Survival,
}

/// The requests of one window.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Window {
    /// Running total of requests for each class.
    pub(super) up_to: Vec<(u64, u16)>,
    /// Frees of blocks held at the start.
    pub(super) start_frees: u64,
}

/// Counts of one window: requests by class; frees of blocks held at the start, by order and whether they are
/// movable.
type Counts = (HashMap<u16, u64>, HashMap<(u8, bool), u64>);

/// Collects the distributions event by event.
#[derive(Debug)]
pub struct MixFit<'s> {
    name: String,
    start: &'s Snapshot,
    first_ns: Option<u64>,
    last_ns: u64,
    numbers: HashMap<(u8, u32), u16>,
    classes: Vec<(Order, GfpFlags, Lifetimes)>,
    counts: Vec<Counts>,
    /// Requests of each class, failed ones included.
    requests: Vec<u64>,
    live: HashMap<u64, (u16, u64, u16)>,
    compacting: Compacting,
    /// Blocks that compaction moved to an unknown place.
    moved: u64,
    cpus: Vec<u64>,
    frees: [u64; 2],
}

impl<'s> MixFit<'s> {
    /// Returns the fit of a trace with this name and start.
    pub fn new(name: impl Into<String>, start: &'s Snapshot) -> Self {
        Self {
            name: name.into(),
            start,
            first_ns: None,
            last_ns: 0,
            numbers: HashMap::new(),
            classes: Vec::new(),
            counts: Vec::new(),
            requests: Vec::new(),
            live: HashMap::new(),
            compacting: Compacting::default(),
            moved: 0,
            cpus: Vec::new(),
            frees: [0; 2],
        }
    }

    /// Adds the next event.
    pub fn event(&mut self, event: &Event) {
        let first_ns = *self.first_ns.get_or_insert(event.time_ns);
        let window = ((event.time_ns - first_ns) / WINDOW_NS) as usize;
        if window >= MOST_WINDOWS {
            return;
        }
        self.last_ns = event.time_ns;
        self.counts.resize_with(self.counts.len().max(window + 1), Default::default);
        match event.kind {
            EventKind::Alloc { pfn, order, gfp, .. } => {
                let cpu = usize::from(event.cpu);
                self.cpus.resize(self.cpus.len().max(cpu + 1), 0);
                self.cpus[cpu] += 1;
                let class = self.class(order, gfp);
                *self.counts[window].0.entry(class).or_default() += 1;
                self.requests[usize::from(class)] += 1;
                if let Some(pfn) = pfn {
                    self.forget(pfn, event.time_ns);
                    self.live.insert(pfn.0, (class, event.time_ns, event.cpu));
                }
            }
            EventKind::Free { pfn, .. } if self.compacting.contains(event.pid) => {
                self.moved += u64::from(self.forget(pfn, event.time_ns));
            }
            EventKind::Free { pfn, order } => self.free(event, window, pfn, order),
            EventKind::CompactionBegin => self.compacting.begin(event.pid),
            EventKind::CompactionEnd => self.compacting.end(event.pid),
            _ => {}
        }
    }

    fn free(&mut self, event: &Event, window: usize, pfn: Pfn, order: Order) {
        if let Some((class, since_ns, cpu)) = self.live.remove(&pfn.0) {
            self.classes[usize::from(class)].2.note_freed(event.time_ns - since_ns);
            self.frees[usize::from(cpu == event.cpu)] += 1;
        } else if self.moved > 0 {
            self.moved -= 1;
        } else {
            let movable = matches!(self.used_for(pfn), FrameUse::Movable | FrameUse::Unevictable);
            *self.counts[window].1.entry((order.get(), movable)).or_default() += 1;
        }
    }

    /// Ends the observation of a block at `now_ns` without a free. Returns true if the block was known.
    fn forget(&mut self, pfn: Pfn, now_ns: u64) -> bool {
        let known = self.live.remove(&pfn.0);
        if let Some((class, since_ns, _)) = known {
            self.classes[usize::from(class)].2.note_unseen(now_ns - since_ns);
        }
        known.is_some()
    }

    fn class(&mut self, order: Order, gfp: GfpFlags) -> u16 {
        if let Some(&number) = self.numbers.get(&(order.get(), gfp.bits())) {
            return number;
        }
        let like = |class: &(Order, GfpFlags, Lifetimes)| {
            class.0 == order && class.1.migratetype() == gfp.migratetype()
        };
        let full = self.classes.len() >= MOST_CLASSES;
        let alike = self.classes.iter().position(like).filter(|_| full);
        let number = alike.unwrap_or_else(|| {
            self.classes.push((order, gfp, Lifetimes::new()));
            self.requests.push(0);
            self.classes.len() - 1
        });
        self.numbers.insert((order.get(), gfp.bits()), number as u16);
        number as u16
    }

    fn used_for(&self, pfn: Pfn) -> FrameUse {
        let runs = &self.start.occupancy;
        let behind = runs.partition_point(|run| run.start <= pfn);
        behind.checked_sub(1).map_or(FrameUse::Movable, |at| runs[at].used_for)
    }

    /// Returns the distributions; `None` if nothing was allocated.
    pub fn finish(mut self) -> Option<Mix> {
        let last_ns = self.last_ns;
        for (_, (class, since_ns, _)) in self.live.drain() {
            self.classes[usize::from(class)].2.note_unseen(last_ns - since_ns);
        }
        let mut held = [[0; 2]; MAX_ORDERS];
        let mut windows = Vec::with_capacity(self.counts.len());
        for (classes, start_frees) in self.counts {
            for (&(order, movable), &blocks) in &start_frees {
                held[usize::from(order)][usize::from(!movable)] += blocks;
            }
            let mut counts: Vec<_> = classes.into_iter().collect();
            counts.sort_unstable();
            let mut sum = 0;
            let up_to = counts.into_iter().map(|(class, requests)| {
                sum += requests;
                (sum, class)
            });
            windows.push(Window { up_to: up_to.collect(), start_frees: start_frees.values().sum() });
        }
        let classes = self.classes.into_iter().zip(self.requests);
        let classes = classes.map(|((order, gfp, lived), requests)| {
            let survival = lived.survival();
            Class { order, gfp, requests, survival }
        });
        let classes: Vec<_> = classes.collect();
        let freed_at_home = self.frees[1] * 1000 / (self.frees[0] + self.frees[1]).max(1);
        let ground = ground(self.start);
        let any = !classes.is_empty();
        any.then_some(Mix { name: self.name, classes, windows, held, cpus: self.cpus, freed_at_home, ground })
    }
}

fn ground(start: &Snapshot) -> MixGround {
    let mut ground =
        MixGround { pages: start.zones.iter().map(|zone| zone.managed).sum(), ..MixGround::default() };
    for zone in &start.pagetypeinfo.zones {
        for (order, count) in zone.free.iter().flat_map(|orders| orders.iter().enumerate()) {
            let pages = count.blocks << order;
            ground.free += pages;
            if order < usize::from(start.pagetypeinfo.pageblock_order) {
                ground.free_in_small_blocks += pages;
            }
        }
    }
    for run in &start.occupancy {
        match run.used_for {
            FrameUse::Movable | FrameUse::Unevictable => ground.used[0] += run.pages,
            FrameUse::Slab => ground.used[1] += run.pages,
            FrameUse::PageTable | FrameUse::Other => ground.used[2] += run.pages,
            FrameUse::Absent | FrameUse::Free | FrameUse::Hugetlb | FrameUse::Offline => {}
        }
    }
    if ground.used == [0; 3] {
        ground.used = [2, 1, 1];
    }
    ground
}

/// The distance between two traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MixDistance {
    /// Requests that would need another order, type or flags, in thousandths of all.
    pub classes: u64,
    /// The largest distance between the lifetimes of a class, in thousandths: the statistic of Kolmogorov and
    /// Smirnov. Only classes with at least a hundredth of all requests.
    pub lifetimes: u64,
}

impl Mix {
    /// Returns the name of the trace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the pages of the recorded machine.
    pub fn pages(&self) -> u64 {
        self.ground.pages
    }

    /// Returns the number of CPUs: the highest that a recorded request came from, plus one.
    pub fn cpus(&self) -> u16 {
        self.cpus.len() as u16
    }

    /// Returns the distance of another trace from this one.
    pub fn distance(&self, other: &Self) -> MixDistance {
        let all = |mix: &Self| mix.classes.iter().map(|class| class.requests).sum::<u64>().max(1);
        let (own, others) = (all(self), all(other));
        let twin = |of: &Class, among: &Self| {
            among.classes.iter().find(|class| class.order == of.order && class.gfp == of.gfp).cloned()
        };
        let mut distance = MixDistance::default();
        let mut apart = 0;
        for class in &self.classes {
            let share = class.requests * 1_000_000 / own;
            let there = twin(class, other);
            let theirs = there.as_ref().map_or(0, |there| there.requests * 1_000_000 / others);
            apart += share.abs_diff(theirs);
            if let Some(there) = there.filter(|_| share >= 10_000) {
                distance.lifetimes = distance.lifetimes.max(class.survival.distance(&there.survival));
            }
        }
        let unknown = other.classes.iter().filter(|class| twin(class, self).is_none());
        apart += unknown.map(|class| class.requests * 1_000_000 / others).sum::<u64>();
        distance.classes = apart / 2 / 1000;
        distance
    }
}

impl Window {
    /// The length of a window.
    ///
    /// Units: nanoseconds.
    pub(super) const NS: u64 = WINDOW_NS;

    /// Returns the requests of the window.
    pub(super) fn requests(&self) -> u64 {
        self.up_to.last().map_or(0, |&(sum, _)| sum)
    }
}
