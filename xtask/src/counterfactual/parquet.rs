//! Every recording's value of every measure, as a Parquet file.

use freehold_lab::parquet_file::{required, write_file};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::schema::parser::parse_message_type;

use super::foretold::Told;

/// The columns. `what` is `before`, `foretold` or `came`; `recording` counts from 1, and is the same for a recording and
/// what is foretold from it.
const SCHEMA: &str = "message counterfactuals {
    REQUIRED BYTE_ARRAY workload (STRING);
    REQUIRED BYTE_ARRAY before (STRING);
    REQUIRED BYTE_ARRAY after (STRING);
    REQUIRED BYTE_ARRAY measure (STRING);
    REQUIRED BYTE_ARRAY unit (STRING);
    REQUIRED BYTE_ARRAY verdict (STRING);
    REQUIRED BYTE_ARRAY what (STRING);
    REQUIRED INT32 recording;
    REQUIRED DOUBLE value;
}";

/// Returns the file.
///
/// # Errors
/// A sentence, if it cannot be written.
pub(crate) fn file(told: &[Told]) -> Result<Vec<u8>, String> {
    let mut texts: [Vec<ByteArray>; 7] = Default::default();
    let (mut recordings, mut values) = (Vec::new(), Vec::new());
    for Told { case, prediction, .. } in told {
        let Ok(prediction) = prediction else { continue };
        let (before, after) = (case.before.to_string(), case.after.to_string());
        for measure in &prediction.measures {
            for (what, each) in [
                ("before", &measure.before_each),
                ("foretold", &measure.foretold_each),
                ("came", &measure.came_each),
            ] {
                for (number, value) in each.iter().flatten().enumerate() {
                    let row = [
                        case.workload.name,
                        &before,
                        &after,
                        &measure.name,
                        &measure.unit,
                        measure.verdict.name(),
                        what,
                    ];
                    for (column, text) in texts.iter_mut().zip(row) {
                        column.push(ByteArray::from(text));
                    }
                    recordings.push(number as i32 + 1);
                    values.push(*value);
                }
            }
        }
    }
    let schema = parse_message_type(SCHEMA).map_err(|error| error.to_string())?;
    let written = write_file(schema, |rows| {
        for column in &texts {
            required::<ByteArrayType>(rows, column)?;
        }
        required::<Int32Type>(rows, &recordings)?;
        required::<DoubleType>(rows, &values)
    });
    written.map_err(|error| format!("the Parquet file: {error}"))
}
