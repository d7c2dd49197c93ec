//! Every recording's value of every measure, as a Parquet file.

use freehold_lab::parquet_file::{required, write_file};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::schema::parser::parse_message_type;

use super::costs::Costs;
use super::predicted::ScoredCase;

/// The columns. `what` is `before`, `predicted` or `observed`. `recording` counts from 1; a recording and its
/// prediction have the same number. Rows with `what` and `verdict` `counted` are a side's own numbers without a
/// prediction; `after` names the side.
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

/// The `what` and `verdict` of numbers that are only counted.
const COUNTED: &str = "counted";

/// Returns the file.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn file(scored: &[ScoredCase], costs: Option<&Costs>) -> Result<Vec<u8>, String> {
    let mut rows = Rows::default();
    for ScoredCase { case, prediction, .. } in scored {
        let Ok(prediction) = prediction else { continue };
        let (before, after) = (case.before.to_string(), case.after.to_string());
        for measure in &prediction.measures {
            let (name, unit, verdict) = (&measure.name, &measure.unit, measure.verdict.name());
            for (what, each) in [
                ("before", &measure.before_each),
                ("predicted", &measure.predicted_each),
                ("observed", &measure.observed_each),
            ] {
                let texts = [case.workload.name, &before, &after, name, unit, verdict, what];
                rows.add(texts, each.as_deref().unwrap_or_default());
            }
        }
    }
    for (workload, side, column) in costs.iter().flat_map(|costs| costs.cells()) {
        let (name, side_name) = (column.title, side.to_string());
        let values = costs.map(|costs| costs.values(workload, &side, column)).unwrap_or_default();
        rows.add([workload.name, "", &side_name, name, "", COUNTED, COUNTED], &values);
    }
    rows.written()
}

/// The values of the columns.
#[derive(Default)]
struct Rows {
    texts: [Vec<ByteArray>; 7],
    recordings: Vec<i32>,
    values: Vec<f64>,
}

impl Rows {
    /// Adds the values of recordings in order.
    fn add(&mut self, texts: [&str; 7], values: &[f64]) {
        for (value, recording) in values.iter().zip(1..) {
            for (column, text) in self.texts.iter_mut().zip(texts) {
                column.push(ByteArray::from(text));
            }
            self.recordings.push(recording);
            self.values.push(*value);
        }
    }

    fn written(&self) -> Result<Vec<u8>, String> {
        let schema = parse_message_type(SCHEMA).map_err(|error| error.to_string())?;
        let written = write_file(schema, |rows| {
            for column in &self.texts {
                required::<ByteArrayType>(rows, column)?;
            }
            required::<Int32Type>(rows, &self.recordings)?;
            required::<DoubleType>(rows, &self.values)
        });
        written.map_err(|error| format!("the Parquet file: {error}"))
    }
}
