//! The series of patches to Linux: takes `kernel/series`, and makes mails, kernels with the series, and results of
//! tests and measurements.
//!
//! Patches: [`patch`] reads the series, lets Coccinelle change the files of a source tree, compares the
//! changed places with those that the patch names, and makes mails.
//!
//! Kernels: [`build`] keeps a tree with the series and one without, and builds a recipe in one of its
//! variants; [`boot`] boots it under User-Mode Linux or in QEMU.
//!
//! Results: [`mod@test`] looks for errors, [`measure`] measures the variants in turns and makes tables.
//! [`command`] is the command line.

pub mod boot;
pub mod build;
pub mod command;
pub mod error;
pub mod kernels;
pub mod measure;
pub mod patch;
pub mod place;
pub mod test;

pub use error::{SeriesError, SeriesResult};
