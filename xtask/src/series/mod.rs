//! The project's own series for Linux: in comes `kernel/series`, out come mails, kernels that have it, and what they
//! were seen to do.
//!
//! The way of a patch: [`patch`] reads the series, lets Coccinelle change the files of a source tree, holds the places
//! that were changed against those that the patch names, and makes mails of it.
//!
//! The way of a kernel: [`build`] keeps a tree with the series and one without, and builds what a recipe asks for in
//! one of its variants; [`boot`] boots it under User-Mode Linux or in QEMU.
//!
//! The way of a figure: [`test`] looks for what is wrong, [`measure`] takes turns with the variants and makes tables
//! of it. [`command`] is the command line.

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
