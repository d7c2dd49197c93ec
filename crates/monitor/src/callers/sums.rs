//! What the requests of one caller add up to.

use std::collections::BTreeMap;

use freehold::GfpFlags;
use freehold_linux::callers::CallerKind;
use freehold_measure::histogram::Buckets;

/// What a task did for one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Work {
    pub(super) compaction_ns: u64,
    pub(super) reclaim_ns: u64,
    pub(super) kswapd_wakes: u64,
    pub(super) kcompactd_wakes: u64,
    pub(super) fallbacks: u64,
    pub(super) claims: u64,
}

impl Work {
    /// Returns the time in direct compaction and direct reclaim.
    pub(super) fn wait_ns(self) -> u64 {
        self.compaction_ns + self.reclaim_ns
    }
}

/// Sums over requests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sums {
    pub(super) requests: u64,
    pub(super) failed: u64,
    /// The bits of the orders.
    pub(super) orders: u64,
    pub(super) flags: BTreeMap<u32, u64>,
    pub(super) work: Work,
    /// How many requests waited for how long.
    pub(super) waits: Waits,
}

impl Sums {
    /// Adds a request, and what was done for it.
    pub(super) fn add(&mut self, order: u8, gfp: GfpFlags, failed: bool, work: Work) {
        self.requests += 1;
        self.failed += u64::from(failed);
        self.orders |= 1 << order;
        *self.flags.entry(gfp.bits()).or_default() += 1;
        self.add_work(work);
        if work.wait_ns() > 0 {
            self.waits.add(work.wait_ns());
        }
    }

    /// Adds the sums of other requests.
    pub(super) fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.orders |= other.orders;
        for (flags, count) in &other.flags {
            *self.flags.entry(*flags).or_default() += count;
        }
        self.add_work(other.work);
        for (bucket, count) in &other.waits.0 {
            *self.waits.0.entry(*bucket).or_default() += count;
        }
    }

    /// Returns the most frequent flags.
    pub(super) fn usual_flags(&self) -> GfpFlags {
        let most = self.flags.iter().max_by_key(|(_, count)| **count);
        most.map_or(GfpFlags::empty(), |(bits, _)| GfpFlags::from_bits_retain(*bits))
    }

    fn add_work(&mut self, work: Work) {
        self.work.compaction_ns += work.compaction_ns;
        self.work.reclaim_ns += work.reclaim_ns;
        self.work.kswapd_wakes += work.kswapd_wakes;
        self.work.kcompactd_wakes += work.kcompactd_wakes;
        self.work.fallbacks += work.fallbacks;
        self.work.claims += work.claims;
    }
}

/// Buckets of an octave: a wait is known within 6 %.
type WaitBuckets = Buckets<4>;

/// Waits by bucket, so that a long watch takes no more memory than a short one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Waits(BTreeMap<usize, u64>);

impl Waits {
    fn add(&mut self, ns: u64) {
        *self.0.entry(WaitBuckets::of(ns)).or_default() += 1;
    }

    /// Returns how many requests waited.
    pub(super) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns a percentile; 0 if none waited.
    pub(super) fn percentile(&self, percent: u64) -> u64 {
        let wanted = (self.count() * percent).div_ceil(100);
        let mut seen = 0;
        let bucket = self.0.iter().find(|(_, count)| {
            seen += **count;
            seen >= wanted
        });
        bucket.map_or(0, |(bucket, _)| {
            let (first, width) = WaitBuckets::first_and_width(*bucket);
            first + width / 2
        })
    }
}

/// What a task is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct TaskWork {
    pub(super) work: Work,
    /// True while compaction is for a request of the watched orders.
    compacts: bool,
    compaction_since: Option<u64>,
    reclaim_since: Option<u64>,
}

impl TaskWork {
    /// Returns true if the task does nothing that matters for a request.
    pub(super) fn is_idle(&self) -> bool {
        *self == Self::default()
    }

    /// Adds an event that is no request.
    pub(super) fn add(&mut self, time_ns: u64, kind: CallerKind) {
        let since = |began: Option<u64>| began.map_or(0, |began| time_ns.saturating_sub(began));
        match kind {
            CallerKind::Request { .. } | CallerKind::Lost => {}
            CallerKind::Compaction => self.compacts = true,
            CallerKind::CompactionBegin => self.compaction_since = self.compacts.then_some(time_ns),
            CallerKind::CompactionEnd => self.work.compaction_ns += since(self.compaction_since.take()),
            CallerKind::ReclaimBegin => self.reclaim_since = Some(time_ns),
            CallerKind::ReclaimEnd => self.work.reclaim_ns += since(self.reclaim_since.take()),
            CallerKind::KswapdWake => self.work.kswapd_wakes += 1,
            CallerKind::KcompactdWake => self.work.kcompactd_wakes += 1,
            CallerKind::Fallback { claimed } => {
                self.work.fallbacks += 1;
                self.work.claims += u64::from(claimed);
            }
        }
    }
}
