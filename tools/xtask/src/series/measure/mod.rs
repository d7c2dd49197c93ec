//! Measuring: kernels with and without the series come in, tables and a comparison with the promises go
//! out.

pub mod bench;
pub mod figures;
pub mod instructions;
pub mod report;
