//! Measuring: in come kernels with the series and without, out come tables, and what was promised beside what was seen.

pub mod bench;
pub mod figures;
pub mod instructions;
pub mod report;
