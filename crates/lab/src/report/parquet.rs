//! The figures as a Parquet file, a row a value.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::figures::Figure;

/// The columns; the meaning of each is that of the field of [`Figure`] with its name.
const SCHEMA: &str = "message figures {
    REQUIRED BYTE_ARRAY trace (STRING);
    REQUIRED BYTE_ARRAY era (STRING);
    REQUIRED BYTE_ARRAY variant (STRING);
    REQUIRED BYTE_ARRAY group (STRING);
    REQUIRED BYTE_ARRAY measure (STRING);
    REQUIRED BYTE_ARRAY unit (STRING);
    OPTIONAL BYTE_ARRAY zone (STRING);
    OPTIONAL INT32 order;
    OPTIONAL BYTE_ARRAY migratetype (STRING);
    OPTIONAL BYTE_ARRAY found (STRING);
    OPTIONAL INT64 at_least;
    OPTIONAL DOUBLE time_s;
    REQUIRED DOUBLE value;
}";

/// Where a column's text is in a row.
type Name = fn(&Figure) -> &str;

type RowGroup<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// The figures as a file.
pub(super) fn to_parquet(figures: &[Figure]) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let compression = Compression::ZSTD(ZstdLevel::try_new(3)?);
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties)?;
    let mut rows = writer.next_row_group()?;
    let names: [Name; 6] =
        [|f| &f.trace, |f| &f.era, |f| &f.variant, |f| &f.group, |f| &f.measure, |f| &f.unit];
    for name in names {
        let values: Vec<_> = figures.iter().map(|figure| ByteArray::from(name(figure))).collect();
        required::<ByteArrayType>(&mut rows, &values)?;
    }
    let text = |name: Option<&str>| name.map(ByteArray::from);
    optional::<ByteArrayType>(&mut rows, figures.iter().map(|figure| text(figure.zone.as_deref())))?;
    optional::<Int32Type>(&mut rows, figures.iter().map(|figure| figure.order.map(i32::from)))?;
    optional::<ByteArrayType>(&mut rows, figures.iter().map(|figure| text(figure.migratetype)))?;
    optional::<ByteArrayType>(&mut rows, figures.iter().map(|figure| text(figure.found)))?;
    optional::<Int64Type>(&mut rows, figures.iter().map(|figure| figure.at_least.map(u64::cast_signed)))?;
    optional::<DoubleType>(&mut rows, figures.iter().map(|figure| figure.time_s))?;
    required::<DoubleType>(&mut rows, &figures.iter().map(|figure| figure.value).collect::<Vec<_>>())?;
    rows.close()?;
    writer.into_inner()
}

fn required<T: DataType>(rows: &mut RowGroup<'_>, values: &[T::T]) -> Result<(), ParquetError> {
    write::<T>(rows, values, None)
}

fn optional<T: DataType>(
    rows: &mut RowGroup<'_>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut known, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        known.extend(value);
    }
    write::<T>(rows, &known, Some(&levels))
}

fn write<T: DataType>(
    rows: &mut RowGroup<'_>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let column = rows.next_column()?;
    let mut column =
        column.ok_or_else(|| ParquetError::General("more columns than the schema has".to_owned()))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}
