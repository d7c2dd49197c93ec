//! The kinds of requests, by flags, order and type, and the fate of their pages.

use freehold::{GfpFlags, Migratetype, Order};

use super::histogram::Histogram;

/// The largest number of kinds with flags of their own. Real traces have about a hundred. Further kinds count as
/// [`GfpFlags::UNKNOWN`], by order and type.
const KINDS_COUNTED: usize = 4000;

/// The slots of the hash table of kinds: a power of two, at least twice the number of kinds.
const SLOTS: usize = 1 << 14;

/// One kind of requests, and the fate of its pages.
#[derive(Clone, Debug)]
pub(super) struct RequestKind {
    pub(super) gfp: GfpFlags,
    pub(super) order: Order,
    pub(super) migratetype: Migratetype,
    /// Successful requests.
    pub(super) allocs: u64,
    /// Failed requests.
    pub(super) failed: u64,
    /// Pages freed on another CPU than the one that allocated them, without frees by compaction.
    pub(super) freed_elsewhere: u64,
    /// Pages that compaction moved.
    pub(super) moved: u64,
    /// Pages allocated again while in use.
    pub(super) displaced: u64,
    /// Pages in use at the end; set after the last event.
    pub(super) alive: u64,
    /// Lifetimes of the freed pages.
    pub(super) lifetimes: Histogram,
}

/// All kinds of requests so far.
pub(super) struct Requests {
    pub(super) kinds: Vec<RequestKind>,
    /// Key and index of each kind; key 0 marks a free slot.
    slots: Vec<(u64, u16)>,
}

impl Requests {
    pub(super) fn new() -> Self {
        Self { kinds: Vec::new(), slots: vec![(0, 0); SLOTS] }
    }

    /// Returns the index of a kind in [`Self::kinds`]. Adds the kind if it is new.
    #[inline]
    pub(super) fn place(&mut self, gfp: GfpFlags, order: Order, migratetype: Migratetype) -> u16 {
        let key = 1 << 63 | (migratetype as u64) << 40 | u64::from(order.get()) << 32 | u64::from(gfp.bits());
        let mut slot = slot_of(key);
        loop {
            match self.slots[slot] {
                (found, place) if found == key => return place,
                (0, _) => return self.add(key, slot, gfp, order, migratetype),
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }

    #[cold]
    fn add(&mut self, key: u64, slot: usize, gfp: GfpFlags, order: Order, migratetype: Migratetype) -> u16 {
        if self.kinds.len() >= KINDS_COUNTED && gfp != GfpFlags::UNKNOWN {
            return self.place(GfpFlags::UNKNOWN, order, migratetype);
        }
        let place = self.kinds.len() as u16;
        self.kinds.push(RequestKind {
            gfp,
            order,
            migratetype,
            allocs: 0,
            failed: 0,
            freed_elsewhere: 0,
            moved: 0,
            displaced: 0,
            alive: 0,
            lifetimes: Histogram::default(),
        });
        self.slots[slot] = (key, place);
        place
    }
}

/// Returns the first slot of a key: the upper bits of a product that depends on every bit of the key.
#[inline]
fn slot_of(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_kinds_is_bounded() {
        let mut requests = Requests::new();
        for bits in 0..1 << 15 {
            let gfp = GfpFlags::from_bits_truncate(bits);
            let place = requests.place(gfp, Order::ZERO, gfp.migratetype());
            assert_eq!(requests.place(gfp, Order::ZERO, gfp.migratetype()), place);
            let kind = &requests.kinds[usize::from(place)];
            assert!(kind.gfp == gfp || kind.gfp == GfpFlags::UNKNOWN);
            assert_eq!(kind.migratetype, gfp.migratetype());
        }
        assert_eq!(requests.kinds.len(), KINDS_COUNTED + 3);
    }
}
