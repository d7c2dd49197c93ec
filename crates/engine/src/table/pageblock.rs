//! The type of every pageblock of a zone, and what its pages are used for.

use super::frame::FrameIndex;
use super::movable_bitmap::MovableBitmap;
use super::run::Run;
use super::sync::{AtomicU32, Ordering};
use crate::types::{MIGRATETYPES, Migratetype, Order, PageblockUse};

/// One pageblock: its type, and two counts of its pages, which those of more than 2048 pages have in
/// [`LargeCounts`].
///
/// From the lowest bits up: 8 bits of the type, a hint to compaction and its isolation, 12 of
/// the pages on the free lists, 12 of the movable pages that are not.
#[derive(Debug)]
pub(crate) struct Pageblock(AtomicU32);

const ISOLATED: u32 = 0x80;
/// Compaction found nothing here in its last runs. Linux counterpart: `PB_migrate_skip`.
const SKIP: u32 = 0x40;
const TYPE_BITS: u32 = 0xff & !SKIP;
const FREE_SHIFT: u32 = 8;
const MOVABLE_SHIFT: u32 = 20;
const COUNT_BITS: u32 = 0xfff;

/// The largest pageblocks whose counts fit beside their type.
const LARGEST_SMALL: u8 = 11;

const _: () = assert!(1 << LARGEST_SMALL <= COUNT_BITS);

/// The two counts of a pageblock of more than 2048 pages.
#[derive(Debug, Default)]
pub(crate) struct LargeCounts {
    free: Count,
    movable: Count,
}

/// A number that the holder of the zone lock changes.
#[derive(Debug)]
struct Count(AtomicU32);

impl Default for Count {
    fn default() -> Self {
        Self(AtomicU32::new(0))
    }
}

impl Count {
    fn load(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    fn store(&self, pages: u32) {
        self.0.store(pages, Ordering::Relaxed);
    }
}

impl Pageblock {
    /// Returns a pageblock as it is at first: movable.
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

    /// Returns the counts of free pages and of movable ones.
    #[inline]
    fn counts(&self) -> (u32, u32) {
        let value = self.load();
        (value >> FREE_SHIFT & COUNT_BITS, value >> MOVABLE_SHIFT)
    }

    fn set_movable(&self, pages: u32) {
        self.store(self.load() & !(COUNT_BITS << MOVABLE_SHIFT) | pages << MOVABLE_SHIFT);
    }

    /// Adds to the count of free pages, by a wrapped number to take off.
    #[inline]
    fn add_free(&self, pages: u32) {
        self.store(self.load().wrapping_add(pages << FREE_SHIFT));
    }

    fn add_movable(&self, pages: u32) {
        self.store(self.load().wrapping_add(pages << MOVABLE_SHIFT));
    }
}

/// Where a pageblock has its counts.
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

/// One zone's pageblocks: 4 bytes each, and 8 more for each of more than 2048 pages that counts.
///
/// An isolated pageblock keeps its former type, which it has again when the isolation ends. Writers hold
/// the zone lock; readers need no lock.
///
/// Where claims go by counts, each pageblock also counts:
/// - its pages in free blocks smaller than itself, exactly; `ZoneGuard::update_list` changes that number;
/// - its pages that left the free lists for movable requests and have not come back. A page that comes
///   back counts as of the type that its last owner asked for. If the page had another owner in between,
///   from a CPU's list and for another kind of request, the number stays off by that page. It is never more
///   than the pages that are not free, and exact again once the whole pageblock is free. It does not know
///   what [`crate::Zone::set_movable`] says, and counts a page on a CPU's list as what the page left the
///   free lists for. With [`MovableBitmap`] it is exact.
///
/// Linux counterpart: `pageblock_flags`.
#[derive(Debug)]
pub(crate) struct PageblockTable<'m> {
    order: Order,
    /// The order below which free blocks are counted: that of a pageblock, or 0 where pageblocks do not
    /// count.
    counted_below: Order,
    blocks: &'m [Pageblock],
    /// Empty where a pageblock's counts fit beside its type.
    large: &'m [LargeCounts],
    movable_bitmap: Option<&'m MovableBitmap<'m>>,
    counting: Counting,
}

/// How pageblocks count the pages that left for movable requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counting {
    /// They do not.
    Not,
    /// A page's last owner decides what it counts as when it comes back.
    ByOwner,
    /// [`MovableBitmap`] tell.
    ByDeparture,
}

impl<'m> PageblockTable<'m> {
    /// Returns how many [`LargeCounts`] so many pageblocks need.
    pub(crate) fn large_places(order: Order, counted: bool, blocks: usize) -> usize {
        if counted && order.get() > LARGEST_SMALL { blocks } else { 0 }
    }

    /// Returns a table of pageblocks and [`Self::large_places`] of their counts.
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

    /// Returns true if a pageblock has this type and is not isolated.
    #[inline]
    pub(crate) fn is_of(&self, index: FrameIndex, migratetype: Migratetype) -> bool {
        self.block(index).load() & TYPE_BITS == migratetype as u32
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

    /// Returns true if compaction leaves a pageblock out.
    pub(crate) fn is_skipped(&self, index: FrameIndex) -> bool {
        self.block(index).load() & SKIP != 0
    }

    /// Has compaction leave a pageblock out until [`Self::clear_skips`]. The caller holds the zone lock.
    pub(crate) fn set_skip(&self, index: FrameIndex) {
        let block = self.block(index);
        block.store(block.load() | SKIP);
    }

    pub(crate) fn clear_skips(&self) {
        self.blocks.iter().for_each(|block| block.store(block.load() & !SKIP));
    }

    /// Gives every pageblock of a block of `order` the same type.
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

    /// Returns the two numbers that a pageblock keeps, or `None` where pageblocks do not count. `free` is
    /// without the pages of blocks as large as a pageblock; fields other than `free` and `movable` are 0.
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
            for index in run.iter() {
                self.set_movable(index, run.order, self.pages());
            }
            return;
        }
        let (mut at, end) = (run.first.0, run.first.0 + run.pages());
        while at < end {
            let block_end = (at | (self.pages() - 1)) + 1;
            let pages = block_end.min(end) - at;
            self.counts(FrameIndex(at)).add_movable(pages);
            at += pages;
        }
    }

    /// Counts a block that has come back to the free lists. Of its pages, `movable_pages` had left them
    /// for movable requests.
    #[inline]
    pub(crate) fn count_returned(&self, index: FrameIndex, order: Order, movable_pages: u32) {
        if self.counting == Counting::ByOwner {
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
            // No smaller block is free: the one that came back has made the whole pageblock free.
            counts.set_movable(if free == 0 { 0 } else { left.min(self.pages() - free) });
        } else {
            self.set_movable(index, order, 0);
        }
    }

    /// Counts a block that goes to a request before it reaches the free lists. Of its pages, `returned`
    /// had left them for movable requests; now all have if `for_movable`, and none otherwise.
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

    /// Notes of pages whether they have left the free lists for a movable request, and counts them so in their
    /// pageblocks.
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
