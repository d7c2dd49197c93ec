//! The shapes of work in which allocators are compared.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use freehold::Order;

use crate::error::BenchError;
use crate::harness::mixture::{self, BlocksInUse, Churn};
use crate::harness::{Digest, Pages, batch, ns_since, pairs, pin, processors, wrong};
use crate::options::Scale;

/// Blocks of a batch; order 9 has fewer.
const BATCH: usize = 1024;
const HUGE_BATCH: usize = 128;

/// Up to three figures of one sample; [`Shape::figures`] has their names.
pub(super) type Figures = [f64; 3];

/// The size and the duration of the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(crate) pages: u64,
    pub(super) times: u32,
    /// The longest time of one sample of a slow peer.
    pub(super) patience: Duration,
}

impl Plan {
    pub(super) fn new(scale: Scale) -> Self {
        let (pages, times, patience_ms) = match scale {
            Scale::Tiny => (1 << 13, 64, 1),
            Scale::Quick => (1 << 18, 20_000, 20),
            Scale::Full => (1_000_448, 100_000, 100),
        };
        Self { pages, times, patience: Duration::from_millis(patience_ms) }
    }
}

/// A shape of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    OnePage,
    Batch,
    OneOrder4,
    Batch4,
    Batch9,
    ChurnFresh,
    ChurnAged,
    FailingOrder9,
    TwoThreads,
}

/// The state of a shape between samples.
#[derive(Default)]
pub(super) struct State {
    in_use: BlocksInUse,
    random: Option<fastrand::Rng>,
}

impl Shape {
    pub(super) const ALL: [Self; 9] = [
        Self::OnePage,
        Self::Batch,
        Self::OneOrder4,
        Self::Batch4,
        Self::Batch9,
        Self::ChurnFresh,
        Self::ChurnAged,
        Self::FailingOrder9,
        Self::TwoThreads,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OnePage => "one page",
            Self::Batch => "order 0, batch of 1024",
            Self::OneOrder4 => "one block of order 4",
            Self::Batch4 => "order 4, batch of 1024",
            Self::Batch9 => "order 9, batch of 128",
            Self::ChurnFresh => "churn at 80 %, fresh",
            Self::ChurnAged => "churn at 80 %, aged",
            Self::FailingOrder9 => "failing order 9",
            Self::TwoThreads => "one page, two threads",
        }
    }

    /// Returns the name without blanks.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::OnePage => "one-page",
            Self::Batch => "batch-0",
            Self::OneOrder4 => "one-order-4",
            Self::Batch4 => "batch-4",
            Self::Batch9 => "batch-9",
            Self::ChurnFresh => "churn-fresh",
            Self::ChurnAged => "churn-aged",
            Self::FailingOrder9 => "failing-9",
            Self::TwoThreads => "two-threads",
        }
    }

    /// Returns the names of a sample's figures.
    pub(super) fn figures(self) -> &'static [&'static str] {
        match self {
            Self::OnePage | Self::OneOrder4 | Self::TwoThreads => &["alloc + free"],
            Self::Batch | Self::Batch4 | Self::Batch9 => &["alloc", "free"],
            Self::ChurnFresh | Self::ChurnAged => {
                &["an operation", "orders 1–3 failed, %", "order 9 failed, %"]
            }
            Self::FailingOrder9 => &["a request"],
        }
    }

    pub(super) fn largest_order(self) -> u8 {
        match self {
            Self::OnePage | Self::Batch | Self::TwoThreads => 0,
            Self::OneOrder4 | Self::Batch4 => 4,
            _ => 9,
        }
    }

    /// Brings an allocator with all pages free into the shape's start state.
    pub(super) fn prepare(self, side: &mut impl Pages, plan: Plan) -> Result<State, BenchError> {
        let mut random = mixture::random();
        let mut state = State::default();
        match self {
            Self::OnePage | Self::Batch | Self::TwoThreads => {
                mixture::age(side, 2, &mut random, &mut state.in_use)?;
            }
            Self::ChurnAged | Self::FailingOrder9 => mixture::age(side, 5, &mut random, &mut state.in_use)?,
            Self::ChurnFresh => mixture::fill(side, plan.pages * 4 / 5, &mut random, &mut state.in_use),
            Self::OneOrder4 | Self::Batch4 | Self::Batch9 => {}
        }
        state.random = Some(random);
        Ok(state)
    }

    /// Takes one sample.
    pub(crate) fn run<H: Pages + Send>(
        self,
        handles: &mut [H],
        state: &mut State,
        plan: Plan,
        digest: &mut Digest,
    ) -> Result<Figures, BenchError> {
        let side = &mut handles[0];
        match self {
            Self::OnePage => Ok([pairs(side, Order::ZERO, plan.times, digest)?, 0.0, 0.0]),
            Self::OneOrder4 => Ok([pairs(side, order(4), plan.times, digest)?, 0.0, 0.0]),
            Self::Batch => batches(side, 0, BATCH, plan, digest),
            Self::Batch4 => batches(side, 4, BATCH, plan, digest),
            Self::Batch9 => batches(side, 9, HUGE_BATCH, plan, digest),
            Self::ChurnFresh | Self::ChurnAged => churn(side, state, plan, digest),
            Self::FailingOrder9 => failing(side, plan),
            Self::TwoThreads => two_threads(handles, plan, digest),
        }
    }
}

fn order(number: u8) -> Order {
    Order::new(number).unwrap_or(Order::MAX_PAGE_ORDER)
}

fn batches(
    side: &mut impl Pages,
    order: u8,
    blocks: usize,
    plan: Plan,
    digest: &mut Digest,
) -> Result<Figures, BenchError> {
    let order = self::order(order);
    // A small arena does not hold that many large blocks.
    let room = (plan.pages / 4 / order.pages()) as usize;
    let mut places = vec![None; blocks.min(room)];
    let begin = Instant::now();
    let (mut alloc_ns, mut free_ns, mut count) = (0.0, 0.0, 0);
    while count == 0 || (count * places.len() < plan.times as usize && begin.elapsed() < plan.patience) {
        let (alloc, free) = batch(side, order, &mut places, digest)?;
        alloc_ns += alloc;
        free_ns += free;
        count += 1;
    }
    Ok([alloc_ns / count as f64, free_ns / count as f64, 0.0])
}

fn churn(
    side: &mut impl Pages,
    state: &mut State,
    plan: Plan,
    digest: &mut Digest,
) -> Result<Figures, BenchError> {
    const ROUND: u32 = 64;
    let random = state.random.get_or_insert_with(mixture::random);
    let mut churn = Churn::default();
    let (mut operations, mut elapsed, begin) = (0_u32, 0.0, Instant::now());
    while operations < plan.times && begin.elapsed() < plan.patience {
        let start = Instant::now();
        churn.run(side, ROUND, random, &mut state.in_use)?;
        operations += ROUND;
        elapsed += ns_since(start);
    }
    digest.add(state.in_use.last().map_or(0, |in_use| in_use.0.0));
    let [small, huge] = churn.failed_percent();
    Ok([elapsed / f64::from(operations.max(1)), small, huge])
}

fn failing(side: &mut impl Pages, plan: Plan) -> Result<Figures, BenchError> {
    let order = order(9);
    let (mut requests, begin) = (0_u32, Instant::now());
    while requests < plan.times && begin.elapsed() < plan.patience {
        for _ in 0..16 {
            if side.alloc(order).is_some() {
                return Err(wrong("has a huge page where there is none"));
            }
        }
        requests += 16;
    }
    Ok([ns_since(begin) / f64::from(requests.max(1)), 0.0, 0.0])
}

/// Runs two handles on the same memory, each on a thread of its own.
fn two_threads<H: Pages + Send>(
    handles: &mut [H],
    plan: Plan,
    digest: &mut Digest,
) -> Result<Figures, BenchError> {
    let cpus = processors(2)?;
    let barrier = Barrier::new(2);
    let results: Vec<Result<(f64, Digest), BenchError>> = thread::scope(|scope| {
        let threads: Vec<_> = handles[..2]
            .iter_mut()
            .enumerate()
            .map(|(number, handle)| {
                let (barrier, cpu) = (&barrier, cpus[number % cpus.len()]);
                scope.spawn(move || {
                    let pinned = pin(cpu);
                    barrier.wait();
                    pinned?;
                    let mut digest = Digest::default();
                    Ok((pairs(handle, Order::ZERO, plan.times, &mut digest)?, digest))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| BenchError::Stopped)?).collect()
    });
    let mut slowest = 0.0_f64;
    for result in results {
        let (ns, of_thread) = result?;
        slowest = slowest.max(ns);
        digest.add(of_thread.0);
    }
    Ok([slowest, 0.0, 0.0])
}
