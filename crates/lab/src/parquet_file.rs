//! Columns of a Parquet file, written one after the other.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

/// The rows of a file, which are written column by column.
pub type Rows<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// Returns a Parquet file with this schema. `write` must write the columns in the order of the schema.
///
/// # Errors
/// The columns do not fit the schema.
pub fn write_file(
    schema: Type,
    write: impl FnOnce(&mut Rows<'_>) -> Result<(), ParquetError>,
) -> Result<Vec<u8>, ParquetError> {
    write_file_with(schema, None, write)
}

/// Returns a Parquet file as [`write_file`] does, with an optional entry in the metadata: its key and value.
///
/// # Errors
/// As [`write_file`].
pub fn write_file_with(
    schema: Type,
    text: Option<(&str, String)>,
    write: impl FnOnce(&mut Rows<'_>) -> Result<(), ParquetError>,
) -> Result<Vec<u8>, ParquetError> {
    let compression = Compression::ZSTD(ZstdLevel::try_new(3)?);
    let texts = text.map(|(key, value)| vec![KeyValue::new(key.to_owned(), value)]);
    let properties = WriterProperties::builder().set_compression(compression).set_key_value_metadata(texts);
    let properties = Arc::new(properties.build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    let mut rows = writer.next_row_group()?;
    write(&mut rows)?;
    rows.close()?;
    writer.into_inner()
}

/// Returns the metadata entry of a file under a key; `None` if the file lacks it or is not a complete Parquet file.
pub fn text_of(file: &[u8], key: &str) -> Option<String> {
    let (rest, end) = file.split_last_chunk::<8>()?;
    let (length, magic) = end.split_at(4);
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let metadata = rest.get(rest.len().checked_sub(length)?..).filter(|_| magic == b"PAR1")?;
    let metadata = ParquetMetaDataReader::decode_metadata(metadata).ok()?;
    let texts = metadata.file_metadata().key_value_metadata()?;
    texts.iter().find(|text| text.key == key)?.value.clone()
}

/// Writes the next column, with a value in every row.
///
/// # Errors
/// The schema has no further column, or the next column has another type.
pub fn required<T: DataType>(rows: &mut Rows<'_>, values: &[T::T]) -> Result<(), ParquetError> {
    write::<T>(rows, values, None)
}

/// Writes the next column, in which rows may lack a value.
///
/// # Errors
/// As [`required`].
pub fn optional<T: DataType>(
    rows: &mut Rows<'_>,
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
    rows: &mut Rows<'_>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let column = rows.next_column()?;
    let mut column =
        column.ok_or_else(|| ParquetError::General("more columns than the schema has".to_owned()))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}
