//! The type of every pageblock of a zone, and counts of its pages.

use super::frame::FrameIndex;
use super::movable_bitmap::MovableBitmap;
use super::run::Run;
use super::sync::{AtomicU32, Ordering};
use crate::types::{MIGRATETYPES, Migratetype, Order, PageblockUse};

/// One pageblock: its type and two counts of its pages. Pageblocks of more than 2048 pages have their counts in
/// [`LargeCounts`] instead.
///
/// From the lowest bits up: 8 bits for the type, the skip hint of compaction and the isolation, 12 bits for the number
/// of pages on the free lists, and 12 bits for the number of movable pages that are not on them.
#[derive(Debug)]
pub(crate) struct Pageblock(AtomicU32);

const ISOLATED: u32 = 0x80;
/// The skip hint: compaction found nothing to move here in its last runs. Linux counterpart: `PB_migrate_skip`.
const SKIP: u32 = 0x40;
const TYPE_BITS: u32 = 0xff & !SKIP;
const FREE_SHIFT: u32 = 8;
const MOVABLE_SHIFT: u32 = 20;
const COUNT_BITS: u32 = 0xfff;

/// The largest order of a pageblock whose counts fit into one word with its type.
const LARGEST_SMALL: u8 = 11;

const _: () = assert!(1 << LARGEST_SMALL <= COUNT_BITS);

/// The two counts of a pageblock of more than 2048 pages.
#[derive(Debug, Default)]
pub(crate) struct LargeCounts {
    free: Count,
    movable: Count,
}

/// A counter that only the holder of the zone lock changes.
#[derive(Debug, Default)]
struct Count(AtomicU32);

impl Count {
    fn load(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    fn store(&self, pages: u32) {
        self.0.store(pages, Ordering::Relaxed);
    }
}

impl Pageblock {
    /// Returns a pageblock in its initial state: movable.
    pub(crate) fn movable() -> Self {
        Self(AtomicU32::new(Migratetype::Movable as u32))
    }

    fn load(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    fn store(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }

    fn set_type(&self, value: u32) {
        self.store(self.load() & !TYPE_BITS | value);
    }

    /// Returns the counts of free pages and of movable pages.
    #[inline]
    fn counts(&self) -> (u32, u32) {
        let value = self.load();
        (value >> FREE_SHIFT & COUNT_BITS, value >> MOVABLE_SHIFT)
    }

    fn set_movable(&self, pages: u32) {
        self.store(self.load() & !(COUNT_BITS << MOVABLE_SHIFT) | pages << MOVABLE_SHIFT);
    }

    /// Adds to the count of free pages. A wrapped number subtracts.
    #[inline]
    fn add_free(&self, pages: u32) {
        self.store(self.load().wrapping_add(pages << FREE_SHIFT));
    }

    fn add_movable(&self, pages: u32) {
        self.store(self.load().wrapping_add(pages << MOVABLE_SHIFT));
    }
}

/// The place of a pageblock's counts.
enum CountsOf<'m> {
    Small(&'m Pageblock),
    Large(&'m LargeCounts),
}

impl CountsOf<'_> {
    #[inline]
    fn both(&self) -> (u32, u32) {
        match self {
            Self::Small(block) => block.counts(),
            Self::Large(counts) => (counts.free.load(), counts.movable.load()),
        }
    }

    fn set_movable(&self, pages: u32) {
        match self {
            Self::Small(block) => block.set_movable(pages),
            Self::Large(counts) => counts.movable.store(pages),
        }
    }

    #[inline]
    fn add_free(&self, pages: u32) {
        match self {
            Self::Small(block) => block.add_free(pages),
            Self::Large(counts) => counts.free.store(counts.free.load().wrapping_add(pages)),
        }
    }

    fn add_movable(&self, pages: u32) {
        match self {
            Self::Small(block) => block.add_movable(pages),
            Self::Large(counts) => counts.movable.store(counts.movable.load().wrapping_add(pages)),
        }
    }
}

/// One zone's pageblocks: 4 bytes each, and 8 more for a pageblock of more than 2048 pages that keeps counts.
///
/// An isolated pageblock keeps its former type, and has it again when the isolation ends. Writers hold the zone lock;
/// readers need no lock.
///
/// With [`crate::Switches::claims_by_counts`] each pageblock keeps two counts:
/// - The pages in free blocks smaller than the pageblock. This count is exact; `ZoneGuard::update_list` changes it.
/// - The pages that left the free lists for movable requests and have not returned. A page that returns counts by the
///   type that its last owner requested. If a CPU's list gave the page to several owners of different types in between,
///   the count stays off by that page. It never exceeds the number of pages that are not free, and is exact again once
///   the whole pageblock is free. A page on a CPU's list counts by the type for which it left the free lists.
///   [`crate::Zone::set_movable`] does not change the count. With [`MovableBitmap`] the count is exact.
///
/// Linux counterpart: `pageblock_flags`.
#[derive(Debug)]
pub(crate) struct PageblockTable<'m> {
    order: Order,
    /// Free blocks below this order are counted. It is the order of a pageblock, or 0 if pageblocks keep no counts.
    counted_below: Order,
    blocks: &'m [Pageblock],
    /// The counts of large pageblocks. Empty if the counts fit into one word with the type.
    large: &'m [LargeCounts],
    movable_bitmap: Option<&'m MovableBitmap<'m>>,
    counting: Counting,
}

/// The way in which pageblocks count the pages that left the free lists for movable requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counting {
    /// Pageblocks do not count them.
    Not,
    /// The request of a page's last owner decides how the page counts when it returns.
    ByOwner,
    /// The [`MovableBitmap`] decides.
    ByDeparture,
}

impl<'m> PageblockTable<'m> {
    /// Returns the number of [`LargeCounts`] for `blocks` pageblocks of this order.
    pub(crate) fn large_places(order: Order, counted: bool, blocks: usize) -> usize {
        if counted && order.get() > LARGEST_SMALL { blocks } else { 0 }
    }

    /// Returns a table of pageblocks. `large` has [`Self::large_places`] places.
    pub(crate) fn new(
        order: Order,
        counted: bool,
        blocks: &'m [Pageblock],
        large: &'m [LargeCounts],
        movable_bitmap: Option<&'m MovableBitmap<'m>>,
    ) -> Self {
        let counting = match movable_bitmap {
            Some(_) => Counting::ByDeparture,
            None if counted => Counting::ByOwner,
            None => Counting::Not,
        };
        let counted_below = if counted { order } else { Order::ZERO };
        Self { order, counted_below, blocks, large, movable_bitmap, counting }
    }

    /// Returns true if the request of a page's last owner decides how the page counts when it returns.
    #[inline]
    pub(crate) fn counts_by_owner(&self) -> bool {
        self.counting == Counting::ByOwner
    }

    #[inline]
    fn counts(&self, index: FrameIndex) -> CountsOf<'m> {
        let number = (index.0 >> self.order.get()) as usize;
        match self.large.get(number) {
            Some(counts) => CountsOf::Large(counts),
            None => CountsOf::Small(&self.blocks[number]),
        }
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    pub(crate) fn pages(&self) -> u32 {
        1 << self.order.get()
    }

    /// Returns the number of pageblocks from the zone's origin on.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the first frame of the pageblock around `index`.
    pub(crate) fn start_of(&self, index: FrameIndex) -> FrameIndex {
        index.align_down(self.order)
    }

    fn block(&self, index: FrameIndex) -> &Pageblock {
        &self.blocks[(index.0 >> self.order.get()) as usize]
    }

    pub(crate) fn get(&self, index: FrameIndex) -> Migratetype {
        let value = self.block(index).load();
        if value & ISOLATED != 0 { Migratetype::Isolate } else { Self::decode(value) }
    }

    /// Returns true if the pageblock around `index` has this type and is not isolated.
    #[inline]
    pub(crate) fn is_of(&self, index: FrameIndex, migratetype: Migratetype) -> bool {
        self.block(index).load() & TYPE_BITS == migratetype as u32
    }

    /// Returns true if the pageblock around `index` has this type, which may be `Isolate`.
    #[inline]
    pub(crate) fn has_type(&self, index: FrameIndex, migratetype: Migratetype) -> bool {
        self.is_of(index, migratetype) || self.get(index) == migratetype
    }

    /// Returns the type of a pageblock or, while it is isolated, its former type.
    pub(crate) fn get_beneath_isolation(&self, index: FrameIndex) -> Migratetype {
        Self::decode(self.block(index).load())
    }

    fn decode(value: u32) -> Migratetype {
        const TYPES: [Migratetype; 8] = {
            let mut types = [Migratetype::Unmovable; 8];
            let mut value = 0;
            while value < MIGRATETYPES {
                types[value] = Migratetype::ALL[value];
                value += 1;
            }
            types
        };
        TYPES[(value & 7) as usize]
    }

    pub(crate) fn set(&self, index: FrameIndex, migratetype: Migratetype) {
        self.block(index).set_type(migratetype as u32);
    }

    /// Isolates a pageblock, which keeps its former type.
    pub(crate) fn set_isolated(&self, index: FrameIndex) {
        let block = self.block(index);
        block.store(block.load() | ISOLATED);
    }

    /// Returns true if a pageblock has the skip hint of compaction.
    pub(crate) fn is_skipped(&self, index: FrameIndex) -> bool {
        self.block(index).load() & SKIP != 0
    }

    /// Sets the skip hint of a pageblock: compaction skips it until [`Self::clear_skips`]. Needs the zone lock.
    pub(crate) fn set_skip(&self, index: FrameIndex) {
        let block = self.block(index);
        block.store(block.load() | SKIP);
    }

    pub(crate) fn clear_skips(&self) {
        self.blocks.iter().for_each(|block| block.store(block.load() & !SKIP));
    }

    /// Sets the type of every pageblock of a block of `order`.
    pub(crate) fn set_range(&self, index: FrameIndex, order: Order, migratetype: Migratetype) {
        self.of_block(index, order).for_each(|at| self.block(at).set_type(migratetype as u32));
    }

    /// Returns a frame of each pageblock that a block of `order` touches.
    fn of_block(&self, index: FrameIndex, order: Order) -> impl Iterator<Item = FrameIndex> + use<> {
        let (first, of) = (self.start_of(index), self.order.get());
        (0..1 << order.get().saturating_sub(of)).map(move |number: u32| first.offset(number << of))
    }

    /// Sets the count of movable pages of each pageblock that a block touches.
    fn set_movable(&self, index: FrameIndex, order: Order, pages: u32) {
        self.of_block(index, order).for_each(|at| self.counts(at).set_movable(pages));
    }

    /// Returns the two counts of a pageblock, or `None` if pageblocks keep no counts. `free` does not include blocks of
    /// a pageblock or more. Fields other than `free` and `movable` are 0.
    #[inline]
    pub(crate) fn counted_use(&self, index: FrameIndex) -> Option<PageblockUse> {
        (self.counted_below > Order::ZERO).then(|| {
            let (free, movable) = self.counts(index).both();
            PageblockUse { free, movable, ..PageblockUse::default() }
        })
    }

    /// Counts a block that enters a free list.
    #[inline]
    pub(crate) fn count_entered(&self, index: FrameIndex, order: Order) {
        if order < self.counted_below {
            self.counts(index).add_free(1 << order.get());
        }
    }

    /// Counts a block that leaves its free list.
    #[inline]
    pub(crate) fn count_left(&self, index: FrameIndex, order: Order) {
        if order < self.counted_below {
            self.counts(index).add_free((1_u32 << order.get()).wrapping_neg());
        }
    }

    /// Counts blocks that have left the free lists for a movable request.
    pub(crate) fn count_taken(&self, run: Run) {
        if self.counting == Counting::ByDeparture {
            return self.mark_departed(run.first, run.pages(), true);
        }
        if run.order >= self.order {
            return run.iter().for_each(|index| self.set_movable(index, run.order, self.pages()));
        }
        let (mut at, end) = (run.first.0, run.first.0 + run.pages());
        while at < end {
            let block_end = (at | (self.pages() - 1)) + 1;
            let pages = block_end.min(end) - at;
            self.counts(FrameIndex(at)).add_movable(pages);
            at += pages;
        }
    }

    /// Counts a block that has returned to the free lists. `movable_pages` of its pages had left them for movable
    /// requests.
    #[inline]
    pub(crate) fn count_returned(&self, index: FrameIndex, order: Order, movable_pages: u32) {
        if self.counts_by_owner() {
            self.count_returned_by_owner(index, order, movable_pages);
        } else if self.counting == Counting::ByDeparture {
            self.mark_departed(index, order.pages() as u32, false);
        }
    }

    fn count_returned_by_owner(&self, index: FrameIndex, order: Order, movable_pages: u32) {
        if order < self.order {
            let counts = self.counts(index);
            let (free, movable) = counts.both();
            let left = movable.saturating_sub(movable_pages);
            // No block smaller than the pageblock is free: the returned block has made the whole pageblock free.
            counts.set_movable(if free == 0 { 0 } else { left.min(self.pages() - free) });
        } else {
            self.set_movable(index, order, 0);
        }
    }

    /// Counts a block that a request captures before it reaches the free lists. `returned` of its pages had left them
    /// for movable requests. From now on, all of its pages count as such if `for_movable`, and otherwise none.
    pub(crate) fn count_captured(&self, index: FrameIndex, order: Order, returned: u32, for_movable: bool) {
        let taken = if for_movable { order.pages() as u32 } else { 0 };
        if self.counting == Counting::ByDeparture {
            self.mark_departed(index, order.pages() as u32, false);
            self.mark_departed(index, taken, true);
        } else if order < self.order {
            let counts = self.counts(index);
            let (free, movable) = counts.both();
            counts.set_movable((movable.saturating_sub(returned) + taken).min(self.pages() - free));
        } else {
            self.set_movable(index, order, taken.min(self.pages()));
        }
    }

    /// Notes in the bitmap whether pages have left the free lists for a movable request, and updates the counts of
    /// their pageblocks.
    #[cold]
    fn mark_departed(&self, first: FrameIndex, pages: u32, taken: bool) {
        let Some(movable_bitmap) = self.movable_bitmap else { return };
        let (mut at, end) = (first.0, first.0 + pages);
        while at < end {
            let block_end = ((at | (self.pages() - 1)) + 1).min(end);
            let changed = movable_bitmap.mark(FrameIndex(at), block_end - at, taken);
            self.counts(FrameIndex(at)).add_movable(if taken { changed } else { changed.wrapping_neg() });
            at = block_end;
        }
    }
}
