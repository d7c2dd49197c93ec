//! The tables of one zone: their sizes, and their places in the caller's memory.

use lock_api::Mutex;

use super::config::MemoryConfig;
use crate::percpu::{LISTS, PerCpuList, PerCpuLists, listed_up_to, stack_places};
use crate::table::{
    Carver, Frame, FrameTable, LargeCounts, Links, MovableBitmap, MovableBits, OwnLines, Pageblock,
    PageblockTable, Places, SectionMap, Tally, ZoneSections, base_of,
};
use crate::types::{Order, Platform, SetupError};
use crate::zone::{CpuLists, DEFAULT_BOOST_FACTOR, ZoneConfig, ZoneParts};

/// The most frames with metadata in a zone, and the most sections of its span. An index has 31 bits.
const MOST_PLACES: u64 = 1 << 31;

/// The sizes of one zone's tables.
pub(super) struct ZoneTables<'c> {
    sections: ZoneSections<'c>,
    places: Places,
    pageblocks: usize,
    large_pageblocks: usize,
    /// The number of [`MovableBits`]; 0 if the era does not keep them.
    taken: usize,
    /// The numbers of sections that the zone spans, and of sections with metadata. Both are 0 without holes.
    spanned_sections: u64,
    named_sections: u64,
    /// The number of pages that determines the size of CPUs' stacks.
    pages: u64,
    /// All orders up to this one have per-CPU lists.
    listed: Order,
    cpus: usize,
}

impl<'c> ZoneTables<'c> {
    /// Returns the sizes of the tables of a zone that spans at least one frame.
    pub(super) fn new(config: &MemoryConfig<'c>, zone: &ZoneConfig) -> Self {
        let sections = ZoneSections::new(config.sections, config.max_order, zone.start, zone.spanned);
        let places = sections.places();
        let has_holes = sections.has_holes();
        let count = |sections: u64| if has_holes { sections } else { 0 };
        let pageblocks = size(places.count.div_ceil(config.pageblock_order.pages()));
        let switches = config.switches.in_effect();
        let counted = switches.claims_by_counts;
        Self {
            sections,
            places,
            pageblocks,
            large_pageblocks: PageblockTable::large_places(config.pageblock_order, counted, pageblocks),
            taken: if switches.marks_movable_pages { MovableBitmap::places(size(places.count)) } else { 0 },
            spanned_sections: count(sections.spanned()),
            named_sections: count(sections.named()),
            listed: listed_up_to(&switches, config.pageblock_order),
            pages: if has_holes { places.count } else { zone.spanned },
            cpus: usize::from(config.cpus),
        }
    }

    /// Returns an error if a zone cannot have such tables.
    pub(super) fn validate(&self) -> Result<(), SetupError> {
        if self.places.count == 0 {
            return Err(SetupError::EmptyZone);
        }
        let most = self.places.count.max(self.spanned_sections);
        if most > MOST_PLACES { Err(SetupError::ZoneTooLarge) } else { Ok(()) }
    }

    /// Counts the bytes that [`Self::carve`] needs.
    pub(super) fn tally<P: Platform>(&self, tally: &mut Tally) {
        tally.table::<Frame>(size(self.places.count));
        tally.table::<Links>(size(self.places.count));
        if self.spanned_sections > 0 {
            tally.table::<u32>(size(self.spanned_sections));
            tally.table::<u32>(size(self.named_sections));
            tally.table::<SectionMap<'_>>(1);
        }
        tally.table::<Pageblock>(self.pageblocks);
        tally.table::<LargeCounts>(self.large_pageblocks);
        if self.taken > 0 {
            tally.table::<MovableBits>(self.taken);
            tally.table::<MovableBitmap<'_>>(1);
        }
        tally.table::<CpuLists<'_, P>>(self.cpus);
        for _ in 0..self.cpus {
            stack_places(self.pages, self.listed).for_each(|places| tally.table::<u32>(places));
        }
    }

    /// Sets the tables up.
    pub(super) fn carve<'m, P: Platform>(
        &self,
        config: &MemoryConfig<'_>,
        zone: &ZoneConfig,
        (tracepoints, rule): (&'m P::Tracepoints, &'m P::Rule),
        carver: &mut Carver<'m>,
    ) -> Result<ZoneParts<'m, P>, SetupError> {
        let frames = carver.table(size(self.places.count), |_| Ok(Frame::absent()))?;
        let links = carver.table(size(self.places.count), |_| Ok(Links::none()))?;
        let sections = self.carve_sections(carver)?;
        let blocks = carver.table(self.pageblocks, |_| Ok(Pageblock::movable()))?;
        let large = carver.table(self.large_pageblocks, |_| Ok(LargeCounts::default()))?;
        let movable_bitmap = self.carve_movable_bitmap(carver)?;
        let switches = config.switches.in_effect();
        let counted = switches.claims_by_counts;
        let mut cpus = carver.reserve::<CpuLists<'m, P>>(self.cpus)?;
        let percpu = cpus.table(self.cpus, |_| {
            let mut lists = core::array::from_fn::<_, LISTS, _>(|_| PerCpuList::new(&mut []));
            for (list, places) in lists.iter_mut().zip(stack_places(self.pages, self.listed)) {
                *list = PerCpuList::new(carver.table(places, |_| Ok(0))?);
            }
            Ok(OwnLines(Mutex::new(PerCpuLists::new(zone.percpu, &switches, self.listed, lists))))
        })?;
        Ok(ZoneParts {
            frames: FrameTable::new(zone.start, self.places, config.max_order, (frames, links), sections),
            blocks: PageblockTable::new(config.pageblock_order, counted, blocks, large, movable_bitmap),
            percpu,
            max_order: config.max_order,
            switches,
            has_huge_lists: config.huge_pages,
            avoids_mixing: config.avoids_mixing(zone),
            boost_factor: config.watermark_boost_factor.map_or(DEFAULT_BOOST_FACTOR, u64::from),
            tracepoints,
            rule,
        })
    }

    fn carve_movable_bitmap<'m>(
        &self,
        carver: &mut Carver<'m>,
    ) -> Result<Option<&'m MovableBitmap<'m>>, SetupError> {
        if self.taken == 0 {
            return Ok(None);
        }
        let pages = carver.table(self.taken, |_| Ok(MovableBits::default()))?;
        Ok(carver.table(1, |_| Ok(MovableBitmap::new(pages)))?.first())
    }

    fn carve_sections<'m>(&self, carver: &mut Carver<'m>) -> Result<Option<&'m SectionMap<'m>>, SetupError> {
        if self.spanned_sections == 0 {
            return Ok(None);
        }
        let mut given = 0;
        let bases = carver.table(size(self.spanned_sections), |number| {
            Ok(base_of(&self.sections, self.places, number as u64, &mut given))
        })?;
        let mut named = self.sections.iter();
        let numbers = carver.table(size(self.named_sections), |_| {
            Ok(named.next().map_or(0, |section| (section - self.sections.first()) as u32))
        })?;
        let map = carver.table(1, |_| Ok(SectionMap::new(&self.sections, self.places, bases, numbers)))?;
        Ok(map.first())
    }
}

/// Converts a number of places to `usize`. A number that does not fit becomes one that no memory can have.
fn size(places: u64) -> usize {
    usize::try_from(places).unwrap_or(usize::MAX)
}
