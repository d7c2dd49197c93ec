//! Reads free blocks from the texts of `/proc`, with a limit on the time that pagetypeinfo takes.

use std::path::{Path, PathBuf};

use freehold_trace::{ByOrder, FreeCount, KernelTypes};

use super::free_blocks::{FreeBlocks, Source, ZoneFreeBlocks};
use crate::clock;
use crate::error::Error;
use crate::pageblocks::pageblock_order;
use crate::procfs::{FreeLists, read_buddyinfo, read_free_lists, read_zone_reserves};

/// The limit, as one part of this many: a reading of pagetypeinfo that took 1 ms is followed by none for
/// a second.
const SHARE_OF_TIME: u64 = 1000;

/// The pause before a failed reading of pagetypeinfo is tried again: a minute.
const TRY_AGAIN_NS: u64 = 60_000_000_000;

/// Reads `/proc/pagetypeinfo` as often as its cost allows, otherwise `/proc/buddyinfo`.
pub(super) struct ProcfsSensor {
    root: PathBuf,
    ration: Ration,
    /// What [`pageblock_order`] says, for readings without pagetypeinfo.
    pageblock_order: u8,
    types: Types,
}

/// The state of the numbers by type.
enum Types {
    /// They were not read yet.
    Unread,
    /// The last reading.
    Read(FreeBlocks),
    /// They cannot be read, for this reason. They are tried again at that time, if any.
    Closed { why: String, again_ns: Option<u64> },
}

impl ProcfsSensor {
    pub(super) fn new(root: &Path, ration: Ration) -> Self {
        Self { root: root.to_owned(), ration, pageblock_order: pageblock_order(root), types: Types::Unread }
    }

    /// Reads free blocks, by type if that is allowed and not too expensive now.
    ///
    /// If pagetypeinfo is missing or access is refused, it is not tried again; after another failure
    /// it is tried again a minute later. [`Self::closed`] says why.
    ///
    /// # Errors
    /// Those of `/proc/buddyinfo`.
    pub(super) fn read(&mut self) -> Result<FreeBlocks, Error> {
        if self.types_are_due()
            && let Some(read) = self.read_types()
        {
            return Ok(read);
        }
        let mut totals = match timed(|| buddyinfo(&self.root, self.pageblock_order)) {
            // Only a copy of a machine's files lacks buddyinfo; reading its pagetypeinfo takes no lock.
            Err(error) if error.is_closed_or_missing() => return self.read_types().ok_or(error),
            other => other?,
        };
        if let Types::Read(types) = &self.types {
            totals.take_types_of(types);
        } else if let Ok(reserves) = read_zone_reserves(&self.root) {
            totals.take_reserves(&reserves);
        }
        Ok(totals)
    }

    fn read_types(&mut self) -> Option<FreeBlocks> {
        if !self.may_try() {
            return None;
        }
        match timed(|| Ok(from_free_lists(read_free_lists(&self.root)?, self.pageblock_order))) {
            Ok(read) => {
                self.types = Types::Read(read.clone());
                Some(read)
            }
            Err(error) => {
                let again_ns = clock::monotonic_ns() + TRY_AGAIN_NS;
                let again_ns = (!error.is_closed_or_missing()).then_some(again_ns);
                self.types = Types::Closed { why: error.to_string(), again_ns };
                None
            }
        }
    }

    fn may_try(&self) -> bool {
        match &self.types {
            Types::Closed { again_ns, .. } => again_ns.is_some_and(|again| clock::monotonic_ns() >= again),
            _ => true,
        }
    }

    /// Returns why free blocks by type cannot be read, or `None` if they can.
    pub(super) fn closed(&self) -> Option<&str> {
        match &self.types {
            Types::Closed { why, .. } => Some(why),
            _ => None,
        }
    }

    /// Returns why free blocks by type could not be parsed; `None` if they were, or if there is nothing to parse.
    pub(super) fn damage(&self) -> Option<&str> {
        match &self.types {
            Types::Closed { why, again_ns: Some(_) } => Some(why),
            _ => None,
        }
    }

    fn types_are_due(&self) -> bool {
        match (&self.types, self.ration) {
            (Types::Closed { .. }, _) => self.may_try(),
            (Types::Unread, _) | (Types::Read(_), Ration::Unlimited) => true,
            (Types::Read(last), Ration::ByCost) => {
                clock::monotonic_ns() >= last.time_ns + last.cost_ns.saturating_mul(SHARE_OF_TIME)
            }
        }
    }
}

/// How often pagetypeinfo may be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ration {
    /// For at most a thousandth of the time.
    ByCost,
    /// At every reading, to measure the cost.
    Unlimited,
}

fn timed(read: impl FnOnce() -> Result<FreeBlocks, Error>) -> Result<FreeBlocks, Error> {
    let start = clock::monotonic_ns();
    let mut free = read()?;
    free.time_ns = clock::monotonic_ns();
    free.cost_ns = free.time_ns - start;
    free.types_time_ns = free.types_time_ns.map(|_| free.time_ns);
    Ok(free)
}

fn from_free_lists(lists: FreeLists, pageblock_order: u8) -> FreeBlocks {
    let zones = lists.zones.into_iter().map(|zone| {
        let largest = zone.free.first().map_or_else(Default::default, ByOrder::largest);
        let mut total = ByOrder::<FreeCount>::new(largest);
        for orders in &zone.free {
            for (total, count) in total.iter_mut().zip(orders) {
                total.blocks = total.blocks.saturating_add(count.blocks);
                total.capped |= count.capped;
            }
        }
        ZoneFreeBlocks {
            node: zone.node,
            name: zone.name,
            total,
            by_type: Some(zone.free),
            pageblocks: zone.blocks,
            reserves: None,
        }
    });
    FreeBlocks {
        source: Source::Pagetypeinfo,
        time_ns: 0,
        cost_ns: 0,
        types_time_ns: Some(0),
        pageblock_order: lists.pageblock_order.or(Some(pageblock_order)),
        types: lists.types,
        zones: zones.collect(),
    }
}

fn buddyinfo(root: &Path, pageblock_order: u8) -> Result<FreeBlocks, Error> {
    let zones = read_buddyinfo(root)?.into_iter().map(ZoneFreeBlocks::from);
    Ok(FreeBlocks {
        source: Source::Buddyinfo,
        time_ns: 0,
        cost_ns: 0,
        types_time_ns: None,
        pageblock_order: Some(pageblock_order),
        types: KernelTypes::default(),
        zones: zones.collect(),
    })
}
