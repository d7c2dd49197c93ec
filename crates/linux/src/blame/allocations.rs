//! Allocations whose pages are in use, found by their frames.

use super::stacks::StackId;

/// An allocation whose pages are in use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Allocation {
    /// Its first frame.
    pub pfn: u64,
    /// Its order.
    pub order: u8,
    /// When it was made: nanoseconds since the boot.
    pub time_ns: u64,
    /// The stack that it was made from.
    pub stack: Option<StackId>,
}

/// Allocations by their frames. Of two that have a frame in common, as where a block was split and a part of it freed, the one that
/// was made last is believed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allocations {
    sorted: Vec<Allocation>,
    largest_order: u8,
}

impl Allocations {
    /// Takes allocations in any order.
    pub fn new(mut allocations: Vec<Allocation>) -> Self {
        allocations.sort_unstable();
        let largest_order = allocations.iter().map(|made| made.order).max().unwrap_or(0);
        Self { sorted: allocations, largest_order }
    }

    /// Returns the number of allocations.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Returns every allocation, by ascending frames.
    pub fn iter(&self) -> impl Iterator<Item = &Allocation> {
        self.sorted.iter()
    }

    /// Returns the allocation that has the frame.
    pub fn of(&self, pfn: u64) -> Option<&Allocation> {
        // A block is aligned to its size, so each order has one place where a block with the frame begins.
        let begins = |order: u8| pfn >> order << order;
        let candidates = (0..=self.largest_order).flat_map(|order| {
            let first = self.sorted.partition_point(|made| (made.pfn, made.order) < (begins(order), order));
            self.sorted[first..]
                .iter()
                .take_while(move |made| (made.pfn, made.order) == (begins(order), order))
        });
        candidates.max_by_key(|made| made.time_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_leads_to_the_allocation_that_has_it() {
        let made = |pfn, order, time_ns| Allocation { pfn, order, time_ns, stack: None };
        let all = Allocations::new(vec![made(16, 2, 5), made(3, 0, 1), made(17, 0, 9), made(32, 4, 7)]);
        let time = |pfn| all.of(pfn).map(|made| made.time_ns);
        assert_eq!(
            [3, 4, 15, 16, 17, 18, 19, 20].map(time),
            [Some(1), None, None, Some(5), Some(9), Some(5), Some(5), None]
        );
        assert_eq!([31, 32, 47, 48].map(time), [None, Some(7), Some(7), None]);
        assert_eq!(Allocations::default().of(3), None);
    }
}
