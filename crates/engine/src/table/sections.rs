//! The sections of a zone that have places in its tables.

use core::ops::Range;

use super::frame::FrameIndex;
use crate::types::{Order, Pfn};

/// The ranges of frames for which a memory keeps metadata.
///
/// A section is an aligned block of frames, and has metadata for all of its frames or for none. A section without any
/// frame of `present` or `hotplug` has none: it stays a hole for ever, and costs 4 bytes. If both lists are empty,
/// every frame of the zones' spans has metadata.
/// Linux counterpart: `SPARSEMEM`, `struct mem_section`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sections<'c> {
    /// The ranges that have memory, in any order. Linux counterpart: `memblock.memory`.
    pub present: &'c [Range<Pfn>],
    /// The ranges to which [`crate::Memory::online_range`] may add memory later. They have metadata from the start.
    pub hotplug: &'c [Range<Pfn>],
    /// The order of a section. An order below the largest order of a block counts as the latter.
    /// Linux counterpart: `PFN_SECTION_SHIFT`.
    pub order: Order,
}

impl Sections<'_> {
    /// Every frame of the zones' spans has metadata.
    pub const ALL: Self = Self { present: &[], hotplug: &[], order: Order::SECTION };
}

/// The sections of one zone, as its configuration names them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZoneSections<'c> {
    named: Sections<'c>,
    order: Order,
    max_order: Order,
    start: u64,
    spanned: u64,
    end: u64,
}

/// The first frame of a zone that has a place in the tables, and the number of places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Places {
    /// The frame at the first place.
    pub(crate) origin: Pfn,
    pub(crate) count: u64,
}

impl<'c> ZoneSections<'c> {
    /// Returns the sections of a zone of `spanned` frames, which must be at least one.
    pub(crate) fn new(named: Sections<'c>, max_order: Order, start: Pfn, spanned: u64) -> Self {
        let order = named.order.max(max_order);
        Self { named, order, max_order, start: start.0, spanned, end: start.0.saturating_add(spanned) }
    }

    /// Returns the number of the zone's first section.
    pub(crate) fn first(&self) -> u64 {
        self.start >> self.order.get()
    }

    /// Returns the number of sections from the zone's first frame to its last.
    pub(crate) fn spanned(&self) -> u64 {
        (self.last_frame() >> self.order.get()).saturating_sub(self.first()) + 1
    }

    fn last_frame(&self) -> u64 {
        self.end.saturating_sub(1)
    }

    /// Returns the sections of the zone that a range of frames touches, if any.
    fn touched(&self, range: &Range<Pfn>) -> Option<Range<u64>> {
        let (first, end) = (range.start.0.max(self.start), range.end.0.min(self.end));
        (first < end).then(|| first >> self.order.get()..((end - 1) >> self.order.get()) + 1)
    }

    /// Returns the sections that the two lists name, as ranges in the order of the lists.
    fn parts(&self) -> impl Iterator<Item = Range<u64>> {
        self.named.present.iter().chain(self.named.hotplug).filter_map(|range| self.touched(range))
    }

    /// Returns true if a section has metadata.
    pub(crate) fn has(&self, section: u64) -> bool {
        self.parts().any(|part| part.contains(&section))
    }

    /// Returns the runs of adjacent sections with metadata, in ascending order.
    fn runs(&self) -> impl Iterator<Item = Range<u64>> {
        let mut at = self.first();
        core::iter::from_fn(move || {
            let start = self.parts().filter(|part| part.end > at).map(|part| part.start.max(at)).min()?;
            let mut end = start;
            while let Some(further) =
                self.parts().filter(|part| part.contains(&end)).map(|part| part.end).max()
            {
                end = further;
            }
            at = end;
            Some(start..end)
        })
    }

    /// Returns the sections with metadata, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.runs().flatten()
    }

    /// Returns the number of sections with metadata.
    pub(crate) fn named(&self) -> u64 {
        self.runs().map(|run| run.end - run.start).sum()
    }

    /// Returns true if sections of the zone lack metadata.
    pub(crate) fn has_holes(&self) -> bool {
        let names_none = self.named.present.is_empty() && self.named.hotplug.is_empty();
        !names_none && self.named() != self.spanned()
    }

    /// Returns the places of the zone's tables: from the first frame with metadata, rounded down to the largest block,
    /// to the last.
    pub(crate) fn places(&self) -> Places {
        let round = |pfn: u64| pfn & !(self.max_order.pages() - 1);
        if !self.has_holes() {
            let origin = round(self.start);
            return Places { origin: Pfn(origin), count: self.spanned.saturating_add(self.start - origin) };
        }
        let size = self.order.get();
        let (Some(first), Some(last)) = (self.runs().next(), self.runs().last()) else {
            return Places { origin: Pfn(round(self.start)), count: 0 };
        };
        let first = first.start << size;
        let origin = round(first.max(self.start));
        let last = ((last.end - 1) << size) + (self.order.pages() - 1);
        let missing = origin - first + last.saturating_sub(self.last_frame());
        Places { origin: Pfn(origin), count: (self.named() << size) - missing }
    }
}

/// Maps the frames of a zone's sections to places in its tables. The places are in ascending order, without the holes
/// between sections.
///
/// A zone without holes has no such map.
#[derive(Debug)]
pub(crate) struct SectionMap<'m> {
    order: Order,
    /// The section of the zone's first frame.
    first: u64,
    /// For each section from `first` on, the index of its first frame, or [`HOLE`].
    bases: &'m [u32],
    /// For each section with places, its number counted from `first`.
    numbers: &'m [u32],
    /// The number of frames of the first section that have no places.
    cut: u32,
}

/// The base of a section without metadata. It exceeds every index, also after an offset within a section is added.
pub(crate) const HOLE: u32 = 1 << 31;

impl<'m> SectionMap<'m> {
    /// Returns the map of a zone with holes. `bases` has a row for each spanned section, `numbers` for each section
    /// with places.
    pub(crate) fn new(
        sections: &ZoneSections<'_>,
        places: Places,
        bases: &'m [u32],
        numbers: &'m [u32],
    ) -> Self {
        let size = sections.order.get();
        let cut = places.origin.0 & ((1 << size) - 1);
        Self { order: sections.order, first: sections.first(), bases, numbers, cut: cut as u32 }
    }

    /// Returns the index of a frame. For a frame without metadata the index is outside the tables.
    #[inline]
    pub(crate) fn index(&self, pfn: Pfn) -> Option<FrameIndex> {
        let section = (pfn.0 >> self.order.get()).wrapping_sub(self.first);
        let base = *self.bases.get(usize::try_from(section).ok()?)?;
        let offset = (pfn.0 & (self.order.pages() - 1)) as u32;
        (base != HOLE).then(|| FrameIndex(base.wrapping_add(offset)))
    }

    /// Returns the frame at an index, which is in the tables.
    #[inline]
    pub(crate) fn pfn(&self, index: FrameIndex) -> Pfn {
        let place = u64::from(index.0) + u64::from(self.cut);
        let number = self.numbers.get((place >> self.order.get()) as usize).copied().unwrap_or(0);
        Pfn((self.first + u64::from(number)) << self.order.get() | place & (self.order.pages() - 1))
    }

    /// Returns the index of the first frame of a section of the tables, by its place there.
    fn base_of_place(&self, place: usize) -> u32 {
        ((place as u32) << self.order.get()).saturating_sub(self.cut)
    }

    /// Returns the indices of the run of adjacent sections that starts at a place of the tables.
    fn run_from(&self, place: usize) -> Option<(Range<u32>, usize)> {
        let first = *self.numbers.get(place)?;
        let follows = |(step, &number): (usize, &u32)| number == first + step as u32;
        let length = self.numbers[place..].iter().enumerate().take_while(|&found| follows(found)).count();
        Some((self.base_of_place(place)..self.base_of_place(place + length), place + length))
    }

    /// Returns the indices of each run of adjacent sections. The last end may be outside the tables.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        let mut place = 0;
        core::iter::from_fn(move || {
            let (run, behind) = self.run_from(place)?;
            place = behind;
            Some(run)
        })
    }
}

/// Returns the index of a section's first frame for the table of a [`SectionMap`], or [`HOLE`]. `given` is the number
/// of sections with places below this one. The function increments it for a section with places.
pub(crate) fn base_of(sections: &ZoneSections<'_>, places: Places, number: u64, given: &mut u32) -> u32 {
    let section = sections.first() + number;
    if !sections.has(section) {
        return HOLE;
    }
    let cut = places.origin.0 & (sections.order.pages() - 1);
    let base = (*given << sections.order.get()).wrapping_sub(cut as u32);
    *given += 1;
    base
}
