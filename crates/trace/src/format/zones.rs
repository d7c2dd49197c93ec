//! The frames of a snapshot's zones.

use freehold::{MIGRATETYPES, Migratetype, Order, Pfn};

use super::column::Column;
use super::error::{Place, TraceError};
use super::limits::MAX_ZONES;
use crate::model::{ExactState, PageTypeInfo, PageTypeZone, PageblockRun, Run, Snapshot};

/// The frames of the start snapshot's zones, and the largest order of blocks in them.
#[derive(Clone, Debug)]
pub(crate) struct Zones {
    /// The first frame and the frame behind the last, in the snapshot's order.
    spans: Vec<(u64, u64)>,
    /// The zone of the last block. It most likely contains the next block as well.
    last: (u64, u64),
    largest: Order,
}

impl Zones {
    /// Returns the zones of `snapshot`. The format of the file has orders up to `most`.
    ///
    /// # Errors
    ///
    /// `Corrupt` if a zone ends behind the last possible frame, a number is out of range, or an order exceeds `most`.
    pub(crate) fn new(snapshot: &Snapshot, most: Order, place: Place<'_>) -> Result<Self, TraceError> {
        check_snapshot(snapshot).map_err(|what| place.corrupt(what))?;
        let largest = snapshot.largest_order().unwrap_or(most);
        if largest > most || snapshot.pagetypeinfo.pageblock_order > most.get() {
            return Err(
                place.corrupt(format!("larger orders than {most}, which this format version does not have"))
            );
        }
        let spans: Vec<_> =
            snapshot.zones.iter().map(|z| (z.start_pfn, z.start_pfn.saturating_add(z.spanned))).collect();
        let last = spans.first().copied().unwrap_or((0, u64::MAX));
        Ok(Self { spans, last, largest })
    }

    /// Returns the order in a column of a row. The machine must have this order.
    #[inline]
    pub(crate) fn order(&self, value: u8, column: Column, place: Place<'_>) -> Result<Order, TraceError> {
        let order = Order::new(value).filter(|&order| order <= self.largest);
        order.ok_or_else(|| place.bad_value(column, value.into(), format!("0 to {}", self.largest)))
    }

    /// Returns true if the block lies inside one zone, or the snapshot has no zones.
    #[inline]
    pub(crate) fn contain(&mut self, pfn: u64, pages: u64) -> bool {
        let Some(end) = pfn.checked_add(pages) else { return false };
        if self.last.0 <= pfn && end <= self.last.1 {
            return true;
        }
        match self.spans.iter().find(|span| span.0 <= pfn && end <= span.1) {
            Some(&span) => {
                self.last = span;
                true
            }
            None => false,
        }
    }
}

/// Checks the numbers of a snapshot that users compute with.
pub(crate) fn check_snapshot(snapshot: &Snapshot) -> Result<(), String> {
    if snapshot.zones.len() > MAX_ZONES {
        return Err(format!("{} zones, more than {MAX_ZONES}", snapshot.zones.len()));
    }
    for zone in &snapshot.zones {
        if zone.start_pfn.checked_add(zone.spanned).is_none() {
            return Err(format!("zone {} of node {} ends behind the last frame", zone.name, zone.node));
        }
    }
    let info = &snapshot.pagetypeinfo;
    let largest = snapshot.largest_order().unwrap_or(Order::MAX);
    if info.pageblock_order > largest.get() {
        return Err(format!("pageblock order {}, larger than {largest}", info.pageblock_order));
    }
    for zone in &info.zones {
        check_page_types(info, zone, largest)
            .map_err(|what| format!("zone {} of node {} in pagetypeinfo has {what}", zone.name, zone.node))?;
    }
    snapshot.exact.taken().map_or(Ok(()), |exact| check_exact(exact, snapshot))
}

/// Checks that a zone's part of pagetypeinfo has numbers for every type and every order.
fn check_page_types(info: &PageTypeInfo, zone: &PageTypeZone, largest: Order) -> Result<(), String> {
    let types = MIGRATETYPES + info.types.others();
    if zone.free.len() != types || zone.blocks.len() != types {
        return Err(format!("numbers of {} and {} types, not {types}", zone.free.len(), zone.blocks.len()));
    }
    match zone.free.iter().find(|orders| orders.largest() != largest) {
        Some(orders) => Err(format!("{} orders where others have {}", orders.len(), largest.index() + 1)),
        None => Ok(()),
    }
}

/// Checks that every block of an exact state has a known order and type and lies inside its zone.
fn check_exact(exact: &ExactState, snapshot: &Snapshot) -> Result<(), String> {
    if exact.zones.len() > snapshot.zones.len() {
        return Err("the exact state has more zones than the snapshot".to_owned());
    }
    for zone in &exact.zones {
        let name = format!("zone {} of node {} in the exact state", zone.name, zone.node);
        let own = snapshot.zones.iter().find(|own| (own.node, &own.name) == (zone.node, &zone.name));
        let own = own.ok_or_else(|| format!("{name} is not in the snapshot"))?;
        if zone.cpus.iter().any(|cpu| cpu.cpu >= u32::from(u16::MAX)) {
            return Err(format!("{name} has lists of an impossible CPU"));
        }
        for list in zone.lists.iter().chain(zone.cpus.iter().flat_map(|cpu| &cpu.lists)) {
            let (order, _) =
                list.kind().ok_or_else(|| format!("{name} has a list of an unknown order or type"))?;
            let is_inside = |pfn: u64| {
                let first = pfn.checked_sub(own.start_pfn)?;
                Some(first.checked_add(order.pages())? <= own.spanned && Pfn(pfn).is_aligned(order))
            };
            if let Some(pfn) = list.pfns.iter().find(|&&pfn| is_inside(pfn) != Some(true)) {
                return Err(format!("{name}: no block of order {order} can be at frame {pfn}"));
            }
        }
        let counted = zone.pageblocks.iter().fold(0_u64, |sum, run| sum.saturating_add(run.pageblocks));
        if counted > own.spanned.saturating_add(1) {
            return Err(format!("{name} has more pageblocks than frames"));
        }
        let unknown =
            |run: &PageblockRun| run.migratetype.is_some_and(|code| Migratetype::new(code).is_none());
        if zone.pageblocks.iter().any(unknown) {
            return Err(format!("{name} has a pageblock of an unknown type"));
        }
    }
    Ok(())
}

/// Checks that `run` comes after `before_end`, and returns the frame behind it.
pub(crate) fn check_run(run: Run, before_end: u64) -> Result<u64, &'static str> {
    if run.pages == 0 {
        return Err("an occupancy run without pages");
    }
    if run.start.0 < before_end {
        return Err("occupancy runs overlap or are not in ascending order");
    }
    run.start.0.checked_add(run.pages).ok_or("an occupancy run ends behind the last frame")
}
