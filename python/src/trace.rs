//! The class `Trace`.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use freehold_lab::analysis::{Analysis, analyze};
use freehold_lab::{Lab, Loaded};
use freehold_measure::Cell;
use freehold_trace::{TraceFacts, TraceSummary};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use serde::Serialize;

use super::error::Failure;
use super::events::{Events, Source};
use super::json::to_python;

/// The columns of a sweep's row, with their values.
type Columns = Vec<(String, Cell)>;

/// A recorded trace.
#[pyclass(frozen, subclass, module = "freehold")]
pub(super) struct Trace {
    pub(super) source: Source,
    /// The whole trace, after its first use.
    loaded: Mutex<Option<Arc<Loaded>>>,
    /// The differences between replay and machine, after the first sweep.
    trust: Mutex<Option<Arc<Columns>>>,
    /// Sentences on the trace that were not shown to the user yet.
    notes: Mutex<Vec<String>>,
}

impl Trace {
    fn of(source: Source) -> Self {
        Self { source, loaded: Mutex::default(), trust: Mutex::default(), notes: Mutex::default() }
    }

    /// Returns the whole trace, which stays in memory for the life of this object.
    pub(super) fn whole(&self) -> Result<Arc<Loaded>, Failure> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = &*loaded {
            return Ok(Arc::clone(loaded));
        }
        let read = Loaded::read(&self.source.name(), || self.source.open(), |text| self.note(text))?;
        Ok(Arc::clone(loaded.insert(Arc::new(read))))
    }

    /// Returns the differences between replay and machine. The first call replays the trace.
    pub(super) fn trust(&self, lab: &Lab<'_>) -> Result<Arc<Columns>, Failure> {
        let mut trust = self.trust.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trust) = &*trust {
            return Ok(Arc::clone(trust));
        }
        let columns = lab.trust_columns().map_err(|error| Failure::of_lab(&self.source.name(), &error))?;
        Ok(Arc::clone(trust.insert(Arc::new(columns))))
    }

    /// Analyses the trace.
    pub(super) fn analysis(&self) -> Result<Analysis, Failure> {
        let name = self.source.name();
        let failed = |error| Failure::of_lab(&name, &error);
        analyze(&name, || self.source.open(), |text| self.note(text), failed)
    }

    fn note(&self, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    /// Raises a warning for each new sentence on the trace.
    pub(super) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        let category = py.get_type::<PyUserWarning>();
        for note in notes {
            let note = CString::new(note).unwrap_or_default();
            PyErr::warn(py, &category, &note, 1)?;
        }
        Ok(())
    }
}

/// The result of [`Trace::machine`].
#[derive(Serialize)]
struct MachineFacts<'t> {
    #[serde(flatten)]
    origin: &'t freehold_trace::Origin,
    #[serde(flatten)]
    start: &'t freehold_trace::Snapshot,
}

#[pymethods]
impl Trace {
    /// Opens a trace file and checks its header. With `partial`, uses the readable part of a trace that ends in the
    /// middle of a record.
    #[new]
    #[pyo3(signature = (path, *, partial=false))]
    fn new(py: Python<'_>, path: PathBuf, partial: bool) -> PyResult<Self> {
        let source = Source { path, partial, named: None };
        py.detach(|| source.open().map(drop))?;
        Ok(Self::of(source))
    }

    /// A trace file that is opened on demand.
    #[staticmethod]
    #[pyo3(signature = (path, *, partial=false, name=None))]
    fn unopened(path: PathBuf, partial: bool, name: Option<String>) -> Self {
        Self::of(Source { path, partial, named: name })
    }

    /// The given path.
    #[getter]
    fn path(&self) -> String {
        self.source.name()
    }

    /// The origin and the contents of the trace, as in `freehold trace info --json`. Reads the whole file.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (reader, summary) = py.detach(|| {
            let mut reader = self.source.open()?;
            let summary = TraceSummary::read(&mut reader)?;
            Ok::<_, Failure>((reader, summary))
        })?;
        to_python(py, &TraceFacts::new(&reader, &summary))
    }

    /// The recorded machine: its origin, and its state at the start.
    #[getter]
    fn machine<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let reader = py.detach(|| self.source.open())?;
        to_python(py, &MachineFacts { origin: reader.origin(), start: reader.start() })
    }

    /// The events as an Arrow table, for pyarrow, Polars, `DuckDB` and pandas.
    fn events(&self) -> Events {
        Events { source: self.source.clone() }
    }

    fn __repr__(&self) -> String {
        format!("Trace({:?})", self.source.name())
    }
}
