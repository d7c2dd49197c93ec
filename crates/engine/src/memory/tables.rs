//! The tables of one zone: how large they are, and their places in the caller's memory.

use lock_api::Mutex;

use super::config::MemoryConfig;
use crate::percpu::{LISTS, PerCpuList, PerCpuLists, listed_up_to, stack_places};
use crate::table::sync::Locks;
use crate::table::{
    Carver, DepartedPages, Departures, Frame, FrameTable, LargeCounts, Links, OwnLines, Pageblock,
    PageblockTable, Places, SectionMap, Tally, ZoneSections, base_of,
};
use crate::types::{Order, SetupError};
use crate::zone::{CpuLists, DEFAULT_BOOST_FACTOR, ZoneConfig, ZoneParts};

/// The most frames of a zone that have metadata, and the most sections of its span: an index has 31 bits.
const MOST_PLACES: u64 = 1 << 31;

/// The sizes of one zone's tables.
pub(super) struct ZoneTables<'c> {
    sections: ZoneSections<'c>,
    places: Places,
    pageblocks: usize,
    large_pageblocks: usize,
    /// The number of [`DepartedPages`]; 0 where they are not kept.
    departed: usize,
    /// The number of sections that the zone spans, and of those that have metadata: 0 without holes.
    spanned_sections: u64,
    named_sections: u64,
    /// The number of pages by which CPUs' stacks are sized.
    pages: u64,
    /// All orders up to this have per-CPU lists.
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
            departed: if switches.marks_departures { Departures::places(size(places.count)) } else { 0 },
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
    pub(super) fn tally<L: Locks>(&self, tally: &mut Tally) {
        tally.table::<Frame>(size(self.places.count));
        tally.table::<Links>(size(self.places.count));
        if self.spanned_sections > 0 {
            tally.table::<u32>(size(self.spanned_sections));
            tally.table::<u32>(size(self.named_sections));
            tally.table::<SectionMap<'_>>(1);
        }
        tally.table::<Pageblock>(self.pageblocks);
        tally.table::<LargeCounts>(self.large_pageblocks);
        if self.departed > 0 {
            tally.table::<DepartedPages>(self.departed);
            tally.table::<Departures<'_>>(1);
        }
        tally.table::<CpuLists<'_, L>>(self.cpus);
        for _ in 0..self.cpus {
            stack_places(self.pages, self.listed).for_each(|places| tally.table::<u32>(places));
        }
    }

    /// Sets the tables up.
    pub(super) fn carve<'m, L: Locks>(
        &self,
        config: &MemoryConfig<'_>,
        zone: &ZoneConfig,
        (tracepoints, rule): (&'m L::Tracepoints, &'m L::Rule),
        carver: &mut Carver<'m>,
    ) -> Result<ZoneParts<'m, L>, SetupError> {
        let frames = carver.table(size(self.places.count), |_| Ok(Frame::absent()))?;
        let links = carver.table(size(self.places.count), |_| Ok(Links::none()))?;
        let sections = self.carve_sections(carver)?;
        let blocks = carver.table(self.pageblocks, |_| Ok(Pageblock::movable()))?;
        let large = carver.table(self.large_pageblocks, |_| Ok(LargeCounts::default()))?;
        let departures = self.carve_departures(carver)?;
        let switches = config.switches.in_effect();
        let counted = switches.claims_by_counts;
        let mut cpus = carver.reserve::<CpuLists<'m, L>>(self.cpus)?;
        let percpu = cpus.table(self.cpus, |_| {
            let mut lists = core::array::from_fn::<_, LISTS, _>(|_| PerCpuList::new(&mut []));
            for (list, places) in lists.iter_mut().zip(stack_places(self.pages, self.listed)) {
                *list = PerCpuList::new(carver.table(places, |_| Ok(0))?);
            }
            Ok(OwnLines(Mutex::new(PerCpuLists::new(zone.percpu, &switches, self.listed, lists))))
        })?;
        Ok(ZoneParts {
            frames: FrameTable::new(zone.start, self.places, config.max_order, (frames, links), sections),
            blocks: PageblockTable::new(config.pageblock_order, counted, blocks, large, departures),
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

    fn carve_departures<'m>(
        &self,
        carver: &mut Carver<'m>,
    ) -> Result<Option<&'m Departures<'m>>, SetupError> {
        if self.departed == 0 {
            return Ok(None);
        }
        let pages = carver.table(self.departed, |_| Ok(DepartedPages::default()))?;
        Ok(carver.table(1, |_| Ok(Departures::new(pages)))?.first())
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

/// Returns a number of places, or more than any memory has.
fn size(places: u64) -> usize {
    usize::try_from(places).unwrap_or(usize::MAX)
}
