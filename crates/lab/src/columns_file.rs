//! Columns as a Parquet file.

use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;

use crate::columns::{Column, Columns};
use crate::parquet_file::{optional, write_file_with};

/// The columns cannot be written as Parquet: a bug in Freehold.
#[derive(Debug, thiserror::Error)]
#[error("the results cannot be written as Parquet")]
pub struct ColumnsError(#[from] ParquetError);

impl Columns {
    /// Returns the table as a Parquet file whose schema has this name.
    ///
    /// # Errors
    /// [`ColumnsError`] if the columns cannot be written: a bug in Freehold.
    pub fn to_parquet(&self, name: &str) -> Result<Vec<u8>, ColumnsError> {
        self.to_parquet_with(name, None)
    }

    /// Returns the table as [`Self::to_parquet`] does, with one more entry in the metadata: its key and value.
    ///
    /// # Errors
    /// As [`Self::to_parquet`].
    pub(crate) fn to_parquet_with(
        &self,
        name: &str,
        text: Option<(&str, String)>,
    ) -> Result<Vec<u8>, ColumnsError> {
        let fields: Result<Vec<_>, ParquetError> = self
            .iter()
            .map(|(name, column)| {
                let (physical, converted) = match column {
                    Column::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
                    Column::Numbers(_) => (Physical::INT64, ConvertedType::NONE),
                    Column::Reals(_) => (Physical::DOUBLE, ConvertedType::NONE),
                    Column::Flags(_) => (Physical::BOOLEAN, ConvertedType::NONE),
                };
                let field =
                    Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
                field.with_converted_type(converted).build().map(Arc::new)
            })
            .collect();
        let schema = Type::group_type_builder(name).with_fields(fields?).build()?;
        let file = write_file_with(schema, text, |group| {
            for (_, column) in self.iter() {
                match column {
                    Column::Texts(texts) => {
                        let texts = texts.iter().map(|text| text.as_deref().map(ByteArray::from));
                        optional::<ByteArrayType>(group, texts)?;
                    }
                    Column::Numbers(numbers) => optional::<Int64Type>(group, numbers.iter().copied())?,
                    Column::Reals(reals) => optional::<DoubleType>(group, reals.iter().copied())?,
                    Column::Flags(flags) => {
                        optional::<BoolType>(group, flags.iter().copied())?;
                    }
                }
            }
            Ok(())
        });
        Ok(file?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_convert_to_a_parquet_file() {
        let mut columns = Columns::default();
        columns.push("a", Column::Numbers(vec![Some(1), None]));
        let file = columns.to_parquet("small").expect("a file");
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    }
}
