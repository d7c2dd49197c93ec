//! The table of a zone's frames, by frame number and by index.

use core::ops::Range;

use super::frame::{Frame, FrameIndex, FrameKind, FrameWord, Links, NIL};
use super::sections::{Places, SectionMap};
use crate::types::{Order, Pfn};

/// The frames of one zone.
///
/// The table starts at the origin, so that an index is a place in the table. Frames before the zone's start are always
/// absent. Holes between sections have no places.
#[derive(Debug)]
pub(crate) struct FrameTable<'m> {
    /// The frame at index 0.
    origin: Pfn,
    /// The frames of the first run of adjacent sections. In a zone without holes between sections, these are all
    /// frames.
    first_run: &'m [Frame],
    frames: &'m [Frame],
    links: &'m [Links],
    /// The index of the zone's first frame that has a place.
    first: u32,
    max_order: Order,
    /// The map of sections; `None` if the zone has no holes between sections.
    sections: Option<&'m SectionMap<'m>>,
}

impl<'m> FrameTable<'m> {
    /// Returns a table of frames and links of the same length, with a place for each frame that has metadata.
    pub(crate) fn new(
        start: Pfn,
        places: Places,
        max_order: Order,
        (frames, links): (&'m [Frame], &'m [Links]),
        sections: Option<&'m SectionMap<'m>>,
    ) -> Self {
        let run = sections.and_then(|sections| sections.runs().next());
        let run_end = run.map_or(frames.len(), |run| frames.len().min(run.end as usize));
        Self {
            origin: places.origin,
            first_run: &frames[..run_end],
            frames,
            links,
            first: start.0.saturating_sub(places.origin.0) as u32,
            max_order,
            sections,
        }
    }

    /// Returns the index of the zone's first frame that has a place.
    pub(crate) fn start(&self) -> FrameIndex {
        FrameIndex(self.first)
    }

    /// Returns the index behind the zone's last frame that has a place.
    pub(crate) fn end(&self) -> FrameIndex {
        FrameIndex(self.frames.len() as u32)
    }

    pub(crate) fn contains(&self, index: FrameIndex) -> bool {
        index >= self.start() && index < self.end()
    }

    /// Returns the index of a frame, or `None` outside the zone and in a hole between its sections.
    pub(crate) fn index(&self, pfn: Pfn) -> Option<FrameIndex> {
        self.find(pfn).map(|(index, _)| index).filter(|&index| index >= self.start())
    }

    /// Returns the indices of contiguous frames, or `None` if one is outside the zone or in a hole between its
    /// sections.
    pub(crate) fn range(&self, start: Pfn, pages: u64) -> Option<Range<FrameIndex>> {
        let first = self.index(start)?;
        let last = self.index(Pfn(start.0.checked_add(pages.checked_sub(1)?)?))?;
        (u64::from(last.0 - first.0) == pages - 1).then(|| first..last.offset(1))
    }

    /// Returns the frames of each run of adjacent sections.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<Pfn>> + '_ {
        let all = self.sections.is_none().then(|| 0..self.end().0);
        let runs = self.sections.into_iter().flat_map(SectionMap::runs);
        runs.chain(all).map(|run| {
            let first = FrameIndex(run.start).max(self.start());
            let pages = run.end.min(self.end().0) - first.0;
            self.pfn(first)..self.pfn(first).add(pages.into())
        })
    }

    /// Returns a frame and its index. Outside the zone and in holes between its sections, returns `None` or an absent
    /// frame.
    #[inline]
    pub(crate) fn find(&self, pfn: Pfn) -> Option<(FrameIndex, &'m Frame)> {
        self.find_in_run(pfn).or_else(|| self.find_by_section(pfn))
    }

    /// Returns a frame of the first run as [`Self::find`] does, and `None` for other frames.
    #[inline]
    pub(crate) fn find_in_run(&self, pfn: Pfn) -> Option<(FrameIndex, &'m Frame)> {
        let place = pfn.0.wrapping_sub(self.origin.0);
        let frame = self.first_run.get(usize::try_from(place).ok()?)?;
        Some((FrameIndex(place as u32), frame))
    }

    /// Returns the index of a frame of the first run, and `None` for other frames.
    #[inline]
    pub(crate) fn index_in_run(&self, pfn: Pfn) -> Option<FrameIndex> {
        let place = pfn.0.wrapping_sub(self.origin.0);
        let inside = (u64::from(self.first)..self.first_run.len() as u64).contains(&place);
        inside.then_some(FrameIndex(place as u32))
    }

    #[inline]
    fn find_by_section(&self, pfn: Pfn) -> Option<(FrameIndex, &'m Frame)> {
        let index = self.sections?.index(pfn)?;
        Some((index, self.get(index)?))
    }

    #[inline]
    pub(crate) fn pfn(&self, index: FrameIndex) -> Pfn {
        match self.sections {
            Some(sections) => sections.pfn(index),
            None => Pfn(self.origin.0 + u64::from(index.0)),
        }
    }

    /// Returns true if the zone has holes between sections.
    pub(crate) fn has_holes(&self) -> bool {
        self.sections.is_some()
    }

    /// Returns a frame of the first run and its number, and `None` for other frames.
    #[inline]
    pub(crate) fn in_run(&self, index: FrameIndex) -> Option<(Pfn, &'m Frame)> {
        let frame = self.first_run.get(index.0 as usize)?;
        Some((Pfn(self.origin.0 + u64::from(index.0)), frame))
    }

    /// Gives a block to its new owner, and returns its first frame.
    #[inline]
    pub(crate) fn give(&self, index: FrameIndex, word: FrameWord) -> Pfn {
        match self.in_run(index) {
            Some((pfn, frame)) => {
                frame.hand_over(word);
                pfn
            }
            None => self.give_by_section(index, word),
        }
    }

    #[cold]
    fn give_by_section(&self, index: FrameIndex, word: FrameWord) -> Pfn {
        self.hand_over(index, word);
        self.pfn(index)
    }

    /// Returns the frame at an index. Outside the zone, returns `None` or an absent frame.
    pub(crate) fn get(&self, index: FrameIndex) -> Option<&'m Frame> {
        self.frames.get(index.0 as usize)
    }

    #[inline]
    pub(crate) fn frame(&self, index: FrameIndex) -> &'m Frame {
        &self.frames[index.0 as usize]
    }

    #[inline]
    pub(crate) fn links(&self, index: FrameIndex) -> &'m Links {
        &self.links[index.0 as usize]
    }

    #[inline]
    pub(crate) fn word(&self, index: FrameIndex) -> FrameWord {
        self.frame(index).word()
    }

    pub(crate) fn set_word(&self, index: FrameIndex, word: FrameWord) {
        self.frame(index).set_word(word);
    }

    /// Gives a block to its new owner.
    pub(crate) fn hand_over(&self, index: FrameIndex, word: FrameWord) {
        self.frame(index).hand_over(word);
    }

    pub(crate) fn next(&self, index: FrameIndex) -> Option<FrameIndex> {
        let next = self.links(index).next();
        (next != NIL).then_some(FrameIndex(next))
    }

    pub(crate) fn previous(&self, index: FrameIndex) -> Option<FrameIndex> {
        let previous = self.links(index).previous();
        (previous != NIL).then_some(FrameIndex(previous))
    }

    /// Returns the first frame of the block that contains `index`. The block may be in any state.
    pub(crate) fn block_head(&self, index: FrameIndex) -> FrameIndex {
        if self.word(index).kind() != FrameKind::Tail {
            return index;
        }
        Order::ZERO
            .up_to(self.max_order)
            .skip(1)
            .map(|order| (order, index.align_down(order)))
            .take_while(|&(_, head)| self.contains(head))
            .find(|&(order, head)| {
                let word = self.word(head);
                word.kind() != FrameKind::Tail && word.order() >= order
            })
            .map_or(index, |(_, head)| head)
    }
}
