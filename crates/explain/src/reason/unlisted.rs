//! Free memory outside of the zones that the kernel lists.

use freehold::{GfpFlags, ZoneType};

use super::layout::Layout;
use crate::report::{Kind, Splat, unlisted_free};

/// Where memory is that the kernel does not list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In zones above those that the flags allow: Linux lists none since 6.1.
    HigherZones,
    /// On nodes that the cpuset or the memory policy leaves out.
    OtherNodes,
}

/// Free memory outside of the zones that the kernel lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unlisted {
    /// Units: pages.
    pub(crate) pages: u64,
    pub(crate) place: Place,
}

impl Unlisted {
    /// Returns what the kernel does not list, or `None` if it should have listed all.
    pub(crate) fn of(splat: &Splat, layout: &Layout, flags: GfpFlags) -> Option<Self> {
        let highest = layout.highest(flags);
        if !layout.lost_zones(&splat.zones, highest).is_empty() {
            return None;
        }
        let pages = unlisted_free(splat)?;
        let is_new = splat.release.as_ref().is_some_and(|release| release.version >= (6, 1));
        let is_low = highest < ZoneType::Normal;
        let place = match (is_low, is_new) {
            (true, true) if splat.kind != Kind::OomNodes => Place::HigherZones,
            _ if splat.kind == Kind::OomNodes => Place::OtherNodes,
            (false, _) if splat.request.hides_nodes(flags) => Place::OtherNodes,
            _ => return None,
        };
        Some(Self { pages, place })
    }
}
