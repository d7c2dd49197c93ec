//! The result of a function of the lab: an Arrow table, further tables, text and pictures.

use freehold_lab::Columns;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use serde_json::Value;

use super::arrow::failed;
use super::html::escaped;
use super::json::to_python;
use super::table::Table;

/// The result of a comparison, a replay, an analysis, a prediction or a sweep.
///
/// The object is an Arrow table of measures; `tables`, `text`, `pictures` and `data` have the other results.
#[pyclass(frozen, module = "freehold", name = "Result")]
pub(super) struct Outcome {
    table: Table,
    tables: Vec<(String, Table)>,
    text: String,
    pictures: Vec<(String, String)>,
    data: Value,
}

impl Outcome {
    /// Returns an outcome with a table of measures and a text.
    pub(super) fn new(columns: Columns, text: String) -> PyResult<Self> {
        let table = Table::new(columns).map_err(|error| failed(&error))?;
        Ok(Self { table, tables: Vec::new(), text, pictures: Vec::new(), data: Value::Null })
    }

    /// Returns the outcome with further tables under their titles.
    pub(super) fn with_tables(mut self, tables: &[freehold_measure::Table]) -> PyResult<Self> {
        for table in tables {
            let columns = Table::new(Columns::from(table)).map_err(|error| failed(&error))?;
            self.tables.push((table.title.clone(), columns));
        }
        Ok(self)
    }

    /// Returns the outcome with pictures, as pairs of a name and SVG.
    pub(super) fn with_pictures(mut self, pictures: Vec<(String, String)>) -> Self {
        self.pictures = pictures;
        self
    }

    /// Returns the outcome with all of its data.
    pub(super) fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }
}

#[pymethods]
impl Outcome {
    /// The measures as an Arrow table.
    #[getter]
    fn table(&self) -> Table {
        self.table.clone()
    }

    /// Further tables, by their titles.
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (title, table) in &self.tables {
            dict.set_item(title, Py::new(py, table.clone())?)?;
        }
        Ok(dict)
    }

    /// The summary, as the command line prints it.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Pictures as SVG, by their names.
    #[getter]
    fn pictures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, svg) in &self.pictures {
            dict.set_item(name, svg)?;
        }
        Ok(dict)
    }

    /// All numbers of the result, as dictionaries and lists.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.table.__arrow_c_stream__(py, requested_schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.table.__arrow_c_array__(py, requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.table.__arrow_c_schema__(py)
    }

    fn __len__(&self) -> usize {
        self.table.__len__()
    }

    fn __repr__(&self) -> &str {
        &self.text
    }

    fn _repr_html_(&self) -> String {
        let mut html = format!("<pre>{}</pre>", escaped(&self.text));
        for (_, svg) in &self.pictures {
            html += "<div>";
            html += svg;
            html += "</div>";
        }
        html
    }
}
