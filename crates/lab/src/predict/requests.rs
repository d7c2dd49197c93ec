//! What the machine was asked for on both sides: a change of the allocator is not to be told from one of the requests.

use std::collections::HashMap;

use freehold::{Order, Pfn};

use super::noise::{Difference, mean, unpaired};
use super::short::number;
use crate::counts::ByOrder;

/// The share of the requested pages that may be requested otherwise.
const SAME: f64 = 0.10;

/// What a machine was asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestCounts {
    /// Requests by order, those that failed included.
    by_order: ByOrder,
    /// Pages of blocks that were freed on another CPU than had asked for them.
    freed_elsewhere: u64,
    /// The CPU that asked for each block that is held.
    holders: HashMap<Pfn, u16>,
}

impl RequestCounts {
    /// Adds a request of a CPU, and the block that answered it.
    pub(super) fn add_request(&mut self, cpu: u16, pfn: Option<Pfn>, order: Order) {
        *self.by_order.widened(order) += 1;
        if let Some(pfn) = pfn {
            self.holders.insert(pfn, cpu);
        }
    }

    /// Adds a block that a CPU freed.
    pub(super) fn add_free(&mut self, cpu: u16, pfn: Pfn, order: Order) {
        if self.holders.remove(&pfn).is_some_and(|holder| holder != cpu) {
            self.freed_elsewhere += order.pages();
        }
    }

    /// Forgets who holds blocks, once nothing is added any more.
    pub(super) fn without_holders(self) -> Self {
        Self { holders: HashMap::new(), ..self }
    }

    /// Returns the pages that were asked for.
    pub(super) fn pages(&self) -> u64 {
        self.by_order.iter().enumerate().map(|(order, blocks)| blocks << order).sum()
    }
}

/// Returns a sentence if the machine was asked otherwise under a change than before: a tenth of the pages in blocks of
/// another size, or fewer or more of them, or a tenth freed on another CPU than had asked for them. What is within the
/// noise does not count. `None` if it was asked for the same.
pub(super) fn request_differences(before: &[&RequestCounts], observed: &[&RequestCounts]) -> Option<String> {
    let each = |side: &[&RequestCounts], of: &dyn Fn(&RequestCounts) -> u64| -> Vec<f64> {
        side.iter().map(|requests| of(requests) as f64).collect()
    };
    let difference = |what: String, pages: u64, of: &dyn Fn(&RequestCounts) -> u64| {
        let [one, other] = [before, observed].map(|side| each(side, of));
        let is_beyond = unpaired(&one, &other).is_some_and(Difference::is_beyond_noise);
        let [one, other] = [one, other].map(|values| mean(&values));
        is_beyond.then(|| Otherwise { pages: pages as f64 * (one - other).abs(), what, one, other })
    };
    let of_orders = Order::ZERO.up_to(Order::MAX).filter_map(|order| {
        let of = |requests: &RequestCounts| requests.by_order.of(order.index());
        difference(format!("blocks of order {order}"), order.pages(), &of)
    });
    let of_orders: Vec<_> = of_orders.collect();
    let what = "pages freed on another CPU than had asked for them".to_owned();
    let elsewhere: Vec<_> = difference(what, 1, &|requests| requests.freed_elsewhere).into_iter().collect();
    let pages = |side: &[&RequestCounts]| mean(&each(side, &RequestCounts::pages));
    let most = SAME * pages(before).max(pages(observed));
    let found =
        [of_orders, elsewhere].into_iter().find(|all| all.iter().map(|of| of.pages).sum::<f64>() > most)?;
    let largest = found.into_iter().max_by(|one, other| one.pages.total_cmp(&other.pages))?;
    let [one, other] = [largest.one, largest.other].map(number);
    Some(format!("the machine was asked otherwise under the change: {other} {}, {one} before", largest.what))
}

/// One thing that was asked for more or less often, beyond the noise.
struct Otherwise {
    /// By how many pages.
    pages: f64,
    /// What it is.
    what: String,
    /// How often before the change.
    one: f64,
    /// How often under it.
    other: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Single pages, blocks of order 2, and pages freed elsewhere.
    type Of = (u64, u64, u64);

    /// Returns what so many single pages, and blocks of order 2, make; the first of the single pages are freed on another
    /// CPU.
    fn requests(pages: u64, larger: u64, elsewhere: u64) -> RequestCounts {
        let mut requests = RequestCounts::default();
        for pfn in (0..pages).map(Pfn) {
            requests.add_request(0, Some(pfn), Order::ZERO);
            requests.add_free((pfn.0 < elsewhere).into(), pfn, Order::ZERO);
        }
        for _ in 0..larger {
            requests.add_request(1, None, Order::ZERO.up().and_then(Order::up).expect("order 2"));
        }
        requests
    }

    #[track_caller]
    fn otherwise(before: [Of; 3], observed: [Of; 3]) -> Option<String> {
        let [before, observed] = [before, observed].map(|side| side.map(|(a, b, c)| requests(a, b, c)));
        request_differences(&before.each_ref(), &observed.each_ref())
    }

    #[test]
    fn the_same_requests_are_no_difference() {
        let before = [(1000, 5, 100), (1010, 4, 100), (990, 6, 100)];
        assert_eq!(otherwise(before, before), None);
        assert_eq!(otherwise(before, before.map(|(pages, larger, _)| (pages - 90, larger, 190))), None);
        assert_eq!(request_differences(&[], &[]), None);
        assert_eq!(requests(1000, 5, 100).pages(), 1020);
    }

    #[test]
    fn other_sizes_numbers_and_cpus_are_told() {
        let before = [(1000, 5, 100), (1010, 4, 105), (990, 6, 95)];
        let told = |observed: fn(Of) -> Of| otherwise(before, before.map(observed)).expect("told");
        let larger = told(|(pages, larger, elsewhere)| (pages - 200, larger + 50, elsewhere));
        assert!(larger.contains("order 2, 5 before") || larger.contains("800 blocks of order 0"), "{larger}");
        let fewer = told(|(pages, larger, elsewhere)| (pages - 200, larger, elsewhere));
        assert!(fewer.contains("800 blocks of order 0, 1"), "{fewer}");
        let elsewhere = told(|(pages, larger, elsewhere)| (pages, larger, elsewhere + 300));
        assert!(elsewhere.contains("400 pages freed on another CPU"), "{elsewhere}");
    }

    #[test]
    fn what_scatters_as_much_is_no_difference() {
        assert_eq!(
            otherwise([(1000, 0, 0), (1500, 0, 0), (700, 0, 0)], [(1200, 0, 0), (900, 0, 0), (600, 0, 0)]),
            None
        );
        assert_eq!(otherwise([(1000, 0, 0), (1000, 0, 900), (1000, 0, 0)], [(1000, 0, 0); 3]), None);
    }

    #[test]
    fn an_order_that_scatters_does_not_hide_one_that_does_not() {
        let before = [(1000, 0, 0), (2000, 0, 0), (300, 0, 0)];
        let observed = [(1100, 100, 0), (1900, 101, 0), (900, 99, 0)];
        let told = otherwise(before, observed).expect("told");
        assert!(told.contains("100 blocks of order 2, 0 before"), "{told}");
    }
}
