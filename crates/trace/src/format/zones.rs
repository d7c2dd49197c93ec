//! The frames of a snapshot's zones.

use super::error::{Place, TraceError};
use super::limits::MAX_ZONES;
use crate::model::{Run, Snapshot};

/// The frames of the start snapshot's zones.
#[derive(Clone, Debug)]
pub(crate) struct Zones {
    /// First frame, and the frame behind the last one, in the snapshot's order.
    spans: Vec<(u64, u64)>,
    /// The zone of the last block, which most likely contains the next one.
    last: (u64, u64),
}

impl Zones {
    /// Takes the zones of `snapshot`.
    ///
    /// # Errors
    ///
    /// `Corrupt` if a zone ends behind the last possible frame or a number is out of range.
    pub(crate) fn new(snapshot: &Snapshot, place: Place<'_>) -> Result<Self, TraceError> {
        check_snapshot(snapshot).map_err(|what| place.corrupt(what))?;
        let spans: Vec<_> =
            snapshot.zones.iter().map(|z| (z.start_pfn, z.start_pfn.saturating_add(z.spanned))).collect();
        let last = spans.first().copied().unwrap_or((0, u64::MAX));
        Ok(Self { spans, last })
    }

    /// Returns true if the block lies inside one zone, or if the snapshot has no zones at all.
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
    if usize::from(info.pageblock_order) >= freehold::MAX_ORDERS {
        return Err(format!(
            "pageblock order {}, larger than {}",
            info.pageblock_order,
            freehold::Order::MAX
        ));
    }
    match info.types.iter().find(|&&t| freehold::Migratetype::new(t).is_none()) {
        Some(code) => Err(format!("migratetype {code} in pagetypeinfo is unknown")),
        None => Ok(()),
    }
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
