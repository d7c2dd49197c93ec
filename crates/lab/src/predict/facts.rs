//! The machine, the kernel and the settings in the header of a recording.

use std::collections::BTreeMap;

use freehold::Era;
use freehold_trace::{Origin, Snapshot};

use crate::replay::nearest_era;

/// The machine, the kernel and the settings in the header of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The path of the recording, as given by the user.
    pub name: String,
    /// The release of the recorded kernel; empty if unknown.
    pub kernel_release: String,
    pub(super) cpus: u32,
    pub(super) page_bytes: u64,
    /// The node, name, first frame and spanned pages of each zone with pages.
    pub(super) zones: Vec<(u32, String, u64, u64)>,
    /// The recorded settings of the kernel, by name.
    settings: BTreeMap<String, String>,
    /// Values that differ between any two recordings.
    identity: (Origin, u64, BTreeMap<String, u64>),
}

impl Facts {
    /// Reads the facts from the header of a recording.
    pub fn new(name: impl Into<String>, origin: &Origin, start: &Snapshot) -> Self {
        let with_pages = start.zones.iter().filter(|zone| zone.spanned > 0);
        let zones = with_pages.map(|zone| (zone.node, zone.name.clone(), zone.start_pfn, zone.spanned));
        let mut settings = start.sysctl.clone();
        if start.pagetypeinfo.pageblock_order > 0 {
            settings.insert("pageblock_order".to_owned(), start.pagetypeinfo.pageblock_order.to_string());
        }
        Self {
            name: name.into(),
            kernel_release: origin.kernel_release.clone(),
            cpus: origin.cpus,
            page_bytes: if origin.page_bytes == 0 { 4096 } else { origin.page_bytes },
            zones: zones.collect(),
            settings,
            identity: (origin.clone(), start.time_ns, start.vmstat.clone()),
        }
    }

    /// Returns the era nearest to the recorded kernel; `None` if the kernel is unknown.
    pub fn era(&self) -> Option<Era> {
        nearest_era(&self.kernel_release)
    }

    /// Returns the recorded value of a setting; `None` if it was not recorded.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(|value| value.trim())
    }

    /// Returns the recorded value of a numeric setting.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.setting(name)?.parse().ok()
    }

    /// Returns true if settings of the kernel were recorded.
    pub(super) fn has_settings(&self) -> bool {
        self.settings.keys().any(|name| name != "pageblock_order")
    }

    /// Returns the names of the recorded settings.
    pub(super) fn setting_names(&self) -> impl Iterator<Item = &str> {
        self.settings.keys().map(String::as_str)
    }

    /// Returns true if `other` is the same recording.
    pub(super) fn is_same_recording(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    /// Returns the version of the recorded kernel: its first two numbers.
    pub(super) fn version(&self) -> Option<(u32, u32)> {
        let mut numbers = self.kernel_release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}
