//! The highest zone that a request may use.

use serde::Serialize;

/// The highest zone that a request may use. It may use the zones below it, too. The order is that from all zones to the fewest.
///
/// Linux counterpart: `gfp_zone`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HighestZone {
    /// Every zone: memory of processes (`GFP_HIGHUSER_MOVABLE`).
    #[default]
    User,
    /// Neither `HighMem` nor `Movable` (`GFP_KERNEL`).
    Kernel,
    /// `DMA32` (`GFP_DMA32`).
    Dma32,
    /// `DMA` (`GFP_DMA`).
    Dma,
}

impl HighestZone {
    /// Returns true if the request may use a zone of this name.
    pub(super) fn allows(self, zone: &str) -> bool {
        let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(zone));
        match self {
            Self::User => true,
            Self::Kernel => !is(&["HighMem", "Movable", "Device"]),
            Self::Dma32 => is(&["DMA32", "DMA"]),
            Self::Dma => is(&["DMA"]),
        }
    }
}
