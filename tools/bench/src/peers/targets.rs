//! The targets of the engine, compared with its figures.

use freehold_measure::{Cell, Table};

use super::engine::{EXCLUSIVE, LOCKED};
use super::shapes::Shape;
use crate::harness::Summary;

/// The upper bounds for the figures of the exclusive and of the locked handle. They are half of the best peer's figure,
/// or slightly more than the figure of a stack of frame numbers.
const TARGETS: [(Shape, &str, f64, f64); 9] = [
    (Shape::OnePage, "alloc + free", 4.0, 13.0),
    (Shape::Batch, "alloc", 3.0, 7.0),
    (Shape::Batch, "free", 3.0, 7.0),
    (Shape::OneOrder4, "alloc + free", 25.0, 25.0),
    (Shape::Batch4, "alloc", 8.0, 8.0),
    (Shape::Batch4, "free", 8.0, 8.0),
    (Shape::ChurnFresh, "an operation", 15.0, 15.0),
    (Shape::ChurnAged, "an operation", 120.0, 120.0),
    (Shape::FailingOrder9, "a request", 9.0, 9.0),
];

/// The share of requests of orders 1 to 3 that may fail in aged memory.
const FAILED_PERCENT: (Shape, &str, f64, f64) = (Shape::ChurnAged, "orders 1–3 failed, %", 16.0, 16.0);

/// The table of targets so far.
pub(super) struct Targets(Table);

impl Targets {
    pub(super) fn new() -> Self {
        let columns = ["exclusive", "target", "× target", "locked", "its target", "× its target"];
        Self(Table::new("peers: the engine and its targets", columns.map(str::to_owned).to_vec()))
    }

    /// Adds a row if there is a target for the figure.
    pub(super) fn add(&mut self, shape: Shape, label: &str, sums: &[Option<Summary>]) {
        let mut all = TARGETS.into_iter().chain([FAILED_PERCENT]);
        let Some((.., exclusive, locked)) = all.find(|row| row.0 == shape && row.1 == label) else { return };
        let cells = [(EXCLUSIVE, exclusive), (LOCKED, locked)].into_iter().flat_map(|(handle, target)| {
            let figure = sums[handle].map_or(f64::NAN, |sum| sum.median);
            [Cell::Real(figure), Cell::Real(target), Cell::Real(figure / target)]
        });
        let unit = if label.contains('%') { "%" } else { "ns" };
        self.0.push(shape.name(), label, unit, cells.collect());
    }

    pub(super) fn finish(self) -> Table {
        self.0
    }
}
