//! A mixture of orders, with which allocators are filled, aged and churned.

use freehold::{Order, Pfn};

use super::measure::wrong;
use super::pages::Pages;
use crate::error::BenchError;

/// Allocated blocks.
pub type BlocksInUse = Vec<(Pfn, Order)>;

/// Returns the random numbers that every mixture starts from.
pub fn random() -> fastrand::Rng {
    fastrand::Rng::with_seed(7)
}

/// Allocates every page, then frees one of `share` at random.
///
/// # Errors
/// [`BenchError::Wrong`] if a free fails.
pub fn age(
    side: &mut impl Pages,
    share: usize,
    random: &mut fastrand::Rng,
    in_use: &mut BlocksInUse,
) -> Result<(), BenchError> {
    // Pages on per-CPU lists can be allocated only after a drain, so this repeats until an allocation fails after a
    // drain.
    let mut before = usize::MAX;
    while in_use.len() != before {
        before = in_use.len();
        while let Some(pfn) = side.alloc(Order::ZERO) {
            in_use.push((pfn, Order::ZERO));
        }
        side.give_back();
    }
    random.shuffle(in_use);
    let kept = in_use.len() - in_use.len() / share;
    for (pfn, order) in in_use.drain(kept..) {
        if !side.free(pfn, order) {
            return Err(wrong("did not take back what it handed out"));
        }
    }
    side.give_back();
    Ok(())
}

/// Allocates a mixture of `pages` pages, or until a request fails.
pub fn fill(side: &mut impl Pages, pages: u64, random: &mut fastrand::Rng, in_use: &mut BlocksInUse) {
    let mut left = pages as i64;
    while left > 0 {
        let order = mixed(random);
        let Some(pfn) = side.alloc(order) else { break };
        in_use.push((pfn, order));
        left -= order.pages() as i64;
    }
}

/// Returns a random order: 90 % single pages, 8 % orders 1 to 3, 2 % order 9.
fn mixed(random: &mut fastrand::Rng) -> Order {
    let order = match random.u32(0..100) {
        0..90 => 0,
        90..98 => random.u8(1..4),
        _ => 9,
    };
    Order::new(order).unwrap_or(Order::ZERO)
}

/// Frees and allocates random blocks at a constant fill level.
///
/// Requests and failures are counted by class: orders 1 to 3, and order 9.
#[derive(Clone, Debug, Default)]
pub struct Churn {
    requests: [u32; 2],
    failed: [u32; 2],
    /// Pages allocated less pages freed.
    balance: i64,
}

impl Churn {
    /// Allocates or frees `times` times.
    ///
    /// # Errors
    /// [`BenchError::Wrong`] if a free fails.
    #[inline]
    pub fn run(
        &mut self,
        side: &mut impl Pages,
        operations: u32,
        random: &mut fastrand::Rng,
        in_use: &mut BlocksInUse,
    ) -> Result<(), BenchError> {
        for _ in 0..operations {
            if self.balance > 0 && !in_use.is_empty() {
                let (pfn, order) = in_use.swap_remove(random.usize(0..in_use.len()));
                if !side.free(pfn, order) {
                    return Err(wrong("did not take back what it handed out"));
                }
                self.balance -= order.pages() as i64;
                continue;
            }
            let order = mixed(random);
            let class = usize::from(order.get() == 9);
            self.requests[class] += u32::from(order > Order::ZERO);
            if let Some(pfn) = side.alloc(order) {
                in_use.push((pfn, order));
                self.balance += order.pages() as i64;
            } else {
                self.failed[class] += u32::from(order > Order::ZERO);
            }
        }
        Ok(())
    }

    /// Returns the share of failed requests by class.
    ///
    /// Units: percent.
    pub fn failed_percent(&self) -> [f64; 2] {
        [0, 1].map(|class| f64::from(self.failed[class]) * 100.0 / f64::from(self.requests[class].max(1)))
    }
}
