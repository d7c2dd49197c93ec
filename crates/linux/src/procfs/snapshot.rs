//! Reads the state of a machine's memory from `/proc`.

use std::path::Path;

use freehold_trace::Snapshot;

use super::{read_kpageflags, read_pagetypeinfo, read_sysctls, read_vmstat, read_zoneinfo};
use crate::clock;
use crate::error::Error;

/// What a snapshot contains about single frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occupancy {
    /// The use of each frame, read from `kpageflags` in about 30 ms a GiB.
    Read,
    /// Nothing.
    Skip,
}

/// Takes a snapshot of the machine whose `/proc` is `proc` below `root` (`/` on a live one).
///
/// Its time is that of `CLOCK_MONOTONIC` after everything was read: the snapshot contains no effect of a
/// later event.
pub fn snapshot(root: &Path, occupancy: Occupancy) -> Result<Snapshot, Error> {
    let pagetypeinfo = read_pagetypeinfo(root)?;
    let zones = read_zoneinfo(root)?;
    let vmstat = read_vmstat(root)?;
    let sysctl = read_sysctls(root)?;
    let occupancy = match occupancy {
        Occupancy::Read => read_kpageflags(root, &zones)?,
        Occupancy::Skip => Vec::new(),
    };
    let time_ns = clock::monotonic_ns();
    Ok(Snapshot { time_ns, zones, pagetypeinfo, vmstat, sysctl, occupancy, ..Snapshot::default() })
}

/// Returns a sentence for each zone whose managed pages differ between two snapshots.
///
/// A replay cannot know such pages: memory was set up late (`CONFIG_DEFERRED_STRUCT_PAGE_INIT`),
/// hotplugged, or moved by a balloon.
pub fn managed_changes(start: &Snapshot, end: &Snapshot) -> Vec<String> {
    let mut changes = Vec::new();
    for zone in &end.zones {
        let before = start.zones.iter().find(|z| z.node == zone.node && z.name == zone.name);
        let before = before.map_or(0, |z| z.managed);
        if before != zone.managed {
            changes.push(format!(
                "node {}, zone {}: managed pages went from {before} to {} while recording (memory that the \
                 kernel set up late, hotplug or a balloon); a replay does not know of the difference. Fill the \
                 memory once before recording to avoid it",
                zone.node, zone.name, zone.managed
            ));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use freehold_trace::ZoneSnapshot;

    use super::*;

    #[test]
    fn changes_of_managed_pages_are_noted() {
        let with = |managed| Snapshot {
            zones: vec![ZoneSnapshot { name: "Normal".into(), managed, ..ZoneSnapshot::default() }],
            ..Snapshot::default()
        };
        assert!(managed_changes(&with(5), &with(5)).is_empty());
        let noted = managed_changes(&with(5), &with(9));
        assert!(noted[0].contains("zone Normal: managed pages went from 5 to 9"));
    }
}
