//! The figures as a Parquet file, with one row for each value.

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::parser::parse_message_type;

use super::figures::Figure;
use crate::parquet_file::{optional, required, write_file};

/// The columns. The fields of [`Figure`] with the same names document them.
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

/// Returns the text of a column in a row.
type Name = fn(&Figure) -> &str;

/// Returns the figures as a Parquet file.
pub(super) fn to_parquet(figures: &[Figure]) -> Result<Vec<u8>, ParquetError> {
    write_file(parse_message_type(SCHEMA)?, |rows| {
        let names: [Name; 6] =
            [|f| &f.trace, |f| &f.era, |f| &f.variant, |f| &f.group, |f| &f.measure, |f| &f.unit];
        for name in names {
            let values: Vec<_> = figures.iter().map(|figure| ByteArray::from(name(figure))).collect();
            required::<ByteArrayType>(rows, &values)?;
        }
        let text = |name: Option<&str>| name.map(ByteArray::from);
        optional::<ByteArrayType>(rows, figures.iter().map(|figure| text(figure.zone.as_deref())))?;
        optional::<Int32Type>(rows, figures.iter().map(|figure| figure.order.map(i32::from)))?;
        optional::<ByteArrayType>(rows, figures.iter().map(|figure| text(figure.migratetype)))?;
        optional::<ByteArrayType>(rows, figures.iter().map(|figure| text(figure.found)))?;
        optional::<Int64Type>(rows, figures.iter().map(|figure| figure.at_least.map(u64::cast_signed)))?;
        optional::<DoubleType>(rows, figures.iter().map(|figure| figure.time_s))?;
        required::<DoubleType>(rows, &figures.iter().map(|figure| figure.value).collect::<Vec<_>>())?;
        Ok(())
    })
}
