//! The operations, each from the same state on every run.

use std::hint::black_box;

use freehold::{Era, Memory, Migratetype, Order, OwnersFreeOnce, Pfn, Platform};
use freehold_bench::{
    BLOCK, BenchError, Digest, LockedHandle, OwnedHandle, Pages, START, Setup, SpinPlatform, batch, mixture,
    pairs,
};

/// Pages of the zone.
const PAGES: u64 = 1 << 15;

/// The measured eras: before hygiene, the newest Linux, Freehold's own.
const ERAS: [Era; 3] = [Era::Linux6_1, Era::Linux7_3, Era::Freehold];

/// Blocks of a batch.
const BATCH: usize = 1024;

/// The number of pairs, requests or operations in a run.
const TIMES: u32 = 4096;

/// Order 4: above the orders that have per-CPU lists, far below a pageblock.
const WITHOUT_LIST: Order = match Order::new(4) {
    Some(order) => order,
    None => Order::MAX_PAGE_ORDER,
};

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Pair0,
    Pair0Hole,
    Pair4Whole,
    Pair4Split,
    Pair9,
    Refill,
    Drain,
    Refused9,
    ChurnFresh,
    ChurnFreshHole,
    ChurnAged,
}

impl Operation {
    pub(super) const ALL: [Self; 11] = [
        Self::Pair0,
        Self::Pair0Hole,
        Self::Pair4Whole,
        Self::Pair4Split,
        Self::Pair9,
        Self::Refill,
        Self::Drain,
        Self::Refused9,
        Self::ChurnFresh,
        Self::ChurnFreshHole,
        Self::ChurnAged,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pair0 => "pair-0",
            Self::Pair0Hole => "pair-0-hole",
            Self::Pair4Whole => "pair-4-whole",
            Self::Pair4Split => "pair-4-split",
            Self::Pair9 => "pair-9",
            Self::Refill => "refill",
            Self::Drain => "drain",
            Self::Refused9 => "refused-9",
            Self::ChurnFresh => "churn-fresh",
            Self::ChurnFreshHole => "churn-fresh-hole",
            Self::ChurnAged => "churn-aged",
        }
    }

    /// Returns how many operations one run counts.
    pub(super) fn times(self) -> u32 {
        if matches!(self, Self::Refill | Self::Drain) { BATCH as u32 } else { TIMES }
    }

    fn prepare<P: Platform>(self, memory: &Memory<'_, P>) -> Result<(), BenchError> {
        let zone = &memory.zones()[0];
        if self != Self::Pair4Whole {
            return Ok(zone.add_free(START, PAGES)?);
        }
        for block in (0..PAGES).step_by(2 << WITHOUT_LIST.get()) {
            zone.add_free_block(START.add(block), WITHOUT_LIST, Migratetype::Movable)?;
            let neighbour = START.add(block + WITHOUT_LIST.pages());
            zone.add_allocated(neighbour, WITHOUT_LIST, Migratetype::Movable)?;
        }
        Ok(())
    }

    /// Does the operation through one handle. Only the calls inside [`counted`] are counted.
    fn work(self, side: &mut impl Pages, digest: &mut Digest) -> Result<(), BenchError> {
        match self {
            Self::Pair0 | Self::Pair0Hole => counted_pairs(side, Order::ZERO, digest),
            Self::Pair4Whole | Self::Pair4Split => counted_pairs(side, WITHOUT_LIST, digest),
            Self::Pair9 => counted_pairs(side, BLOCK, digest),
            Self::Refill => {
                let mut places = vec![None; BATCH];
                batch(side, Order::ZERO, &mut places, digest)?;
                side.give_back();
                let filled = counted(|| side.alloc_batch(Order::ZERO, &mut places));
                digest.add_places(&places);
                if filled == BATCH { Ok(()) } else { Err(wrong("has no page left")) }
            }
            Self::Drain => {
                let mut places = vec![None; BATCH];
                batch(side, Order::ZERO, &mut places, digest)?;
                counted(|| side.give_back());
                Ok(())
            }
            Self::Refused9 => {
                mixture::age(side, 5, &mut mixture::random(), &mut Vec::new())?;
                let refused = counted(|| (0..TIMES).filter(|_| side.alloc(BLOCK).is_none()).count());
                if refused == TIMES as usize { Ok(()) } else { Err(wrong("has a block in aged memory")) }
            }
            Self::ChurnFresh | Self::ChurnFreshHole | Self::ChurnAged => {
                let (mut random, mut in_use) = (mixture::random(), Vec::new());
                if self == Self::ChurnAged {
                    mixture::age(side, 5, &mut random, &mut in_use)?;
                } else {
                    mixture::fill(side, PAGES * 4 / 5, &mut random, &mut in_use);
                }
                let mut churn = mixture::Churn::default();
                counted(|| churn.run(side, TIMES, &mut random, &mut in_use))?;
                digest.add(in_use.last().map_or(0, |in_use: &(Pfn, Order)| in_use.0.0));
                Ok(())
            }
        }
    }
}

fn counted_pairs(side: &mut impl Pages, order: Order, digest: &mut Digest) -> Result<(), BenchError> {
    // The first pairs fill a CPU's lists and split blocks.
    pairs(side, order, 64, digest)?;
    counted(|| pairs(side, order, TIMES, digest))?;
    Ok(())
}

fn wrong(what: &str) -> BenchError {
    BenchError::Wrong { side: "the engine".into(), what: what.into() }
}

/// Calls `work`. callgrind counts only what happens inside this function.
#[inline(never)]
fn counted<R>(work: impl FnOnce() -> R) -> R {
    black_box(work())
}

/// The interface for requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Handle {
    Locked,
    OwnersFreeOnce,
    Exclusive,
}

impl Handle {
    pub(super) const ALL: [Self; 3] = [Self::Locked, Self::OwnersFreeOnce, Self::Exclusive];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::OwnersFreeOnce => "owners-free-once",
            Self::Exclusive => "exclusive",
        }
    }
}

/// An operation through a handle in an era.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counting {
    pub(super) operation: Operation,
    pub(super) handle: Handle,
    pub(super) era: Era,
}

impl Counting {
    /// Returns every combination that is counted.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Operation::ALL.into_iter().flat_map(|operation| {
            Handle::ALL
                .into_iter()
                .flat_map(move |handle| ERAS.into_iter().map(move |era| Self { operation, handle, era }))
        })
    }

    /// Returns operation, handle and era, separated by colons.
    pub(super) fn name(self) -> String {
        format!("{}:{}:{}", self.operation.word(), self.handle.word(), self.era.name())
    }

    /// Runs the operation. Returns the digest of the frames that were allocated.
    pub(super) fn run(self) -> Result<u64, BenchError> {
        match self.handle {
            Handle::Locked => self.run_locked::<SpinPlatform>(),
            Handle::OwnersFreeOnce => self.run_locked::<OwnersFreeOnce<SpinPlatform>>(),
            Handle::Exclusive => self.setup().with(|memory: &Memory<'_, OwnersFreeOnce<SpinPlatform>>| {
                let mut digest = Digest::default();
                self.operation.prepare(memory)?;
                self.operation.work(&mut OwnedHandle::new(memory, 0), &mut digest)?;
                Ok(digest.0)
            }),
        }
    }

    fn run_locked<P: Platform<Tracepoints = (), Rule = ()>>(self) -> Result<u64, BenchError> {
        self.setup().with(|memory: &Memory<'_, P>| {
            let mut digest = Digest::default();
            self.operation.prepare(memory)?;
            self.operation.work(&mut LockedHandle::new(memory, 0), &mut digest)?;
            Ok(digest.0)
        })
    }

    fn setup(self) -> Setup {
        let setup = Setup::new(PAGES, 1, self.era.switches());
        let is_behind_hole = matches!(self.operation, Operation::Pair0Hole | Operation::ChurnFreshHole);
        if is_behind_hole { setup.behind_hole() } else { setup }
    }
}
