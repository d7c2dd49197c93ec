//! A table of results, as Arrow, as text and as HTML.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use freehold_lab::{Column, Columns};
use freehold_measure::foreign;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use super::arrow;
use super::html::escaped;

/// The largest number of rows that a text or HTML shows.
const SHOWN: usize = 40;

/// An Arrow table, for pyarrow, Polars, `DuckDB` and pandas.
#[pyclass(frozen, module = "freehold")]
#[derive(Clone, Debug)]
pub(super) struct Table {
    columns: Arc<Columns>,
    batch: RecordBatch,
}

impl Table {
    /// Returns a table of some columns, which are copied once into the Arrow format.
    pub(super) fn new(columns: Columns) -> Result<Self, ArrowError> {
        let fields: Vec<_> = columns
            .iter()
            .map(|(name, column)| {
                let data_type = match column {
                    Column::Texts(_) => DataType::Utf8,
                    Column::Numbers(_) => DataType::Int64,
                    Column::Reals(_) => DataType::Float64,
                    Column::Flags(_) => DataType::Boolean,
                };
                Field::new(name, data_type, true)
            })
            .collect();
        let arrays = columns.iter().map(|(_, column)| -> ArrayRef {
            match column {
                Column::Texts(texts) => Arc::new(texts.iter().map(Option::as_deref).collect::<StringArray>()),
                Column::Numbers(numbers) => Arc::new(numbers.iter().copied().collect::<Int64Array>()),
                Column::Reals(reals) => Arc::new(reals.iter().copied().collect::<Float64Array>()),
                Column::Flags(flags) => Arc::new(flags.iter().copied().collect::<BooleanArray>()),
            }
        });
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays.collect())?;
        Ok(Self { columns: Arc::new(columns), batch })
    }

    /// Returns the first forty rows of the table as HTML.
    pub(super) fn html(&self) -> String {
        let mut html = "<table><thead><tr>".to_owned();
        for (name, _) in self.columns.iter() {
            // Writing into a string does not fail.
            let _ = write!(html, "<th>{}</th>", escaped(name));
        }
        html += "</tr></thead><tbody>";
        for row in 0..self.columns.rows().min(SHOWN) {
            html += "<tr>";
            for (_, column) in self.columns.iter() {
                let _ = write!(html, "<td>{}</td>", escaped(&column.text(row)));
            }
            html += "</tr>";
        }
        html += "</tbody></table>";
        if self.columns.rows() > SHOWN {
            let _ = write!(html, "<p>{} of {} rows</p>", SHOWN, self.columns.rows());
        }
        html
    }
}

#[pymethods]
impl Table {
    /// The rows as an `ArrowArrayStream` of one batch.
    #[pyo3(signature = (requested_schema=None))]
    pub(super) fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may answer with its own schema.
        drop(requested_schema);
        let schema = self.batch.schema();
        arrow::stream(py, RecordBatchIterator::new([Ok(self.batch.clone())], schema))
    }

    /// The rows as an `ArrowSchema` and an `ArrowArray` of one struct.
    #[pyo3(signature = (requested_schema=None))]
    pub(super) fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        arrow::array(py, self.batch.clone())
    }

    /// The columns as an `ArrowSchema`.
    pub(super) fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.batch.schema())
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// The values of each column, without another library.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, column) in self.columns.iter() {
            match column {
                Column::Texts(texts) => dict.set_item(name, texts)?,
                Column::Numbers(numbers) => dict.set_item(name, numbers)?,
                Column::Reals(reals) => dict.set_item(name, reals)?,
                Column::Flags(flags) => dict.set_item(name, flags)?,
            }
        }
        Ok(dict)
    }

    /// The table as comma-separated values with one header line.
    fn to_csv(&self) -> String {
        self.columns.to_csv()
    }

    pub(super) fn __len__(&self) -> usize {
        self.columns.rows()
    }

    fn __repr__(&self) -> String {
        let shown = self.columns.rows().min(SHOWN);
        let columns: Vec<Vec<String>> = self
            .columns
            .iter()
            .map(|(name, column)| {
                let cells = (0..shown).map(|row| column.text(row));
                [name.to_owned()]
                    .into_iter()
                    .chain(cells)
                    .map(|cell| foreign::one_line(&cell).into_owned())
                    .collect()
            })
            .collect();
        let widths: Vec<_> = columns
            .iter()
            .map(|cells| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for line in 0..=shown {
            let cells = columns.iter().zip(&widths).map(|(cells, &width)| format!("{:<width$}", cells[line]));
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        let _ = write!(text, "{} rows", self.columns.rows());
        text
    }

    fn _repr_html_(&self) -> String {
        self.html()
    }
}
