//! The requests on both sides: without equal requests, a difference does not show the effect of the allocator.

use std::collections::HashMap;

use freehold::{Order, Pfn};

use super::noise::{MeanDifference, mean, unpaired};
use super::short::number;
use crate::counts::CountsByOrder;

/// The share of the requested pages that may differ.
const SAME: f64 = 0.10;

/// The requests of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestCounts {
    /// Requests by order, failed ones included.
    by_order: CountsByOrder,
    /// Pages of blocks that were freed on another CPU than the one that requested them.
    freed_elsewhere: u64,
    /// The CPU that requested each block in use.
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

    /// Drops the CPUs of the blocks in use, after the last event.
    pub(super) fn without_holders(self) -> Self {
        Self { holders: HashMap::new(), ..self }
    }

    /// Returns the number of requested pages.
    pub(super) fn pages(&self) -> u64 {
        self.by_order.iter().enumerate().map(|(order, blocks)| blocks << order).sum()
    }
}

/// Returns a sentence if the requests under the change differ from those before by a tenth of the pages: in the sizes
/// or the number of blocks, or in the pages freed on another CPU than the one that requested them. Differences within
/// the noise do not count. `None` if the requests do not differ.
pub(super) fn request_differences(before: &[&RequestCounts], observed: &[&RequestCounts]) -> Option<String> {
    let each = |side: &[&RequestCounts], of: &dyn Fn(&RequestCounts) -> u64| -> Vec<f64> {
        side.iter().map(|requests| of(requests) as f64).collect()
    };
    let difference = |what: String, pages: u64, of: &dyn Fn(&RequestCounts) -> u64| {
        let [one, other] = [before, observed].map(|side| each(side, of));
        let is_beyond = unpaired(&one, &other).is_some_and(MeanDifference::is_beyond_noise);
        let [one, other] = [one, other].map(|values| mean(&values));
        is_beyond.then(|| Otherwise { pages: pages as f64 * (one - other).abs(), what, one, other })
    };
    let of_orders = Order::ZERO.up_to(Order::MAX).filter_map(|order| {
        let of = |requests: &RequestCounts| requests.by_order.of(order.index());
        difference(format!("blocks of order {order}"), order.pages(), &of)
    });
    let of_orders: Vec<_> = of_orders.collect();
    let what = "pages freed on another CPU than the one that requested them".to_owned();
    let elsewhere: Vec<_> = difference(what, 1, &|requests| requests.freed_elsewhere).into_iter().collect();
    let pages = |side: &[&RequestCounts]| mean(&each(side, &RequestCounts::pages));
    let most = SAME * pages(before).max(pages(observed));
    let found =
        [of_orders, elsewhere].into_iter().find(|all| all.iter().map(|of| of.pages).sum::<f64>() > most)?;
    let largest = found.into_iter().max_by(|one, other| one.pages.total_cmp(&other.pages))?;
    let [one, other] = [largest.one, largest.other].map(number);
    Some(format!("the requests differ under the change: {other} {}, {one} before", largest.what))
}

/// A kind of requests whose number differs beyond the noise.
struct Otherwise {
    /// The difference in pages.
    pages: f64,
    /// The kind of requests.
    what: String,
    /// The number before the change.
    one: f64,
    /// The number under the change.
    other: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of single pages, of blocks of order 2, and of pages freed on another CPU.
    type Of = (u64, u64, u64);

    /// Returns the counts for requests of `pages` single pages and `larger` blocks of order 2. The first `elsewhere`
    /// single pages are freed on another CPU.
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
    fn equal_requests_do_not_differ() {
        let before = [(1000, 5, 100), (1010, 4, 100), (990, 6, 100)];
        assert_eq!(otherwise(before, before), None);
        assert_eq!(otherwise(before, before.map(|(pages, larger, _)| (pages - 90, larger, 190))), None);
        assert_eq!(request_differences(&[], &[]), None);
        assert_eq!(requests(1000, 5, 100).pages(), 1020);
    }

    #[test]
    fn other_sizes_numbers_and_cpus_are_reported() {
        let before = [(1000, 5, 100), (1010, 4, 105), (990, 6, 95)];
        let sentence =
            |observed: fn(Of) -> Of| otherwise(before, before.map(observed)).expect("a difference");
        let larger = sentence(|(pages, larger, elsewhere)| (pages - 200, larger + 50, elsewhere));
        assert!(larger.contains("order 2, 5 before") || larger.contains("800 blocks of order 0"), "{larger}");
        let fewer = sentence(|(pages, larger, elsewhere)| (pages - 200, larger, elsewhere));
        assert!(fewer.contains("800 blocks of order 0, 1"), "{fewer}");
        let elsewhere = sentence(|(pages, larger, elsewhere)| (pages, larger, elsewhere + 300));
        assert!(elsewhere.contains("400 pages freed on another CPU"), "{elsewhere}");
    }

    #[test]
    fn differences_within_noise_do_not_count() {
        assert_eq!(
            otherwise([(1000, 0, 0), (1500, 0, 0), (700, 0, 0)], [(1200, 0, 0), (900, 0, 0), (600, 0, 0)]),
            None
        );
        assert_eq!(otherwise([(1000, 0, 0), (1000, 0, 900), (1000, 0, 0)], [(1000, 0, 0); 3]), None);
    }

    #[test]
    fn a_noisy_order_does_not_hide_a_clear_difference() {
        let before = [(1000, 0, 0), (2000, 0, 0), (300, 0, 0)];
        let observed = [(1100, 100, 0), (1900, 101, 0), (900, 99, 0)];
        let sentence = otherwise(before, observed).expect("a difference");
        assert!(sentence.contains("100 blocks of order 2, 0 before"), "{sentence}");
    }
}
