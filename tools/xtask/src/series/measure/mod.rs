//! Measuring: takes kernels with and without the series, and returns tables and a comparison with the promises.

pub mod bench;
pub mod figures;
pub mod instructions;
pub mod report;
