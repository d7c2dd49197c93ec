//! Sums up the words of `/proc/kpageflags` into a pageblock's record.

use super::block::{Pageblock, STRIDES, UnmovableKind};
use super::frame_use::{Use, Uses};
use super::unflagged::Aside;
use crate::procfs::kpf;

/// A record as it was read. Whether frames without a flag are memory is decided later, from the zones'
/// numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RawBlock {
    pub(super) block: Pageblock,
    /// True if no frame of the pageblock has a flag.
    pub(super) blank: bool,
}

impl RawBlock {
    /// Returns the record of a pageblock that was not read.
    pub(super) fn absent(pages: u64) -> Self {
        let mut block = Pageblock { pinned_parts: u64::MAX, used_parts: u64::MAX, ..Pageblock::default() };
        block.unmovable[UnmovableKind::Absent as usize] = clamp(pages);
        Self { block, blank: false }
    }
}

/// Converts a number of pages: a pageblock has at most 2^15 (arm64 with 64 KiB pages has 2^13).
fn clamp(pages: u64) -> u16 {
    u16::try_from(pages).unwrap_or(u16::MAX)
}

/// Sums up the words of one pageblock. The first word belongs to frame `skipped` of the pageblock; frames
/// without a word are absent.
pub(super) fn fold(
    words: impl Iterator<Item = u64>,
    skipped: u64,
    pageblock_order: u8,
    aside: Aside<'_>,
) -> RawBlock {
    let pages = 1_u64 << pageblock_order;
    let part_shift = u32::from(pageblock_order.saturating_sub(6));
    let mut folder = Folder::default();
    let mut at = skipped;
    for flags in words.take((pages - skipped.min(pages)) as usize) {
        folder.take(flags, 1 << (at >> part_shift).min(63), at, aside);
        if flags == 0 && aside.is_listed(at) {
            folder.block.listed += 1;
        }
        at += 1;
    }
    folder.end_free_run(at);
    folder.end_folio();
    let mut raw = RawBlock { block: folder.block, blank: folder.blanks == pages && folder.block.listed == 0 };
    let missing = pages - (at - skipped);
    if missing > 0 {
        raw.block.unmovable[UnmovableKind::Absent as usize] += clamp(missing);
        let part = |page: u64| (page >> part_shift).min(63);
        for page in (0..skipped).chain(at..pages) {
            raw.block.pinned_parts |= 1 << part(page);
            raw.block.used_parts |= 1 << part(page);
        }
    }
    let movable = u64::from(raw.block.movable()) == pages;
    raw.block.whole_folio = movable && folder.tails >= pages - 1;
    raw
}

#[derive(Default)]
struct Folder {
    block: Pageblock,
    last: Option<(u64, Use)>,
    uses: Uses,
    blanks: u64,
    tails: u64,
    /// Where the current run of free pages starts in the pageblock; `None` outside of one.
    free_from: Option<u64>,
    /// The free scanner's position with each of [`STRIDES`].
    striders: [Strider; STRIDES.len()],
    /// The compound page that has not ended yet.
    folio: Folio,
}

/// A compound page on the LRU.
#[derive(Default)]
struct Folio {
    /// Its pages so far; 0 if there is none.
    pages: u32,
    movable: bool,
    /// True if it is page cache that is dirty or under writeback.
    dirty: bool,
}

/// The position of a free scanner, which steps over compound pages and free blocks as wholes.
#[derive(Clone, Copy)]
enum Strider {
    /// It scans this page next.
    At(u64),
    /// It steps over a compound page whose end is not reached yet.
    Over,
}

impl Default for Strider {
    fn default() -> Self {
        Self::At(0)
    }
}

impl Strider {
    /// Passes page `at`, which is not free.
    fn pass(&mut self, step: u64, at: u64, flags: u64) {
        if let (Self::Over, 0) = (*self, flags & kpf::COMPOUND_TAIL) {
            *self = Self::At(at - 1 + step);
        }
        if let Self::At(next) = *self
            && next == at
        {
            let head = flags & kpf::COMPOUND_HEAD != 0;
            *self = if head { Self::Over } else { Self::At(at + step) };
        }
    }

    /// Passes a free block. Returns true if the scanner reads the block's first page.
    fn finds(&mut self, step: u64, from: u64, pages: u64) -> bool {
        // The kernel adds the step to the last page of a block that it steps over.
        let past = from + pages - 1 + step;
        match *self {
            Self::Over => *self = Self::At(from - 1 + step),
            Self::At(next) if next == from => {
                *self = Self::At(past);
                return true;
            }
            Self::At(_) => {}
        }
        if let Self::At(next) = *self
            && next < from + pages
        {
            *self = Self::At(next + (from + pages - next).div_ceil(step) * step);
        }
        false
    }
}

impl Folder {
    fn take(&mut self, flags: u64, part: u64, at: u64, aside: Aside<'_>) {
        let used_for = match self.last {
            Some((last, used_for)) if last == flags && flags & kpf::COMPOUND_HEAD == 0 => used_for,
            _ => self.uses.next(flags),
        };
        self.last = Some((flags, used_for));
        let used_for = if used_for.is_movable() && aside.is_pinned(at) {
            Use::Unmovable(UnmovableKind::Pinned)
        } else {
            used_for
        };
        self.tails += u64::from(flags & kpf::COMPOUND_TAIL != 0);
        if used_for == Use::Free {
            self.block.free += 1;
            self.free_from.get_or_insert(at);
            return;
        }
        self.end_free_run(at);
        for (strider, step) in self.striders.iter_mut().zip(STRIDES) {
            strider.pass(step, at, flags);
        }
        if flags & kpf::COMPOUND_HEAD != 0 {
            self.end_folio();
            let dirty = flags & (kpf::DIRTY | kpf::WRITEBACK) != 0 && used_for == Use::FileBusy;
            self.folio = Folio { pages: 1, movable: used_for.is_movable(), dirty };
        } else if flags & kpf::COMPOUND_TAIL == 0 {
            self.end_folio();
        } else if self.folio.pages > 0 {
            self.folio.pages += 1;
        }
        let block = &mut self.block;
        block.used_parts |= part;
        let pages = match used_for {
            Use::Anon => &mut block.anon,
            Use::FileClean => &mut block.file_clean,
            Use::FileBusy => &mut block.file_busy,
            Use::Unevictable => &mut block.unevictable,
            Use::Unmovable(why) => {
                block.pinned_parts |= part;
                &mut block.unmovable[why as usize]
            }
            Use::Blank | Use::Free => {
                self.blanks += 1;
                block.pinned_parts |= part;
                &mut block.unmovable[UnmovableKind::Kernel as usize]
            }
        };
        *pages += 1;
    }

    /// Records the free blocks in the run of free pages that ends before `at`.
    fn end_free_run(&mut self, at: u64) {
        let Some(mut from) = self.free_from.take() else { return };
        while from < at {
            let order = from.trailing_zeros().min((at - from).ilog2());
            let found = self.striders.iter_mut().zip(STRIDES).zip(&mut self.block.free_strided);
            for ((strider, step), pages) in found {
                *pages += u16::from(strider.finds(step, from, 1 << order)) << order;
            }
            from += 1 << order;
        }
    }

    fn end_folio(&mut self) {
        let Folio { pages, movable, dirty } = std::mem::take(&mut self.folio);
        let Some(order) = pages.checked_ilog2() else { return };
        if dirty {
            self.block.dirty_order = self.block.dirty_order.max(order as u8);
        }
        if movable && let Some(small) = self.block.in_small_folios.get_mut((order as usize).wrapping_sub(1)) {
            *small += pages as u16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pageblocks::{PerCpuFrames, PinnedFrames};

    fn fold_words(words: &[u64], order: u8) -> RawBlock {
        fold(words.iter().copied(), 0, order, Aside::NONE)
    }

    #[test]
    fn every_use_is_recognised() {
        let words = [
            kpf::BUDDY,
            kpf::LRU | kpf::ANON | kpf::SWAPBACKED,
            kpf::LRU,
            kpf::LRU | kpf::DIRTY,
            kpf::LRU | kpf::MMAP,
            kpf::LRU | kpf::UNEVICTABLE,
            kpf::SLAB | kpf::ANON | kpf::COMPOUND_HEAD,
            kpf::COMPOUND_TAIL,
            kpf::PGTABLE | kpf::MMAP,
            0,
            kpf::RESERVED,
            kpf::OFFLINE,
            kpf::HUGE | kpf::COMPOUND_HEAD,
            kpf::MMAP,
            kpf::NOPAGE,
            kpf::LRU | kpf::SWAPBACKED,
        ];
        let block = fold_words(&words, 4).block;
        assert_eq!((block.free, block.anon, block.file_clean, block.file_busy), (1, 2, 1, 2));
        assert_eq!((block.unevictable, block.unmovable), (1, [2, 1, 2, 1, 1, 1, 1, 0, 0]));
        assert_eq!(block.used_parts, 0xfffe, "every part but the free one");
        assert_eq!(block.pinned_parts, 0b0111_1111_1100_0000);
        assert_eq!(block.movable() + block.stuck() + 1, 16);
    }

    #[test]
    fn pages_of_files_on_their_way_to_the_lru_are_movable() {
        let words = [kpf::UPTODATE | kpf::MMAP, kpf::UPTODATE, kpf::SWAPBACKED | kpf::UPTODATE, kpf::MMAP];
        let block = fold_words(&words, 2).block;
        assert_eq!((block.file_busy, block.file_clean, block.anon), (1, 1, 1));
        assert_eq!(block.pages_of(UnmovableKind::Kernel), 1, "a driver's");
    }

    #[test]
    fn the_largest_free_block_and_the_largest_dirty_folio_are_found() {
        let mut words = [kpf::BUDDY; 16];
        words[0] = kpf::LRU;
        words[8] = kpf::LRU | kpf::DIRTY | kpf::COMPOUND_HEAD;
        words[9..12].fill(kpf::LRU | kpf::DIRTY | kpf::COMPOUND_TAIL);
        let block = fold_words(&words, 4).block;
        assert_eq!((block.dirty_order, block.file_busy), (2, 4));
        words[8] |= kpf::SWAPBACKED;
        assert_eq!(fold_words(&words, 4).block.dirty_order, 0, "tmpfs keeps no state with its pages");
    }

    #[test]
    fn movable_pages_in_small_folios_are_counted() {
        let folio = |kind: u64, order: u32| {
            let tails = std::iter::repeat_n(kpf::COMPOUND_TAIL | kind, (1 << order) - 1);
            std::iter::once(kpf::COMPOUND_HEAD | kind).chain(tails)
        };
        let words: Vec<_> = folio(kpf::LRU, 1)
            .chain(folio(kpf::SLAB, 2))
            .chain([kpf::LRU, kpf::BUDDY])
            .chain(folio(kpf::LRU | kpf::ANON, 3))
            .chain(folio(kpf::LRU, 4))
            .collect();
        assert_eq!(fold_words(&words, 5).block.in_small_folios, [2, 0, 8]);
        let last: Vec<_> = folio(kpf::LRU | kpf::DIRTY, 3).collect();
        let block = fold_words(&last, 3).block;
        assert_eq!((block.in_small_folios, block.dirty_order), ([0, 0, 8], 3));
    }

    #[test]
    fn strided_scans_are_counted() {
        let strided = |words: &[u64]| fold_words(words, 7).block.free_strided[4];
        let mut words = [kpf::LRU; 128];
        words[1..4].fill(kpf::BUDDY);
        assert_eq!(strided(&words), 0);
        words[32..48].fill(kpf::BUDDY);
        assert_eq!(strided(&words), 16);
        words[32 + 15 + 32] = kpf::BUDDY;
        assert_eq!(strided(&words), 17, "a step from the last page of the free block");
        words[0] |= kpf::COMPOUND_HEAD;
        words[1..4].fill(kpf::LRU | kpf::COMPOUND_TAIL);
        assert_eq!(strided(&words), 0, "a step from the last page of the folio, into a free block");
        words[32..48].fill(kpf::LRU);
        assert_eq!(strided(&words), 0);
        words[3 + 32] = kpf::BUDDY;
        assert_eq!(strided(&words), 1);
        assert_eq!(strided(&[kpf::BUDDY; 128]), 128);
    }

    #[test]
    fn pinned_pages_stay_whatever_they_are() {
        let words = [kpf::LRU | kpf::ANON, kpf::LRU, kpf::LRU | kpf::UNEVICTABLE, kpf::BUDDY, kpf::SLAB, 0];
        let pinned = PinnedFrames::new(8, vec![0b11_1110]);
        let raw = fold(words.into_iter(), 0, 3, Aside { pinned: &pinned, base: 8, ..Aside::NONE });
        let block = raw.block;
        assert_eq!((block.anon, block.file_clean, block.unevictable, block.free), (1, 0, 0, 1));
        assert_eq!(
            (block.pages_of(UnmovableKind::Pinned), block.pages_of(UnmovableKind::Slab)),
            (2, 1),
            "no slab, no free page"
        );
        assert_eq!(block.pinned_parts & 0b111, 0b110);
        let huge = fold_huge(&PinnedFrames::new(0, vec![0xffff]));
        assert!(!huge.whole_folio && huge.pages_of(UnmovableKind::Pinned) == 16);
        assert!(fold_huge(&PinnedFrames::default()).whole_folio);
    }

    fn fold_huge(pinned: &PinnedFrames) -> Pageblock {
        let mut words = vec![kpf::LRU | kpf::ANON | kpf::COMPOUND_HEAD];
        words.resize(16, kpf::COMPOUND_TAIL);
        fold(words.into_iter(), 0, 4, Aside { pinned, ..Aside::NONE }).block
    }

    #[test]
    fn whole_folios_and_blank_blocks_are_marked() {
        let mut words = vec![kpf::LRU | kpf::ANON | kpf::COMPOUND_HEAD];
        words.resize(16, kpf::COMPOUND_TAIL);
        let raw = fold_words(&words, 4);
        assert!(raw.block.whole_folio && raw.block.anon == 16);
        words[8] |= kpf::COMPOUND_HEAD | kpf::LRU | kpf::ANON;
        words[8] &= !kpf::COMPOUND_TAIL;
        assert!(!fold_words(&words, 4).block.whole_folio);
        assert!(fold_words(&[0; 16], 4).blank);
    }

    #[test]
    fn what_is_on_lists_is_counted_among_the_kernels_pages() {
        let words = [0, 0, 0, kpf::LRU, kpf::BUDDY, 0, 0, 0];
        let listed = PerCpuFrames::new([(2, 2)]);
        let raw = fold(words.into_iter(), 0, 3, Aside { listed: &listed, ..Aside::NONE });
        assert_eq!((raw.block.listed, raw.block.pages_of(UnmovableKind::Kernel)), (2, 6));
        let listed = PerCpuFrames::new([(7, 0)]);
        let blank = fold([0; 8].into_iter(), 0, 3, Aside { listed: &listed, ..Aside::NONE }).blank;
        assert!(!blank, "a pageblock with free pages is memory");
    }

    #[test]
    fn what_no_word_tells_of_is_absent() {
        let raw = fold([kpf::BUDDY; 4].into_iter(), 2, 3, Aside::NONE);
        assert_eq!((raw.block.free, raw.block.pages_of(UnmovableKind::Absent)), (4, 4));
        assert_eq!(raw.block.pinned_parts, 0b1100_0011);
        assert_eq!(fold([0; 99].into_iter(), 0, 3, Aside::NONE).block.pages_of(UnmovableKind::Kernel), 8);
        assert_eq!(RawBlock::absent(8).block.stuck(), 8);
    }
}
