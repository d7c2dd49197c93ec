//! The values of one metric.

use std::fmt::Display;

/// The values of one metric, each with its labels' values.
#[derive(Default)]
pub(super) struct Rows(pub(super) Vec<(Vec<String>, Value)>);

/// A value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    Whole(u64),
    Real(f64),
}

impl Rows {
    pub(super) fn whole(&mut self, labels: &[&dyn Display], value: u64) {
        self.0.push((labels.iter().map(ToString::to_string).collect(), Value::Whole(value)));
    }

    pub(super) fn real(&mut self, labels: &[&dyn Display], value: f64) {
        self.0.push((labels.iter().map(ToString::to_string).collect(), Value::Real(value)));
    }
}
