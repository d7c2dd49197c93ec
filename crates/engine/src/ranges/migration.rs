//! The two ways in which an allocation of a range treats pages in use: it fails, or the embedder moves them.

use super::evacuation::Evacuation;
use crate::compact::Relocate;
use crate::memory::Memory;
use crate::request::NoReclaim;
use crate::types::{BlockError, Migratetype, Pfn, Platform};
use crate::zone::Isolation;

/// What an allocation of a range does with pages in use there: [`NoReclaim`] leaves them, `&mut` a [`Relocate`] moves
/// them. No other type implements it.
pub trait RangeMigration<P: Platform>: AllocRange<P> {}

impl<P: Platform, M: AllocRange<P>> RangeMigration<P> for M {}

/// The part of [`RangeMigration`] that only the engine calls.
pub trait AllocRange<P: Platform> {
    /// Allocates a range as [`Memory::alloc_contig_range`] does.
    fn alloc_range(
        &mut self,
        memory: &Memory<'_, P>,
        start: Pfn,
        pages: u64,
        migratetype: Migratetype,
        cpu: u16,
    ) -> Result<(), BlockError>;
}

impl<P: Platform> AllocRange<P> for NoReclaim {
    fn alloc_range(
        &mut self,
        memory: &Memory<'_, P>,
        start: Pfn,
        pages: u64,
        migratetype: Migratetype,
        _: u16,
    ) -> Result<(), BlockError> {
        memory.alloc_free_range(start, pages, migratetype)
    }
}

impl<P: Platform, E: Relocate> AllocRange<P> for &mut E {
    fn alloc_range(
        &mut self,
        memory: &Memory<'_, P>,
        start: Pfn,
        pages: u64,
        migratetype: Migratetype,
        cpu: u16,
    ) -> Result<(), BlockError> {
        memory.alloc_emptied_range(start, pages, migratetype, cpu, *self)
    }
}

impl<P: Platform> Memory<'_, P> {
    /// Allocates a range whose frames are all free.
    fn alloc_free_range(&self, start: Pfn, pages: u64, migratetype: Migratetype) -> Result<(), BlockError> {
        let zone = self.zone_of(start).ok_or(BlockError::OutsideZone)?;
        let (first, end) = zone.pageblock_range(start, pages)?;
        let strict = Isolation::of_one_type(migratetype)?;
        let stays_apart = self.switches.ranges_stay_apart;
        let isolation = if stays_apart { strict } else { Isolation::of(migratetype) };
        let isolated = zone.isolate_pageblocks(start, pages, isolation);
        let taken = isolated.and_then(|()| {
            zone.drain_all();
            zone.take_range(start, pages)
        });
        if isolated.is_ok() || !stays_apart {
            zone.unisolate_pageblocks(first, end, isolation.afterwards);
        }
        taken
    }

    /// Allocates a range after the embedder has moved the pages in use there.
    fn alloc_emptied_range<E: Relocate>(
        &self,
        start: Pfn,
        pages: u64,
        migratetype: Migratetype,
        cpu: u16,
        embedder: &mut E,
    ) -> Result<(), BlockError> {
        let zone = self.zone_of(start).ok_or(BlockError::OutsideZone)?;
        let (first, end) = zone.pageblock_range(start, pages)?;
        let isolation = Isolation::of_one_type(migratetype)?;
        zone.isolate_pageblocks(start, pages, isolation)?;
        let range = zone.frame_range(start, pages)?;
        let mut evacuation = Evacuation { memory: self, zone, range, isolated: first..end, cpu, embedder };
        let taken = evacuation.run(|| zone.take_range(start, pages));
        zone.unisolate_pageblocks(first, end, isolation.afterwards);
        taken
    }
}
