//! Which types of zones a kernel was built with, which `lowmem_reserve` counts through.

use freehold::{GfpFlags, ZoneType};

use crate::report::ZoneText;

/// The types of zones of a kernel, from low to high.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Layout(Vec<ZoneType>);

/// The optional types of zones that kernels have, most common first. Every kernel has Normal, and since 2.6.23 Movable.
const OPTIONAL: [&[ZoneType]; 7] = [
    &[ZoneType::Dma, ZoneType::Dma32],
    &[ZoneType::Dma, ZoneType::HighMem],
    &[ZoneType::Dma32],
    &[ZoneType::Dma],
    &[ZoneType::HighMem],
    &[],
    &[ZoneType::Dma, ZoneType::Dma32, ZoneType::HighMem],
];

impl Layout {
    /// Returns the types that fit the zones in a text and the length of their lists.
    pub(crate) fn of(zones: &[ZoneText]) -> Self {
        let length = zones.iter().filter_map(|zone| zone.lowmem_reserve.as_ref().map(Vec::len)).max();
        let fits = |kinds: &Vec<ZoneType>| {
            let has_all = zones.iter().all(|zone| kinds.contains(&zone.kind));
            has_all && length.is_none_or(|length| kinds.len() == length)
        };
        let with_movable =
            OPTIONAL.iter().flat_map(|optional| [types(optional, false), types(optional, true)]);
        let with_movable = with_movable.filter(|kinds| keeps_nothing_below(kinds, zones) && fits(kinds));
        // A zone alone in a text is more often the only one than what is left of a cut text.
        let lost = |kinds: &Vec<ZoneType>| Self(kinds.clone()).lost_zones(zones, ZoneType::Normal).len();
        // Until 2.6.8 zones also kept pages from requests for themselves.
        let mut old = OPTIONAL.iter().map(|optional| {
            types(optional, false).into_iter().filter(|&kind| kind != ZoneType::Movable).collect()
        });
        let found = with_movable.min_by_key(lost).or_else(|| old.find(fits));
        Self(found.unwrap_or_else(|| ZoneType::ALL.to_vec()))
    }

    /// Returns the highest type of zone that flags allow.
    ///
    /// Linux counterpart: `gfp_zone`.
    pub(crate) fn highest(&self, flags: GfpFlags) -> ZoneType {
        let highest = flags.highest_zone();
        if self.0.contains(&highest) { highest } else { ZoneType::Normal }
    }

    /// Returns the zones up to `highest` that have memory by the lists of lower zones of their node, and are not in the text.
    ///
    /// A zone keeps pages from requests that could use a higher one in proportion to the memory there, so that its list ascends
    /// only where a zone has memory.
    pub(crate) fn lost_zones(&self, zones: &[ZoneText], highest: ZoneType) -> Vec<(u32, ZoneType)> {
        let mut lost = Vec::new();
        for (zone, list) in zones.iter().filter_map(|zone| Some((zone, zone.lowmem_reserve.as_ref()?))) {
            let ascents = list.windows(2).zip(self.0.iter().skip(1));
            for (_, &kind) in ascents.filter(|(pages, _)| pages[1] > pages[0]) {
                let is_there = zones.iter().any(|other| other.node == zone.node && other.kind == kind);
                if kind > zone.kind && kind <= highest && !is_there && !lost.contains(&(zone.node, kind)) {
                    lost.push((zone.node, kind));
                }
            }
        }
        lost
    }

    /// Returns what a zone keeps from requests that could use the zone `highest`. Units: pages.
    pub(crate) fn reserve(&self, zone: &ZoneText, highest: ZoneType) -> Option<u64> {
        if zone.lowmem_reserve.is_none() && zone.kind >= highest {
            // No zone keeps pages from requests for itself.
            return Some(0);
        }
        let number = self.0.iter().position(|&kind| kind == highest)?;
        zone.lowmem_reserve.as_ref()?.get(number).copied()
    }
}

fn types(optional: &[ZoneType], device: bool) -> Vec<ZoneType> {
    let is_there = |kind: &ZoneType| match kind {
        ZoneType::Normal | ZoneType::Movable => true,
        ZoneType::Device => device,
        other => optional.contains(other),
    };
    ZoneType::ALL.into_iter().filter(is_there).collect()
}

/// Returns true if no zone keeps pages from requests for itself or a lower zone, which no kernel does.
fn keeps_nothing_below(kinds: &[ZoneType], zones: &[ZoneText]) -> bool {
    zones.iter().all(|zone| {
        let kept = zone.lowmem_reserve.iter().flatten().zip(kinds).filter(|(_, kind)| **kind <= zone.kind);
        kept.into_iter().all(|(&pages, _)| pages == 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(kind: ZoneType, reserve: &[u64]) -> ZoneText {
        ZoneText { lowmem_reserve: Some(reserve.to_vec()), ..ZoneText::unsized_zone(0, kind) }
    }

    #[test]
    fn types_follow_from_zones_and_lists() {
        use ZoneType::{Device, Dma, Dma32, HighMem, Movable, Normal};
        let x86 = [zone(Dma, &[0, 833, 15809, 15809, 15809]), zone(Dma32, &[0, 0, 14975, 14975, 14975])];
        assert_eq!(Layout::of(&x86).0, [Dma, Dma32, Normal, Movable, Device]);
        assert_eq!(Layout::of(&x86).reserve(&x86[0], Normal), Some(15809));
        let arm = [zone(Dma, &[0, 0, 579, 579]), zone(HighMem, &[0, 0, 0, 0])];
        assert_eq!(Layout::of(&arm).0, [Dma, Normal, HighMem, Movable]);
        assert_eq!(Layout::of(&arm).reserve(&arm[0], Normal), Some(0));
        assert_eq!(Layout::of(&[zone(Dma32, &[0, 0, 0])]).0, [Dma32, Normal, Movable]);
        let powerpc = [zone(Dma, &[0, 0, 1280, 1280])];
        assert_eq!(
            Layout::of(&powerpc).0,
            [Dma, Normal, HighMem, Movable],
            "Linux lists no HighMem since 6.1"
        );
        let old = [zone(Dma, &[0, 240, 240]), zone(Normal, &[0, 0, 0]), zone(HighMem, &[0, 0, 0])];
        assert_eq!(Layout::of(&old).0, [Dma, Normal, HighMem]);
        let older = [zone(Dma, &[8, 476, 540]), zone(Normal, &[0, 468, 532]), zone(HighMem, &[0, 0, 64])];
        assert_eq!(Layout::of(&older).reserve(&older[1], Normal), Some(468));
        assert_eq!(Layout::of(&older).reserve(&ZoneText::unsized_zone(0, Normal), Normal), Some(0));
        let normal = Layout::of(&[zone(Normal, &[0, 0])]);
        assert_eq!(normal.highest(GfpFlags::HIGHUSER), Normal);
    }
}
