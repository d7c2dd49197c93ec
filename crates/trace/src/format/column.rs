//! The columns of a row in the file's order.

use arrow_schema::DataType;

/// A column, by its position in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Column {
    TimeNs,
    Cpu,
    Kind,
    Pfn,
    Order,
    Migratetype,
    Gfp,
    Pid,
    Count,
    FallbackOrder,
    FallbackMigratetype,
    ChangeOwnership,
    PercpuRefill,
    FrameUse,
    Note,
    Obtained,
}

/// The number of columns.
pub(crate) const COLUMNS: usize = 16;

/// The number of columns in version 1: the first ones.
pub(crate) const COLUMNS_OF_VERSION_1: usize = 15;

impl Column {
    pub(crate) const ALL: [Self; COLUMNS] = [
        Self::TimeNs,
        Self::Cpu,
        Self::Kind,
        Self::Pfn,
        Self::Order,
        Self::Migratetype,
        Self::Gfp,
        Self::Pid,
        Self::Count,
        Self::FallbackOrder,
        Self::FallbackMigratetype,
        Self::ChangeOwnership,
        Self::PercpuRefill,
        Self::FrameUse,
        Self::Note,
        Self::Obtained,
    ];

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::TimeNs => "time_ns",
            Self::Cpu => "cpu",
            Self::Kind => "kind",
            Self::Pfn => "pfn",
            Self::Order => "order",
            Self::Migratetype => "migratetype",
            Self::Gfp => "gfp",
            Self::Pid => "pid",
            Self::Count => "count",
            Self::FallbackOrder => "fallback_order",
            Self::FallbackMigratetype => "fallback_migratetype",
            Self::ChangeOwnership => "change_ownership",
            Self::PercpuRefill => "percpu_refill",
            Self::FrameUse => "frame_use",
            Self::Note => "note",
            Self::Obtained => "obtained",
        }
    }

    pub(crate) const fn data_type(self) -> DataType {
        match self {
            Self::TimeNs | Self::Pfn | Self::Count | Self::Obtained => DataType::UInt64,
            Self::Gfp => DataType::UInt32,
            Self::Pid => DataType::Int32,
            Self::Cpu => DataType::UInt16,
            Self::ChangeOwnership | Self::PercpuRefill => DataType::Boolean,
            Self::Note => DataType::Utf8,
            Self::Kind
            | Self::Order
            | Self::Migratetype
            | Self::FallbackOrder
            | Self::FallbackMigratetype
            | Self::FrameUse => DataType::UInt8,
        }
    }

    pub(crate) const fn is_nullable(self) -> bool {
        matches!(self, Self::Pfn | Self::Note)
    }

    /// Returns the bytes of `rows` values, or `None` for text.
    pub(crate) fn data_bytes(self, rows: usize) -> Option<usize> {
        match self.data_type() {
            DataType::UInt64 => Some(rows * 8),
            DataType::UInt32 | DataType::Int32 => Some(rows * 4),
            DataType::UInt16 => Some(rows * 2),
            DataType::UInt8 => Some(rows),
            DataType::Boolean => Some(rows.div_ceil(8)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_agree() {
        for (position, column) in Column::ALL.into_iter().enumerate() {
            assert_eq!(column.index(), position);
        }
    }
}
