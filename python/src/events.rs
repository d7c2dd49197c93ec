//! The events of a trace file as a stream of Arrow batches.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use freehold_lab::sentence;
use freehold_trace::{Event, ReadOptions, TraceError, TraceReader, event_batch, event_schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::arrow;
use super::error::Failure;

/// The smallest number of events in a batch, except the last.
const BATCH: usize = 1 << 16;

/// A trace file.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) partial: bool,
    /// The name in messages and tables, if it is not the path: the source of a copied file.
    pub(super) named: Option<String>,
}

impl Source {
    /// Returns the name of the trace for messages.
    pub(super) fn name(&self) -> String {
        self.named.clone().unwrap_or_else(|| self.path.display().to_string())
    }

    /// Opens the trace and reads its header.
    pub(super) fn open(&self) -> Result<TraceReader<BufReader<File>>, Failure> {
        Ok(open(&self.path, self.name(), self.partial)?)
    }
}

fn open(path: &Path, name: String, partial: bool) -> Result<TraceReader<BufReader<File>>, TraceError> {
    let file = File::open(path).map_err(|source| TraceError::Unopened { file: name.clone(), source })?;
    let mut options = ReadOptions::new(name);
    options.partial = partial;
    TraceReader::open(BufReader::with_capacity(1 << 20, file), options)
}

/// The events of a trace as an Arrow table, for pyarrow, Polars, `DuckDB` and pandas.
///
/// Each conversion reads the file again, in batches of about 65 536 events, so that at most one batch is in memory
/// here. The columns are written once, with 47 bytes for each event, and then passed on without a copy.
#[pyclass(frozen, module = "freehold")]
pub(super) struct Events {
    pub(super) source: Source,
}

#[pymethods]
impl Events {
    /// The events as an `ArrowArrayStream`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may answer with its own schema.
        drop(requested_schema);
        let reader = py.detach(|| self.source.open())?;
        arrow::stream(py, Batches { reader, ended: false })
    }

    /// The columns as an `ArrowSchema`.
    #[expect(clippy::unused_self, reason = "Python calls it as a method")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &event_schema())
    }

    fn __repr__(&self) -> String {
        format!("<events of {}>", self.source.name())
    }
}

/// The remaining events of a trace file.
struct Batches {
    reader: TraceReader<BufReader<File>>,
    ended: bool,
}

impl Batches {
    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut events: Vec<Event> = Vec::new();
        while events.len() < BATCH {
            let next = self.reader.next_batch();
            match next.map_err(|error| ArrowError::ExternalError(sentence(&error).into()))? {
                Some(more) => events.extend_from_slice(more),
                None => break,
            }
        }
        if events.is_empty() { Ok(None) } else { event_batch(&events).map(Some) }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.batch().transpose();
        self.ended = !matches!(batch, Some(Ok(_)));
        batch
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        event_schema()
    }
}
