//! Conversion of settings from Python to the lab.

use freehold::Era;
use freehold_lab::sweep::{self, Knob, Value};
use freehold_lab::{Column, Columns, Variant};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use super::arrow::failed;
use super::error::{Failure, InputError};
use super::table::Table;

impl From<sweep::UnknownSetting> for Failure {
    fn from(error: sweep::UnknownSetting) -> Self {
        Self::Input(error.to_string())
    }
}

/// Reads an era with its systems and rules, such as `linux-7.3 with counts without hygiene`.
pub(super) fn variant(text: &str) -> Result<Variant, Failure> {
    let mut words = text.split_whitespace();
    let mut variant = Variant::new(sweep::era(words.next().unwrap_or_default())?);
    while let Some(word) = words.next() {
        let switch = sweep::switch(words.next().unwrap_or_default())?;
        match word {
            "with" => variant.with.push(switch),
            "without" => variant.without.push(switch),
            _ => {
                return Err(Failure::Input(format!(
                    "{text:?}: an era, then `with` or `without` and a system"
                )));
            }
        }
    }
    Ok(variant)
}

/// The names of the eras, the oldest first.
#[pyfunction]
pub(super) fn eras() -> Vec<&'static str> {
    Era::ALL.map(Era::name).to_vec()
}

/// The settings as a table: name, unit, allowed values and meaning.
#[pyfunction]
pub(super) fn settings() -> PyResult<Table> {
    let all: Vec<_> = Knob::all().collect();
    let mut columns = Columns::default();
    columns.push("setting", Column::texts(all.iter().map(|knob| knob.name)));
    columns.push("unit", Column::texts(all.iter().map(|knob| knob.unit)));
    columns.push("values", Column::texts(all.iter().map(Knob::values)));
    columns.push("meaning", Column::texts(all.iter().map(|knob| knob.doc)));
    Table::new(columns).map_err(|error| failed(&error))
}

/// Reads settings with one value each.
pub(super) fn turned(settings: &Bound<'_, PyDict>) -> PyResult<Vec<(Knob, Value)>> {
    let mut turned = Vec::new();
    for (name, value) in settings {
        let knob = sweep::knob(&name.extract::<String>()?).map_err(Failure::from)?;
        turned.push((knob, knob.value(&text(&value)?).map_err(Failure::from)?));
    }
    Ok(turned)
}

/// Reads settings with one or several values each.
pub(super) fn varied(settings: &Bound<'_, PyDict>) -> PyResult<Vec<(Knob, Vec<Value>)>> {
    let mut varied = Vec::new();
    for (name, values) in settings {
        let knob = sweep::knob(&name.extract::<String>()?).map_err(Failure::from)?;
        let several = !values.is_instance_of::<PyString>();
        let texts: Vec<String> = match values.try_iter() {
            Ok(values) if several => values.map(|value| text(&value?)).collect::<PyResult<_>>()?,
            _ => vec![text(&values)?],
        };
        if texts.is_empty() {
            return Err(InputError::new_err(format!("{} has no value", knob.name)));
        }
        varied.push((knob, knob.several(texts.iter().map(String::as_str)).map_err(Failure::from)?));
    }
    Ok(varied)
}

/// Returns a value in the form of the command line: `on` for true and `off` for false.
fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(match value.cast::<PyBool>() {
        Ok(flag) => if flag.is_true() { "on" } else { "off" }.to_owned(),
        Err(_) => value.str()?.to_string(),
    })
}
