//! Encodes rows into Arrow record batches and the bytes of messages.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::format::{Column, Row};

/// Encodes rows into the bytes of an Arrow IPC stream.
pub(super) struct Encoder {
    schema: SchemaRef,
    messages: StreamWriter<Vec<u8>>,
}

impl Encoder {
    /// Starts a stream. The next [`Self::take`] returns the header.
    pub(super) fn new(schema: Schema, level: i32) -> Result<Self, ArrowError> {
        let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V5)?
            .try_with_compression(Some(CompressionType::ZSTD))?
            .try_with_compression_level(Some(level))?;
        let messages = StreamWriter::try_new_with_options(Vec::new(), &schema, options)?;
        Ok(Self { schema: Arc::new(schema), messages })
    }

    /// Appends one record batch. `note` belongs to the last row.
    pub(crate) fn batch(&mut self, rows: &[Row], note: Option<&str>) -> Result<(), ArrowError> {
        let columns = Column::ALL.iter().map(|&column| array(column, rows, note)).collect();
        self.messages.write(&RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// Appends the end-of-stream marker.
    pub(super) fn end(&mut self) -> Result<(), ArrowError> {
        self.messages.finish()
    }

    /// Moves the bytes since the last call to the end of `into`.
    pub(super) fn take(&mut self, into: &mut Vec<u8>) {
        into.clear();
        into.append(self.messages.get_mut());
    }
}

/// Returns a column of some rows, as the file has it.
pub(super) fn array(column: Column, rows: &[Row], note: Option<&str>) -> ArrayRef {
    match column {
        Column::TimeNs => Arc::new(UInt64Array::from(rows.iter().map(|r| r.time_ns).collect::<Vec<_>>())),
        Column::Count => Arc::new(UInt64Array::from(rows.iter().map(|r| r.count).collect::<Vec<_>>())),
        Column::Obtained => Arc::new(UInt64Array::from(rows.iter().map(|r| r.obtained).collect::<Vec<_>>())),
        Column::Pfn => Arc::new(pfn_array(rows)),
        Column::Gfp => Arc::new(UInt32Array::from(rows.iter().map(|r| r.gfp).collect::<Vec<_>>())),
        Column::Pid => Arc::new(Int32Array::from(rows.iter().map(|r| r.pid).collect::<Vec<_>>())),
        Column::Cpu => Arc::new(UInt16Array::from(rows.iter().map(|r| r.cpu).collect::<Vec<_>>())),
        Column::Kind => bytes(rows, |r| r.kind),
        Column::Order => bytes(rows, |r| r.order),
        Column::Migratetype => bytes(rows, |r| r.migratetype),
        Column::FallbackOrder => bytes(rows, |r| r.fallback_order),
        Column::FallbackMigratetype => bytes(rows, |r| r.fallback_migratetype),
        Column::FrameUse => bytes(rows, |r| r.frame_use),
        Column::ChangeOwnership => flags(rows, |r| r.change_ownership),
        Column::PercpuRefill => flags(rows, |r| r.percpu_refill),
        Column::Note => {
            let last = rows.len().saturating_sub(1);
            Arc::new((0..rows.len()).map(|i| note.filter(|_| i == last)).collect::<StringArray>())
        }
    }
}

/// Returns the PFNs. Null PFNs are stored as 0, so that equal traces have equal bytes.
fn pfn_array(rows: &[Row]) -> UInt64Array {
    let values: Vec<u64> = rows.iter().map(|r| r.pfn.unwrap_or(0)).collect();
    let nulls = rows.iter().map(|r| r.pfn.is_some()).collect::<NullBuffer>();
    UInt64Array::new(values.into(), Some(nulls).filter(|n| n.null_count() > 0))
}

fn bytes(rows: &[Row], value: impl Fn(&Row) -> u8) -> ArrayRef {
    Arc::new(UInt8Array::from(rows.iter().map(value).collect::<Vec<_>>()))
}

fn flags(rows: &[Row], value: impl Fn(&Row) -> bool) -> ArrayRef {
    Arc::new(BooleanArray::from(rows.iter().map(value).collect::<Vec<_>>()))
}
