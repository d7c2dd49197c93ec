//! The kinds of zones.

/// The type of a zone: the addresses or the use that it is for, from low to high.
///
/// Linux counterpart: `enum zone_type`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum ZoneType {
    /// `ZONE_DMA`.
    Dma = 0,
    /// `ZONE_DMA32`.
    Dma32 = 1,
    /// `ZONE_NORMAL`.
    Normal = 2,
    /// `ZONE_HIGHMEM`.
    HighMem = 3,
    /// `ZONE_MOVABLE`.
    Movable = 4,
    /// `ZONE_DEVICE`.
    Device = 5,
}

/// The number of zone types.
pub const ZONE_TYPES: usize = 6;

impl ZoneType {
    /// Every zone type, from low to high.
    pub const ALL: [Self; ZONE_TYPES] =
        [Self::Dma, Self::Dma32, Self::Normal, Self::HighMem, Self::Movable, Self::Device];

    /// Returns the name that `/proc/zoneinfo` prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dma => "DMA",
            Self::Dma32 => "DMA32",
            Self::Normal => "Normal",
            Self::HighMem => "HighMem",
            Self::Movable => "Movable",
            Self::Device => "Device",
        }
    }

    /// Returns the zone type that `/proc/zoneinfo` prints as `name`, or `None` for any other name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
