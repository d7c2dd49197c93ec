//! Arrow data in Python capsules (the Arrow `PyCapsule` interface): a schema, batches, a stream of batches.

use std::ffi::CStr;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::error::BugError;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Converts an Arrow error to an exception.
pub(super) fn failed(error: &ArrowError) -> PyErr {
    BugError::new_err(error.to_string())
}

/// Returns the capsule of `__arrow_c_schema__`.
pub(super) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| failed(&error))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Returns the capsules of `__arrow_c_array__`. Does not copy the columns.
pub(super) fn array(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyTuple>> {
    let schema = schema(py, &batch.schema())?;
    let (array, _) =
        arrow_array::ffi::to_ffi(&StructArray::from(batch).into_data()).map_err(|error| failed(&error))?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Returns the capsule of `__arrow_c_stream__`. Does not copy the columns of the batches.
pub(super) fn stream(
    py: Python<'_>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}
