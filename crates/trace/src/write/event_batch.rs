//! Events as Arrow record batches in memory, with names instead of the file's codes.

use std::sync::Arc;

use arrow_array::types::UInt8Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Metadata, Schema, SchemaRef};
use freehold::Migratetype;

use super::encode::array;
use crate::format::{Column, KEY_GFP_BITS, Row, RowKind, gfp_bits};
use crate::model::Event;

/// The bytes of an event in the columns of [`event_batch`], without the bits of flags and of missing frames.
pub const EVENT_BYTES: usize = 47;

/// The columns of events: those of the file, except columns that only other rows use.
fn columns() -> impl Iterator<Item = Column> {
    Column::ALL.into_iter().filter(|column| !matches!(column, Column::FrameUse | Column::Note))
}

/// Returns the names of a column's codes, or `None` if its values are not codes.
fn names(column: Column) -> Option<StringArray> {
    match column {
        Column::Kind => {
            let events = RowKind::ALL.into_iter().filter(|(kind, _)| *kind != RowKind::Ending);
            Some(events.map(|(_, name)| Some(name)).collect())
        }
        Column::Migratetype | Column::FallbackMigratetype => {
            Some(Migratetype::ALL.iter().map(|kind| Some(kind.name())).collect())
        }
        _ => None,
    }
}

/// Returns the schema of [`event_batch`]. Its metadata names the bits of `gfp`.
pub fn event_schema() -> SchemaRef {
    let fields = columns().map(|column| {
        let data_type = match names(column) {
            Some(_) => DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8)),
            None => column.data_type(),
        };
        Field::new(column.name(), data_type, column.is_nullable())
    });
    let fields: Vec<_> = fields.collect();
    let bits = gfp_bits().unwrap_or_default();
    let metadata: Metadata = [(KEY_GFP_BITS.to_owned(), bits)].into_iter().collect();
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// Returns events as Arrow columns, [`EVENT_BYTES`] bytes for each event. Columns, units and values of unused columns
/// are those of the file. Kinds and migratetypes are dictionaries with Linux's names.
///
/// # Errors
/// Arrow's error if it refuses the columns. No such case is known.
pub fn event_batch(events: &[Event]) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<_> = events.iter().map(Row::of_event).collect();
    let arrays = columns().map(|column| {
        let values = array(column, &rows, None);
        let Some(names) = names(column) else { return Ok(values) };
        let keys = values.to_data().into();
        Ok(Arc::new(DictionaryArray::<UInt8Type>::try_new(keys, Arc::new(names))?) as ArrayRef)
    });
    RecordBatch::try_new(event_schema(), arrays.collect::<Result<_, ArrowError>>()?)
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{Int32Type, UInt32Type, UInt64Type};
    use freehold::{GfpFlags, Order, Pfn};

    use super::*;
    use crate::model::{EventKind, PageWork};

    #[test]
    fn an_event_is_a_row_with_names() {
        let alloc = EventKind::Alloc {
            pfn: None,
            order: Order::MAX_PAGE_ORDER,
            migratetype: Migratetype::Reclaimable,
            gfp: GfpFlags::KERNEL,
        };
        let kinds = [
            alloc,
            EventKind::Free { pfn: Pfn(7), order: Order::ZERO },
            EventKind::Work { work: PageWork::CmaRelease, pages: 5, obtained: 4 },
        ];
        let events = kinds.map(|kind| Event { time_ns: 9, cpu: 1, pid: -3, kind });
        let batch = event_batch(&events).expect("a batch");
        assert_eq!(batch.schema(), event_schema());
        let column = |name: &str| batch.column_by_name(name).expect(name);
        let names = |name: &str| {
            let column = column(name).as_dictionary::<UInt8Type>().downcast_dict::<StringArray>();
            column.expect("names").into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(names("kind"), ["mm_page_alloc", "mm_page_free", "cma_release"]);
        assert_eq!(names("migratetype"), ["Reclaimable", "Unmovable", "Unmovable"]);
        assert_eq!(column("pfn").null_count(), 2);
        assert_eq!(column("pfn").as_primitive::<UInt64Type>().value(1), 7);
        assert_eq!(column("gfp").as_primitive::<UInt32Type>().value(0), GfpFlags::KERNEL.bits());
        assert_eq!(column("pid").as_primitive::<Int32Type>().values()[..], [-3; 3]);
        assert_eq!(column("obtained").as_primitive::<UInt64Type>().values()[..], [0, 0, 4]);
        let bytes: usize = columns().filter_map(|column| column.data_bytes(64)).sum();
        assert_eq!(bytes / 64, EVENT_BYTES);
    }
}
