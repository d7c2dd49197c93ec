//! Serializable values as Python dictionaries and lists.

use pyo3::prelude::*;
use serde_json::Value;

use super::error::BugError;

/// Converts a value to a Python object.
pub(super) fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(value).map_err(|error| BugError::new_err(error.to_string()))?;
    converted(py, value)
}

fn converted(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(value) => Ok(value.into_pyobject(py)?.to_owned().into_any()),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), _, _) => Ok(number.into_pyobject(py)?.into_any()),
            (_, Some(number), _) => Ok(number.into_pyobject(py)?.into_any()),
            (_, _, number) => Ok(number.into_pyobject(py)?),
        },
        Value::String(text) => Ok(text.into_pyobject(py)?.into_any()),
        Value::Array(values) => {
            let values: PyResult<Vec<_>> = values.into_iter().map(|value| converted(py, value)).collect();
            Ok(values?.into_pyobject(py)?.into_any())
        }
        Value::Object(fields) => {
            let dict = pyo3::types::PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, converted(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
